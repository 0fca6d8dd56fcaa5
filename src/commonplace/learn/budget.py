"""How many tokens a model may take on a day, and how many it has taken: counted here, or in a book for all to see."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from commonplace.errors import Conflict, InvalidInput
from commonplace.kv import KeyValue
from commonplace.values import Entry, times

_KEPT = 40 * 86_400.0
"""Seconds for which a ledger keeps a day: long enough to look back on a month."""
_TRIES = 200
_GLANCE = 0.01


class Budget:
    """Tokens of a UTC day. Whoever wants to ask takes what it may cost beforehand, and settles afterwards.

    With a ledger the count is on disk, and one for all processes that use the same ledger.
    """

    def __init__(self, tokens_per_day: int, ledger: KeyValue | None) -> None:
        if isinstance(tokens_per_day, bool) or not isinstance(tokens_per_day, int) or tokens_per_day < 0:
            raise InvalidInput(f"tokens_per_day is a whole number, 0 or more, not {tokens_per_day!r}")
        if ledger is not None and not isinstance(ledger, KeyValue):
            raise InvalidInput(f'ledger is a KeyValue, such as book.kv("model tokens"), not {type(ledger).__name__}')
        self.tokens_per_day = tokens_per_day
        self._ledger = ledger
        self._counts: dict[str, int] = {}
        self._counting = threading.Lock()

    @property
    def spent(self) -> int:
        """Tokens of this UTC day."""
        return self._counts.get(today(), 0) if self._ledger is None else _value(self._ledger.entry(today()))

    def take(self, tokens: int) -> str | None:
        """Take tokens from this day's, and give its name; None if so many are not left."""
        day = today()

        def more(spent: int) -> int | None:
            return spent + tokens if spent + tokens <= self.tokens_per_day else None

        return day if self._change(day, more) else None

    def settle(self, day: str, taken: int, used: int) -> None:
        """Put right what was taken on a day, now that the cost is known."""
        if taken != used:
            self._change(day, lambda spent: max(spent - taken + used, 0))

    def _change(self, day: str, change: Callable[[int], int | None]) -> bool:
        """Change a day's count in one step; False, and as it was, if the change says None."""
        with self._counting:
            if self._ledger is not None:
                return _change_shared(self._ledger, day, change)
            changed = change(self._counts.get(day, 0))
            if changed is not None:
                self._counts[day] = changed
            return changed is not None


def today() -> str:
    """This day in UTC, as 2026-05-04."""
    return times.from_micros(times.now()).date().isoformat()


def _change_shared(ledger: KeyValue, day: str, change: Callable[[int], int | None]) -> bool:
    """Change a count that others change too: whoever comes second looks again."""
    for attempt in range(_TRIES):
        entry = ledger.entry(day)
        changed = change(_value(entry))
        if changed is None:
            return False
        try:
            ledger.set(day, changed, ttl=_KEPT, if_version=0 if entry is None else entry.version)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
            time.sleep(random.uniform(0, _GLANCE))
        else:
            return True
    raise AssertionError("the last try returns or raises")


def _value(entry: Entry | None) -> int:
    value = None if entry is None else entry.value
    return value if isinstance(value, int) else 0
