"""Whose a statement is: the speaker's, the team's, somebody's who is named, or nobody's."""

from __future__ import annotations

import re

from commonplace.learn import words
from commonplace.learn.clauses import Clause
from commonplace.learn.persons import Who
from commonplace.learn.regex import compiled
from commonplace.values import Kind
from commonplace.values.extraction import TEAM

_SPEAKER = frozenset("i my me mine myself".split())
_GROUP = frozenset("we our us ours ourselves let's lets".split())
_NOBODY = frozenset("the this that these those my our your a an no some every all it".split())
_OTHERS = frozenset("client customer boss editor landlord teacher reviewer board team cat dog kids baby".split())
_THEIRS = frozenset("his her their its".split())
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
    return _subject(clause, who) or _decider(clause, kind, who) or _liker(clause, kind, who)


def _subject(clause: Clause, who: Who) -> str | None:
    """Give who does it, if that is somebody who takes part; kin are their speaker's."""
    for word in clause.words[:2]:
        if word in who.present:
            return word
    return who.name if clause.first.partition("'")[0] in words.KIN else None


def _decider(clause: Clause, kind: Kind, who: Who) -> str | None:
    if kind != "decision":
        return None
    if clause.first in ("agreed", "settled", "decided"):
        return TEAM
    return who.name if clause.first in ("no", "not") else None


def _liker(clause: Clause, kind: Kind, who: Who) -> str | None:
    if kind != "preference":
        return None
    if clause.words[:1] == ("the",) and len(clause.words) > 1 and clause.words[1] in _OTHERS:
        return clause.words[1]
    if clause.first in _THEIRS and len(clause.words) > 1:
        return clause.text.split()[1]
    found = _NAMED.match(clause.text)
    return found[1] if found and found[1].lower() not in words.CALENDAR | _NOBODY else who.name
