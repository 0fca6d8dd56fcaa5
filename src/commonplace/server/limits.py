"""Limits of a key: what a request counts towards, charged in the transaction of its write.

The counts are exact for every thread, process and server. They are charged before the work and undone with it if it
fails. Levels are compared after the work: a write that exceeds one is undone, a write that lowers it always succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from commonplace.access import keys, plans
from commonplace.access.plans import Limits, Period
from commonplace.errors import LimitReached, QuotaExceeded, RateLimited
from commonplace.server.auth import Call, Caller
from commonplace.store.base import Tx
from commonplace.store.tables import jobs
from commonplace.store.tables import keys as rows
from commonplace.values import times

T = TypeVar("T")

_LATER = 3600.0
"""Seconds until a retry where only forgetting makes room."""
_DAY = 86_400_000_000
_UNITS = {
    "operations_month": "operations a month",
    "recalls_month": "recalls a month",
    "namespace_writes_day": "writes a day to one namespace",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """One limit that a request counts towards."""

    name: str
    place: str
    most: int
    period: Period


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """A charge that was made, so that it can be taken back from the same period."""

    key: str
    counts: tuple[tuple[Count, int], ...]
    drawn: int
    """Microseconds drawn from the rate's bucket; 0 without a rate."""

    def take_back(self, tx: Tx) -> None:
        """Undo the charge."""
        if self.drawn:
            rows.take_back(tx, self.key, rows.BUCKET, place=rows.EVERYWHERE, period=0, more=self.drawn)
        for count, period in self.counts:
            rows.take_back(tx, self.key, count.name, place=count.place, period=period)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The cost of one request."""

    key: str
    limits: Limits
    counts: tuple[Count, ...]
    space: str
    namespace: str | None
    """The key-value namespace that it writes to."""
    is_import: bool
    """Whether it may write to every namespace."""
    raises_level: bool
    """Whether it may store more than before, and a level limits that."""

    @property
    def counts_requests(self) -> bool:
        """Whether the request itself is counted, whatever it stores."""
        return bool(self.counts) or self.limits.rate is not None

    def take(self, tx: Tx) -> Charged:
        """Charge the request; raise LimitReached, and charge nothing, if too little is left."""
        now = times.now()  # inside the transaction: the wait for it may have been long
        drawn = self._draw(tx, now)
        counts = tuple((each, self._add(tx, each, now)) for each in self.counts)
        return Charged(key=self.key, counts=counts, drawn=drawn)

    def run(self, tx: Tx, space: int, work: Callable[[Tx], T]) -> T:
        """Charge, do the work, and raise QuotaExceeded if more is stored than allowed."""
        self.take(tx)
        return self.run_within_levels(tx, space, work)

    def run_within_levels(self, tx: Tx, space: int, work: Callable[[Tx], T]) -> T:
        """Do the work, and raise QuotaExceeded if more is stored than before, and than allowed."""
        if not self.raises_level:
            return work(tx)
        limits, run = self.limits, work
        if limits.memories is not None and self.namespace is None:
            run = partial(self._within_memories, space=space, most=limits.memories, work=run)
        if limits.namespace_bytes is not None and self.namespace is not None:
            most, namespace = limits.namespace_bytes, self.namespace
            run = partial(self._within_namespace, space=space, namespace=namespace, most=most, work=run)
        if self.is_import:
            run = partial(self._within_namespaces, space=space, work=run)
        if limits.space_bytes is not None:
            run = partial(self._within_space, space=space, most=limits.space_bytes, work=run)
        return run(tx)

    def _draw(self, tx: Tx, now: int) -> int:
        if self.limits.rate is None:
            return 0
        each, burst = keys.bucket(self.limits)
        if not rows.draw(tx, self.key, now=now, each=each, burst=burst):
            drawn = rows.read_meter(tx, self.key, rows.BUCKET)
            raise _rate_limited(self.limits, drawn.used if drawn else now, now)
        return each

    def _add(self, tx: Tx, count: Count, now: int) -> int:
        period = plans.period_start(count.period, now)
        spent = rows.add(tx, self.key, count.name, place=count.place, period=period, most=count.most)
        if spent is None:
            raise _used_up(count, now)
        if spent.used == 1 and count.place:
            # The first write of a day to a namespace drops old counts, but not yesterday's: clocks may differ.
            rows.sweep(tx, self.key, count.name, before=period - _DAY)
        return spent.period

    def _within_memories(self, tx: Tx, space: int, most: int, work: Callable[[Tx], T]) -> T:
        before = rows.count_memories(tx, space, now=times.now(), most=most + 1)
        if before > most:
            before = rows.count_memories(tx, space, now=times.now())
        last = jobs.last_number(tx, space)
        done, allowed = work(tx), max(before, most)
        if rows.count_memories(tx, space, now=times.now(), most=allowed + 1) > allowed:
            raise _too_much(f"the space may hold {most:,} memories and would hold more: forget some")
        # What is learned later from this request counts, too.
        jobs.hold_to(tx, space, after=last, most=allowed)
        return done

    def _within_namespace(self, tx: Tx, space: int, namespace: str, most: int, work: Callable[[Tx], T]) -> T:
        before = rows.count_bytes(tx, space, namespace, now=times.now())
        done = work(tx)
        _ensure_namespace_fits(before, rows.count_bytes(tx, space, namespace, now=times.now()), most)
        return done

    def _within_namespaces(self, tx: Tx, space: int, work: Callable[[Tx], T]) -> T:
        before = rows.read_namespaces(tx, space)
        done, now = work(tx), times.now()
        for namespace, (size, writes) in rows.read_namespaces(tx, space).items():
            held, written = before.get(namespace, (0, 0))
            if self.limits.namespace_bytes is not None:
                _ensure_namespace_fits(held, size, self.limits.namespace_bytes)
            if writes != written and self.limits.namespace_writes_day is not None:
                self._add(tx, _count_of_writes(self.limits.namespace_writes_day, self.space, namespace), now)
        return done

    def _within_space(self, tx: Tx, space: int, most: int, work: Callable[[Tx], T]) -> T:
        before = rows.count_space_bytes(tx, space)
        done = work(tx)
        if (after := rows.count_space_bytes(tx, space)) > max(before, most):
            raise _too_much(f"the space may hold {most:,} bytes, and would hold {after:,}: forget some")
        return done


def _ensure_namespace_fits(before: int, after: int, most: int) -> None:
    if after > max(before, most):
        raise _too_much(f"a namespace may hold {most:,} bytes, and this one would hold {after:,}: delete some")


def _too_much(why: str) -> QuotaExceeded:
    return QuotaExceeded(f"{why}, or ask for another plan", retry_after=_LATER)


def charge_of(call: Call, caller: Caller) -> Charge | None:
    """Return what a request costs, or None if nothing; raise LimitReached if its limits are known to be used up.

    The charge itself decides. This early check spares the work of embedding for a request that would be refused.
    """
    limits, writes = caller.limits, call.operation == "write"
    if caller.key is None:
        return None
    space = caller.home if call.space is None else call.space
    levels = [limits.space_bytes, limits.memories if call.namespace is None else limits.namespace_bytes]
    if call.is_import:
        levels += [limits.namespace_bytes, limits.namespace_writes_day]
    charge = Charge(
        key=caller.key,
        limits=limits,
        counts=tuple(_counts(limits, call, space)),
        space=space,
        namespace=call.namespace,
        is_import=call.is_import,
        raises_level=writes and any(level is not None for level in levels),
    )
    if not charge.counts_requests and not charge.raises_level:
        return None
    _ensure_left(charge, caller, times.now())
    return charge


def _counts(limits: Limits, call: Call, space: str) -> Iterator[Count]:
    month = {"operations_month": limits.operations_month}
    if call.operation == "recall":
        month["recalls_month"] = limits.recalls_month
    for name, most in month.items():
        if most is not None:
            yield Count(name=name, place=rows.EVERYWHERE, most=most, period=plans.COUNTED[name])
    if call.operation == "write" and call.namespace is not None and limits.namespace_writes_day is not None:
        yield _count_of_writes(limits.namespace_writes_day, space, call.namespace)


def _count_of_writes(most: int, space: str, namespace: str) -> Count:
    name = "namespace_writes_day"
    return Count(name=name, place=keys.meter_place(space, namespace), most=most, period=plans.COUNTED[name])


def _ensure_left(charge: Charge, caller: Caller, now: int) -> None:
    found = {each.name: each for each in caller.spent}
    if charge.limits.rate is not None and rows.BUCKET in found:
        each, burst = keys.bucket(charge.limits)
        if max(found[rows.BUCKET].used, now) + each > now + burst * each:
            raise _rate_limited(charge.limits, found[rows.BUCKET].used, now)
    for count in charge.counts:
        known = None if count.place else found.get(count.name)
        used = known.used if known and known.period >= plans.period_start(count.period, now) else 0
        if used >= count.most:
            raise _used_up(count, now)


def _rate_limited(limits: Limits, full_at: int, now: int) -> LimitReached:
    each, burst = keys.bucket(limits)
    wait, rate = max(full_at + each - now - burst * each, 1) / 1e6, limits.rate or 0
    unit, seconds = next(
        (unit for unit in (("second", 1), ("minute", 60), ("hour", 3600)) if rate * unit[1] >= 1), ("day", 86400)
    )
    speed = f"this key may send {rate * seconds:,.4g} a {unit}, and {limits.burst or 1:,} at once"
    return RateLimited(f"too many requests: {speed}; the next in {wait:.3g} seconds", retry_after=wait)


def _used_up(count: Count, now: int) -> LimitReached:
    ends = plans.period_end(count.period, plans.period_start(count.period, now))
    again = times.from_micros(ends).isoformat()
    return QuotaExceeded(
        f"the {count.most:,} {_UNITS[count.name]} of this key are used up; counting starts again at {again}",
        retry_after=(ends - now) / 1e6,
    )
