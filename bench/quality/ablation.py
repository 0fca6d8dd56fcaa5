"""Switches that turn off parts of the ranking. Only this module uses private names."""

from __future__ import annotations

from commonplace.recall import evidence, request, settlement

PARTS = ("meaning", "words", "context", "speakers", "names", "dates", "ages", "shape", "affinity", "lead", "request")


def switch_off(part: str) -> None:
    """Take one part out of the ranking, for this process."""
    if part == "context":
        evidence.BEFORE, evidence.AFTER, evidence.SESSION = (0.0, 0.0), (0.0, 0.0), 0.0
    elif part == "names":
        request.strip_names = lambda text, names: text
    elif part == "request":
        request.strip_request = lambda text: text
    elif part == "affinity":
        evidence.WordMatcher = type("Nobody", (), {})  # type: ignore[assignment, attr-defined]
    else:
        for module, name in _WEIGHTS[part]:
            setattr(module, name, 0.0)


_WEIGHTS = {
    "meaning": [(evidence, "MEANING")],
    "words": [(evidence, "WORDS")],
    "speakers": [(evidence, "ASKED")],
    "dates": [(evidence, "SAME_MONTH"), (evidence, "NEXT_MONTH"), (evidence, "SAME_DAY")],
    "ages": [(evidence, "EARLIER")],
    "shape": [(evidence, "ASKING"), (evidence, "TIME"), (evidence, "NUMBER"), (evidence, "NAME")],
    "lead": [(settlement, "LEAD")],
}
