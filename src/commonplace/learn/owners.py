"""Whose a statement is: the speaker's, the team's, somebody's who is named, or nobody's."""

from __future__ import annotations

import re

from commonplace.learn import words
from commonplace.learn.clauses import Clause
from commonplace.learn.persons import Who
from commonplace.learn.regex import compiled
from commonplace.learn.types import TEAM
from commonplace.values import Kind

_SPEAKER = frozenset("i my me mine myself".split())
_GROUP = frozenset("we our us ours ourselves let's lets".split())
_NOBODY = frozenset("the this that these those my our your a an no some every all it".split())
_OTHERS = frozenset("client customer boss editor landlord teacher reviewer board team cat dog kids baby".split())
_INTRODUCED = re.compile(r"(?:when|whenever|if|since|because|as|after|before|while|once|for|in|on)\b[^,]*,")
_NAMED = compiled(
    r"""([A-ZÀ-Þ][\w-]+)(?:_(?:[a-z]+ly|really|also|always|never|doesn't|does_not|just))?_(?:\w+s|hated?|prefers?
        |loved?|likes?|is|was|can't)\b"""
)


def _main_words(clause: Clause) -> tuple[str, ...]:
    """Words of the main clause first: "when we book trains, I like …" is mine."""
    found = _INTRODUCED.match(clause.low)
    if not found:
        return clause.words
    count = len(found[0].split())
    return clause.words[count:] + clause.words[:count]


def owner(clause: Clause, kind: Kind, who: Who) -> str | None:
    """Give whose a statement is; None for one about a thing."""
    if kind == "preference" and clause.first in ("can", "could", "would"):
        return who.name
    for word in _main_words(clause):
        head = word.partition("'")[0]
        if head in _SPEAKER:
            return who.name
        if head in _GROUP or word in _GROUP:
            return TEAM
    if clause.first.partition("'")[0] in words.KIN:
        return who.name
    if len(clause.words) > 1 and clause.words[0] == "the" and kind == "preference" and clause.words[1] in _OTHERS:
        return clause.words[1]
    if kind == "decision" and clause.first == "no":
        return who.name
    if kind == "preference":
        found = _NAMED.match(clause.text)
        return found[1] if found and found[1].lower() not in words.CALENDAR | _NOBODY else who.name
    return None
