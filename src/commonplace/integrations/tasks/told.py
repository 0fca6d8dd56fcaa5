"""What a model's object tells, read and checked: Unreadable for what was not asked for, so that the rules answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.integrations.conversation import clean_text
from commonplace.learn.model import Unreadable

Told = Mapping[str, Any]

_LONGEST = 4_000
"""Characters of one text: a sentence or two are asked for."""
_LONGEST_TOPIC = 200


def text(told: Told, name: str) -> str | None:
    """A text, fit for a book; None where there is none."""
    found = told.get(name)
    if found is None:
        return None
    if not isinstance(found, str) or len(found) > _LONGEST:
        raise Unreadable(f'"{name}" is not a short text')
    said = clean_text(found).strip()
    return said if said.lower() not in ("", "null", "none") else None


def advice(told: Told) -> tuple[str | None, str | None]:
    """What is to be kept, and the task that it helps with; None for nothing."""
    if "advice" not in told:
        raise Unreadable('it has no "advice"')
    return text(told, "advice"), text(told, "task")


def index(told: Told) -> tuple[str | None, tuple[str, ...]]:
    """The task in general terms, and topics."""
    found = told.get("topics") or []
    if not isinstance(found, list):
        raise Unreadable('"topics" is not a list')
    named = (clean_text(each).strip() for each in found if isinstance(each, str) and len(each) <= _LONGEST_TOPIC)
    return text(told, "task"), tuple(each for each in named if each)


def numbers(told: Told, most: int) -> Sequence[int]:
    """The numbers that were chosen of those up to `most`; a list of which none can be meant is no choice."""
    found = told.get("useful")
    if not isinstance(found, list):
        raise Unreadable('"useful" is not a list')
    chosen = [number for number in range(1, most + 1) if any(_is(each, number) for each in found)]
    if found and not chosen:
        raise Unreadable('"useful" has none of the numbers')
    return chosen


def grade(told: Told) -> tuple[bool, str]:
    """Whether an answer is right, and the answer."""
    correct = told.get("correct")
    if not isinstance(correct, bool):
        raise Unreadable('"correct" is neither true nor false')
    return correct, text(told, "answer") or "None"


def _is(given: object, number: int) -> bool:
    return not isinstance(given, bool) and given in (number, str(number))
