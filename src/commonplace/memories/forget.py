"""Removing memories: those that a caller names, and those that a policy prunes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from commonplace.errors import InvalidInput, NotFound
from commonplace.memories import strength
from commonplace.memories.core import Core
from commonplace.store.base import Tx
from commonplace.store.row import LifeRow
from commonplace.store.tables import entries, files, jobs, links, memories, messages, requests
from commonplace.store.where import Selection, compile_where, select
from commonplace.values import Forgotten, Job, Kind, Scope, checks, times

ALL = Selection(superseded=True, expired=True)
PRUNE = "prune"
"""The kind of the job that prunes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The memories that a verb is about: ids, or a selection, or everything."""

    ids: tuple[str, ...] | None
    selection: Selection
    everything: bool


def make_targets(
    id: str | Sequence[str] | None,
    *,
    scope: Scope | None = None,
    filter: Mapping[str, object] | None = None,
    kinds: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    everything: bool = False,
) -> Targets:
    """Check which memories a caller names; raise InvalidInput for none, or for two ways to name them at once."""
    targets = Targets(
        ids=None if id is None else checks.names([id] if isinstance(id, str) else id, "id"),
        selection=select(
            filter=filter, within=scope and checks.only(scope), kinds=kinds, tags=tags, superseded=True, expired=True
        ),
        everything=everything,
    )
    if sum((targets.ids is not None, targets.selection != ALL, everything)) != 1:
        raise InvalidInput(
            "select the memories by an id or a list of ids, by scope, filter, kinds and tags, or with everything=True"
        )
    return targets


def forget(core: Core, space: int, targets: Targets, *, dry_run: bool) -> Forgotten:
    """Remove the targets, all or nothing, with what was learned from them alone; a dry run only looks them up."""
    if dry_run:
        return core.store.read(partial(_preview, space=space, targets=targets), space)
    forgotten = core.store.write(partial(_forget, space=space, targets=targets), space)
    core.store.scrub(space)
    return forgotten


def _preview(tx: Tx, space: int, targets: Targets) -> Forgotten:
    ids = find_ids(tx, space, targets)
    if not targets.everything:
        return Forgotten(ids=ids, memories=len(ids), entries=0, files=0, messages=0)
    return Forgotten(
        ids=ids,
        memories=len(ids),
        entries=entries.count(tx, space, now=times.now()),
        files=files.count(tx, space),
        messages=messages.MESSAGES.count(tx, space),
    )


def _forget(tx: Tx, space: int, targets: Targets) -> Forgotten:
    removed = _preview(tx, space, targets)
    if targets.everything:
        for part in (memories, entries.ENTRIES, files.FILES, messages.MESSAGES, jobs, requests):
            part.forget_all(tx, space)
    elif removed.ids:
        memories.forget(tx, space, removed.ids)
        requests.purge(tx, space)
    return removed


def forget_session(tx: Tx, space: int, session: str) -> int:
    """Remove a session's transcript and what was learned from it alone; return how many messages it had."""
    said = tuple(link.id for link in links.find_to(tx, space, [session], "said in"))
    if said:
        memories.forget(tx, space, add_derived(tx, space, said))
    requests.purge(tx, space)
    return messages.forget(tx, space, session)


def find_ids(tx: Tx, space: int, targets: Targets) -> tuple[str, ...]:
    """Return the ids of the targets, with what was learned from them alone; raise NotFound for an unknown id."""
    if targets.ids is None:
        where = compile_where(tx.syntax, space, targets.selection, now=times.now())
        return add_derived(tx, space, memories.ids(tx, where))
    known = set(memories.known_ids(tx, space, targets.ids))
    missing = [id for id in targets.ids if id not in known]
    if missing:
        raise NotFound(f"no memory with id {missing[0]!r} in this space; nothing was changed")
    return add_derived(tx, space, tuple(dict.fromkeys(targets.ids)))


