"""A request's own name: what was done under it is not done again, and what it gave is given again."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar

from commonplace import values
from commonplace.errors import AnswerLost, RequestReused
from commonplace.learn.ingest import Taken
from commonplace.reconcile.plan import Settled
from commonplace.store.base import Store, Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import requests
from commonplace.values import times

T = TypeVar("T")
_MOST = 1_000_000
"""Bytes of a result that is kept."""
_PATIENCE, _GLANCE = 1.0, 0.02
"""Seconds that a repetition waits for the answer of what it repeats, when all else is done; and between two looks."""
_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        values.Entry,
        values.File,
        values.Forgotten,
        values.Job,
        values.Learned,
        values.Link,
        values.Memory,
        values.Message,
        values.Scope,
        Settled,
        Taken,
    )
}
"""What writes, and answers that are kept, are made of."""


@dataclass(frozen=True, slots=True)
class Before:
    """What a request gave the first time."""

    value: object
    whole: bool
    """Whether it is the answer itself; otherwise the result of the first write, from which the answer follows."""


class Answered(Exception):
    """The answer of a request that was whole before its repetition came to write anything."""

    def __init__(self, value: object) -> None:
        super().__init__("answered before")
        self.value = value


class Once:
    """Carries a request out once: an extra of its first write."""

    def __init__(self, name: str, digest: str) -> None:
        self._name = name
        self._digest = digest
        self._again = False
        """Whether somebody else carries the request out, or has."""

    def before(self, store: Store, space: int) -> Before | None:
        """What the request gave before; None if it is new. RequestReused if another came under this name."""
        return store.read(lambda tx: self._found(tx, space), space) if space else None

    def around(self, tx: Tx, space: int, work: Callable[[Tx], T]) -> T:
        """Do the work and record its result, in one transaction; or give the result that is recorded."""
        found = self._found(tx, space)
        if found is not None and found.whole:
            raise Answered(found.value)  # it is no result of this work, from which the verb could go on
        if found is not None:
            known: T = found.value  # type: ignore[assignment]  # it is what this work gave
            return known
        done = work(tx)
        requests.add(tx, space, self._name, self._digest, _text(done, whole=False), now=times.now())
        return done

    def keep(self, store: Store, space: int, answer: T) -> T:
        """Keep a request's answer in the place of what its first write gave, and return the one that counts.

        That is the answer of whoever did it: a repetition that came meanwhile found nothing left to do.
        """
        if space:
            theirs = self._awaited(store, space) if self._again else None
            if theirs is not None:
                known: T = theirs.value  # type: ignore[assignment]  # it is what this verb gave
                return known
            text = _text(answer, whole=True)
            # An answer with texts must not bring back what was forgotten since; one with ids and numbers holds none.
            texts = isinstance(answer, values.Learned)
            store.write(lambda tx: requests.put_result(tx, space, self._name, text, unless_purged=texts), space)
        return answer

    def _awaited(self, store: Store, space: int) -> Before | None:
        """The answer of whoever began with the request; None if they do not give it soon, as after a crash."""
        until = time.monotonic() + _PATIENCE
        while True:
            found = self.before(store, space)
            if found is None or found.whole:
                return found
            if time.monotonic() > until:
                return None
            time.sleep(_GLANCE)

    def _found(self, tx: Tx, space: int) -> Before | None:
        recorded = requests.find(tx, space, self._name)
        if recorded is None:
            return None
        self._again = True
        if recorded.digest != self._digest:
            raise RequestReused("this idempotency key came before, with another request: give each request its own")
        if recorded.result is None:
            raise AnswerLost("this request was carried out before; its answer is not kept: read what stands now")
        kind, tagged = json.loads(recorded.result)
        return Before(_untagged(tagged), whole=kind == "answer")


def _text(value: object, *, whole: bool) -> str | None:
    """A result as it is recorded; None if it is too large to be kept."""
    try:
        text = json.dumps(["answer" if whole else "write", _tagged(value)], ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return None
    return text if len(text.encode()) <= _MOST else None


# Each container says what it is, so that what comes back is what went in: a row is a tuple, a list is a list.
def _tagged(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, MemoryRow):
        return ["r", *map(_tagged, value)]
    if isinstance(value, tuple | list):
        return ["t" if isinstance(value, tuple) else "l", *map(_tagged, value)]
    if isinstance(value, dict):
        return ["m", {key: _tagged(item) for key, item in value.items()}]
    if isinstance(value, bytes):
        return ["b", base64.b64encode(value).decode()]
    if isinstance(value, datetime):
        return ["d", value.isoformat()]
    if is_dataclass(value) and type(value).__name__ in _CLASSES:
        parts = {field.name: _tagged(getattr(value, field.name)) for field in fields(value)}
        return ["c", type(value).__name__, parts]
    raise TypeError(f"a result that holds {type(value).__name__} cannot be recorded")


def _untagged(tagged: Any) -> Any:
    if not isinstance(tagged, list):
        return tagged
    return _READERS[tagged[0]](tagged)


_READERS: dict[str, Callable[[Any], Any]] = {
    "r": lambda tagged: MemoryRow(*map(_untagged, tagged[1:])),
    "t": lambda tagged: tuple(_untagged(item) for item in tagged[1:]),
    "l": lambda tagged: [_untagged(item) for item in tagged[1:]],
    "m": lambda tagged: {key: _untagged(item) for key, item in tagged[1].items()},
    "b": lambda tagged: base64.b64decode(tagged[1]),
    "d": lambda tagged: datetime.fromisoformat(tagged[1]),
    "c": lambda tagged: _CLASSES[tagged[1]](**{name: _untagged(part) for name, part in tagged[2].items()}),
}
