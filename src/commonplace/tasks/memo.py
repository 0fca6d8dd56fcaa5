"""Memo: an insight and the task it was gained on; and how a memo stands in a book as a memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from commonplace.recall import pack
from commonplace.values import Draft, Json, Memory, Scope

KIND: Final = "insight"
MARK = "memos"
"""What the tag of every bank's memos begins with, and the key of their metadata."""
LEAD = "Noted on earlier tasks; use what helps with this one."


@dataclass(frozen=True, slots=True)
class Memo:
    """What may help with a task like `task`: a hint, a plan, a demonstration, something that a user said."""

    task: str | None
    insight: str
    id: str = ""
    topics: tuple[str, ...] = ()
    general: str | None = None
    """The task in general terms, where somebody has put it so."""
    version: int = 1
    created_at: datetime | None = None
    updated_at: datetime | None = None
    relevance: float | None = None
    """How likely it is that the memo helps with the task it was retrieved for; None for one that was only listed."""
    line: str = field(default="", repr=False, compare=False)
    """The memo as prompts quote it: one line that its text cannot leave."""


def tag(bank: str) -> str:
    """The tag that all memos of a bank bear."""
    return f"{MARK}:{bank}"


def draft(memo: Memo, bank: str, scope: Scope) -> Draft:
    """The memo as a memory: what it says is its insight, what it is found by is its task, too."""
    known: dict[str, Json] = {"task": memo.task, "topics": [*memo.topics], "general": memo.general}
    return Draft(
        content=memo.insight,
        text=text(memo.task, memo.insight),
        kind=KIND,
        tags=(tag(bank),),
        metadata={MARK: {name: value for name, value in known.items() if value}},
        scope=scope,
        id=identity(memo, bank, scope),
    )


def text(task: str | None, insight: str) -> str:
    """What a memo is found by and quoted with."""
    return insight if not task or task.strip() in insight else f"{insight} (Task: {task.strip()})"


def identity(memo: Memo, bank: str, scope: Scope) -> str:
    """The id of a memo that is new: the same for the same words, so that two who note them at once note them once."""
    said = repr((bank, scope, memo.task, memo.insight)).encode("utf-8", "surrogatepass")
    return f"memo-{hashlib.blake2b(said, digest_size=12).hexdigest()}"


def read(memory: Memory, relevance: float | None = None) -> Memo:
    """The memo that a memory holds."""
    known = memory.metadata.get(MARK)
    told = known if isinstance(known, dict) else {}
    task, general, topics = told.get("task"), told.get("general"), told.get("topics")
    return Memo(
        task=task if isinstance(task, str) else None,
        insight=memory.content if isinstance(memory.content, str) else memory.text,
        id=memory.id,
        topics=tuple(each for each in topics if isinstance(each, str)) if isinstance(topics, list) else (),
        general=general if isinstance(general, str) else None,
        version=memory.version,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        relevance=relevance,
        line=pack.line(memory),
    )


def unsaved(task: str, insight: str) -> Memo:
    """An insight that is still on trial, quoted as it would be from the book."""
    return Memo(task=task, insight=insight, line=f"- {pack.quoted(insight)}")


def demonstration(task: str, solution: str) -> str:
    """A task that was solved, as an insight for others like it."""
    return f"A task like this one: {task.strip()}\nHow it was solved: {solution.strip()}"


def section(memos: Iterable[Memo]) -> str:
    """What a prompt says of memos: each quoted as data, under a heading; nothing for none."""
    lines = [memo.line for memo in memos]
    return "\n".join((LEAD, pack.HEADER, *lines)) if lines else ""


def beside(task: str, memos: Sequence[Memo]) -> str:
    """The task with its memos below it."""
    return f"{task}\n\n{section(memos)}" if memos else task
