"""A claim, and how words and phrases become its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from commonplace.reconcile.claims.clauses import Phrase
from commonplace.reconcile.claims.tokens import Token, stem
from commonplace.reconcile.claims.words import ADVERB, ARTICLE, BE, CANON, DETERMINER, GENERIC, NEGATION, PREPOSITION

Sort = Literal["words", "number", "date", "time", "place", "state", "none"]
Stems = frozenset[str]

NOTHING: Stems = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence's statement about its subject, in stems; `relation` is empty where no claim could be read."""

    subject: Stems = NOTHING
    head: str = ""
    """The noun that the subject turns on: "sister" in "Sarah's sister"."""
    relation: str = ""
    about: Stems = NOTHING
    """Words that name the attribute beside the relation: projects in "allows 10 projects"."""
    value: Stems = NOTHING
    sort: Sort = "none"
    rejected: Stems = NOTHING
    """Names that are given up or decided against: Flask in "FastAPI over Flask"."""
    qualifiers: Stems = NOTHING
    measures: frozenset[tuple[str, str]] = frozenset()
    """Numbers beside the value, with what they count: (month, 9) in "has had Luna for 9 months"."""
    positive: bool = True
    single: bool = False
    """One value at a time fills this place, so that another one takes its place."""
    changed: bool = False
    reverses: bool = False
    """Told as taking back what was decided before: "after all", "change of plan"."""
    event: bool = False
    """Told as something that happened once; it may have happened again since."""
    turned: bool = False
    """The subject is the one something was done to, or stands behind the verb."""
    vague: bool = False
    """It speaks of "it" or "them": of what, the sentence alone does not say."""
    words: Stems = NOTHING
    order: tuple[str, ...] = ()
    """The words as they stand; without a verb, only their order tells who did what."""
    details: Stems = NOTHING
    """Words behind the clause: a reason, a further clause."""
    names: Stems = NOTHING
    """Names, numbers, dates and times: what two sentences may not differ in and still say the same."""
    turns: Stems = NOTHING
    """Little words that turn the meaning: off, out, without, a second "not"."""


_NO_CONTENT = ARTICLE | DETERMINER | ADVERB | PREPOSITION | BE | NEGATION
_NO_CONTENT |= frozenset("do does did has have had and or that".split())
_AFTER_HEAD = PREPOSITION | frozenset("that where which who whose when".split())
_TURNING = frozenset("off out from down under without before away below outside far until against unlike only".split())
_PRONOUNS = frozenset("it they them he she him".split())
_POINTING = frozenset("this that these those it".split())
_TYPED = ("date", "time", "number")
_CANONICAL = {stem(word): stem(meant) for word, meant in CANON.items()}
_GENERIC = frozenset(stem(word) for word in GENERIC)
_PERSONAL = frozenset(stem(word) for word in "person user one thing".split())
_TEAM = frozenset(("team",))


def core(words: Stems) -> Stems:
    """Leave out nouns that name nothing in particular; alone they all stand for what the team has."""
    return words - _GENERIC or (_TEAM if words & _GENERIC - _PERSONAL else words)


def content(tokens: Sequence[Token]) -> Stems:
    """Give the stems of the words that say something."""
    return frozenset(in_order(tokens))


def in_order(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Give the stems of the words that say something, as they stand."""
    return tuple(
        _canonical(token)
        for token in tokens
        if token.stem and (token.kind != "word" or token.low not in _NO_CONTENT) and token.low not in ARTICLE
    )


def _canonical(token: Token) -> str:
    return _CANONICAL.get(token.stem, token.stem) if token.kind == "word" else token.stem


def names(tokens: Sequence[Token]) -> Stems:
    """Give names, numbers, dates and times; the first word is written large whatever it is."""
    return frozenset(token.stem for token in tokens[1:] if token.kind not in ("word", "sign"))


def turns(tokens: Sequence[Token]) -> Stems:
    """Give the little words that turn a meaning."""
    found = frozenset(token.low for token in tokens) & _TURNING
    denied = sum(token.low in NEGATION for token in tokens)
    return found | {f"not {denied}"} if denied > 1 else found


def vague(subject: Sequence[Token], phrases: Sequence[Phrase]) -> bool:
    """Tell whether a part is nothing but a word that points elsewhere."""
    for part in (subject, *(phrase.tokens for phrase in phrases)):
        if any(token.low in _PRONOUNS and token.kind == "word" for token in part) or (
            len(part) == 1 and part[0].low in _POINTING | _PRONOUNS
        ):
            return True
    return False


def sort_of(tokens: Sequence[Token]) -> Sort:
    """Tell what a phrase gives: a date before a time before a number, else words."""
    kinds = {token.kind for token in tokens}
    if "date" in kinds:
        return "date"
    if "time" in kinds:
        return "time"
    return "number" if "number" in kinds else "words" if content(tokens) else "none"


def typed(tokens: Sequence[Token]) -> Stems:
    """Give a phrase's numbers, dates and times."""
    return frozenset(token.stem for token in tokens if token.kind in _TYPED)


def untyped(tokens: Sequence[Token]) -> Stems:
    """Give a phrase's words beside its numbers, dates and times."""
    return content([token for token in tokens if token.kind not in _TYPED])


def noun_phrase(tokens: Sequence[Token]) -> tuple[Stems, str]:
    """Give the words of a noun phrase and the one it turns on."""
    words = content(tokens)
    upto = next((place for place, token in enumerate(tokens) if place and token.low in _AFTER_HEAD), len(tokens))
    heads = [token for token in tokens[:upto] if _canonical(token) in words and token.kind != "number"]
    return words, _canonical(heads[-1]) if heads else ""


def about_subject(tokens: Sequence[Token]) -> Claim:
    """Begin a claim with its subject."""
    words, head = noun_phrase(tokens)
    return Claim(subject=words, head=head)


def with_of(first: Phrase, rest: Sequence[Phrase]) -> tuple[Phrase, list[Phrase]]:
    """Give a phrase together with the "of" behind it: "Paul I of Russia" is one name."""
    held, left = list(first.tokens), list(rest)
    while left and left[0].preposition == "of":
        held += left.pop(0).tokens
    return Phrase(first.preposition, tuple(held)), left


def all_words(phrases: Sequence[Phrase]) -> Stems:
    """Give the words of several phrases."""
    return NOTHING.union(*(content(phrase.tokens) for phrase in phrases))
