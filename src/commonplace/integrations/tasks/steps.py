"""Steps: the judgements of task-centric memory, by a model if there is one, otherwise by rules."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from commonplace import strip_recalled
from commonplace.integrations.tasks import model as questions
from commonplace.integrations.tasks import rules
from commonplace.integrations.tasks.memo import LEAD, Memo
from commonplace.integrations.tasks.model import Model

_LONGEST = 20_000
"""Characters of one text that a model is shown."""
_LONGEST_OF_MANY = 2_000
"""Characters of a memo or its task if many are shown at once."""
_MOST_TOPICS = 12


class Steps:
    """Each step asks the model one question at most; without a usable answer the rules decide.

    Rules run in a worker thread if their text may be long.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    async def index(
        self, insight: str, task: str | None, *, general: bool, topics: bool
    ) -> tuple[str | None, tuple[str, ...]]:
        """Return the task in general terms and topics, so far as they are wanted."""
        answer = None
        if general or topics:
            question = {"task": _cut(task), "insight": _cut(insight)}
            answer = await self.model.ask("Index a memo", questions.INDEX, question, questions.read_index)
        by_model, named = answer or (None, ())
        if topics and not named:
            named = await asyncio.to_thread(rules.find_topics, f"{task or ''}\n{insight}")
        in_general = (by_model or rules.generalize_task(task)) if general and task else None
        return in_general, named[:_MOST_TOPICS] if topics else ()

    async def find_advice(self, text: str) -> tuple[str, str | None] | None:
        """Return the advice in a user's text and, if known, the kind of task that it helps with; None for none."""
        own, _ = await asyncio.to_thread(strip_recalled, text.replace(LEAD, ""))
        if not own.strip():
            return None
        question = {"message": _cut(own)}
        answer = await self.model.ask("Find advice", questions.ADVICE, question, questions.read_advice)
        insight, task = answer or (await asyncio.to_thread(rules.find_advice, own), None)
        return None if insight is None else (insight, task)

    async def choose_useful(self, task: str, memos: Sequence[Memo]) -> list[Memo] | None:
        """Return the memos that help with a task, by a model's judgement of all at once; None if it gave none."""
        cut = partial(_cut, longest=_LONGEST_OF_MANY)
        shown = [{"number": n, "task": cut(memo.task), "memo": cut(memo.insight)} for n, memo in enumerate(memos, 1)]
        question = {"task": _cut(task), "memos": shown}
        read = partial(questions.read_numbers, most=len(memos))
        numbers = await self.model.ask("Choose memos", questions.USEFUL, question, read)
        return None if numbers is None else [memos[number - 1] for number in numbers]

    async def find_lesson(self, task: str, notes: str, answer: str, expected: str, work: str) -> str:
        """Return advice that would have prevented a wrong answer; by rule, which answer is right and which is wrong."""
        texts = {"task": task, "notes": notes, "answer": answer, "expected": expected, "work": work}
        question = {name: _cut(text) for name, text in texts.items()}
        read = partial(questions.read_text, name="insight")
        insight = await self.model.ask("Learn from a failure", questions.LESSON, question, read)
        if insight is not None:
            return insight
        _, given = await asyncio.to_thread(rules.grade_answer, answer, expected)
        wrong = f" The answer {_shorten(given)!r} was wrong." if given else ""
        return f"The right answer is {_shorten(expected)!r}.{wrong}"

    async def grade(self, task: str, response: str, expected: str) -> tuple[bool, str]:
        """Return whether a response gives the expected answer, and the answer that it gives."""
        if await asyncio.to_thread(rules.agree, response, expected):
            return True, response.strip()
        question = {"task": _cut(task), "response": _cut(response), "expected": _cut(expected)}
        grade = await self.model.ask("Grade an answer", questions.GRADE, question, questions.read_grade)
        return grade if grade is not None else await asyncio.to_thread(rules.grade_answer, response, expected)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def _cut(text: str | None, longest: int = _LONGEST) -> str | None:
    return None if text is None else text[:longest]
