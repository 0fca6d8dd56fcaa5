"""The steps of task-centric memory that need a judgement: a model's where there is one, else the rules'."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.guard.recalled import strip_recalled
from commonplace.tasks import advice, generalising, prompts
from commonplace.tasks.answers import grade, same
from commonplace.tasks.memo import LEAD, Memo
from commonplace.tasks.model import Model

_LONGEST = 20_000
"""Characters of one text that a model is shown."""
_MOST_TOPICS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What a memo is found by, beside its own words."""

    general: str | None
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What a user's text tells for later, and the kind of task it helps with, if that was put into words."""

    insight: str
    task: str | None = None


class Steps:
    """Each step in one question to the model at most; without a model, or an answer of its, by rules."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def index(self, insight: str, task: str | None, *, general: bool, topics: bool) -> Index:
        """Put a task into general terms and name its topics."""
        told = None
        if general or topics:
            told = await self.model.ask("Index a memo", prompts.INDEX, {"task": _cut(task), "insight": _cut(insight)})
        by_rule = generalising.general(task) if task else None
        named = _texts(told, "topics") or generalising.topics(f"{task or ''}\n{insight}")
        return Index(
            general=(_text(told, "task") or by_rule) if general and task else None,
            topics=named[:_MOST_TOPICS] if topics else (),
        )

    async def advice(self, text: str) -> Advice | None:
        """What a user's text tells for later; nothing for what only asks."""
        # Rules read for long where a text is long: not on the event loop.
        own, _ = await asyncio.to_thread(strip_recalled, text.replace(LEAD, ""))
        told = await self.model.ask("Find advice", prompts.ADVICE, {"message": _cut(own)}) if own.strip() else None
        if told is None:
            found = await asyncio.to_thread(advice.advice, own)
            return None if found is None else Advice(insight=found)
        insight = _text(told, "advice")
        return None if insight is None else Advice(insight=insight, task=_text(told, "task"))

    async def useful(self, task: str, memos: Sequence[Memo]) -> list[Memo] | None:
        """Those of the memos that help with a task, by a model's judgement of all at once; None if it gave none."""
        shown = [{"number": n, "task": _cut(memo.task), "memo": _cut(memo.insight)} for n, memo in enumerate(memos, 1)]
        told = await self.model.ask("Choose memos", prompts.USEFUL, {"task": _cut(task), "memos": shown})
        numbers = None if told is None else told.get("useful")
        if not isinstance(numbers, list):
            return None
        return [memo for number, memo in enumerate(memos, 1) if number in numbers or str(number) in numbers]

    async def lesson(self, task: str, notes: str, answer: str, expected: str, work: str) -> str:
        """Advice that would have prevented a wrong answer; by rule, what is right and what is not."""
        asked = {"task": task, "notes": notes, "answer": answer, "expected": expected, "work": work}
        cut = {name: _cut(text) for name, text in asked.items()}
        told = await self.model.ask("Learn from a failure", prompts.LESSON, cut)
        return _text(told, "insight") or by_rule(answer, expected)

    async def graded(self, task: str, response: str, expected: str) -> tuple[bool, str]:
        """Whether a response gives the expected answer, and the answer it gives."""
        if await asyncio.to_thread(same, response, expected):
            return True, response.strip()
        asked = {"task": _cut(task), "response": _cut(response), "expected": _cut(expected)}
        told = await self.model.ask("Grade an answer", prompts.GRADE, asked)
        if told is None or not isinstance(told.get("correct"), bool):
            return await asyncio.to_thread(grade, response, expected)
        return told["correct"], _text(told, "answer") or "None"


def by_rule(answer: str, expected: str) -> str:
    """What can be said of a failure without a model: the answer that is right, and the one that is not."""
    _, given = grade(answer, expected)
    wrong = f" The answer {_short(given)!r} was wrong." if given else ""
    return f"The right answer is {_short(expected)!r}.{wrong}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:_LONGEST]


def _text(told: dict[str, Any] | None, name: str) -> str | None:
    found = (told or {}).get(name)
    return found.strip() if isinstance(found, str) and found.strip() and found.strip().lower() != "null" else None


def _texts(told: dict[str, Any] | None, name: str) -> tuple[str, ...]:
    found = (told or {}).get(name)
    return (
        tuple(each.strip() for each in found if isinstance(each, str) and each.strip())
        if isinstance(found, list)
        else ()
    )
