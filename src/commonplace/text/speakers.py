"""The speaker of a memory, from its source or from the name that its text begins with."""

from __future__ import annotations

import re
from functools import lru_cache

_SPOKEN = re.compile(r"([A-Z][\w'’-]*(?: [A-Z][\w'’.-]*){0,2}|user|assistant|human|ai|bot): ")
_NAME = re.compile(r"[^\W\d_][\w'’-]*")
_LONGEST = 100
_NOBODY: frozenset[str] = frozenset()

_LONGEST_NOD = 60
_NODS = frozenset(
    """ok okay k yes yeah yep yup no nope sure noted understood thanks thank you ty got it great good perfect fine
    alright right cool nice done will do sounds i see exactly agreed acknowledged ack absolutely of course problem
    welcome you're hello hi hey bye goodbye please very much so that's clear""".split()
)

USERS = frozenset({"user", "human", "me", "customer", "client"})
"""Names for a person who talks to a program."""
ASSISTANTS = frozenset({"assistant", "ai", "agent", "bot", "model", "chatbot"})
"""Names for the program."""


def speaker(source: str | None, text: str) -> frozenset[str]:
    """Return the words of the speaker's name in lower case; none if nobody is named."""
    if source is None:
        found = _SPOKEN.match(text)
        if found is None:
            return _NOBODY
        source = found[1]
    return _words(source[:_LONGEST])


@lru_cache(maxsize=1024)
def _words(name: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _NAME.findall(name))


def is_nod(text: str) -> bool:
    """Return whether a turn only acknowledges or greets ("Noted.", "Sure, thanks!")."""
    if len(text) > _LONGEST_NOD:
        return False
    said = [word.casefold() for word in _NAME.findall(text)]
    return len(said) > 0 and _NODS.issuperset(said)


def is_question(text: str) -> bool:
    """Return whether a turn ends with a question. Such a turn seldom answers one."""
    return "?" in text[-3:]
