"""Switches for parts of the ranking, to see what each is worth. Only this looks behind the public API."""

from __future__ import annotations

from commonplace.recall import answer, closely, context, question, rank, settle

PARTS = ("meaning", "words", "context", "speakers", "names", "dates", "ages", "shape", "affinity", "lead", "request")


def switch_off(part: str) -> None:
    """Take one part out of the ranking, for this process."""
    if part == "context":
        context.BEFORE, context.AFTER, context.SESSION = (0.0, 0.0), (0.0, 0.0), 0.0
    elif part == "names":
        question.without = lambda text, names: text
    elif part == "request":
        question.subject = lambda text: text
    elif part == "affinity":
        answer.WordMatcher = type("Nobody", (), {})
    else:
        for module, name in _WEIGHTS[part]:
            setattr(module, name, 0.0)


_WEIGHTS = {
    "meaning": [(rank, "MEANING")],
    "words": [(rank, "WORDS")],
    "speakers": [(closely, "ASKED")],
    "dates": [(closely, "SAME_MONTH"), (closely, "NEXT_MONTH"), (closely, "SAME_DAY")],
    "ages": [(closely, "EARLIER")],
    "shape": [(closely, "ASKING"), (closely, "TIME"), (closely, "NUMBER"), (closely, "NAME")],
    "lead": [(settle, "LEAD")],
}
