"""Statements on `message`: transcripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from commonplace.store.base import Params, Tx
from commonplace.store.row import make_scope
from commonplace.store.tables.table import Table
from commonplace.values import NOBODY, Message, Scope, times


class MessageRow(NamedTuple):
    """A message of a session; content and metadata as JSON text."""

    session: str
    number: int
    role: str
    name: str | None
    content: str
    metadata: str
    said_at: int
    created_at: int
    scope_user: str | None = None
    scope_agent: str | None = None

    def decode(self) -> Message:
        return Message(
            number=self.number,
            role=self.role,
            name=self.name,
            content=json.loads(self.content),
            metadata=json.loads(self.metadata),
            said_at=times.from_micros(self.said_at),
            created_at=times.from_micros(self.created_at),
            scope=make_scope(self.scope_user, self.scope_agent),
        )


MESSAGES = Table(
    name="messages",
    table="message",
    start=("", 0),
    columns=MessageRow._fields,
    make=MessageRow._make,
    size="octet_length(content)",
)
_OF_SESSION = "space = :space AND session = :session"
ERASED = ""
"""The role of the placeholder in a session whose last message was erased: no later message gets its number."""
_STANDING = f"role <> '{ERASED}'"
_UNLIMITED = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message to be written: checked, with JSON as text, without its number."""

    role: str
    name: str | None
    content: str
    metadata: str
    said_at: int


def append(
    tx: Tx, space: int, session: str, lines: Sequence[Line], *, now: int, scope: Scope = NOBODY
) -> list[Message]:
    """Add messages at the end, numbered without gaps."""
    ((last,),) = tx.run(
        f"SELECT coalesce(max(number), 0) FROM message WHERE {_OF_SESSION}", {"space": space, "session": session}
    )
    owner = (scope.user, scope.agent)
    rows = [
        MessageRow(session, last + i, line.role, line.name, line.content, line.metadata, line.said_at, now, *owner)
        for i, line in enumerate(lines, start=1)
    ]
    tx.many(MESSAGES.insert, [MESSAGES.params(space, row) for row in rows])
    return [row.decode() for row in rows]


def after(tx: Tx, space: int, session: str, number: int, limit: int | None) -> list[Message]:
    """Return the messages after message `number`, oldest first."""
    rows = MESSAGES.select(
        tx,
        f"{_OF_SESSION} AND {_STANDING} AND number > :after ORDER BY number LIMIT :limit",
        {"space": space, "session": session, "after": number, "limit": _UNLIMITED if limit is None else limit},
    )
    return [row.decode() for row in rows]


def tail(tx: Tx, space: int, session: str, limit: int) -> list[Message]:
    """Return the last messages, oldest first."""
    params: Params = {"space": space, "session": session, "limit": limit}
    rows = MESSAGES.select(tx, f"{_OF_SESSION} AND {_STANDING} ORDER BY number DESC LIMIT :limit", params)
    return [row.decode() for row in reversed(rows)]


def sessions(tx: Tx, space: int) -> list[str]:
    """Return the sessions with a transcript, sorted."""
    rows = tx.run("SELECT DISTINCT session FROM message WHERE space = :space ORDER BY session", {"space": space})
    return [session for (session,) in rows]


def forget(tx: Tx, space: int, session: str) -> int:
    """Remove every message of a session and return how many there were."""
    place: Params = {"space": space, "session": session}
    erased = int(tx.run(f"SELECT count(*) FROM message WHERE {_OF_SESSION} AND {_STANDING}", place)[0][0])
    tx.run(f"DELETE FROM message WHERE {_OF_SESSION}", place)
    return erased
