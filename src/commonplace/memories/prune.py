"""Letting go of what is old, weak or too much: by a policy, as a durable job, after a look at what would go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from commonplace.errors import InvalidInput
from commonplace.memories import strength as weigh
from commonplace.memories.core import Core
from commonplace.store.base import Tx
from commonplace.store.row import LifeRow
from commonplace.store.tables import jobs, memories, requests
from commonplace.store.where import Selection, compile_where
from commonplace.values import Forgotten, Job, Json, Kind, times

KIND = "prune"
HalfLives: TypeAlias = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which memories may go: those of these kinds and tags that are too old, too weak, or too many."""

    older_than: float | None
    """Seconds since a memory was said, or last used or repeated."""
    weaker_than: float | None
    keep: int | None
    """How many may stay: the strongest."""
    kinds: tuple[Kind, ...]
    tags: tuple[str, ...]

    def plain(self) -> dict[str, Json]:
        """The policy as a job carries it."""
        return {
            "older_than": self.older_than,
            "weaker_than": self.weaker_than,
            "keep": self.keep,
            "kinds": list(self.kinds),
            "tags": list(self.tags),
        }


def of(plain: Mapping[str, Any]) -> Policy:
    """The policy that a job carries."""
    return Policy(**{**plain, "kinds": tuple(plain["kinds"]), "tags": tuple(plain["tags"])})


def ensure_limits(policy: Policy) -> None:
    """Refuse a policy without a limit: it would let nothing go, or everything."""
    if policy.older_than is None and policy.weaker_than is None and policy.keep is None:
        raise InvalidInput("say what may go: older_than, weaker_than or keep")


def preview(tx: Tx, space: int, policy: Policy, half_lives: HalfLives) -> Forgotten:
    """What a policy would let go of, now."""
    # What was learned from an old message stays: that is what learning is for.
    ids = tuple(_chosen(tx, space, policy, half_lives, times.now()))
    return Forgotten(ids=ids, memories=len(ids), entries=0, files=0, messages=0)


def run(core: Core, space: int, job: Job, token: str) -> list[Any] | None:
    """Do what a job's policy says; None if somebody else has it by now."""

    def work(tx: Tx) -> list[Any] | None:
        if not jobs.is_owned(tx, space, job.number, token):
            return None
        gone = preview(tx, space, of(job.payload), core.settings.half_lives)
        if gone.ids:
            memories.forget(tx, space, gone.ids)
            requests.purge(tx, space)
        jobs.finish(tx, space, job.number)
        return []

    done = core.store.write(work, space)
    core.store.scrub(space)
    return done


def _chosen(tx: Tx, space: int, policy: Policy, half_lives: HalfLives, now: int) -> list[str]:
    where = compile_where(tx.dialect, space, Selection(kinds=policy.kinds, tags=policy.tags, superseded=True), now=now)
    found = [(_vigour(row, half_lives, now), row) for row in memories.lives(tx, where)]
    going = {row.id for vigour, row in found if _is_due(vigour, row, policy, now)}
    if policy.keep is not None:
        staying = [(row.stands, vigour, row.said_at, row.id) for vigour, row in found if row.id not in going]
        going |= {id for *_, id in sorted(staying, reverse=True)[policy.keep :]}
    return sorted(going)


def _is_due(vigour: float, row: LifeRow, policy: Policy, now: int) -> bool:
    if policy.older_than is not None and (now - _last(row)) / 1e6 > policy.older_than:
        return True
    return policy.weaker_than is not None and vigour < policy.weaker_than


def _vigour(row: LifeRow, half_lives: HalfLives, now: int) -> float:
    strength = weigh.strength(
        row.importance, used=row.used, ignored=row.ignored, wrong=row.wrong, confirmed=row.confirmed
    )
    return weigh.freshness((now - _last(row)) / 1e6, half_lives[row.kind]) * strength


def _last(row: LifeRow) -> int:
    """When a memory was said, or last of use."""
    return max(row.said_at, row.last_use)
