"""Sentences that tell of a change, in the plain words of what holds since: "the hook moved, it listens on 5151 now"."""

from __future__ import annotations

import re

from commonplace.reconcile.claims.tokens import LONGEST

_ENTRY = re.compile(
    r"(?P<what>(?!(?:note|update|todo|reminder|fyi|ps|step|item|edit|question|answer)s?\b)[a-z][\w'’ /-]{1,40}?)"
    r"(?:: | ?= ?)(?P<value>[$€£~]?\d[\d.,:]*(?: ?[\w%€$£/]+)?)",
    re.I,
)
"""A short entry of a list whose value is a number: "party budget: 500"."""
_PLAN = r"(?:change of plans?|new plan|plans? (?:has |have )?changed|slight change|on second thought|scratch that)"
_ANNOUNCED = re.compile(rf"{_PLAN}\s*[:,.;—–-]+\s*", re.I)
_MOVED_ON = re.compile(
    r"(?P<what>(?:the|our|my|[A-Z])[^,;.]{0,60}?) (?:has |have |was |were |got )?(?:been )?"
    r"(?:moved|changed|migrated|switched|updated|relocated)(?:,| and|;|:| —| -)+ (?:so )?"
    r"(?:it|they)(?P<is>['’](?:s|re))? (?P<rest>.+)",
    re.I,
)
_GOING = re.compile(
    r"(?:(?:we|the team)(?:['’]re|['’]ve| are| have| is| has)? )?(?:now |actually )?"
    r"(?:going|go|gone|went|goes|sticking) with (?P<what>.+)",
    re.I,
)
_REPLACED = (
    re.compile(
        r"(?P<old>[^,;.]+?) (?:was|were|is|are|has been|have been|got|will be) (?:now )?(?:replaced|superseded) "
        r"(?:by|with) (?P<new>[^,;.]+?)(?P<rest>(?:,|;| for\b| in\b| as\b| because\b| since\b).*)?",
        re.I,
    ),
    re.compile(
        r"(?P<new>[^,;.]+?) (?:now )?(?:replaces|replaced|has replaced|supersedes) (?P<old>[^,;.]+?)"
        r"(?P<rest>(?:,|;| for\b| in\b| as\b| because\b| since\b).*)?",
        re.I,
    ),
)
_TOLD = re.compile(
    r"\b(?:plans?|change|thought|scratch|moved|changed|migrated|switched|updated|relocated|with|replace[ds]?"
    r"|superseded?s?|after all)\b",
    re.I,
)
"""Without one of these words nothing below applies: most sentences need no second look."""
_REVERSED = re.compile(r"\bafter all\b", re.I)


def plainly(text: str, *, together: bool) -> tuple[str, bool]:
    """Give a text with its change told as what holds now, and whether it takes back what was decided.

    `together` says that a team speaks where nobody is named.
    """
    said = text.strip().rstrip(".!")
    if (entry := _ENTRY.fullmatch(said)) is not None:
        return f"the {entry['what']} is {entry['value']}", False
    if len(text) > LONGEST or _TOLD.search(text) is None:
        return text, False
    found = _ANNOUNCED.match(said)
    if found is not None:
        said = said[found.end() :]
    reverses = found is not None or _REVERSED.search(said) is not None
    if (on := _MOVED_ON.fullmatch(said)) is not None:
        said = f"{on['what']} {'is ' if on['is'] else ''}{on['rest']}"
        said += "" if re.search(r"\bnow\b", said) else " now"
    elif (going := _GOING.fullmatch(said)) is not None and (together or said.lower().startswith(("we", "the team"))):
        said = f"we use {going['what']}" + (" now" if reverses else "")
    else:
        said = _exchanged(said)
    return (said if found is not None or said != text.strip().rstrip(".!") else text), reverses


def may_reverse(text: str) -> bool:
    """Tell whether a text may take something back: a first look that costs next to nothing."""
    return _REVERSED.search(text) is not None or _ANNOUNCED.match(text.strip()) is not None


def _exchanged(said: str) -> str:
    for pattern in _REPLACED:
        match = pattern.fullmatch(said)
        # Who replaced what in person ("Maria replaced the filter") has exchanged nothing that is in use.
        if match is not None and not re.match(r"(?:I|we|they|he|she|it|you)\b", match["new"], re.I):
            if pattern is _REPLACED[1] and re.search(r"\b(?:with|by)\b", match["old"] + (match["rest"] or "")):
                continue
            return f"we switched from {match['old']} to {match['new']}{match['rest'] or ''}"
    return said
