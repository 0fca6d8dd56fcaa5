"""Whether a clause is worth keeping: said by somebody as so, about something, and more than a moment's talk."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.learn import doubt, reasons, rules
from commonplace.learn.clauses import Clause
from commonplace.learn.kinds import Reading
from commonplace.learn.regex import compiled
from commonplace.learn.rules.facts import is_specific

REPORTED = re.compile(
    r"^(?:i|we)(?:'ve| have| had|'d)? (?:said|wrote|told (?:you|everyone|them)|mentioned|claimed)"
    r"(?: (?:before|earlier|yesterday))? (?:that )?(?!no\b)",
    re.IGNORECASE,
)
HYPOTHETICAL = re.compile(r"\b(?:would|could)\b|\w'd\b")
_MEANT_SO = compiled(
    r"""(?:would|'d)_(?:\w+_)?(?:rather|prefer|sooner|kindly|ask|like_(?:you|to_be|all|my))|\bid_rather\b|promised
        |would(?:n't|_not)_recommend|^(?:can|could|would)_(?:we|you|u)_(?:\w+_)?(?:stop|not|never|avoid|always)"""
)
_RECALLS = compiled(
    r"^(?:my|our|your|the)_(?:notes?|memory|memories|summary|records?|files?)_\w+s?\b|^i_(?:have_you|recall|remember)\b"
)
_LEAD = 2
_LISTED = ("pattern.imperative", "pattern.prohibited", "pattern.plain", "pattern.generic", "pattern.otherwise")
_IN_GENERAL = compiled(r"^(?:an?_|[\w-]+s_(?:are|have|can|use|do|don't|can't|need|offer|come|work)\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Whose words these are, as far as it matters to what they are worth."""

    assistant: bool = False
    generic: bool = False
    """An assistant without a name of its own: what it says, it says to everybody."""
    answering: bool = False
    """Somebody asked for this: it is what they wanted to know, and need not be news of anybody."""


def is_meant(each: Clause, *, eager: bool) -> bool:
    """Tell whether a clause says how things are: it asks nothing, guesses nothing and imagines nothing."""
    if doubt.is_small_talk(each.low) or REPORTED.match(each.low) or each.low[:1] in '"“«':
        return False
    if doubt.is_question(each.low) and not rules.asks_for_a_habit(each.low):
        return False
    main = reasons.main_part(each.low)
    first = main.partition(", ")[0]
    # What stands after a comma may be no more than the reason: "going with B, A would take too long".
    told = first if len(first.split()) > _LEAD and ", so " not in main else main
    supposed = bool(HYPOTHETICAL.search(told)) and not _MEANT_SO.search(main)
    return not (doubt.is_guess(main) or (supposed and not eager))


def is_reported(each: Clause, rule: Reading, voice: Voice) -> bool:
    """Of an assistant's words keep what it did, decided and found out; not what it would tell anybody."""
    if not voice.assistant:
        return True
    name, kind, _ = rule
    if doubt.is_advice(each.low) or _RECALLS.match(each.low) or "you" in each.words or "your" in each.words:
        return False
    reasoned = bool(reasons.reason(each.text) or reasons.rejected(each.text))
    if voice.generic:
        return reasoned and kind in ("decision", "failure", "insight") and not voice.answering
    if voice.answering and not ({"i", "we"} & {word.partition("'")[0] for word in each.words}):
        return name not in _LISTED and is_specific(each) and not _IN_GENERAL.match(each.low)
    return reasoned or each.joint == "so" or name != "decision.it_is"
