"""Transcripts in the store: every statement on `message`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.store.base import Params, Row, Tx
from commonplace.values import Message, times

_COLUMNS = "number, role, name, content, metadata, said_at, created_at"
_INSERT = f"""INSERT INTO message (space, session, {_COLUMNS})
    VALUES (:space, :session, :number, :role, :name, :content, :metadata, :said_at, :created_at)"""
_LAST = "SELECT coalesce(max(number), 0) FROM message WHERE space = :space AND session = :session"
_AFTER = f"""SELECT {_COLUMNS} FROM message WHERE space = :space AND session = :session AND number > :after
    ORDER BY number LIMIT :limit"""
_TAIL = f"""SELECT {_COLUMNS} FROM message WHERE space = :space AND session = :session
    ORDER BY number DESC LIMIT :limit"""
_SESSIONS = "SELECT DISTINCT session FROM message WHERE space = :space ORDER BY session"
_ALL = f"SELECT session, {_COLUMNS} FROM message WHERE space = :space ORDER BY session, number"
_UNLIMITED = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message as it is written: checked, JSON as text, without its number."""

    role: str
    name: str | None
    content: str
    metadata: str
    said_at: int


def append(tx: Tx, space: int, session: str, lines: Sequence[Line], *, now: int) -> list[Message]:
    """Add messages at the end, numbered without gaps."""
    last = tx.run(_LAST, {"space": space, "session": session})[0][0]
    rows: list[Row] = [
        (last + i, line.role, line.name, line.content, line.metadata, line.said_at, now)
        for i, line in enumerate(lines, start=1)
    ]
    tx.many(_INSERT, [_params(space, session, row) for row in rows])
    return [decode(row) for row in rows]


def insert(tx: Tx, space: int, session: str, row: Row) -> None:
    """Store one message under the number that it has."""
    tx.run(_INSERT, _params(space, session, row))


def _params(space: int, session: str, row: Row) -> Params:
    number, role, name, content, metadata, said_at, created_at = row
    return {
        "space": space,
        "session": session,
        "number": number,
        "role": role,
        "name": name,
        "content": content,
        "metadata": metadata,
        "said_at": said_at,
        "created_at": created_at,
    }


def restore(tx: Tx, space: int, session: str, row: Row) -> bool:
    """Put back one message; False if its number is taken already."""
    found = tx.run(_AFTER, {"space": space, "session": session, "after": row[0] - 1, "limit": 1})
    if found and found[0][0] == row[0]:
        return False
    insert(tx, space, session, row)
    return True


def after(tx: Tx, space: int, session: str, number: int, limit: int | None) -> list[Message]:
    """The messages that follow message `number`, oldest first."""
    most = _UNLIMITED if limit is None else limit
    rows = tx.run(_AFTER, {"space": space, "session": session, "after": number, "limit": most})
    return [decode(row) for row in rows]


def tail(tx: Tx, space: int, session: str, limit: int) -> list[Message]:
    """The last messages, oldest first."""
    rows = tx.run(_TAIL, {"space": space, "session": session, "limit": limit})
    return [decode(row) for row in reversed(rows)]


def sessions(tx: Tx, space: int) -> list[str]:
    """The sessions that have a transcript, sorted."""
    return [row[0] for row in tx.run(_SESSIONS, {"space": space})]


def count(tx: Tx, space: int) -> int:
    """How many messages the transcripts hold."""
    return int(tx.run("SELECT count(*) FROM message WHERE space = :space", {"space": space})[0][0])


def everything(tx: Tx, space: int) -> list[Row]:
    """Every message: session, then the columns of `insert`."""
    return tx.run(_ALL, {"space": space})


def forget(tx: Tx, space: int, session: str) -> int:
    """Remove every message of a session; returns how many."""
    place: Params = {"space": space, "session": session}
    erased = int(tx.run("SELECT count(*) FROM message WHERE space = :space AND session = :session", place)[0][0])
    tx.run("DELETE FROM message WHERE space = :space AND session = :session", place)
    return erased


def forget_all(tx: Tx, space: int) -> None:
    """Remove every transcript of a space."""
    tx.run("DELETE FROM message WHERE space = :space", {"space": space})


def decode(row: Row) -> Message:
    number, role, name, content, metadata, said_at, created_at = row
    return Message(
        number=number,
        role=role,
        name=name,
        content=json.loads(content),
        metadata=json.loads(metadata),
        said_at=times.from_micros(said_at),
        created_at=times.from_micros(created_at),
    )
