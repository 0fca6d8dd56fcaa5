"""Cancelling, as AutoGen's callers do it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from autogen_core import CancellationToken

T = TypeVar("T")


async def cancellable(work: Coroutine[Any, Any, T], token: CancellationToken | None) -> T:
    """Await work that a token may cancel; a token that was cancelled before lets it not even begin."""
    task = asyncio.ensure_future(work)
    if token is not None:
        token.link_future(task)
    return await task
