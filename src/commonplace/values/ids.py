"""Ids that sort by the time they were made: 48 bits of milliseconds and 80 random bits, as 32 hexadecimal digits."""

from __future__ import annotations

import os
import time


def new_id() -> str:
    """A new id, unique without asking anyone."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"
