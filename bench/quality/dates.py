"""How often the date that answers a question can be read from what was recalled, by rule alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

import commonplace
from quality.data import Question, Unit

Span = tuple[date, date]
DEPTHS = (1, 5, 10)
_PLACES = ("right turn", *(f"first {depth}" for depth in DEPTHS))
NAMES = [f"date from the {place}{how}" for place in _PLACES for how in ("", ", overlapping", ", any of them")]
_STEM = 5
"""Letters by which two words are taken for the same."""


def measure(question: Question, units: Iterable[Unit], ids: Sequence[str]) -> dict[str, float]:
    """Give how the dates read from the right turns, and from those that were recalled, agree with the answer.

    A date that is read agrees when it lies within the answer's days. The date of several is chosen by the question's
    words, never by the answer; `any` is the looser count of whether one of them agrees.
    """
    if question.days is None:
        return {}
    known = {unit.id: unit for unit in units}
    right = [unit for unit in known.values() if unit.id in question.evidence]
    if not right:
        return {}
    recalled = [known[id] for id in ids]
    out = _agreeing("right turn", question, right, question.days)
    for depth in DEPTHS:
        out |= _agreeing(f"first {depth}", question, recalled[:depth], question.days)
    return out


def _agreeing(where: str, question: Question, turns: Sequence[Unit], answer: Span) -> dict[str, float]:
    spans = read(question.text, turns)
    overlapping = bool(spans) and spans[0][0] <= answer[1] and answer[0] <= spans[0][1]
    return {
        f"date from the {where}": float(bool(spans) and _within(spans[0], answer)),
        f"date from the {where}, overlapping": float(overlapping),
        f"date from the {where}, any of them": float(any(_within(span, answer) for span in spans)),
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
