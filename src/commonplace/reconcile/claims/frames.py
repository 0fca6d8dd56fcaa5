"""Claims of who has something in hand, and of what something is called since: read by their frames, whoever acts."""

from __future__ import annotations

import re
from dataclasses import replace

from commonplace.reconcile.claims.claim import Claim, about_subject, content
from commonplace.reconcile.claims.tokens import LONGEST, tokens

_NO_NAME = r"(?!(?:The|We|I|It|Our|My|This|That|They|He|She|You|An?|No|Yes|If|When|What|Who)\b)"
_NAME = _NO_NAME + r"[A-Z][\w'’.-]*(?: (?:[A-Z][\w'’.-]*|(?:von|van|de|der|da)(?= )))*"
_WHO = rf"(?P<who>{_NAME}|[Tt]he [\w-]+ team)"
_NOT = r"(?P<not>(?:no longer|is no longer|does not|doesn['’]t|isn['’]t|is not|never) )?"
_EARLY = r"(?:(?P<early>now|currently|has|is|also) )*"
_WHAT = r"(?P<what>(?!(?:an?|some|his|her|its|their|it|them|two|three|many|several|\d+)\b)[^,;:.!?]+?)"
_END = (
    r"(?P<late> (?:now|these days|currently|instead|again|anymore|any longer|as of .+|from now on|since .+))*"
    r"(?: from (?P<before>[^,;.]+?))?"
    r"(?P<rest>(?:[,;.]| (?:because|since|until|while|when|during|for|after|so|but|and|in|on|at|with)\b).*)?"
)
_HOLDS = {
    "own:by": r"owns?|maintains?|is the owner of|takes care of",
    "lead:by": r"leads?|heads?|manages?|is in charge of|is responsible for|looks after|is the lead of",
}
_LASTING = "own:by"
_GAVE = r"(?:handed|passed|gave|given|transferred|reassigned)"
_CHANGES = (
    rf"{_WHO} (?:has |have |is |will be )?(?:just )?(?:took|taken|taking|take) over {_WHAT}{_END}",
    rf"{_NAME} (?:has |have )?(?:just )?{_GAVE} (?:over )?{_WHAT}(?: over| on)? to {_WHO}{_END}",
    rf"{_WHAT} (?:was|were|is|are|has been|have been|got) (?:now )?{_GAVE}(?: over| on)? to {_WHO}{_END}",
)
_FRAMES = (
    *(
        (relation, False, re.compile(rf"{_WHO} {_EARLY}{_NOT}(?:also )?(?:{verbs}) {_WHAT}{_END}"))
        for relation, verbs in _HOLDS.items()
    ),
    *((_LASTING, True, re.compile(frame)) for frame in _CHANGES),
)
_TOLD = re.compile(
    r"\b(?:owns?|owner|maintains?|care|leads?|heads?|manages?|charge|responsible|looks|took|taken|taking|take|handed|passed"
    r"|gave|given|transferred|reassigned)\b"
)
_NAMED = re.compile(r"\b(?:renamed|now (?:called|named|known))\b", re.I)
_RENAMED = (
    re.compile(rf"(?:we|the team|{_NAME}) (?:have |has )?renamed {_WHAT} (?:to|as|into) (?P<name>[^,;]+?){_END}", re.I),
    re.compile(
        rf"{_WHAT} (?:was|were|is|are|has been|have been|got|is being) renamed (?:to|as|into) (?P<name>[^,;]+?){_END}",
        re.I,
    ),
    re.compile(rf"{_WHAT} (?:is|are) now (?:called|named|known as) (?P<name>[^,;]+?){_END}", re.I),
)


def held(text: str) -> Claim | None:
    """Read who has something in hand, of the thing: "Julia owns the search" and "the search was handed to Julia"."""
    text = text.strip().rstrip(".!")
    if len(text) > LONGEST or _TOLD.search(text) is None:
        return None
    for relation, change, frame in _FRAMES:
        match = frame.fullmatch(text)
        if match is not None:
            said = match.groupdict()
            late = bool(said.get("late")) or said.get("early") in ("now", "currently")
            return replace(
                about_subject(tokens(said["what"])), relation=relation, value=content(tokens(said["who"])),
                sort="words", single=change or relation == _LASTING, changed=change or late,
                positive=not said.get("not"), qualifiers=_beside(said["rest"]),
                rejected=content(tokens(said["before"] or "")), turned=True,
            )  # fmt: skip
    return None


def renamed(text: str) -> Claim | None:
    """Read what something is called now; what it was called is given up if it was named so."""
    text = text.strip().rstrip(".!")
    for frame in _RENAMED if len(text) <= LONGEST and _NAMED.search(text) else ():
        match = frame.fullmatch(text)
        if match is not None:
            what = tokens(match["what"])
            claim = about_subject(what)
            before = content([*(token for token in what if token.kind == "name"), *tokens(match["before"] or "")])
            return replace(
                claim, subject=claim.subject | {"name"}, head="name", relation="be", sort="words", single=True,
                value=content(tokens(match["name"])), changed=True, rejected=before,
            )  # fmt: skip
    return None


def _beside(rest: str | None) -> frozenset[str]:
    """Return the words that narrow a claim; a reason does not."""
    said = (rest or "").strip(" ,;.")
    return frozenset() if said.startswith(("because", "since", "so ", "but ")) else content(tokens(said))
