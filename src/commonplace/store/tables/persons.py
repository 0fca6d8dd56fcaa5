"""Statements that find and remove what belongs to a user, an agent, a session or a source.

Memories, entries, files and messages carry the scope that they were written with. A source is the speaker of a memory
or a message, or the only author of a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from commonplace.store.base import Params, Tx
from commonplace.store.tables import messages
from commonplace.store.tables.table import among
from commonplace.values import Mention, PersonPart, User


class Person(NamedTuple):
    """A user, agent, session or source by name."""

    part: PersonPart
    name: str


class Owned(NamedTuple):
    """A record that belongs to a person: its table, its key, and its size in bytes."""

    table: str
    key: tuple[str | int, ...]
    size: int


# The condition of each table for each part; tables without one hold nothing of it.
_NEWEST = """NOT EXISTS (SELECT 1 FROM file n WHERE n.space = file.space AND n.canvas = file.canvas
    AND n.path = file.path AND n.revision > file.revision)"""
_SAID = f"role <> '{messages.ERASED}'"
_OWNED: Mapping[str, Mapping[str, str]] = {
    "memory": {
        "user": "scope_user = :name",
        "agent": "scope_agent = :name",
        "session": "scope_session = :name",
        "source": "source = :name",
    },
    "message": {
        "user": f"scope_user = :name AND {_SAID}",
        "agent": f"scope_agent = :name AND {_SAID}",
        "session": f"session = :name AND {_SAID}",
        "source": f"name = :name AND {_SAID}",
    },
    "entry": {
        "user": "scope_user = :name",
        "agent": "scope_agent = :name",
        "session": "scope_session = :name",
    },
    "file": {
        "user": f"scope_user = :name AND {_NEWEST}",
        "agent": f"scope_agent = :name AND {_NEWEST}",
        "session": f"scope_session = :name AND {_NEWEST}",
        "source": f"""author = :name AND {_NEWEST} AND NOT EXISTS (SELECT 1 FROM file o WHERE o.space = file.space
            AND o.canvas = file.canvas AND o.path = file.path AND coalesce(o.author, '') <> :name)""",
    },
}
_KEYS = {"memory": "id", "message": "session, number", "entry": "namespace, key", "file": "canvas, path"}
_SIZES = {
    "memory": "sum(octet_length(text) + coalesce(octet_length(content), 0))",
    "message": "sum(octet_length(content))",
    "entry": "sum(coalesce(octet_length(value), 0))",
    "file": "sum(coalesce(octet_length(content), 0))",
}
_NAMES = {
    "user": {"memory": "scope_user", "message": "scope_user", "entry": "scope_user", "file": "scope_user"},
    "agent": {"memory": "scope_agent", "message": "scope_agent", "entry": "scope_agent", "file": "scope_agent"},
    "session": {"memory": "scope_session", "message": "session", "entry": "scope_session", "file": "scope_session"},
    "source": {"memory": "source", "message": "name", "file": "author"},
}
"""The columns in which a person of each part may be named."""


def find(tx: Tx, space: int, person: Person, *, limit: int) -> list[Owned]:
    """Return records that belong to a person, up to `limit` of each table."""
    found = []
    params: Params = {"space": space, "name": person.name, "limit": limit}
    for table, conditions in _OWNED.items():
        if person.part in conditions:
            key = _KEYS[table]
            rows = tx.run(
                f"SELECT {key}, {_SIZES[table]} FROM {table} WHERE space = :space AND {conditions[person.part]}"
                f" GROUP BY {key} ORDER BY {key} LIMIT :limit",
                params,
            )
            found += [Owned(table, tuple(row[:-1]), int(row[-1] or 0)) for row in rows]
    return found


def names(tx: Tx, space: int, part: PersonPart) -> set[str]:
    """Return every name of a part that occurs in a space."""
    found: set[str] = set()
    for table, column in _NAMES[part].items():
        rows = tx.run(f"SELECT DISTINCT {column} FROM {table} WHERE space = :space", {"space": space})
        found |= {name for (name,) in rows if name is not None}
    return found


def users(tx: Tx, space: int) -> list[User]:
    """Return the users of a space by name, with how much belongs to each."""
    counted: dict[str, dict[str, int]] = {}
    for table, part, condition in (
        ("memory", "memories", "ended_at IS NULL"),
        ("entry", "entries", "value IS NOT NULL"),
        ("file", "files", f"content IS NOT NULL AND {_NEWEST}"),
        ("message", "messages", _SAID),
    ):
        rows = tx.run(
            f"SELECT scope_user, count(*) FROM {table} WHERE space = :space AND scope_user IS NOT NULL AND {condition}"
            " GROUP BY scope_user",
            {"space": space},
        )
        for name, count in rows:
            counted.setdefault(name, {})[part] = int(count)
    nothing = dict.fromkeys(("memories", "entries", "files", "messages"), 0)
    return [User(name=name, **{**nothing, **counts}) for name, counts in sorted(counted.items())]


# -- removing ------------------------------------------------------------------------------------------


def still_owned(tx: Tx, space: int, person: Person, ids: Sequence[str]) -> tuple[str, ...]:
    """Return those of these memories that still belong to a person."""
    condition, params = among(tx, "id", space, ids)
    owned = _OWNED["memory"][person.part]
    rows = tx.run(f"SELECT DISTINCT id FROM memory WHERE {condition} AND {owned}", {**params, "name": person.name})
    return tuple(id for (id,) in rows)


def count_beside(tx: Tx, space: int, ids: Sequence[str]) -> dict[str, int]:
    """Return how much goes with these memories: versions, tags, feedback and links."""
    params: Params = {"space": space, "names": json.dumps(list(ids))}
    inside, other = (tx.syntax.among(column, ":names", "text") for column in ("id", "other"))
    versions = tx.run(f"SELECT tags FROM memory WHERE space = :space AND {inside}", params)
    ((feedback, links),) = tx.run(
        f"""SELECT (SELECT count(*) FROM feedback WHERE space = :space AND {inside}),
        (SELECT count(*) FROM link WHERE space = :space AND {inside})
        + (SELECT count(*) FROM link WHERE space = :space AND {other} AND NOT {inside} AND relation <> 'said in')""",
        params,
    )
    tags = sum(len(json.loads(tags)) for (tags,) in versions)
    return {"versions": len(versions), "tags": tags, "feedback": int(feedback), "links": int(links)}


def blank_reasons(tx: Tx, space: int, ids: Sequence[str]) -> None:
    """Remove the reasons that these memories left in the histories of others, and the pointers to them."""
    params: Params = {"space": space, "names": json.dumps(list(ids))}
    made = tx.syntax.among("id", ":names", "text")
    others = f"""space = :space AND id IN (SELECT other FROM link WHERE space = :space AND {made}
        AND relation IN ('supersedes', 'withdraws'))"""
    pointing = tx.syntax.among("superseded_by", ":names", "text")
    tx.run(f"UPDATE memory SET reason = NULL, superseded_by = NULL WHERE {others} AND {pointing}", params)
    tx.run(f"UPDATE memory SET reason = NULL WHERE {others} AND action = 'withdrawn'", params)


def remove_messages(tx: Tx, space: int, keys: Sequence[tuple[str, int]], *, now: int) -> list[tuple[str, int]]:
    """Remove messages and return those that existed; the last number of a session that goes on is not used again."""
    removed: list[tuple[str, int]] = []
    for session in dict.fromkeys(session for session, _ in keys):
        place: Params = {"space": space, "session": session}
        of_session = "space = :space AND session = :session"
        ((last,),) = tx.run(f"SELECT coalesce(max(number), 0) FROM message WHERE {of_session}", place)
        numbers = json.dumps([number for each, number in keys if each == session])
        gone = f"{of_session} AND {tx.syntax.among('number', ':numbers', 'integer')}"
        wanted = {**place, "numbers": numbers}
        rows = tx.run(f"DELETE FROM message WHERE {gone} RETURNING number, role", wanted)
        removed += [(session, int(number)) for number, role in rows if role != messages.ERASED]
        ((left, newest),) = tx.run(
            f"SELECT count(CASE WHEN {_SAID} THEN 1 END), coalesce(max(number), 0) FROM message WHERE {of_session}",
            place,
        )
        if not left:
            tx.run(f"DELETE FROM message WHERE {of_session}", place)
        elif newest < last:
            mark = messages.MessageRow(session, last, messages.ERASED, None, "null", "{}", now, now)
            tx.run(messages.MESSAGES.insert, messages.MESSAGES.params(space, mark))
    return removed


def remove_entry(tx: Tx, space: int, namespace: str, key: str) -> int:
    """Remove an entry with its version; return how many there were."""
    place: Params = {"space": space, "namespace": namespace, "key": key}
    of_key = "space = :space AND namespace = :namespace AND key = :key"
    return len(tx.run(f"DELETE FROM entry WHERE {of_key} RETURNING key", place))


def remove_file(tx: Tx, space: int, canvas: str, path: str) -> int:
    """Remove every revision of a file; return how many there were."""
    place: Params = {"space": space, "canvas": canvas, "path": path}
    of_path = "space = :space AND canvas = :canvas AND path = :path"
    return len(tx.run(f"DELETE FROM file WHERE {of_path} RETURNING revision", place))


# -- mentions ------------------------------------------------------------------------------------------


class Named(NamedTuple):
    """A record that may hold a name, and its texts."""

    mention: Mention
    texts: tuple[str, ...]


_SEARCHED = (
    ("memory", "id", ("text", "tags", "metadata", "source", "reason", "id"), ""),
    ("link", "id", ("detail", "reason"), ""),
    ("entry", "namespace, key", ("namespace", "key", "value"), ""),
    ("file", "canvas, path", ("canvas", "path", "author", "content"), ""),
    ("message", "session, number", ("session", "name", "content", "metadata"), f" AND {_SAID}"),
)


def find_named(tx: Tx, space: int, name: str, *, limit: int) -> list[Named]:
    """Return the records with a text that contains a name, in any case of ASCII letters."""
    found = []
    params: Params = {"space": space, "name": _lower(name), "limit": limit}
    for table, key, columns, also in _SEARCHED:
        holds = " OR ".join(tx.syntax.inside(f"lower({column})", ":name") for column in columns)
        rows = tx.run(
            f"SELECT {key}, {', '.join(columns)} FROM {table} WHERE space = :space AND ({holds}){also}"
            f" ORDER BY {key} LIMIT :limit",
            params,
        )
        width = key.count(",") + 1
        for row in rows:
            place = "/".join(map(str, row[:width]))
            part = "memory" if table == "link" else table
            mention = Mention(part=part, place=place, reason="named")  # type: ignore[arg-type]  # the tables' names
            found.append(Named(mention, tuple(text for text in row[width:] if text is not None)))
    return found


def _lower(name: str) -> str:
    """Return a name with ASCII letters in lower case, as both engines' lower() does."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)
