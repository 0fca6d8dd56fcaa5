"""Why something was decided, and what was decided against, as far as the words themselves say it."""

from __future__ import annotations

import re

_BECAUSE = re.compile(
    r"(?:,|\s[-–—])?\s*\b(?:because(?: of)?|bc|cos|since(?= (?:it|we|i|they|the|that|our|my|he|she|you|\w+ (?:is|are|was|has|can))\b)|due to|given(?: that)?|as(?= (?:it|we|i|they|the|that|our|my|he|she)\b)"
    r"|so that|on account of|thanks to|the reason (?:is|being|was)(?: that)?|reason:|mainly for|mostly for|for its|otherwise)\s+",
    re.IGNORECASE,
)
_SO = re.compile(r"^(?P<reason>.+?),?\s+so\s+(?:i|we|i'm|we're|i'll|we'll|let's|they|he|she|it)\b", re.IGNORECASE)
_ITEM = r"(?P<item>[^,;.:()]+?)"
_STOP = r"(?=\s+(?:because|bc|since|due|as|for|so|given|in|on|at|to|from|when|after|and|but|anymore|any more|which|that|instead)\b|[,;.:()]|\s[-–—]\s|$)"
_AGAINST = tuple(
    re.compile(pattern + _STOP, re.IGNORECASE)
    for pattern in (
        rf"\b(?:over|instead of|rather than|in place of|as opposed to)\s+{_ITEM}",
        rf",\s*(?:and\s+)?not\s+{_ITEM}",
        rf"\b(?:decided against|ruled out|rejected|dropped|ditched|scrapped|abandoned|vetoed|said no to|no more|turned down|away from|moving off|moved off|avoid|never use|don't use|do not use|dropping|ditching|retired?|tried)\s+(?:using\s+)?{_ITEM}",
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
