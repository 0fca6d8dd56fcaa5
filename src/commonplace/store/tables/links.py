"""Links in the store: every statement on `link`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from commonplace.store.base import Params, Row, Tx
from commonplace.values import Link, times

_COLUMNS = "id, relation, other, at, reason, detail"
_NAMES = tuple(name.strip() for name in _COLUMNS.split(","))
_INSERT = f"""INSERT INTO link (space, {_COLUMNS}) VALUES (:space, {", ".join(":" + name for name in _NAMES)})
    ON CONFLICT DO NOTHING"""
_OF = f"SELECT {_COLUMNS} FROM link WHERE space = :space AND {{condition}} ORDER BY at, id, relation, other"
# A session may be called as a memory is: what was said in it has nothing to do with that one.
_TO = "{column} AND relation <> 'said in'"
_ONE = f"SELECT {_COLUMNS} FROM link WHERE space = :space AND id = :id AND relation = :relation AND other = :other"
_STATED_AGAIN = f"""SELECT {_COLUMNS} FROM link l WHERE l.space = :space AND l.relation = 'repeats'
    AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.space = :space AND m.id = l.other) ORDER BY at, id, other"""
_DELETE = "DELETE FROM link WHERE space = :space AND id = :id AND relation = :relation AND other = :other"
# A memory stays while one of the messages that it was learned from does.
_DERIVED = """SELECT DISTINCT l.id FROM link l WHERE l.space = :space AND l.relation = 'learned from'
    AND {gone} AND NOT EXISTS (SELECT 1 FROM link k WHERE k.space = :space AND k.id = l.id
    AND k.relation = 'learned from' AND NOT {kept}) ORDER BY l.id"""


def put(tx: Tx, space: int, links: Iterable[Link]) -> None:
    """Store links; one that is there already stays as it is."""
    tx.many(_INSERT, [_params(space, _row(link)) for link in links])


def of(tx: Tx, space: int, id: str) -> list[Link]:
    """The links that lead from a memory, then those that lead to it."""
    conditions = ("id = :id", _TO.format(column="other = :id"))
    rows = [row for each in conditions for row in tx.run(_OF.format(condition=each), {"space": space, "id": id})]
    return [decode(row) for row in dict.fromkeys(rows)]


def find(tx: Tx, space: int, id: str, relation: str, other: str) -> Link | None:
    rows = tx.run(_ONE, {"space": space, "id": id, "relation": relation, "other": other})
    return decode(rows[0]) if rows else None


def remove(tx: Tx, space: int, link: Link) -> None:
    tx.run(_DELETE, {"space": space, "id": link.id, "relation": link.relation, "other": link.other})


def change(tx: Tx, space: int, link: Link) -> None:
    """Give a link that is there another detail."""
    remove(tx, space, link)
    put(tx, space, [link])


def to(tx: Tx, space: int, ids: Sequence[str], relation: str) -> list[Link]:
    """The links of one relation that lead to these memories."""
    return _some(tx, space, ids, relation, "other")


def leading(tx: Tx, space: int, ids: Sequence[str], relation: str) -> list[Link]:
    """The links of one relation that lead from these memories."""
    return _some(tx, space, ids, relation, "id")


def stated_again(tx: Tx, space: int) -> list[Link]:
    """The repetitions that were stated outright: no message holds what they said."""
    return [decode(row) for row in tx.run(_STATED_AGAIN, {"space": space})]


def derived(tx: Tx, space: int, ids: Sequence[str]) -> list[str]:
    """The memories that were learned from these and from nothing else."""
    gone, kept = (tx.dialect.among(column, ":ids", "text") for column in ("l.other", "k.other"))
    rows = tx.run(_DERIVED.format(gone=gone, kept=kept), {"space": space, "ids": json.dumps(list(ids))})
    return [row[0] for row in rows]


def forget(tx: Tx, space: int, ids: Sequence[str]) -> None:
    """Remove every link that leads to or from these memories."""
    wanted: Params = {"space": space, "ids": json.dumps(list(ids))}
    ours, to_ours = (tx.dialect.among(column, ":ids", "text") for column in ("id", "other"))
    for condition in (ours, _TO.format(column=to_ours)):
        tx.run(f"DELETE FROM link WHERE space = :space AND {condition}", wanted)


def everything(tx: Tx, space: int) -> list[Row]:
    """Every link of a space, as rows."""
    return tx.run(f"SELECT {_COLUMNS} FROM link WHERE space = :space ORDER BY {_COLUMNS}", {"space": space})


def restore(tx: Tx, space: int, row: Row) -> bool:
    """Put back one row of `everything`; False if it is there already."""
    return bool(tx.run(f"{_INSERT} RETURNING id", _params(space, row)))


def decode(row: Row) -> Link:
    id, relation, other, at, reason, detail = row
    return Link(
        id=id, relation=relation, other=other, at=times.from_micros(at), reason=reason, detail=json.loads(detail)
    )


def _row(link: Link) -> Row:
    detail = json.dumps(dict(link.detail), ensure_ascii=False)
    return link.id, link.relation, link.other, times.to_micros(link.at), link.reason, detail


def _some(tx: Tx, space: int, ids: Sequence[str], relation: str, column: str) -> list[Link]:
    among = tx.dialect.among(column, ":ids", "text")
    rows = tx.run(
        f"SELECT {_COLUMNS} FROM link WHERE space = :space AND relation = :relation AND {among} ORDER BY at, id, other",
        {"space": space, "relation": relation, "ids": json.dumps(list(ids))},
    )
    return [decode(row) for row in rows]


def _params(space: int, row: Row) -> Params:
    return {"space": space, **dict(zip(_NAMES, row, strict=True))}
