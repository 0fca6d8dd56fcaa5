"""Whom and what a sentence points at: "she" is the person named last, "20" the answer to what was asked."""

from __future__ import annotations

import re
from dataclasses import replace

from commonplace.learn import words
from commonplace.learn.clauses import Clause, clause
from commonplace.learn.regex import compiled
from commonplace.values import Kind

_KIN = "|".join(sorted(words.KIN, key=len, reverse=True))
_PERSON = compiled(
    rf"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er)\s+(?:\w+\s+)?(?:{_KIN})\b(?:\s+[A-ZÀ-Þ][\w-]+)?|\b(?:{_KIN}|{_KIN.title()})\b"
    r"""|(?<=[a-z,]_)[A-ZÀ-Þ][a-zà-ÿ]+(?:\s[A-ZÀ-Þ][a-zà-ÿ]+)?\b|^[A-ZÀ-Þ][a-zà-ÿ]+(?='s|\s(?:is|was|has|likes|hates
        |prefers|wants|said|lives|works|needs)\b)"""
)
_PLACE = re.compile(r"\b(?:in|at|from|to|near|on|via|into|of|by)\s$", re.IGNORECASE)
_THIRD = re.compile(r"(?:he|she)(?='s|'ll|'d|\s)", re.IGNORECASE)
_THEY = re.compile(r"(?:they|it|these|those)(?='s|'re|'ll|\s)", re.IGNORECASE)
_OPEN = compiled(
    r"""^(?:and_|so_|ok_|but_)*(?:which|what|where|when|who|how_(?:many|much|often|long|old))\b.*\b(?:should|shall
        |prefer|rather|favou?rite|your|our|my|use|need|want|version|colou?r|size|name|target|go_with)\b.*\?\s*$
        |^(?:and_|so_|ok_|but_)*(?:do_you_have_)?any_(?:\w+_)?(?:wish|prefer|request|dietary|allerg|requirement
        |restriction)
        .*\?\s*$|^[^?,.]{2,50}_or_[^?,.]{2,40}\?\s*$""",
    re.IGNORECASE,
)
_LIKING = re.compile(r"\b(?:rather|prefer\w*|favou?rite|like|want|enjoy|feel|wish\w*|requests?)\b", re.IGNORECASE)
_CHOOSING = re.compile(r"\b(?:should|shall|use|go with|pick|choose|target|or)\b", re.IGNORECASE)
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_ASKS_FOR = compiled(
    r"(?:and_|so_|ok_|but_|hey_)*(?:who|what|where|when|which)\b(?!_(?:do_you_think|if|about|a)\b)", re.IGNORECASE
)
_POINTS_BACK = re.compile(
    r"(?:it|they|he|she)(?:'s|'re| is| are| was| were| runs| sits| lives)\s+(?!not sure|fine|ok|great)", re.I
)
_DEFINITE = re.compile(r"(?<=\s)[A-ZÀ-Þ]|\d|\b(?:in|at|on|under|behind|with|next to) (?:the|my|our|his|her|their) ")
_NO_ANSWER = compiled(
    r"""(?:yes|no|nope|yeah|yep|maybe|dunno|idk|not|whatever|anything|nothing|none|you|it_depends|good|fine|ok|okay
        |sure|hm+|ha+|lol|me|the_same|all|both|either|neither|depends|same|why|here|there|let|i_|we_)\b""",
    re.IGNORECASE,
)


def person(text: str) -> str | None:
    """Give the person whom a text names last."""
    named = [each for each in _PERSON.finditer(text) if not _PLACE.search(text, 0, each.start())]
    found = named[-1] if named else None
    if found is None or found[0].lower() in words.CALENDAR or found[0] in ("I", "OK", "The"):
        return None
    return found[0]


def resolved(each: Clause, someone: str | None, topic: str | None = None) -> Clause:
    """Put the person into a clause that begins with "he" or "she", and the topic into one with "they" or "it"."""
    found = _THIRD.match(each.text)
    if topic and (others := _THEY.match(each.text)):
        found, someone = others, topic
    if not found or not someone:
        return each
    told = clause(someone + each.text[found.end() :], each.start, each.end, each.joint)
    return replace(told, text=someone + each.text[found.end() :])


def is_open(question: str) -> bool:
    """Tell whether a question asks for a choice or a value, so that a word is an answer."""
    return bool(_OPEN.match(question))


def is_answer(low: str, question: str) -> bool:
    """Tell whether a few words answer such a question; wishes may take a few more."""
    found = low.split()
    most = 15 if _LIKING.search(question) else 6
    if _EITHER.search(question) and not set(found) & set(_WORD.findall(question.lower())):
        return False
    return 0 < len(found) <= most and not _NO_ANSWER.match(low) and not any(map(words.is_finite, found))


def asks_for(question: str) -> bool:
    """Tell whether a question asks who, what or where, so that "it's in the shed" is an answer."""
    return bool(_ASKS_FOR.match(question))


def points_back(text: str) -> bool:
    """Tell whether a sentence only makes sense with the question before it, and is definite."""
    found = _POINTS_BACK.match(text)
    return bool(found) and bool(_DEFINITE.search(text, found.end())) and len(text.split()) <= 15  # type: ignore[union-attr]


def answered(question: str) -> Kind:
    """Give the kind of what is learned from an answer."""
    if _LIKING.search(question):
        return "preference"
    return "decision" if _CHOOSING.search(question) else "fact"
