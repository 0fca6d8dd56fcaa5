"""Reading memories: one by its id, its history and links, pages of them, and how many there are."""

from __future__ import annotations

import base64
import binascii
import json

from commonplace.errors import InvalidInput
from commonplace.memories.core import Core
from commonplace.store.base import Tx
from commonplace.store.tables import entries, files, jobs, links, memories, messages
from commonplace.store.where import Selection, compile_where
from commonplace.values import Link, Memory, Page, Revision, Stats, checks, times


def get(core: Core, space: int, id: str, version: int | None) -> Memory:
    """Return a memory as it stands, or as it was at a version; raise NotFound if there is none."""
    name, now = checks.name(id, "id"), times.now()
    if version is None:
        return memories.decode(core.store.read(lambda tx: memories.current(tx, space, name, now=now), space))
    number = checks.count(version, "version", least=1)
    return memories.decode(core.store.read(lambda tx: memories.version(tx, space, name, number, now=now), space))


def history(core: Core, space: int, id: str) -> list[Revision]:
    """Return every version of a memory, oldest first."""
    name, now = checks.name(id, "id"), times.now()
    rows = core.store.read(lambda tx: memories.history(tx, space, name, now=now), space)
    return [memories.decode_revision(row) for row in rows]


def find_links(core: Core, space: int, id: str) -> list[Link]:
    """Return the links of a memory; raise NotFound if there is no such memory."""
    name, now = checks.name(id, "id"), times.now()

    def work(tx: Tx) -> list[Link]:
        memories.current(tx, space, name, now=now)
        return links.find_all(tx, space, name)

    return core.store.read(work, space)


def page(core: Core, space: int, selection: Selection, *, order: str, limit: int, cursor: str | None) -> Page:
    """Return one page of memories by when they were said, with a cursor if there are more."""
    if order not in ("newest", "oldest"):
        raise InvalidInput(f"order is 'newest' or 'oldest', not {order!r}")
    where = compile_where(core.store.syntax, space, selection, now=times.now())
    after, newest = _read_cursor(cursor, order), order == "newest"
    most = checks.count(limit, "limit", least=1, most=10_000)
    rows = core.store.read(lambda tx: memories.page(tx, where, newest=newest, limit=most + 1, after=after), space)
    found = tuple(memories.decode(row) for row in rows[:most])
    if len(rows) <= most:
        return Page(memories=found, cursor=None)
    place = json.dumps([order, rows[most - 1].said_at, found[-1].id])
    return Page(memories=found, cursor=base64.urlsafe_b64encode(place.encode()).decode())


def _read_cursor(cursor: str | None, order: str) -> tuple[int, str] | None:
    if cursor is None:
        return None
    try:
        made_for, said_at, id = json.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, TypeError, binascii.Error) as error:
        raise InvalidInput("this cursor does not come from list()") from error
    if made_for != order or type(said_at) is not int or not times.FIRST <= said_at <= times.LAST:
        raise InvalidInput("this cursor belongs to a listing in another order")
    return said_at, checks.name(id, "the cursor's id")


def stats(core: Core, space: int, name: str) -> Stats:
    """Return how much a space holds."""
    now, identity = times.now(), core.identity()
    size, engine = core.store.size(), core.store.engine

    def work(tx: Tx) -> Stats:
        kinds = memories.counts_by_kind(tx, compile_where(tx.syntax, space, Selection(), now=now))
        return Stats(
            space=name,
            memories=sum(kinds.values()),
            versions=memories.count_versions(tx, space),
            by_kind=kinds,
            entries=entries.count(tx, space, now=now),
            files=files.count(tx, space),
            messages=messages.MESSAGES.count(tx, space),
            jobs=jobs.count(tx, space),
            embedder=f"{identity.name} {identity.version}",
            dimension=identity.dimension,
            bytes=size,
            engine=engine,
        )

    return core.store.read(work, space)
