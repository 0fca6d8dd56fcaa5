"""Moments as whole microseconds since 1970 in UTC, which both engines store exactly; and ids that sort by time."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, timezone
from functools import lru_cache

from commonplace.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
FIRST = (datetime.min.replace(tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND
LAST = (datetime.max.replace(tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND


def now() -> int:
    """Return the current moment."""
    return time.time_ns() // 1000


def to_micros(moment: datetime) -> int:
    """Return the microseconds of a datetime; one without a time zone is taken as UTC."""
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"a moment is a datetime, such as datetime.now(timezone.utc), not {type(moment).__name__} {moment!r}"
        )
    aware = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    micros = (aware - _EPOCH) // _MICROSECOND
    if not FIRST <= micros <= LAST:
        raise InvalidInput(f"{moment} is outside the years 1 to 9999 in UTC")
    return micros


@lru_cache(maxsize=1024)
def from_micros(micros: int) -> datetime:
    """Return the UTC datetime of a stored moment."""
    return _EPOCH + micros * _MICROSECOND


def parse(text: str) -> datetime:
    """Return the datetime in an ISO 8601 text."""
    if not isinstance(text, str):
        raise InvalidInput(f"a time is ISO 8601 text, not {text!r}")
    try:
        # Python 3.10 does not read the Z that JSON documents end times with.
        return datetime.fromisoformat(text.replace("Z", "+00:00") if text.endswith("Z") else text)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is not an ISO 8601 date or time, for example 2026-05-04T09:30:00Z") from error


def until(start: int, seconds: float | None) -> int | None:
    """Return when a time to live of `seconds` ends; None for ever."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 1e11:
        raise InvalidInput(f"ttl must be a positive number of seconds, not {seconds!r}")
    return min(start + round(seconds * 1_000_000), LAST)


def new_id() -> str:
    """Return a unique id that sorts by time: 48 bits of milliseconds and 80 random bits, as 32 hexadecimal digits."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"
