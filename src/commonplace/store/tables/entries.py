"""Statements on `entry`: key-value entries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.errors import Conflict, InvalidInput, TooLarge
from commonplace.store.base import Tx
from commonplace.store.row import make_scope
from commonplace.store.tables.table import Table
from commonplace.values import NOBODY, Entry, Json, Scope, times


class EntryRow(NamedTuple):
    """An entry; a deleted one has no value."""

    namespace: str
    key: str
    value: str | None
    version: int
    updated_at: int
    expires_at: int | None
    scope_user: str | None = None
    scope_agent: str | None = None
    scope_session: str | None = None

    def stands(self, now: int) -> bool:
        """Whether the entry was neither deleted nor has expired."""
        return self.value is not None and (self.expires_at is None or self.expires_at > now)

    @property
    def scope(self) -> Scope:
        """Whom the entry belongs to."""
        return make_scope(self.scope_user, self.scope_agent, self.scope_session)

    @property
    def has_text(self) -> bool:
        """Whether the value is or holds a text, and is not just a number, true, false or null."""
        return self.value is not None and self.value[0] in '"[{'

    def decode(self) -> Entry:
        return Entry(
            key=self.key,
            value=json.loads(self.value or "null"),
            version=self.version,
            updated_at=times.from_micros(self.updated_at),
            expires_at=None if self.expires_at is None else times.from_micros(self.expires_at),
            scope=self.scope,
        )


ENTRIES = Table(
    name="entries",
    table="entry",
    start=("", ""),
    columns=EntryRow._fields,
    make=EntryRow._make,
    rank="version",
    versioned=True,
    size="octet_length(value)",
)
_PUT = f"{ENTRIES.insert} {ENTRIES.update}"
_STANDING = "FROM entry WHERE space = :space AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > :now)"
_SWEEP = """UPDATE entry SET value = NULL, expires_at = NULL, version = version + 1
    WHERE space = :space AND expires_at <= :now"""


def get(tx: Tx, space: int, namespace: str, key: str, *, now: int) -> Entry | None:
    """Return the entry; None if it was never set, was deleted, or has expired."""
    row = _find(tx, space, namespace, key)
    return row.decode() if row is not None and row.stands(now) else None


def put(
    tx: Tx,
    space: int,
    namespace: str,
    key: str,
    value: str | None,
    *,
    now: int,
    expires: int | None,
    if_version: int | None,
    scope: Scope | None = None,
) -> tuple[EntryRow, bool]:
    """Set an entry to JSON text (None deletes it); Conflict if it is not at `if_version`.

    Return it, and whether a value with text was replaced. Without a scope it keeps its owner. Expired entries are
    removed on this occasion.
    """
    tx.run(_SWEEP, {"space": space, "now": now})
    row = _find(tx, space, namespace, key)
    standing = row.version if row is not None and row.stands(now) else 0
    if if_version is not None and if_version != standing:
        raise Conflict(f"{namespace}/{key} is at version {standing}, not {if_version}: read it again", current=standing)
    version = 1 if row is None else row.version + 1
    # A deleted entry keeps its owner, since its key may tell about them; a new one in its place does not.
    kept = NOBODY if row is None or (row.value is None and value is not None) else row.scope
    owner = kept if scope is None else scope
    new = EntryRow(namespace, key, value, version, now, expires, owner.user, owner.agent, owner.session)
    tx.run(_PUT, ENTRIES.params(space, new))
    return new, row is not None and row.has_text and row.value != value


def remove(tx: Tx, space: int, namespace: str, key: str, *, now: int, if_version: int | None) -> bool:
    """Delete an entry, keeping only its version; False if there was none."""
    if get(tx, space, namespace, key, now=now) is None and not if_version:
        return False
    put(tx, space, namespace, key, None, now=now, expires=None, if_version=if_version)
    return True


def append(
    tx: Tx,
    space: int,
    namespace: str,
    key: str,
    items: Sequence[Json],
    *,
    now: int,
    limit: int,
    scope: Scope | None = None,
) -> Entry:
    """Add items to the end of a list, creating it if needed; concurrent appends lose nothing."""
    row = _find(tx, space, namespace, key)
    old = row.decode().value if row is not None and row.stands(now) else []
    if not isinstance(old, list):
        raise InvalidInput(f"{namespace}/{key} holds {type(old).__name__}, not a list: append needs a list")
    expires = row.expires_at if row is not None and row.stands(now) else None
    text = json.dumps([*old, *items], ensure_ascii=False)
    if len(text.encode()) > limit:
        raise TooLarge(f"{namespace}/{key} would grow beyond {limit:,} bytes")
    entry, _ = put(tx, space, namespace, key, text, now=now, expires=expires, if_version=None, scope=scope)
    return entry.decode()


def keys(tx: Tx, space: int, namespace: str, *, prefix: str, now: int) -> list[str]:
    """Return the keys with a prefix, sorted."""
    rows = tx.run(
        f"SELECT key {_STANDING} AND namespace = :namespace AND substr(key, 1, length(:prefix)) = :prefix ORDER BY key",
        {"space": space, "namespace": namespace, "prefix": prefix, "now": now},
    )
    return [key for (key,) in rows]


def namespaces(tx: Tx, space: int, *, now: int) -> list[str]:
    """Return the namespaces with entries, sorted."""
    rows = tx.run(f"SELECT DISTINCT namespace {_STANDING} ORDER BY namespace", {"space": space, "now": now})
    return [name for (name,) in rows]


def count(tx: Tx, space: int, *, now: int) -> int:
    """Return the number of entries."""
    return int(tx.run(f"SELECT count(*) {_STANDING}", {"space": space, "now": now})[0][0])


def _find(tx: Tx, space: int, namespace: str, key: str) -> EntryRow | None:
    condition = "space = :space AND namespace = :namespace AND key = :key"
    rows = ENTRIES.select(tx, condition, {"space": space, "namespace": namespace, "key": key})
    return rows[0] if rows else None
