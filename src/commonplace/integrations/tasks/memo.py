"""Memo: an insight and the task it was gained on, its form in a book, and its form in a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from commonplace import informative_words, quote_notes
from commonplace.values import Draft, Json, Memory, Origin, Scope

KIND: Final = "insight"
STAND_INS = ("somebody", "number", "text")
"""Words of a general task that stand for left out parts; nobody searches for them."""
LEAD = "Noted on earlier tasks; use what helps with this one."
_MARK = "memos"
"""The beginning of every bank's tag, and the key of a memo's metadata."""


@dataclass(frozen=True, slots=True)
class Memo:
    """A hint, a plan, a demonstration or a user's statement that may help with a task like `task`."""

    task: str | None
    insight: str
    id: str = ""
    topics: tuple[str, ...] = ()
    """Phrases that somebody would search for."""
    general: str | None = None
    """The task in general terms."""
    version: int = 1
    created_at: datetime | None = None
    updated_at: datetime | None = None
    relevance: float | None = None
    """Probability that the memo helps with the task it was retrieved for; None for a memo that was only listed."""
    source: Memory | None = field(default=None, repr=False, compare=False)
    """The memory that holds the memo; None for a memo that is not in a book."""

    @property
    def line(self) -> str:
        """The memo as prompts quote it: one line that its text cannot leave."""
        return quote_notes([self.note]).partition("\n")[2]

    @property
    def note(self) -> Memory | str:
        """The memory or text that a prompt quotes."""
        return self.insight if self.source is None else replace(self.source, text=describe(self.task, self.insight))


def describe(task: str | None, insight: str) -> str:
    """Return the text of a memo: its insight, and its task unless the insight repeats it."""
    return insight if not task or task.strip() in insight else f"{insight} (Task: {task.strip()})"


def describe_solution(task: str, solution: str) -> str:
    """Return a solved task as an insight for tasks like it."""
    return f"A task like this one: {task.strip()}\nHow it was solved: {solution.strip()}"


def quote_memos(memos: Sequence[Memo]) -> str:
    """Return the part of a prompt that quotes memos as data; "" for none."""
    return f"{LEAD}\n{quote_notes(memo.note for memo in memos)}" if memos else ""


def add_memos(task: str, memos: Sequence[Memo]) -> str:
    """Return the task with its memos below it."""
    return f"{task}\n\n{quote_memos(memos)}" if memos else task


def make_tag(bank: str) -> str:
    """Return the tag of a bank's memos."""
    return f"{_MARK}:{bank}"


def make_draft(memo: Memo, bank: str, scope: Scope, origin: Origin = "user") -> Draft:
    """Return the memo as a memory: its content is the insight, and it is also found by its task and topics."""
    known: dict[str, Json] = {"task": memo.task, "topics": [*memo.topics], "general": memo.general}
    return Draft(
        content=memo.insight,
        text="; ".join((describe(memo.task, memo.insight), *_new_phrases(memo))),
        kind=KIND,
        tags=(make_tag(bank),),
        metadata={_MARK: {name: value for name, value in known.items() if value}},
        scope=scope,
        origin=origin,
    )


def make_id(memo: Memo, bank: str, scope: Scope, number: int) -> str:
    """Return an id that is the same for the same words, so that two who note them at once note them once.

    `number` is above 1 if a memo that began with these words was changed since.
    """
    known = (bank, scope, memo.task, memo.insight, *([number] if number > 1 else []))
    encoded = repr(known).encode("utf-8", "surrogatepass")
    return f"memo-{hashlib.blake2b(encoded, digest_size=12).hexdigest()}"


def read_memo(memory: Memory, relevance: float | None = None) -> Memo:
    """Return the memo that a memory holds."""
    known = memory.metadata.get(_MARK)
    stored: dict[str, Any] = known if isinstance(known, dict) else {}
    return Memo(
        task=stored.get("task"),
        insight=memory.content if isinstance(memory.content, str) else memory.text,
        id=memory.id,
        topics=tuple(stored.get("topics", ())),
        general=stored.get("general"),
        version=memory.version,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        relevance=relevance,
        source=memory,
    )


def _new_phrases(memo: Memo) -> Iterator[str]:
    """Yield the general task and the topics that have words which task and insight lack."""
    known = {*informative_words(f"{memo.task or ''} {memo.insight}"), *STAND_INS}
    for text in (memo.general, *memo.topics):
        if text and not known.issuperset(words := informative_words(text)):
            known.update(words)
            yield text.strip()
