"""Why something was decided, and what was decided against, as far as the words themselves say it."""

from __future__ import annotations

import re

from commonplace.learn.regex import compiled

_BECAUSE = compiled(
    r"""(?:,|\s[-–—])?\s*\b(?:because(?:_of)?|bc|cos|since(?=_(?:it|we|i|they|the|that|our|my|he|she|you|\w+_(?:is|are
        |was|has|can))\b)|due_to|given(?:_that)?|as(?=_(?:it|we|i|they|the|that|our|my|he|she)\b)"""
    r"""|so_that|on_account_of|thanks_to|the_reason_(?:is|being|was)(?:_that)?|reason:|mainly_for|mostly_for|for_its
        |otherwise)\s+""",
    re.IGNORECASE,
)
_SO = re.compile(r"^(?P<reason>.+?),?\s+so\s+(?:i|we|i'm|we're|i'll|we'll|let's|they|he|she|it)\b", re.IGNORECASE)
_ITEM = r"(?P<item>[^,;.:()]+?)"
_STOP = r"""
    (?=\s+(?-i:because|bc|since|due|as|for|so|given|in|on|at|to|from|when|after|and|but|anymore|any_more|which|that
    |instead)\b|[,;.:()]|\s[-–—]\s|$)"""
_AGAINST = tuple(
    compiled(pattern + _STOP, re.IGNORECASE)
    for pattern in (
        rf"\b(?:over|instead_of|rather_than|in_place_of|as_opposed_to)\s+{_ITEM}",
        rf",\s*(?:and\s+)?not\s+{_ITEM}",
        rf"""\b(?:decided_against|ruled_out|rejected|dropped|ditched|scrapped|abandoned|vetoed|said_no_to|no_more
            |turned_down|away_from|moving_off|moved_off|avoid|never_use|don't_use|do_not_use|dropping|ditching
            |retired?|tried)\s+(?:using\s+)?{_ITEM}""",
        rf"\b(?:replac(?:e|ed|ing))\s+{_ITEM}(?=\s+(?:with|by)\b)",
        rf"\b(?:switch(?:ed|ing)?|migrat(?:e|ed|ing)|mov(?:e|ed|ing))\s+from\s+{_ITEM}(?=\s+to\b)",
    )
)


def reason(text: str) -> str | None:
    """Give the reason that a sentence names for what it says."""
    if found := _BECAUSE.search(text):
        before, after = text[: found.start()].strip(" ,"), text[found.end() :].strip(" .,!")
        if before:
            return after or None
        return after.partition(",")[0].strip() or None
    found = _SO.match(text)
    return found["reason"].strip(" ,") if found else None


def main_part(text: str) -> str:
    """Give a sentence without the reason it closes with: what is doubtful there does not make a decision doubtful."""
    found = _BECAUSE.search(text)
    return text[: found.start()] if found and found.start() > 0 else text


def rejected(text: str) -> tuple[str, ...]:
    """Give what a sentence says was not chosen, or is to be avoided."""
    found = (match["item"].strip(" \"'") for pattern in _AGAINST for match in pattern.finditer(text))
    return tuple(dict.fromkeys(item for item in found if item and len(item) <= 60))
