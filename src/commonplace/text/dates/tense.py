"""Whether a sentence tells of what was or of what will be."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Tense = Literal["past", "future"]

_END = re.compile(r"[.!?\n]+(?=\s|$)")
_REACH = 300
"""Characters around a phrase in which its sentence is looked for."""
_AFTER = 4
"""How many times as far away a verb seems that comes after a phrase."""

_AHEAD = (
    r"will|won['’]?t|shall|(?<=['’])ll|going to|gonna|plan(?:s|ning)?(?: to)?|due|until|till|deadline|upcoming"
    r"|let['’]?s|hop(?:e|es|ing) to|wants? to|wanna|would like|looking forward|can['’]?t wait"
    r"|needs? to|ha(?:ve|s) to|gotta|must|should|remind|schedul(?:e|ed)|expect(?:s|ing)?|see you"
    r"|(?:['’](?:m|re|s)|am|is|are) (?:\w{2,} )?\w{2,}ing"
)
_BEHIND = (
    r"was|were|wasn['’]?t|weren['’]?t|did|didn['’]?t|had|went|got|saw|met|took|made|came|gave|told|said|found|left|bought"
    r"|brought|ran|ate|been|won|lost|broke|began|became|built|caught|chose|cut|drew|drank|drove|fell|felt|flew|forgot"
    r"|grew|heard|held|hit|kept|knew|led|lent|let|paid|put|read|rode|sang|sent|set|sold|spent|spoke|stood|swam|taught"
    r"|thought|threw|wore|woke|wrote|done|gone|taken|seen|ago|[a-z]{2,}(?<!ne)(?<!sche)(?<!exci)(?<!hundr)(?<!inde)ed"
)


@lru_cache(maxsize=1)
def _marks() -> re.Pattern[str]:
    return re.compile(rf"\b(?:(?P<ahead>{_AHEAD})|(?:{_BEHIND}))\b", re.IGNORECASE)


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Give where the sentence around a phrase begins and ends."""
    first = max(start - _REACH, 0)
    for found in _END.finditer(text, first, start):
        first = found.end()
    last = _END.search(text, end, min(end + _REACH, len(text)))
    return first, last.start() if last else min(end + _REACH, len(text))


def tense(text: str, start: int, end: int) -> Tense | None:
    """Tell the tense by the nearest verb that shows one, rather one before than one after; None when none does."""
    first, last = sentence(text, start, end)
    marks = [(_away(found, start, end), found["ahead"]) for found in _marks().finditer(text, first, last)]
    near = [mark for mark in marks if mark[0] >= 0]
    if not near:
        return None
    return "future" if min(near, key=lambda mark: mark[0])[1] else "past"


def _away(found: re.Match[str], start: int, end: int) -> int:
    """Give how far a verb stands from a phrase; less than 0 for what is part of it."""
    return start - found.end() if found.start() < start else _AFTER * (found.start() - end)
