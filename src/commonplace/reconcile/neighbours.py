"""What was written since a search, found by what it is about: a long list is not compared with all of itself."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from commonplace.reconcile.claims.reading import key, read
from commonplace.reconcile.statements import Statement
from commonplace.store.row import MemoryRow
from commonplace.store.tables import memories
from commonplace.values import Json, Kind, times
from commonplace.values.arrays import Floats

_ALL = 32
"""So few are all looked at."""
_NEAREST = 16
_FEW = 16
"""Of those that share a key or a name, the latest: what is shared by more says little."""
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|my|mine)\b")


class Known:
    """A memory that stands, and its vector; what comparing takes is made once, and only if it is asked for."""

    __slots__ = ("_statement", "id", "row", "scope", "vector")

    def __init__(self, row: MemoryRow, vector: Floats | None) -> None:
        self.row = row
        self.vector = vector
        self.id = row.id
        self.scope = row.scope
        self._statement: Statement | None = None

    @property
    def statement(self) -> Statement:
        if self._statement is None:
            row = self.row
            self._statement = statement(
                row.text, row.kind, row.metadata_value, row.source,
                row.said_at,
            )  # fmt: skip
        return self._statement


def statement(text: str, kind: Kind, metadata: Mapping[str, Json], source: str | None, said_at: int) -> Statement:
    """A memory as it is compared. Who says "I" owns it, unless it says whose it is."""
    owner = metadata.get("owner")
    if not isinstance(owner, str):
        owner = source if _FIRST_PERSON.search(text) else None
    return Statement(text=text, kind=kind, owner=owner, said_at=times.from_micros(said_at))


def stated(record: memories.Record) -> Statement:
    """A new memory as it is compared."""
    return statement(record.text, record.kind, json.loads(record.metadata), record.source, record.said_at)


@dataclass(slots=True)
class Recent:
    """Memories that no search can know yet, by key, by name and by vector."""

    ids: list[str] = field(default_factory=list)
    _marked: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _vectors: Floats | None = None

    def add(self, known: Known) -> None:
        self.ids.append(known.id)
        for mark in _marks(known.statement):
            self._marked[mark].append(known.id)
        self._put(known.vector)

    def near(self, new: Statement, vector: Floats | None) -> list[str]:
        """Those that a new memory may have to do with."""
        if len(self.ids) <= _ALL:
            return self.ids
        found = {id for mark in _marks(new) for id in self._marked.get(mark, ())[-_FEW:]}
        if vector is not None and self._vectors is not None:
            closeness = self._vectors[: len(self.ids)] @ vector
            found |= {self.ids[at] for at in np.argpartition(-closeness, _NEAREST)[:_NEAREST]}
        return sorted(found)

    def _put(self, vector: Floats | None) -> None:
        """Keep a vector in its place; room is doubled, so that each is copied a few times at most."""
        place = len(self.ids) - 1
        if vector is None:
            return
        if self._vectors is None or place >= len(self._vectors):
            wider = np.zeros((max(2 * place, 2 * _ALL), len(vector)), np.float32)
            if self._vectors is not None:
                wider[: len(self._vectors)] = self._vectors
            self._vectors = wider
        self._vectors[place] = vector


def _marks(said: Statement) -> Iterable[str]:
    """What statements share that may have to do with each other: the attribute of a subject, a name, the subject."""
    claim = read(said.text, said.owner)
    about = key(said.text, said.owner)
    marks = [f"name {name}" for name in claim.names | claim.rejected]
    if about is not None:
        marks.append(f"key {about}")
    if claim.subject:
        marks.append(f"subject {' '.join(sorted(claim.subject))}")
    return marks
