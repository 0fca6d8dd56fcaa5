"""Memo: an insight and the task it was gained on; and how prompts show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.guard import echo
from commonplace.recall import pack

LEAD = "Noted on earlier tasks; use what helps with this one."


@dataclass(frozen=True, slots=True)
class Memo:
    """What may help with a task like `task`: a hint, a plan, a demonstration, something that a user said."""

    task: str | None
    insight: str
    id: str = ""
    topics: tuple[str, ...] = ()
    """Phrases by which somebody would look for it."""
    general: str | None = None
    """The task in general terms."""
    version: int = 1
    created_at: datetime | None = None
    updated_at: datetime | None = None
    relevance: float | None = None
    """How likely it is that the memo helps with the task it was retrieved for; None for one that was only listed."""
    line: str = field(default="", repr=False, compare=False)
    """The memo as prompts quote it: one line that its text cannot leave."""


def unsaved(task: str, insight: str) -> Memo:
    """An insight that is still on trial, quoted as it would be from the book."""
    return Memo(task=task, insight=insight, line=f"- {pack.quote(insight)}")


def demonstration(task: str, solution: str) -> str:
    """A task that was solved, as an insight for others like it."""
    return f"A task like this one: {task.strip()}\nHow it was solved: {solution.strip()}"


def section(memos: Iterable[Memo]) -> str:
    """What a prompt says of memos: each quoted as data, under a heading; nothing for none."""
    lines = [memo.line for memo in memos]
    return "\n".join((LEAD, echo.HEADER, *lines)) if lines else ""


def beside(task: str, memos: Sequence[Memo]) -> str:
    """The task with its memos below it."""
    return f"{task}\n\n{section(memos)}" if memos else task
