"""Memories as reconciliation compares them, and an index of those that no search can know yet."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from commonplace.memories.quarantine import HELD
from commonplace.reconcile.claims.reader import key, read
from commonplace.reconcile.relate import Assertion, Comparison, relate
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import links
from commonplace.store.tables.memories import Record
from commonplace.values import times
from commonplace.values.arrays import Floats
from commonplace.values.extraction import Act

REJECTED = " was rejected: "
"""Between what was decided against and the decision."""
_ALL = 32
"""Up to so many recent memories, all are compared."""
_NEAREST = 16
_FEW = 16
"""The latest of those that share a key or a name: a mark that more share says little."""
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|my|mine)\b")


class Neighbour:
    """A memory that is written or about to be, with its vector and the moment at which it was last said."""

    def __init__(self, memory: MemoryRow | Record, vector: Floats | None, *, last_said: int, act: Act = "keep") -> None:
        self.id = memory.id
        self.text = memory.text
        self.scope = memory.scope
        self.source = memory.source
        self.vector = vector
        self.last_said = last_said
        self._memory = memory
        self._act = act
        self._compared: dict[Neighbour, Comparison] = {}

    @cached_property
    def assertion(self) -> Assertion:
        return make_assertion(self._memory, self._act)

    def closeness(self, other: Neighbour) -> float:
        """Return the cosine of the two; 0 if one has no vector."""
        return 0.0 if self.vector is None or other.vector is None else float(self.vector @ other.vector)

    def compare(self, known: Neighbour) -> Comparison:
        """Return how this memory stands to a known one by their claims."""
        if known not in self._compared:
            self._compared[known] = relate(self.assertion, known.assertion, self.closeness(known))
        return self._compared[known]


def make_assertion(memory: MemoryRow | Record, act: Act = "keep") -> Assertion:
    """Return a memory as it is compared. Unless the metadata names an owner, whoever says "I" is the owner."""
    owner = json.loads(memory.metadata).get("owner")
    if not isinstance(owner, str):
        owner = memory.source if _FIRST_PERSON.search(memory.text) else None
    said_at = times.from_micros(memory.said_at)
    return Assertion(text=memory.text, kind=memory.kind, owner=owner, said_at=said_at, act=act)


def find_last_said(tx: Tx, space: int, rows: Sequence[MemoryRow]) -> dict[str, int]:
    """Return when each memory was said last: a later repetition is not outdated by what came in between."""
    last = {row.id: row.said_at for row in rows}
    for link in links.find_from(tx, space, list(last), "repeats") if last else ():
        moment = link.detail.get("said_at")
        if isinstance(moment, int) and not link.detail.get(HELD):
            last[link.id] = max(last[link.id], moment)
    return last


def unpack(vector: bytes | None) -> Floats | None:
    """Return a stored vector as numbers."""
    return None if vector is None else np.frombuffer(vector, "<f2").astype(np.float32)


@dataclass(slots=True)
class Recent:
    """Memories that no search can know yet, by key, by name and by vector: a long list is not compared with itself."""

    known: list[Neighbour] = field(default_factory=list)
    _marked: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _vectors: Floats | None = None

    def add(self, known: Neighbour) -> None:
        """Index a memory."""
        place = len(self.known)
        self.known.append(known)
        for mark in _marks(known.assertion):
            self._marked[mark].append(place)
        if known.vector is not None:
            self._put(place, known.vector)

    def near(self, new: Neighbour) -> list[Neighbour]:
        """Return those that a new memory may have to do with."""
        if len(self.known) <= _ALL:
            return [*self.known]
        found = {place for mark in _marks(new.assertion) for place in self._marked.get(mark, ())[-_FEW:]}
        if new.vector is not None and self._vectors is not None:
            closeness = self._vectors[: len(self.known)] @ new.vector
            found |= set(np.argpartition(-closeness, _NEAREST)[:_NEAREST].tolist())
        return [self.known[place] for place in sorted(found)]

    def _put(self, place: int, vector: Floats) -> None:
        """Keep the vector of the last memory; the array is doubled when it is full."""
        if self._vectors is None or place >= len(self._vectors):
            wider = np.zeros((max(2 * place, 2 * _ALL), len(vector)), np.float32)
            if self._vectors is not None:
                wider[: len(self._vectors)] = self._vectors
            self._vectors = wider
        self._vectors[place] = vector


def _marks(said: Assertion) -> Iterable[str]:
    """Return what related statements share: the attribute of a subject, a name, the subject."""
    claim = read(said.text, said.owner)
    about = key(said.text, said.owner)
    marks = [f"name {name}" for name in claim.names | claim.rejected]
    if about is not None:
        marks.append(f"key {about}")
    if claim.subject:
        marks.append(f"subject {' '.join(sorted(claim.subject))}")
    return marks
