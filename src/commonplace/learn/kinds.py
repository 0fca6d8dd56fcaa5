"""The kind of memory of a clause: the first rule that fits names it, then a day that is set, then plain facts."""

from __future__ import annotations

from commonplace.learn import doubt, rules, words
from commonplace.learn.clauses import Clause
from commonplace.learn.regex import compiled
from commonplace.learn.rules.facts import FLEETING, fact
from commonplace.learn.rules.plans import DATED, EVERY, dated, sets_a_day
from commonplace.text.lexicon import ASKING, COMMON, EMPTY
from commonplace.values import Kind

Reading = tuple[str, Kind, float]
"""The name of the rule that fits, the kind, and how much it matters."""

_PERSONAL = ("fact.personal", "fact.possession", "plan.dated")
_FEW, _SPECIFIC, _ENOUGH = 2, 3, 4
_EMPTY = EMPTY | ASKING | frozenset("back away around along together".split())
_LITTLE = _EMPTY | COMMON
PLAIN = ("fact.statement", "fact.plain", "pattern.tendency")
FIRST_PERSON = frozenset("i i'm i'll i've i'd we we're we'll we've".split())
POINTING = compiled(
    r"""^(?:it|they|that|this|these|those|she|he|which|otherwise|the_other|both|none|nothing|his|her|their|its)(?:'s
        |'re|'ll)?_|^(?:the_)?(?:\w+_)?ones_"""
)
POINTED_AT = compiled(r"_(?:it|that|them|those|this|otherwise|either)[.!]*$")
# One thing, not all of a kind: what it must do is a fact about it.
_DEFINITE = compiled(
    r"""^(?:the|this|that|my|our|his|her|their|its)_(?:[\w'-]+_){0,4}?[\w'-]*[^s\W]_
        (?:at|of|in|on|for|has|must|can|takes|\w+s)_"""
)
_TODAY = compiled(r"\b(?:today|tonight|this_(?:morning|afternoon|evening))\b")
_SHALL_BE = compiled(
    r"^(?!(?:it|that|he|she|they|you)\b)[\w'-]+(?:_[\w'-]+){0,4}_(?:(?:will|won't)_(?:be|stay|go|get|have)|stays|remains|goes|moves)_\w+"
)


def kind(each: Clause, *, eager: bool) -> Reading | None:
    """Name the kind of a clause; None when it is not worth keeping."""
    found = rules.first(each)
    fleeting = doubt.is_momentary(each.low) and not dated(each)
    if found is not None and not (found.kind == "decision" and fleeting):
        if found.name == "pattern.required" and sets_a_day(each.low):
            return DATED.name, "fact", DATED.importance
        if found.name in ("pattern.required", "pattern.no_without") and _DEFINITE.match(each.low):
            return "fact.required", "fact", found.importance
        return found.name, found.kind, found.importance
    if fleeting and not eager:
        return None
    if EVERY.fits(each.low) and len(each.words) > 2 and not POINTING.match(each.low):
        return EVERY.name, EVERY.kind, EVERY.importance
    if (
        dated(each)
        and not (_TODAY.search(each.low) and FLEETING.search(each.low))
        and (content(each) >= _SPECIFIC or not POINTING.match(each.low))
    ):
        return DATED.name, DATED.kind, DATED.importance
    if each.joint == "so" and (_SHALL_BE.search(each.low) or _did_something(each)):
        return "decision.so", "decision", 0.65
    if len(each.words) < 5 and POINTED_AT.search(each.low):
        return None
    name = fact(each, eager=eager)
    return (name, "fact", 0.55) if name else None


def _did_something(each: Clause) -> bool:
    """Tell whether a clause is what its speaker did: after "so" that was a choice."""
    first, second = (*each.words, "", "")[:2]
    return first in ("i", "we") and second in words.PASTS and second not in words.AUXILIARIES and len(each.words) > 2


def _is_set(each: Clause) -> bool:
    """Tell whether a clause sets something for a day, and says what."""
    if not dated(each) or (_TODAY.search(each.low) and FLEETING.search(each.low)):
        return False
    return content(each) >= _SPECIFIC or not POINTING.match(each.low)


def content(each: Clause) -> int:
    """Count the words that say what a clause is about."""
    return sum(_bare(word) not in _EMPTY for word in each.words)


def says_little(each: Clause, name: str) -> bool:
    """Tell whether a clause says nothing to who reads it later: "next time", "I won't keep them"."""
    found = content(each)
    if name == "fact.being" or (name in _PERSONAL and found > 1):
        return False
    if found < _FEW + bool(POINTED_AT.search(each.low)) and name.startswith(
        ("pattern.", "preference.request", "decision.let_us")
    ):
        return True
    if found < _FEW and all(_bare(word) in _EMPTY or word[0].isdigit() for word in each.words):
        return True
    return found < _ENOUGH and all(_bare(word) in _LITTLE for word in each.words)


def _bare(word: str) -> str:
    return word.removesuffix("n't").partition("'")[0]
