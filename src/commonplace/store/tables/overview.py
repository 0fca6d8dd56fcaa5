"""Statements for the brief: the newest memories of one kind, and those that are due, each from an index of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence

from commonplace.store.base import Params, Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables.memories import FROM_M
from commonplace.values import Kind, Scope

DUE = "due"
"""The metadata that holds the day on which something is due, as YYYY-MM-DD."""

# Written out, not bound: only then an engine sees that a partial index covers the statement.
_NAMES_DUE = f"'\"{DUE}\"'"
_STANDING = "ended_at IS NULL AND valid_to IS NULL"


def create_indexes(tx: Tx) -> None:
    """Create the indexes of these statements."""
    tx.run(
        "CREATE INDEX memory_standing ON memory (space, kind, scope_user, said_at, scope_agent, expires_at)"
        f" WHERE {_STANDING}"
    )
    # The day is read only of the few memories whose metadata names one.
    tx.run(
        f"CREATE INDEX memory_due ON memory (space, ({tx.syntax.text_at('metadata', DUE)}))"
        f" WHERE {_STANDING} AND {tx.syntax.inside('metadata', _NAMES_DUE)}"
    )


def find_newest(
    tx: Tx, space: int, kinds: Sequence[Kind], owner: Scope, *, now: int, limit: int
) -> dict[Kind, list[MemoryRow]]:
    """Return the newest memories of each kind that recall can find, of an owner or shared; None is any owner."""
    # The index alone tells which they are: only those rows are read, all at once.
    wanted = {kind: _find_seqs(tx, space, kind, owner, now=now, limit=limit) for kind in kinds}
    found = tx.run(
        f"SELECT {FROM_M} FROM memory m{tx.syntax.by_key} WHERE m.space = :space"
        f" AND {tx.syntax.among('m.seq', ':wanted', 'integer')}",
        {"space": space, "wanted": json.dumps([seq for seqs in wanted.values() for seq in seqs])},
    )
    rows = {row.seq: row for row in map(MemoryRow._make, found)}
    return {kind: [rows[seq] for seq in seqs] for kind, seqs in wanted.items()}


def _find_seqs(tx: Tx, space: int, kind: Kind, owner: Scope, *, now: int, limit: int) -> list[int]:
    # The sign keeps engines from reading the whole space by time until enough of the kind have come.
    everybody = (("TRUE", "+m.said_at"),)
    some = (("m.scope_user = :user", "m.said_at"), ("m.scope_user IS NULL", "m.said_at"))
    params = {**_params(space, owner, now, limit), "kind": kind}
    found = [
        row
        for user, time in (everybody if owner.user is None else some)
        for row in tx.run(
            f"SELECT m.said_at, m.seq FROM memory m WHERE m.space = :space AND m.kind = :kind AND {_standing()}"
            f" AND {user} AND {_company(owner)} ORDER BY {time} DESC LIMIT :limit",
            params,
        )
    ]
    return [seq for _, seq in sorted(found, reverse=True)[:limit]]


def find_due(tx: Tx, space: int, owner: Scope, *, today: str, now: int, limit: int) -> list[MemoryRow]:
    """Return the memories that are due today or later, the next one first."""
    day = tx.syntax.text_at("m.metadata", DUE)
    user = "TRUE" if owner.user is None else "(m.scope_user = :user OR m.scope_user IS NULL)"
    found = tx.run(
        f"SELECT {FROM_M} FROM memory m WHERE m.space = :space AND {_standing()}"
        f" AND {tx.syntax.inside('m.metadata', _NAMES_DUE)} AND {day} >= :today AND {user} AND {_company(owner)}"
        f" ORDER BY {day}, m.said_at LIMIT :limit",
        {**_params(space, owner, now, limit), "today": today},
    )
    return [*map(MemoryRow._make, found)]


def _standing() -> str:
    return "m.ended_at IS NULL AND m.valid_to IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now)"


def _company(owner: Scope) -> str:
    parts = ("agent", owner.agent), ("session", owner.session)
    tests: Sequence[str] = [
        f"(m.scope_{part} = :{part} OR m.scope_{part} IS NULL)" for part, name in parts if name is not None
    ]
    return " AND ".join(tests) or "TRUE"


def _params(space: int, owner: Scope, now: int, limit: int) -> Params:
    named = {part: name for part in ("user", "agent", "session") if (name := getattr(owner, part)) is not None}
    return {"space": space, "now": now, "limit": limit, **named}
