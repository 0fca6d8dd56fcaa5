"""What links say of memories that a recall may show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.store.base import Tx, Where
from commonplace.store.tables import links, memories
from commonplace.values import Link, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What the links of some memories say of them."""

    outdated: frozenset[str] = frozenset()
    """Messages of which something that was learned is superseded by now."""
    over: frozenset[str] = frozenset()
    """Messages that say little more than what is superseded."""
    retold: Mapping[str, str] = field(default_factory=dict)
    """Messages that say little more than a memory that was learned from them, which is the value."""
    reversed: Sequence[tuple[str, Memory]] = ()
    """Memories that were superseded, each with the id of the one that took its place."""


_MOST = 0.6
"""A message that was learned from to this extent says little else."""


def related(tx: Tx, space: int, said: Sequence[str], decided: Sequence[str], where: Where) -> Related:
    """Look up the links of messages and of decisions; what was reversed is only told where the request may see it."""
    learned = links.to(tx, space, said, "learned from") if said else []
    before = {link.other: link.id for link in links.leading(tx, space, decided, "supersedes")} if decided else {}
    rows = memories.currents(tx, space, list({link.id for link in learned})) if learned else []
    there = {row.id: memories.decode(row) for row in rows}
    standing = {id for id, memory in there.items() if memory.valid_to is None}
    past = [link for link in learned if link.id in there and link.id not in standing]
    return Related(
        outdated=frozenset(link.other for link in past),
        over=frozenset(link.other for link in past if _share(link) > _MOST),
        retold={link.other: link.id for link in learned if link.id in standing and _share(link) > _MOST},
        reversed=[(before[memory.id], memory) for memory in _seen(tx, where, before) if _reversed(memory)],
    )


def _seen(tx: Tx, where: Where, before: Mapping[str, str]) -> list[Memory]:
    """What the request may see of these; what is in quarantine is no warning either."""
    if not before:
        return []
    found = [memories.decode(row) for row in memories.some(tx, where, list(before))]
    doubtful = memories.quarantined(tx, int(str(where.params["space"])), [memory.id for memory in found])
    return [memory for memory in found if memory.id not in doubtful]


def _reversed(memory: Memory) -> bool:
    """Whether it was decided so once; what was advised against and no longer is needs no second warning."""
    return memory.valid_to is not None and memory.kind != "failure"


def _share(link: Link) -> float:
    """How much of a message a memory was learned from."""
    share = link.detail.get("share")
    return share if isinstance(share, float) else 0.0
