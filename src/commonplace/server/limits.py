"""What a request costs its key: counted in the transaction of what it does, exact for every thread, process and server.

Counts are charged before the work and go with it if it fails. Levels are compared after it: a write that has made
more stand than may is undone, one that makes less stand is always let through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from commonplace.access import keys, plans
from commonplace.access.plans import Limits, Period
from commonplace.errors import LimitReached, QuotaExceeded, RateLimited
from commonplace.server.callers import Ask, Caller
from commonplace.store.base import Tx
from commonplace.store.tables import meters
from commonplace.store.tables.meters import Spent
from commonplace.values import times

T = TypeVar("T")

_LOOK_AGAIN = 3600.0
"""Seconds after which to try again where no time makes room, but only forgetting does."""
_DAY = 86_400_000_000
_WORDS = {
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
    """What a request was charged, so that it can be given back in the period that it was taken from."""

    key: str
    counts: tuple[tuple[Count, int], ...]
    drawn: int
    """Microseconds by which the bucket will be full later; 0 without one."""

    def give_back(self, tx: Tx) -> None:
        """Undo the charge."""
        if self.drawn:
            meters.take_back(tx, self.key, meters.BUCKET, place=meters.EVERYWHERE, period=0, more=self.drawn)
        for count, period in self.counts:
            meters.take_back(tx, self.key, count.name, place=count.place, period=period)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one request costs. As an Extra it goes into the request's first write, around the work."""

    key: str
    limits: Limits
    counts: tuple[Count, ...]
    namespace: str | None
    """The key-value namespace that it writes to."""
    raises_level: bool
    """Whether it may make more stand than before."""

    @property
    def is_free(self) -> bool:
        """Whether nothing has to be counted."""
        return self.limits.rate is None and not self.counts and not self.raises_level

    def take(self, tx: Tx) -> Charged:
        """Charge the request; LimitReached, and nothing is kept, if too little is left."""
        now = times.now()  # when it is its turn: nobody is charged by a clock from before a wait
        drawn = self._draw(tx, now)
        return Charged(
            key=self.key, counts=tuple((each, self._add(tx, each, now)) for each in self.counts), drawn=drawn
        )

    def around(self, tx: Tx, space: int, work: Callable[[Tx], T]) -> T:
        """Charge, do the work, and see that no more stands than may."""
        self.take(tx)
        if not self.raises_level:
            return work(tx)
        if self.namespace is None:
            return self._within_memories(tx, space, work)
        return self._within_bytes(tx, space, self.namespace, work)

    def _draw(self, tx: Tx, now: int) -> int:
        if self.limits.rate is None:
            return 0
        each, burst = keys.full(self.limits)
        if not meters.draw(tx, self.key, now=now, each=each, burst=burst):
            drawn = meters.read(tx, self.key, meters.BUCKET)
            raise _too_fast(self.limits, drawn.used if drawn else now, now)
        return each

    def _add(self, tx: Tx, count: Count, now: int) -> int:
        period = plans.began(count.period, now)
        spent = meters.add(tx, self.key, count.name, place=count.place, period=period, most=count.most)
        if spent is None:
            raise _used_up(count, now)
        if spent.used == 1 and count.place:
            # The first write of a day to a namespace is the time to drop what was counted long ago. The day before
            # stays, for servers whose clock is behind.
            meters.sweep(tx, self.key, count.name, before=period - _DAY)
        return spent.period

    def _within_memories(self, tx: Tx, space: int, work: Callable[[Tx], T]) -> T:
        most = self.limits.memories or 0
        before = meters.memories(tx, space, now=times.now(), most=most + 1)
        if before > most:
            before = meters.memories(tx, space, now=times.now())
        done = work(tx)
        allowed = max(before, most)
        if meters.memories(tx, space, now=times.now(), most=allowed + 1) > allowed:
            raise QuotaExceeded(
                f"the space may hold {most:,} memories and would hold more: forget some, or ask for another plan",
                retry_after=_LOOK_AGAIN,
            )
        return done

    def _within_bytes(self, tx: Tx, space: int, namespace: str, work: Callable[[Tx], T]) -> T:
        most = self.limits.namespace_bytes or 0
        before = meters.namespace_bytes(tx, space, namespace, now=times.now())
        done = work(tx)
        after = meters.namespace_bytes(tx, space, namespace, now=times.now())
        if after > max(before, most):
            raise QuotaExceeded(
                f"a namespace may hold {most:,} bytes, and this one would hold {after:,}: delete some,"
                " or ask for another plan",
                retry_after=_LOOK_AGAIN,
            )
        return done


def charge(ask: Ask, caller: Caller) -> Charge | None:
    """What a request costs; None if it costs nothing, which takes no write at all."""
    if caller.key is None or caller.limits == plans.UNLIMITED:
        return None
    limits, space = caller.limits, caller.home if ask.space is None else ask.space
    writes = ask.operation == "write"
    level = limits.memories if ask.namespace is None else limits.namespace_bytes
    made = Charge(
        key=caller.key,
        limits=limits,
        counts=tuple(_counts(limits, ask, space)),
        namespace=ask.namespace,
        raises_level=writes and level is not None,
    )
    return None if made.is_free else made


def _counts(limits: Limits, ask: Ask, space: str) -> Sequence[Count]:
    applies = {
        "operations_month": meters.EVERYWHERE,
        "recalls_month": meters.EVERYWHERE if ask.operation == "recall" else None,
        "namespace_writes_day": (
            keys.place(space, ask.namespace) if ask.operation == "write" and ask.namespace is not None else None
        ),
    }
    given = limits.given
    return [
        Count(name=name, place=place, most=int(given[name]), period=plans.COUNTED[name])
        for name, place in applies.items()
        if place is not None and name in given
    ]


def ensure_left(made: Charge, spent: Sequence[Spent], now: int) -> None:
    """Refuse at once what is used up already, before anything is embedded for it; the charge itself decides."""
    found = {each.name: each for each in spent}
    if made.limits.rate is not None and meters.BUCKET in found:
        each, burst = keys.full(made.limits)
        if max(found[meters.BUCKET].used, now) + each > now + burst * each:
            raise _too_fast(made.limits, found[meters.BUCKET].used, now)
    for count in made.counts:
        known = None if count.place else found.get(count.name)
        used = known.used if known and known.period >= plans.began(count.period, now) else 0
        if used >= count.most:
            raise _used_up(count, now)


def _too_fast(limits: Limits, full_at: int, now: int) -> LimitReached:
    each, burst = keys.full(limits)
    wait = max(full_at + each - now - burst * each, 1) / 1e6
    return RateLimited(f"too many requests: {_speed(limits)}; the next in {wait:.3g} seconds", retry_after=wait)


def _speed(limits: Limits) -> str:
    rate = limits.rate or 0
    unit, seconds = next(
        (each for each in (("second", 1), ("minute", 60), ("hour", 3600)) if rate * each[1] >= 1), ("day", 86400)
    )
    return f"this key may send {rate * seconds:,.4g} a {unit}, and {limits.burst or 1:,} at once"


def _used_up(count: Count, now: int) -> LimitReached:
    ends = plans.ends(count.period, plans.began(count.period, now))
    again = times.from_micros(ends).isoformat()
    return QuotaExceeded(
        f"the {count.most:,} {_WORDS[count.name]} of this key are used up; counting begins anew at {again}",
        retry_after=(ends - now) / 1e6,
    )
