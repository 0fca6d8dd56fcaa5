"""Known memories that a new one is compared with, and an index of those written since the search."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from commonplace.reconcile.claims.reader import key, read
from commonplace.reconcile.relate import Assertion
from commonplace.store.row import MemoryRow
from commonplace.store.tables.memories import Record
from commonplace.values import times
from commonplace.values.arrays import Floats

_ALL = 32
"""Up to so many recent memories, all are compared."""
_NEAREST = 16
_FEW = 16
"""The latest of those that share a key or a name: a mark that more share says little."""
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|my|mine)\b")


class Known:
    """A memory that stands, and its vector."""

    def __init__(self, row: MemoryRow, vector: bytes | None) -> None:
        self.id = row.id
        self.row = row
        self.vector = unpack(vector)

    @cached_property
    def assertion(self) -> Assertion:
        return make_assertion(self.row)


def make_assertion(memory: MemoryRow | Record) -> Assertion:
    """Return a memory as it is compared. Unless the metadata names an owner, whoever says "I" is the owner."""
    owner = json.loads(memory.metadata).get("owner")
    if not isinstance(owner, str):
        owner = memory.source if _FIRST_PERSON.search(memory.text) else None
    said_at = times.from_micros(memory.said_at)
    return Assertion(text=memory.text, kind=memory.kind, owner=owner, said_at=said_at)


def unpack(vector: bytes | None) -> Floats | None:
    """Return a stored vector as numbers."""
    return None if vector is None else np.frombuffer(vector, "<f2").astype(np.float32)


@dataclass(slots=True)
class Recent:
    """Memories that no search can know yet, by key, by name and by vector: a long list is not compared with itself."""

    ids: list[str] = field(default_factory=list)
    _marked: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _vectors: Floats | None = None

    def add(self, known: Known) -> None:
        """Index a memory."""
        self.ids.append(known.id)
        for mark in _marks(known.assertion):
            self._marked[mark].append(known.id)
        if known.vector is not None:
            self._put(known.vector)

    def near(self, new: Assertion, vector: Floats | None) -> list[str]:
        """Return those that a new memory may have to do with."""
        if len(self.ids) <= _ALL:
            return self.ids
        found = {id for mark in _marks(new) for id in self._marked.get(mark, ())[-_FEW:]}
        if vector is not None and self._vectors is not None:
            closeness = self._vectors[: len(self.ids)] @ vector
            found |= {self.ids[at] for at in np.argpartition(-closeness, _NEAREST)[:_NEAREST]}
        return sorted(found)

    def _put(self, vector: Floats) -> None:
        """Keep the vector of the last id; the array is doubled when it is full."""
        place = len(self.ids) - 1
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
