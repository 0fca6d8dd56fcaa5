"""The steps of task-centric memory that need a judgement: a model's where there is one, else the rules'."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from commonplace.guard.echo import strip_recalled
from commonplace.integrations.tasks import advice, generalising, prompts, told
from commonplace.integrations.tasks.answers import grade, same
from commonplace.integrations.tasks.memo import LEAD, Memo
from commonplace.integrations.tasks.model import Model

_LONGEST = 20_000
"""Characters of one text that a model is shown."""
_LONGEST_OF_MANY = 2_000
"""Characters of a memo or its task where many are shown at once: together they must not be too much for the model."""
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
        answer = None
        if general or topics:
            asked = {"task": _cut(task), "insight": _cut(insight)}
            answer = await self.model.ask("Index a memo", prompts.INDEX, asked, told.index)
        by_model, named = answer or (None, ())
        return Index(
            general=(by_model or generalising.general(task)) if general and task else None,
            topics=(named or generalising.topics(f"{task or ''}\n{insight}"))[:_MOST_TOPICS] if topics else (),
        )

    async def advice(self, text: str) -> Advice | None:
        """What a user's text tells for later; nothing for what only asks."""
        # Rules read for long where a text is long: not on the event loop.
        own, _ = await asyncio.to_thread(strip_recalled, text.replace(LEAD, ""))
        if not own.strip():
            return None
        answer = await self.model.ask("Find advice", prompts.ADVICE, {"message": _cut(own)}, told.advice)
        insight, task = answer or (await asyncio.to_thread(advice.advice, own), None)
        return None if insight is None else Advice(insight=insight, task=task)

    async def useful(self, task: str, memos: Sequence[Memo]) -> list[Memo] | None:
        """Those of the memos that help with a task, by a model's judgement of all at once; None if it gave none."""
        cut = partial(_cut, longest=_LONGEST_OF_MANY)
        shown = [{"number": n, "task": cut(memo.task), "memo": cut(memo.insight)} for n, memo in enumerate(memos, 1)]
        asked = {"task": _cut(task), "memos": shown}
        read = partial(told.numbers, most=len(memos))
        numbers = await self.model.ask("Choose memos", prompts.USEFUL, asked, read)
        return None if numbers is None else [memos[number - 1] for number in numbers]

    async def lesson(self, task: str, notes: str, answer: str, expected: str, work: str) -> str:
        """Advice that would have prevented a wrong answer; by rule, what is right and what is not."""
        asked = {"task": task, "notes": notes, "answer": answer, "expected": expected, "work": work}
        cut = {name: _cut(text) for name, text in asked.items()}
        read = partial(told.text, name="insight")
        insight = await self.model.ask("Learn from a failure", prompts.LESSON, cut, read)
        return insight if insight is not None else await asyncio.to_thread(by_rule, answer, expected)

    async def graded(self, task: str, response: str, expected: str) -> tuple[bool, str]:
        """Whether a response gives the expected answer, and the answer it gives."""
        if await asyncio.to_thread(same, response, expected):
            return True, response.strip()
        asked = {"task": _cut(task), "response": _cut(response), "expected": _cut(expected)}
        graded = await self.model.ask("Grade an answer", prompts.GRADE, asked, told.grade)
        return graded if graded is not None else await asyncio.to_thread(grade, response, expected)


def by_rule(answer: str, expected: str) -> str:
    """What can be said of a failure without a model: the answer that is right, and the one that is not."""
    _, given = grade(answer, expected)
    wrong = f" The answer {_short(given)!r} was wrong." if given else ""
    return f"The right answer is {_short(expected)!r}.{wrong}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def _cut(text: str | None, longest: int = _LONGEST) -> str | None:
    return None if text is None else text[:longest]
