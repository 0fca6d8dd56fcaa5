"""A memo as it stands in a book: a memory of kind insight, which every other reader of the book finds too."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final

from commonplace.integrations.tasks.generalising import STANDING_IN
from commonplace.integrations.tasks.memo import Memo
from commonplace.recall import pack
from commonplace.recall.request import informative_words
from commonplace.values import Draft, Json, Memory, Origin, Scope, Within

KIND: Final = "insight"
MARK = "memos"
"""What the tag of every bank's memos begins with, and the key of their metadata."""


def tag(bank: str) -> str:
    """The tag that all memos of a bank bear."""
    return f"{MARK}:{bank}"


def draft(memo: Memo, bank: str, scope: Scope, origin: Origin = "user") -> Draft:
    """The memo as a memory: what it says is its insight; what it is found by is its task, too."""
    known: dict[str, Json] = {"task": memo.task, "topics": [*memo.topics], "general": memo.general}
    return Draft(
        content=memo.insight,
        text="; ".join((shown(memo.task, memo.insight), *_added(memo))),
        kind=KIND,
        tags=(tag(bank),),
        metadata={MARK: {name: value for name, value in known.items() if value}},
        scope=scope,
        origin=origin,
    )


def shown(task: str | None, insight: str) -> str:
    """What a memo is quoted as."""
    return insight if not task or task.strip() in insight else f"{insight} (Task: {task.strip()})"


def identity(memo: Memo, bank: str, scope: Scope, number: int = 1) -> str:
    """The id of a memo that is new: the same for the same words, so that two who note them at once note them once.

    `number` counts how often the words were news: another after a memo that began with them was changed.
    """
    known = (bank, scope, memo.task, memo.insight, *([number] if number > 1 else []))
    said = repr(known).encode("utf-8", "surrogatepass")
    return f"memo-{hashlib.blake2b(said, digest_size=12).hexdigest()}"


def read(memory: Memory, relevance: float | None = None) -> Memo:
    """The memo that a memory holds."""
    known = memory.metadata.get(MARK)
    told: dict[str, Any] = known if isinstance(known, dict) else {}
    task, insight = told.get("task"), memory.content if isinstance(memory.content, str) else memory.text
    return Memo(
        task=task,
        insight=insight,
        id=memory.id,
        topics=tuple(told.get("topics", ())),
        general=told.get("general"),
        version=memory.version,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        relevance=relevance,
        line=pack.write_line(memory, shown(task, insight)),
    )


def seen_by(scope: Scope) -> Within:
    """Where a bank of this scope looks: among its own memos and everybody's."""
    users, agents, sessions = (() if part is None else (part,) for part in (scope.user, scope.agent, scope.session))
    return Within(users=users, agents=agents, sessions=sessions)


def sees(ours: Scope, theirs: Scope) -> bool:
    """Whether a bank of one scope sees the memos of another."""
    pairs = ((theirs.user, ours.user), (theirs.agent, ours.agent), (theirs.session, ours.session))
    return all(their in (None, our) for their, our in pairs)


def exactly(scope: Scope) -> dict[str, object]:
    """A filter for what belongs to a scope and to nobody else."""
    parts = {"user": scope.user, "agent": scope.agent, "session": scope.session}
    return {name: {"$exists": False} if value is None else value for name, value in parts.items()}


def _added(memo: Memo) -> Iterator[str]:
    """The general terms and topics that say more than task and insight: a memo is found by them as well."""
    said = {*informative_words(f"{memo.task or ''} {memo.insight}"), *STANDING_IN}
    for text in (memo.general, *memo.topics):
        if text and not said.issuperset(words := informative_words(text)):
            said.update(words)
            yield text.strip()
