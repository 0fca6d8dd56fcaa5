"""Forgetting: what is removed, everywhere, and the account of it."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.errors import InvalidInput, NotFound
from commonplace.store.base import Tx
from commonplace.store.tables import entries, files, jobs, links, memories, messages, requests
from commonplace.store.where import Selection, compile_where
from commonplace.values import Forgotten, times

ALL = Selection(superseded=True, expired=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a caller wants forgotten: ids, or a selection, or everything."""

    ids: tuple[str, ...] | None
    selection: Selection
    everything: bool


def ensure_one_way(wanted: Wanted) -> None:
    """Refuse a call that selects nothing, or in two ways at once: forgetting cannot be undone."""
    ways = [wanted.ids is not None, wanted.selection != ALL, wanted.everything]
    if sum(ways) != 1:
        raise InvalidInput(
            "say what to forget in one way: an id or a list of ids; or scope, filter, kinds and tags;"
            " or everything=True"
        )


def preview(tx: Tx, space: int, wanted: Wanted) -> Forgotten:
    """What `forget` would remove."""
    ids = chosen(tx, space, wanted)
    if not wanted.everything:
        return Forgotten(ids=ids, memories=len(ids), entries=0, files=0, messages=0)
    return Forgotten(
        ids=ids,
        memories=len(ids),
        entries=entries.count(tx, space, now=times.now()),
        files=files.count(tx, space),
        messages=messages.count(tx, space),
    )


def forget(tx: Tx, space: int, wanted: Wanted) -> Forgotten:
    """Remove what is wanted, all or nothing."""
    removed = preview(tx, space, wanted)
    if wanted.everything:
        for part in (memories, entries, files, messages, jobs, requests):
            part.forget_all(tx, space)
    elif removed.ids:
        memories.forget(tx, space, removed.ids)
        requests.purge(tx, space)
    return removed


def forget_session(tx: Tx, space: int, session: str) -> int:
    """Remove a session's transcript and what was learned from it and from nothing else; returns how many messages."""
    said = tuple(link.id for link in links.to(tx, space, [session], "said in"))
    if said:
        memories.forget(tx, space, with_derived(tx, space, said))
    requests.purge(tx, space)
    return messages.forget(tx, space, session)


def chosen(tx: Tx, space: int, wanted: Wanted) -> tuple[str, ...]:
    """The ids of what is wanted, with what was learned from it and from nothing else."""
    if wanted.ids is None:
        where = compile_where(tx.dialect, space, wanted.selection, now=times.now())
        return with_derived(tx, space, memories.ids(tx, where))
    known = set(memories.known_ids(tx, space, wanted.ids))
    missing = [id for id in wanted.ids if id not in known]
    if missing:
        raise NotFound(f"no memory with id {missing[0]!r} in this space; nothing was changed")
    return with_derived(tx, space, tuple(dict.fromkeys(wanted.ids)))


def with_derived(tx: Tx, space: int, ids: tuple[str, ...]) -> tuple[str, ...]:
    """These memories and what was learned from them and from nothing else."""
    while ids and (more := [id for id in links.derived(tx, space, ids) if id not in set(ids)]):
        ids = (*ids, *more)
    return ids