def add_derived(tx: Tx, space: int, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return memories and what was learned from them alone."""
    while ids and (more := [id for id in links.find_derived(tx, space, ids) if id not in set(ids)]):
        ids = (*ids, *more)
    return ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The memories to prune: those of these kinds and tags that are too old, too weak, or too many."""

    older_than: float | None
    """Seconds since a memory was said, or last used or repeated."""
    weaker_than: float | None
    keep: int | None
    """Number of memories that stay, the strongest first."""
    kinds: tuple[Kind, ...]
    tags: tuple[str, ...]


def make_policy(
    *,
    older_than: float | None = None,
    weaker_than: float | None = None,
    keep: int | None = None,
    kinds: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
) -> Policy:
    """Check a caller's policy; raise InvalidInput for one without a limit."""
    if older_than is None and weaker_than is None and keep is None:
        raise InvalidInput("a policy needs a limit: older_than, weaker_than or keep")
    return Policy(
        older_than=None if older_than is None else checks.amount(older_than, "older_than"),
        weaker_than=None if weaker_than is None else checks.amount(weaker_than, "weaker_than"),
        keep=None if keep is None else checks.count(keep, "keep"),
        kinds=checks.kinds(kinds),
        tags=checks.names(tags, "tags"),
    )


def preview_prune(core: Core, space: int, policy: Policy) -> Forgotten:
    """Return what a policy would remove now."""
    return core.store.read(lambda tx: _find_pruned(tx, space, policy, core.settings.half_lives), space)


def queue_prune(core: Core, space: int, policy: Policy) -> int:
    """Queue the job that prunes by a policy; return its number."""
    payload = {**asdict(policy), "kinds": list(policy.kinds), "tags": list(policy.tags)}
    add = partial(jobs.add, space=space, kind=PRUNE, payload=payload, most=core.settings.max_jobs)
    return core.store.write(add, space)


def run_prune(core: Core, space: int, job: Job, token: str) -> list[Any] | None:
    """Prune by the policy that a job carries; return None if another worker owns the job by now."""
    plain: dict[str, Any] = dict(job.payload)
    policy = Policy(**{**plain, "kinds": tuple(plain["kinds"]), "tags": tuple(plain["tags"])})

    def work(tx: Tx) -> list[Any] | None:
        if not jobs.is_owned(tx, space, job.number, token):
            return None
        if ids := _find_pruned(tx, space, policy, core.settings.half_lives).ids:
            memories.forget(tx, space, ids)
            requests.purge(tx, space)
        jobs.finish(tx, space, job.number)
        return []

    done = core.store.write(work, space)
    core.store.scrub(space)
    return done


def _find_pruned(tx: Tx, space: int, policy: Policy, half_lives: Mapping[str, float]) -> Forgotten:
    """Return what to remove. What was learned from an old message stays: that is what learning is for."""
    now = times.now()
    where = compile_where(tx.syntax, space, Selection(kinds=policy.kinds, tags=policy.tags, superseded=True), now=now)
    found = [(_vigour(row, half_lives, now), row) for row in memories.lives(tx, where)]
    going = {row.id for vigour, row in found if _is_due(vigour, row, policy, now)}
    if policy.keep is not None:
        staying = [(row.stands, vigour, row.said_at, row.id) for vigour, row in found if row.id not in going]
        going |= {id for *_, id in sorted(staying, reverse=True)[policy.keep :]}
    return Forgotten(ids=tuple(sorted(going)), memories=len(going), entries=0, files=0, messages=0)


def _is_due(vigour: float, row: LifeRow, policy: Policy, now: int) -> bool:
    if policy.older_than is not None and (now - max(row.said_at, row.last_use)) / 1e6 > policy.older_than:
        return True
    return policy.weaker_than is not None and vigour < policy.weaker_than


def _vigour(row: LifeRow, half_lives: Mapping[str, float], now: int) -> float:
    """Return what time, importance and use leave of a memory."""
    age = (now - max(row.said_at, row.last_use)) / 1e6
    return strength.freshness(age, half_lives[row.kind]) * strength.strength(
        row.importance, used=row.used, ignored=row.ignored, wrong=row.wrong, confirmed=row.confirmed
    )
