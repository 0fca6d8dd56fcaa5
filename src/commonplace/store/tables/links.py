"""Statements on `link`: relations of a memory to others and to messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from commonplace.store.base import Params, Tx
from commonplace.store.tables.table import Table, among
from commonplace.values import Link, Relation, times


class LinkRow(NamedTuple):
    """A link; its detail as JSON text."""

    id: str
    relation: Relation
    other: str
    at: int
    reason: str | None
    detail: str

    def decode(self) -> Link:
        at, detail = times.from_micros(self.at), json.loads(self.detail)
        return Link(id=self.id, relation=self.relation, other=self.other, at=at, reason=self.reason, detail=detail)


LINKS = Table(
    name="links",
    table="link",
    start=("", "", ""),
    columns=LinkRow._fields,
    make=LinkRow._make,
    rank="at",
    size="octet_length(detail)",
)
# A session may have the same name as a memory: 'said in' leads to sessions.
_NOT_TO_SESSION = "AND relation <> 'said in'"
_SOME = f"""SELECT {", ".join(LinkRow._fields)} FROM link
    WHERE space = :space AND relation = :relation AND {{among}} ORDER BY at, id, other"""
_ONE = "space = :space AND id = :id AND relation = :relation AND other = :other"
_STATED_AGAIN = """space = :space AND relation = 'repeats'
    AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.space = :space AND m.id = link.other) ORDER BY at, id, other"""
# A memory stays while one of the messages that it was learned from does.
_DERIVED = """SELECT DISTINCT l.id FROM link l WHERE l.space = :space AND l.relation = 'learned from'
    AND {gone} AND NOT EXISTS (SELECT 1 FROM link k WHERE k.space = :space AND k.id = l.id
    AND k.relation = 'learned from' AND NOT {kept}) ORDER BY l.id"""


def put(tx: Tx, space: int, links: Iterable[Link]) -> None:
    """Store links; existing ones stay as they are."""
    rows = (
        LinkRow(
            id=link.id,
            relation=link.relation,
            other=link.other,
            at=times.to_micros(link.at),
            reason=link.reason,
            detail=json.dumps(dict(link.detail), ensure_ascii=False),
        )
        for link in links
    )
    tx.many(f"{LINKS.insert} ON CONFLICT DO NOTHING", [LINKS.params(space, row) for row in rows])


def find_all(tx: Tx, space: int, id: str) -> list[Link]:
    """Return the links from a memory, then those to it."""
    rows = [
        row
        for condition in ("id = :id", f"other = :id {_NOT_TO_SESSION}")
        for row in LINKS.select(
            tx, f"space = :space AND {condition} ORDER BY at, id, relation, other", {"space": space, "id": id}
        )
    ]
    return [row.decode() for row in dict.fromkeys(rows)]


def find(tx: Tx, space: int, id: str, relation: str, other: str) -> Link | None:
    """Return one link."""
    rows = LINKS.select(tx, _ONE, {"space": space, "id": id, "relation": relation, "other": other})
    return rows[0].decode() if rows else None


def find_to(tx: Tx, space: int, ids: Sequence[str], relation: str) -> list[Link]:
    """Return the links of one relation to these memories."""
    sql = _SOME.format(among=tx.syntax.among("other", ":ids", "text"))
    rows = tx.run(sql, {"space": space, "relation": relation, "ids": json.dumps(list(ids))})
    return [LinkRow._make(row).decode() for row in rows]


def find_from(tx: Tx, space: int, ids: Sequence[str], relation: str) -> list[Link]:
    """Return the links of one relation from these memories."""
    sql = _SOME.format(among=tx.syntax.among("id", ":ids", "text"))
    rows = tx.run(sql, {"space": space, "relation": relation, "ids": json.dumps(list(ids))})
    return [LinkRow._make(row).decode() for row in rows]


def find_stated_again(tx: Tx, space: int) -> list[Link]:
    """Return the repetitions that were stated directly, without a message that holds their words."""
    return [row.decode() for row in LINKS.select(tx, _STATED_AGAIN, {"space": space})]


def find_derived(tx: Tx, space: int, ids: Sequence[str]) -> list[str]:
    """Return the memories that were learned from these and from nothing else."""
    gone, kept = (tx.syntax.among(column, ":ids", "text") for column in ("l.other", "k.other"))
    rows = tx.run(_DERIVED.format(gone=gone, kept=kept), {"space": space, "ids": json.dumps(list(ids))})
    return [id for (id,) in rows]


def remove(tx: Tx, space: int, link: Link) -> None:
    """Remove one link."""
    params: Params = {"space": space, "id": link.id, "relation": link.relation, "other": link.other}
    tx.run(f"DELETE FROM link WHERE {_ONE}", params)


def change(tx: Tx, space: int, link: Link) -> None:
    """Give an existing link another detail."""
    remove(tx, space, link)
    put(tx, space, [link])


def forget(tx: Tx, space: int, ids: Sequence[str]) -> None:
    """Remove every link from or to these memories."""
    for column, rest in (("id", ""), ("other", _NOT_TO_SESSION)):
        condition, params = among(tx, column, space, ids)
        tx.run(f"DELETE FROM link WHERE {condition} {rest}", params)
