"""Limits of keys, plans with such limits, and the periods over which they are counted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

from commonplace.errors import InvalidInput
from commonplace.values import checks, times

Period = Literal["day", "month"]
_FASTEST = 100_000.0
_SLOWEST = 1 / 86400


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a key; None is no limit."""

    rate: float | None = None
    """Requests per second on average."""
    burst: int | None = None
    """Requests at once; refilled at the rate."""
    operations_month: int | None = None
    """Requests of any kind in a calendar month."""
    recalls_month: int | None = None
    """Recalls in a calendar month."""
    memories: int | None = None
    """Current memories of a space, as `stats` counts them."""
    namespace_writes_day: int | None = None
    """Writes to one key-value namespace in a day."""
    namespace_bytes: int | None = None
    """Bytes of the current values of one key-value namespace."""
    space_bytes: int | None = None
    """Bytes of all that a space holds: memories, entries, files and messages, with every version and revision."""

    @property
    def given(self) -> dict[str, float]:
        """The limits that are not None, by name."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


COUNTED: Mapping[str, Period] = {"operations_month": "month", "recalls_month": "month", "namespace_writes_day": "day"}
"""Limits whose count starts again with each period, in the order in which they are charged."""
BY_NAMESPACE = ("namespace_writes_day",)
UNLIMITED = Limits()
SIGN_UPS = Limits(rate=100 / 3600, burst=100)
"""Keys that anybody may create, all together."""
SIGN_UPS_OF_ONE = Limits(rate=10 / 3600, burst=10)
"""Those from one address."""
NAMES = tuple(each.name for each in fields(Limits))
PLANS: Mapping[str, Limits] = {
    "unlimited": UNLIMITED,
    "memstore-free": Limits(rate=100 / 3600, burst=100, operations_month=1_000, space_bytes=50_000_000),
    "zerolatency-free": Limits(recalls_month=10_000, memories=1_000, space_bytes=50_000_000),
    "botwire-free": Limits(namespace_writes_day=1_000, namespace_bytes=50_000_000, space_bytes=100_000_000),
}
"""No limits, and the free plans of the services whose dialects the server speaks; `space_bytes` is ours."""


def choose_limits(plan: str, own: Mapping[str, object] | None = None) -> Limits:
    """Return the limits of a plan, overridden by those in `own`."""
    if plan not in PLANS:
        raise InvalidInput(f"unknown plan {plan!r}; known: {', '.join(PLANS)}")
    given: dict[str, Any] = {name: _check_limit(name, value) for name, value in (own or {}).items()}
    limits = replace(PLANS[plan], **given)
    if limits.rate is None and limits.burst is not None:
        raise InvalidInput("burst is the number of requests at once and needs a rate: give rate=, too")
    if limits.rate is not None and limits.burst is None:
        return replace(limits, burst=max(1, math.ceil(limits.rate)))
    return limits


def _check_limit(name: str, value: object) -> int | float:
    if name not in NAMES:
        raise InvalidInput(f"unknown limit {name!r}; known: {', '.join(NAMES)}")
    if name != "rate":
        return checks.count(value, name, least=1 if name == "burst" else 0)  # type: ignore[arg-type]  # it checks
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _SLOWEST <= value <= _FASTEST:
        raise InvalidInput(f"rate is a number of requests a second, from one a day to {_FASTEST:,.0f}, not {value!r}")
    return float(value)


def dump_limits(limits: Limits) -> str:
    """Return limits as JSON text."""
    return json.dumps(limits.given)


@lru_cache(maxsize=1024)
def read_limits(text: str) -> Limits:
    """Return limits from JSON text; those of a newer version, which this one cannot count, are ignored."""
    known = {name: value for name, value in json.loads(text).items() if name in NAMES}
    return Limits(**known)


def period_start(period: Period, now: int) -> int:
    """Return the start of the calendar day or month of a moment, in UTC."""
    moment = times.from_micros(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return times.to_micros(moment.replace(day=1) if period == "month" else moment)


def period_end(period: Period, start: int) -> int:
    """Return the end of the day or month with this start."""
    moment = times.from_micros(start)
    if period == "day":
        return times.to_micros(moment + timedelta(days=1))
    return times.to_micros(datetime(moment.year + moment.month // 12, moment.month % 12 + 1, 1, tzinfo=moment.tzinfo))
