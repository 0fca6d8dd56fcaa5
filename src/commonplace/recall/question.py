"""What a question says about its answer besides its subject: who said it, when, and what it looks like."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from commonplace.recall import dates
from commonplace.text.lexicon import ASKING, EMPTY

Role = Literal["user", "assistant"]

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_POSSESSIVE = re.compile(r"['’]s$")
_MOST_NAMES = 16

_TOLD = (
    "recommended suggested mentioned told said gave provided listed shared wrote explained advised described created"
    " made"
)
_TELL = "recommend suggest mention tell say give provide list share write explain advise describe"
_TO_ASSISTANT = re.compile(
    rf"\byou (?:\w+ )?(?:{'|'.join(_TOLD.split())})\b|\bdid you (?:\w+ )?(?:{'|'.join(_TELL.split())})\b"
    r"|\bremind me\b|\b(?:previous|earlier|last) (?:conversation|chat|discussion)\b|\bwe (?:talked|discussed|spoke)\b"
)
_TO_USER = re.compile(
    r"\bi (?:\w+ )?(?:mentioned|brought|said|told|asked)\b|\bdid i (?:\w+ )?(?:mention|bring|say|tell|ask)\b"
)
_TO_BOTH = re.compile(r"\bsummar|\boverview\b")

_TIME = re.compile(r"\bwhen\b|\bwhat (?:date|day|year|month|time)\b|\bhow long\b|\bhow many (?:day|week|month|year)s\b")
_NUMBER = re.compile(r"\bhow (?:many|much|old|long|often)\b")
_NAME = re.compile(r"\bwho\b|\bwhere\b|\bnames?\b")


_TALK = r"our (?:\w+ )?(?:conversation|chat|discussion|session|talk)s?"
_REQUEST = re.compile(
    rf"\bi was (?:going|looking) (?:back )?(?:through|at|over) {_TALK}\b"
    rf"|\b(?:throughout|across|during|through|over|in|from|on|to) (?:all )?(?:of )?{_TALK}\b"
    r"|\bthe order in which\b|\bi brought up\b|\bin (?:chronological )?order(?=[,.?!]|$)"
    r"|\bdifferent (?:aspects|parts) of\b|\b(?:mention|list|name) only\b[^.?!]*",
    re.IGNORECASE,
)
"""How a question asks a program to talk of what was said, rather than what it asks about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as it was read."""

    text: str
    names: tuple[str, ...]
    """Words written like names, in lower case: whether somebody is called so, the book knows."""
    role: Role | None
    """Who said the answer, where people talk with a program and nobody is named; None for both."""
    dates: dates.Dates
    wants_time: bool
    wants_number: bool
    wants_name: bool


def read(text: str, asked_at: datetime | None = None) -> Question:
    """Read a question; what it counts from now ("last week") needs the moment of asking."""
    lower = text.lower()
    capital = (word for word in _WORD.findall(text) if word[0].isupper() and word.lower() not in EMPTY)
    return Question(
        text=text,
        names=tuple(dict.fromkeys(map(_plain, capital)))[:_MOST_NAMES],
        role=_role(lower),
        dates=dates.read(text, asked_at),
        wants_time=bool(_TIME.search(lower)),
        wants_number=bool(_NUMBER.search(lower)),
        wants_name=bool(_NAME.search(lower)),
    )


def subject(text: str) -> str:
    """Cut from a question how it asks to be answered; one that is nothing else stays whole.

    For its words alone: the meaning of the whole finds as much as that of the rest.
    """
    rest = _REQUEST.sub(" ", text)
    return rest if informative(rest) else text


def without(text: str, names: Collection[str]) -> str:
    """Cut the speakers' names from a question: who speaks is asked of the memories, the subject of their texts.

    A question of nothing but names stays whole.
    """
    if not names:
        return text
    rest = _WORD.sub(lambda found: "" if found[0][0].isupper() and _plain(found[0]) in names else found[0], text)
    return rest if informative(rest) else text


def informative(text: str) -> list[str]:
    """Give the words that say what a question is about, in lower case."""
    words = (_POSSESSIVE.sub("", word).lower() for word in re.findall(r"[\w'’-]+", text))
    return list(dict.fromkeys(word for word in words if word and word not in EMPTY and word not in ASKING))


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _role(lower: str) -> Role | None:
    """Tell whom an answer comes from: what is remembered of a person is mostly what the person said."""
    if _TO_BOTH.search(lower):
        return None
    return "assistant" if _TO_ASSISTANT.search(lower) and not _TO_USER.search(lower) else "user"
