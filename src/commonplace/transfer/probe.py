"""Probe a store for what is left of an erased person: in rows, indexes, files and bytes.

It reads everything as it is stored and knows nothing of the erasure, so that it finds what the erasure forgot. It tells
what it could not see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.store.base import Store, Tx
from commonplace.store.tables import persons, spaces
from commonplace.store.tables.persons import Person
from commonplace.values import PERSON_PARTS, checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """Something that was found."""

    where: str
    """A table and column, an index, or a file."""
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The result of a probe: what was found, and what could not be seen."""

    found: tuple[Leftover, ...]
    searched: tuple[str, ...]
    unseen: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.found


_TEXTS = {
    "memory": ("id", "reason", "scope_user", "scope_agent", "scope_session", "source", "superseded_by", "tags",
               "metadata", "text"),
    "tag": ("tag",),
    "feedback": ("id",),
    "entry": ("namespace", "key", "value", "scope_user", "scope_agent", "scope_session"),
    "file": ("canvas", "path", "author", "content", "scope_user", "scope_agent", "scope_session"),
    "message": ("session", "role", "name", "metadata", "content", "scope_user", "scope_agent"),
    "link": ("id", "other", "reason", "detail"),
    "job": ("payload", "error"),
    "request": ("name", "result"),
    "erasure": ("body",),
    "api_key": ("id", "label", "spaces", "home"),
    "space": ("name",),
    "book": ("name", "value"),
}  # fmt: skip
"""The columns that hold texts."""
_ORPHANS = {
    "trace": """SELECT count(*) FROM trace t WHERE NOT EXISTS
        (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "tag": """SELECT count(*) FROM tag t WHERE NOT EXISTS
        (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "link": """SELECT count(*) FROM link l WHERE NOT EXISTS
        (SELECT 1 FROM memory m WHERE m.id = l.id AND m.space = l.space)""",
    "feedback": """SELECT count(*) FROM feedback f WHERE NOT EXISTS
        (SELECT 1 FROM memory m WHERE m.id = f.id AND m.space = f.space)""",
}
"""Rows of indexes and tables beside the memories that must have gone with them: they hold no name to look for."""


def probe(store: Store, person: str, texts: Sequence[str] = ()) -> Probed:
    """Look for a person, as owner and by name, and for further texts in all of a store."""
    name = checks.name(person, "person")
    wanted = [name, *(checks.text(text, "text", limit=10_000) for text in texts)]
    found = store.read(lambda tx: [*_find_owned(tx, name), *_find_texts(tx, wanted), *_find_orphans(tx)], None)
    seen = store.find_bytes([each.encode() for each in wanted])
    found += [Leftover(where=where, count=count) for where, count in seen.found.items() if count]
    searched = (*(f"table {table}" for table in _TEXTS), *seen.found)
    return Probed(found=tuple(found), searched=searched, unseen=seen.unseen)


def _find_owned(tx: Tx, name: str) -> Iterator[Leftover]:
    for space in spaces.names(tx):
        for part in PERSON_PARTS:
            owned = persons.find(tx, spaces.find(tx, space) or 0, Person(part, name), limit=2**62)
            for table in dict.fromkeys(each.table for each in owned):
                count = sum(each.table == table for each in owned)
                yield Leftover(where=f"{table}: of {part}, space {space}", count=count)


def _find_texts(tx: Tx, wanted: Sequence[str]) -> Iterator[Leftover]:
    for table, columns in _TEXTS.items():
        for column in columns:
            holds = tx.syntax.inside(column, ":text")
            sql = f"SELECT count(*) FROM {table} WHERE {holds}"  # noqa: S608  # names of ours, not of callers
            count = sum(int(tx.run(sql, {"text": text})[0][0]) for text in wanted)
            if count:
                yield Leftover(where=f"{table}.{column}", count=count)


def _find_orphans(tx: Tx) -> Iterator[Leftover]:
    for table, sql in _ORPHANS.items():
        count = int(tx.run(sql)[0][0])
        if count:
            yield Leftover(where=f"{table}: rows without their memory", count=count)
