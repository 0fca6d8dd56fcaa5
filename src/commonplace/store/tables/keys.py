"""Keys in the store: every statement on `api_key`. Rows are never deleted: a book that had keys is never open again."""

from __future__ import annotations

from typing import NamedTuple

from commonplace.store.base import Row, Tx
from commonplace.store.tables import meters
from commonplace.store.tables.meters import Spent

NO_LIMITS = "{}"
"""How a key without limits has them written: nothing is read about it beside its row."""

_COLUMNS = (
    "id, secret, old_secret, old_until, role, spaces, home, label, plan, limits,"
    " created_at, expires_at, used_at, revoked_at"
)
_INSERT = f"""INSERT INTO api_key ({_COLUMNS}) VALUES (:id, :secret, NULL, NULL, :role, :spaces, :home, :label, :plan,
    :limits, :now, :expires, NULL, NULL)"""
# The first id comes along whatever is asked for: it tells whether there are keys, and an unknown one takes as long.
_PRESENTED = f"SELECT {_COLUMNS} FROM api_key WHERE id IN (:id, (SELECT min(id) FROM api_key))"
_FIND = f"SELECT {_COLUMNS} FROM api_key WHERE id = :id"
_ALL = f"SELECT {_COLUMNS} FROM api_key ORDER BY created_at, id"
_ROTATE = f"""UPDATE api_key SET old_secret = secret, old_until = :until, secret = :secret
    WHERE id = :id AND revoked_at IS NULL RETURNING {_COLUMNS}"""
_REVOKE = f"""UPDATE api_key SET revoked_at = coalesce(revoked_at, CAST(:now AS bigint)), old_secret = NULL,
    old_until = NULL WHERE id = :id RETURNING {_COLUMNS}"""
_USED = "UPDATE api_key SET used_at = :now WHERE id = :id AND (used_at IS NULL OR used_at <= :before)"


class KeyRow(NamedTuple):
    """A key as the store has it; a secret is kept as its digest."""

    id: str
    secret: str
    old_secret: str | None
    old_until: int | None
    role: str
    spaces: str
    home: str
    label: str
    plan: str
    limits: str
    created_at: int
    expires_at: int | None
    used_at: int | None
    revoked_at: int | None


class Presented(NamedTuple):
    """What the store knows of an id that somebody came with."""

    any: bool
    """Whether the book has, or had, any key at all."""
    row: KeyRow | None
    spent: tuple[Spent, ...]
    """What the key has used of its limits, those of single namespaces apart."""


def presented(tx: Tx, id: str) -> Presented:
    """Look an id up."""
    found = [KeyRow(*row) for row in tx.run(_PRESENTED, {"id": id})]
    row = next((each for each in found if each.id == id), None)
    limited = row is not None and row.limits != NO_LIMITS
    return Presented(bool(found), row, tuple(meters.spent(tx, id)) if limited else ())


def insert(tx: Tx, row: KeyRow) -> None:
    """Keep a new key."""
    tx.run(
        _INSERT,
        {
            "id": row.id, "secret": row.secret, "role": row.role, "spaces": row.spaces, "home": row.home,
            "label": row.label, "plan": row.plan, "limits": row.limits, "now": row.created_at,
            "expires": row.expires_at,
        },
    )  # fmt: skip


def any_made(tx: Tx) -> bool:
    """Whether there is, or was, any key."""
    return bool(tx.run("SELECT 1 FROM api_key LIMIT 1"))


def find(tx: Tx, id: str) -> KeyRow | None:
    """The key of that id."""
    return _first(tx.run(_FIND, {"id": id}))


def everything(tx: Tx) -> list[KeyRow]:
    """Every key, the oldest first, revoked ones too."""
    return [KeyRow(*row) for row in tx.run(_ALL)]


def rotate(tx: Tx, id: str, secret: str, *, until: int) -> KeyRow | None:
    """Give a key another secret; the one it had is good until then. None if there is no such key, or it is revoked."""
    return _first(tx.run(_ROTATE, {"id": id, "secret": secret, "until": until}))


def revoke(tx: Tx, id: str, *, now: int) -> KeyRow | None:
    """End a key; None if there is none."""
    return _first(tx.run(_REVOKE, {"id": id, "now": now}))


def used(tx: Tx, id: str, *, now: int, before: int) -> None:
    """Note that a key was used, unless that was noted after `before`."""
    tx.run(_USED, {"id": id, "now": now, "before": before})


def _first(rows: list[Row]) -> KeyRow | None:
    return KeyRow(*rows[0]) if rows else None
