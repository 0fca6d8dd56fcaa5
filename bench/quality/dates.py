"""How often the date that answers a question can be read from what was recalled, by rule alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

import commonplace
from quality.data import Question, Unit

Span = tuple[date, date]
NAMES = [
    "date from the right turn",
    "… overlapping the answer",
    "… any that the turn names",
    "the day the right turn was said on",
    "date from the first turn recalled",
    "any date of the first five",
]
_STEM = 5
"""Letters by which two words are taken for the same."""


def measure(question: Question, units: Iterable[Unit], ids: Sequence[str]) -> dict[str, float]:
    """Give how the dates read from the right turns, and from those that were recalled, agree with the answer.

    A date that is read agrees when all its days are days of the answer. Of several, the one to answer with is chosen by
    the question's words, never by the answer. Any date of five turns is a loose count: some agree by chance.
    """
    known = {unit.id: unit for unit in units}
    right = [unit for unit in known.values() if unit.id in question.evidence]
    if question.days is None or not right:
        return {}
    answer, spans = question.days, read(question.text, right)
    recalled = [read(question.text, [known[id]]) for id in ids[:5]]
    return {
        name: float(value)
        for name, value in zip(
            NAMES,
            (
                _within(spans[0], answer),
                spans[0][0] <= answer[1] and answer[0] <= spans[0][1],
                any(_within(span, answer) for span in spans),
                _within((right[0].said_at.date(),) * 2, answer),
                bool(recalled) and _within(recalled[0][0], answer),
                any(_within(span, answer) for each in recalled for span in each),
            ),
            strict=True,
        )
    }


def read(question: str, turns: Sequence[Unit]) -> list[Span]:
    """Give the dates that turns name, the likeliest answer first: its sentence has most of the question's words."""
    asked = _stems(question)
    found = [each for turn in turns for each in _read(asked, turn)]
    return [span for _, span in sorted(found, key=lambda each: -each[0])]


def _read(asked: set[str], turn: Unit) -> list[tuple[int, Span]]:
    """Give a turn's dates, each with the words that its sentence shares; if it names none, the day it was said on."""
    dated = commonplace.dates_in(turn.text, turn.said_at)
    if not dated:
        day = turn.said_at.date()
        return [(len(asked & _stems(turn.text)), (day, day))]
    return [(len(asked & _stems(_around(turn.text, each))), (each.first, each.last)) for each in dated]


def _around(text: str, dated: commonplace.Dated) -> str:
    """The sentence that a date stands in."""
    start = max((text.rfind(mark, 0, dated.start) for mark in ".!?\n"), default=-1) + 1
    ends = [at for mark in ".!?\n" if (at := text.find(mark, dated.end)) >= 0]
    return text[start : min(ends, default=len(text))]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in re.findall(r"[a-z]{3,}", text.lower())}


def _within(span: Span, answer: Span) -> bool:
    return answer[0] <= span[0] and span[1] <= answer[1]
