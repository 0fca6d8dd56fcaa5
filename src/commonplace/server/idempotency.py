"""Idempotency keys: a repeated request returns the first answer and changes nothing.

The key, the charge and the change are one transaction: a failed request leaves nothing behind, and a repeated one is
neither carried out nor charged again.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from commonplace.errors import AnswerLost, RequestReused
from commonplace.learn.ingest import Taken
from commonplace.reconcile.settle import Settled
from commonplace.server.limits import Charge
from commonplace.store.base import Store, Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import requests, spaces
from commonplace.values import Entry, File, Forgotten, Job, Learned, Link, Memory, Message, Scope, times

T = TypeVar("T")
Work = Callable[[Tx], T]
_MOST = 1_000_000
"""Largest recorded result in bytes."""
_PATIENCE, _PAUSE = 1.0, 0.02
"""Seconds that a repeated request waits for the answer of the first one, and between two looks."""
_CLASSES: dict[str, type] = {
    kind.__name__: kind for kind in (Entry, File, Forgotten, Job, Learned, Link, Memory, Message, Scope, Settled, Taken)
}
"""The classes that results of writes, and kept answers, consist of."""


@dataclass(frozen=True, slots=True)
class FirstResult:
    """The result of a request that was carried out before."""

    value: object
    is_answer: bool
    """Whether it is the answer itself; otherwise it is the result of the first write."""


class AlreadyAnswered(Exception):
    """Raised by the first write of a repeated request whose whole answer was recorded meanwhile."""

    def __init__(self, value: object) -> None:
        super().__init__("answered before")
        self.value = value


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """The record of one request under its idempotency key."""

    name: str
    """The id of the caller's API key and the idempotency key."""
    digest: str

    def find(self, store: Store, space: int) -> FirstResult | None:
        """Return what the request gave before, or None; raise RequestReused if another request has this key."""
        return store.read(lambda tx: self._find(tx, space), space) if space else None

    def run(self, tx: Tx, space: int, work: Work[T]) -> tuple[T, bool]:
        """Do the work and record its result, or find the recorded result; return it, and whether it was recorded."""
        found = self._find(tx, space)
        if found is not None and found.is_answer:
            raise AlreadyAnswered(found.value)  # the verb cannot go on from an answer
        if found is not None:
            return cast("T", found.value), True  # the result of this work
        done = work(tx)
        requests.add(tx, space, self.name, self.digest, _encode(done, is_answer=False), now=times.now())
        return done, False

    def keep_answer(self, store: Store, space: int, answer: T, *, is_repeated: bool) -> T:
        """Record a request's answer in place of its first write's result, and return the answer that counts.

        That is the answer of the request that did the work: a repetition that ran meanwhile found nothing left to do.
        """
        if not space:
            return answer
        theirs = self._wait_for_answer(store, space) if is_repeated else None
        if theirs is not None:
            return cast("T", theirs.value)  # the answer of this verb
        text = _encode(answer, is_answer=True)
        # An answer with texts must not bring back what was forgotten since.
        has_texts = isinstance(answer, Learned)
        store.write(lambda tx: requests.put_result(tx, space, self.name, text, unless_purged=has_texts), space)
        return answer

    def _wait_for_answer(self, store: Store, space: int) -> FirstResult | None:
        """Return the answer of the first request; None if it does not come soon, as after a crash."""
        until = time.monotonic() + _PATIENCE
        while True:
            found = self.find(store, space)
            if found is None or found.is_answer:
                return found
            if time.monotonic() > until:
                return None
            time.sleep(_PAUSE)

    def _find(self, tx: Tx, space: int) -> FirstResult | None:
        recorded = requests.find(tx, space, self.name)
        if recorded is None:
            return None
        if recorded.digest != self.digest:
            raise RequestReused("this idempotency key was used for a different request: use a new key for each request")
        if recorded.result is None:
            raise AnswerLost("this request was carried out, but its answer was not stored: read the current state")
        kind, tagged = json.loads(recorded.result)
        return FirstResult(_untag(tagged), is_answer=kind == "answer")


class RequestStore:
    """The store as one request sees it: its first write to a space also records its charge and its idempotency key."""

    def __init__(self, store: Store, charge: Charge | None, record: IdempotencyRecord | None = None) -> None:
        self._store = store
        self._charge = charge
        self._record = record
        self.recorded = False
        """Whether that first write has happened."""
        self.is_repeated = False
        """Whether that first write found the result of the same request."""

    @property
    def as_store(self) -> Store:
        return cast("Store", self)  # all that is not here is the store's own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, work: Work[T], space: int | None) -> T:
        if space is None or space == spaces.NEW:
            return self._store.write(work, space)
        number = space
        if self.recorded:
            within = None if self._charge is None else self._charge.run_within_levels
            return self._store.write(work if within is None else lambda tx: within(tx, number, work), space)

        def charge_and_work(tx: Tx) -> T:
            return work(tx) if self._charge is None else self._charge.run(tx, number, work)

        def first(tx: Tx) -> tuple[T, bool]:
            # The record goes around the charge: a repeated request is not charged.
            if self._record is None:
                return charge_and_work(tx), False
            return self._record.run(tx, number, charge_and_work)

        done, self.is_repeated = self._store.write(first, space)
        self.recorded = True
        return done


def _encode(value: object, *, is_answer: bool) -> str | None:
    """Return a result as text; None if it is too large to be kept."""
    try:
        text = json.dumps(["answer" if is_answer else "write", _tag(value)], ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return None
    return text if len(text.encode()) <= _MOST else None


# Each container says what it is, so that a result comes back as it was: a tuple as a tuple, a list as a list.
def _tag(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    name = type(value).__name__
    if name in _CLASSES and is_dataclass(value):
        return ["c", name, {field.name: _tag(getattr(value, field.name)) for field in fields(value)}]
    if isinstance(value, tuple):
        return ["t", *map(_tag, value)]
    if isinstance(value, list):
        return ["l", *map(_tag, value)]
    if isinstance(value, dict):
        return ["m", {key: _tag(item) for key, item in value.items()}]
    if isinstance(value, bytes):
        return ["b", base64.b64encode(value).decode()]
    if isinstance(value, datetime):
        return ["d", value.isoformat()]
    raise TypeError(f"a result that holds {name} cannot be recorded")


def _untag(tagged: Any) -> Any:
    return _READERS[tagged[0]](*tagged[1:]) if isinstance(tagged, list) else tagged


def _untag_tuple(*items: Any) -> tuple[Any, ...]:
    """Return a tuple; a memory's row, recorded without its column names, is recognised by its form."""
    values = tuple(map(_untag, items))
    is_row = len(values) == len(MemoryRow._fields) and isinstance(values[0], int) and isinstance(values[1], str)
    return MemoryRow._make(values) if is_row else values


_READERS: dict[str, Callable[..., Any]] = {
    "t": _untag_tuple,
    "l": lambda *items: list(map(_untag, items)),
    "m": lambda items: {key: _untag(item) for key, item in items.items()},
    "b": base64.b64decode,
    "d": datetime.fromisoformat,
    "c": lambda name, parts: _CLASSES[name](**{part: _untag(value) for part, value in parts.items()}),
}
