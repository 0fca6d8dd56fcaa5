"""Pages, cursors and counts."""

from __future__ import annotations

import base64
import binascii
import json

from commonplace.errors import InvalidInput
from commonplace.memories.identity import Identity
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import entries, files, jobs, memories, messages
from commonplace.store.where import Selection, compile_where
from commonplace.values import Page, Stats, checks, times


def newest_first(order: str) -> bool:
    """Whether an order begins with what was said last."""
    if order not in ("newest", "oldest"):
        raise InvalidInput(f"order is 'newest' or 'oldest', not {order!r}")
    return order == "newest"


def page(rows: list[MemoryRow], limit: int, order: str) -> Page:
    """The first `limit` rows, with a cursor if there is a further one."""
    found = tuple(memories.decode(row) for row in rows[:limit])
    if len(rows) <= limit:
        return Page(memories=found, cursor=None)
    place = [order, rows[limit - 1].said_at, found[-1].id]
    return Page(memories=found, cursor=base64.urlsafe_b64encode(json.dumps(place).encode()).decode())


def after(cursor: str | None, order: str) -> tuple[int, str] | None:
    """The place in time that a cursor stands for."""
    if cursor is None:
        return None
    try:
        made_for, said_at, id = json.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, TypeError, binascii.Error) as error:
        raise InvalidInput("this cursor does not come from list()") from error
    if made_for != order or type(said_at) is not int or not times.FIRST <= said_at <= times.LAST:
        raise InvalidInput("this cursor belongs to a listing in another order")
    return said_at, checks.name(id, "the cursor's id")


def stats(tx: Tx, space: int, name: str, identity: Identity, *, size: int, engine: str) -> Stats:
    """What a space holds at this moment, in a store of that size."""
    now = times.now()
    kinds = memories.counts_by_kind(tx, compile_where(tx.dialect, space, Selection(), now=now))
    return Stats(
        space=name,
        memories=sum(kinds.values()),
        versions=memories.count_versions(tx, space),
        by_kind=kinds,
        entries=entries.count(tx, space, now=now),
        files=files.count(tx, space),
        messages=messages.count(tx, space),
        jobs=jobs.count(tx, space),
        embedder=f"{identity.name} {identity.version}",
        dimension=identity.dimension,
        bytes=size,
        engine=engine,
    )
