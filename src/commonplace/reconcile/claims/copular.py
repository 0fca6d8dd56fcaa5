"""Claims with "is": the author of Dracula is Bram Stoker, the launch is on 3 March, the build is green."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonplace.reconcile.claims.claim import (
    Claim,
    about_subject,
    all_words,
    content,
    noun_phrase,
    sort_of,
    typed,
    untyped,
    with_of,
)
from commonplace.reconcile.claims.clauses import Phrase, Sentence
from commonplace.reconcile.claims.tokens import Token, stem
from commonplace.reconcile.claims.words import ARTICLE, EVALUATIVE, EVERY, RELATIONAL

_WHEN_NOUNS = frozenset(stem(word) for word in "date time day deadline schedule start".split())
_PLACE_NOUNS = frozenset(stem(word) for word in "city country place location".split())
_FAVOURED = frozenset((stem("favourite"), stem("preferred")))
_RELATIONAL = frozenset(stem(word) for word in RELATIONAL)
_EVALUATIVE = frozenset(stem(word) for word in EVALUATIVE)
_DESCRIBING = frozenset(("'s", "of", "that", "where", "which", "who"))


def copular(sentence: Sentence) -> Claim:
    """Read what something is, where it is or when."""
    left, phrases = sentence.subject, sentence.phrases
    if not phrases:
        return replace(about_subject(left), relation="be")
    if phrases[0].preposition:
        return _placed(left, phrases)
    if _describes(phrases[0].tokens, phrases[1:]) and not _described(left):
        return _inverse(left, phrases)
    return _attributed(left, phrases)


def at_time(claim: Claim, phrases: Sequence[Phrase]) -> Claim:
    """Read that something is at a time; "the launch date" and "the launch" are one then."""
    timed = [each for each in phrases if sort_of(each.tokens) in ("date", "time")]
    others = [each for each in phrases if each not in timed]
    sort = "date" if any(sort_of(each.tokens) == "date" for each in timed) else "time"
    bare = claim.subject - _WHEN_NOUNS or claim.subject
    beside = frozenset().union(*(untyped(each.tokens) for each in timed)) - _WHEN_NOUNS
    return replace(
        claim,
        subject=bare,
        head=claim.head if claim.head in bare else "",
        relation="be",
        about=frozenset((sort,)),
        value=frozenset().union(*(typed(each.tokens) for each in timed)),
        sort="date" if sort == "date" else "time",
        single=True,
        qualifiers=all_words(others) | beside,
    )


def _describes(tokens: Sequence[Token], after: Sequence[Phrase]) -> bool:
    """Tell whether a complement names an attribute of something: "the CEO of Acme", "Bob's favourite colour"."""
    if not tokens or tokens[0].kind in ("number", "date", "time"):
        return False
    if any(token.low == "'s" for token in tokens[1:]):
        return True
    return tokens[0].low == "the" and bool(after) and after[0].preposition == "of"


def _described(tokens: Sequence[Token]) -> bool:
    return any(token.low in _DESCRIBING for token in tokens[1:])


def _inverse(left: Sequence[Token], phrases: Sequence[Phrase]) -> Claim:
    """Read "Bram Stoker is the author of Dracula" as what the author of Dracula is."""
    frame, rest = [*phrases[0].tokens], [*phrases[1:]]
    if rest and rest[0].preposition == "of":
        frame += [Token("of", "of", "word"), *rest.pop(0).tokens]
    value, qualifiers = content(left), all_words(rest)
    claim = replace(about_subject(frame), turned=True)
    if _FAVOURED & claim.subject:
        return _favoured(claim, value, rest)
    return replace(claim, relation="be", value=value, sort=sort_of(left), single=True, qualifiers=qualifiers)


def _placed(left: Sequence[Token], phrases: Sequence[Phrase]) -> Claim:
    first, rest = with_of(phrases[0], phrases[1:])
    claim = about_subject(left)
    sort = sort_of(first.tokens)
    if sort in ("date", "time"):
        return at_time(claim, phrases)
    claim = replace(claim, qualifiers=all_words(rest))
    if sort == "number":
        about = untyped(first.tokens)
        single = first.preposition == "at" or bool(about)
        return replace(claim, relation="be", about=about, value=typed(first.tokens), sort=sort, single=single)
    place = first.preposition in ("in", "at", "near") and first.tokens[0].low not in ("a", "an", "some")
    value = content(first.tokens) - _PLACE_NOUNS
    relation = f"be:{first.preposition}"
    return replace(claim, relation=relation, value=value, sort="place" if place else "words", single=place)


def _attributed(left: Sequence[Token], phrases: Sequence[Phrase]) -> Claim:
    first, rest = with_of(phrases[0], phrases[1:])
    claim = about_subject(left)
    sort = "words" if _is_named(first.tokens) else sort_of(first.tokens)
    if sort in ("date", "time"):
        return at_time(claim, phrases)
    if sort == "number":
        value, others = typed(phrases[0].tokens), all_words(phrases[1:])
        return replace(claim, relation="be", value=value, sort=sort, single=True, qualifiers=others)
    if first.tokens and first.tokens[0].low in ("a", "an"):
        return _classed(claim, phrases[0], list(phrases[1:]))
    if _FAVOURED & claim.subject:
        return _favoured(claim, content(first.tokens), rest)
    named = bool(left) and (left[0].low in ("the", "this") or _described(left))
    if not named and rest and not any(token.kind == "name" for token in first.tokens):
        return _related(claim, first, rest)
    return replace(
        claim,
        relation="be",
        value=content(first.tokens),
        sort="words" if named else "state",
        single=named and _is_thing(left, first.tokens),
        qualifiers=all_words(rest),
    )


def _favoured(claim: Claim, value: frozenset[str], rest: Sequence[Phrase]) -> Claim:
    """Read "Bob's favourite colour is green" as what he prefers among colours."""
    kind = frozenset((claim.head,)) - _FAVOURED
    subject = claim.subject - _FAVOURED - kind or claim.subject
    return Claim(
        subject=subject, relation="prefer", about=kind, value=value, sort="words", single=True,
        qualifiers=all_words(rest), turned=claim.turned,
    )  # fmt: skip


def _is_named(tokens: Sequence[Token]) -> bool:
    """Tell whether a number or month is part of a name: "Channel 4", "Louisa May Alcott"."""
    said = [token for token in tokens if token.low not in ARTICLE]
    return bool(said) and said[0].kind == "name"


def _is_thing(left: Sequence[Token], value: Sequence[Token]) -> bool:
    """Tell whether "the … is …" names a value rather than one of many properties."""
    if left[0].low.endswith("ing") or content(value) <= _EVALUATIVE:
        return False
    return _described(left) or any(token.kind == "name" for token in value) or (len(left) > 2 and len(value) == 1)


def _classed(claim: Claim, first: Phrase, rest: list[Phrase]) -> Claim:
    noun, turn = noun_phrase(first.tokens)
    if turn in _RELATIONAL and rest and rest[0].preposition == "of":
        held, rest = with_of(rest[0], rest[1:])
        value = content(held.tokens)
        qualifiers = all_words(rest)
        return replace(claim, relation=f"be:{turn}", value=value, sort="words", single=True, qualifiers=qualifiers)
    return replace(claim, relation="be:a", value=noun | all_words(rest), sort="state")


def _related(claim: Claim, adjective: Phrase, rest: list[Phrase]) -> Claim:
    """Read an adjective with its preposition: "is famous for", "is allergic to"."""
    name = " ".join(sorted(content(adjective.tokens)))
    several = any(token.low in EVERY for token in adjective.tokens)
    first, rest = with_of(rest[0], rest[1:])
    single = not several and any(token.kind == "name" for token in first.tokens) and " " not in name
    return replace(
        claim, relation=f"be:{name}:{first.preposition}", value=content(first.tokens), sort="words", single=single,
        qualifiers=all_words(rest),
    )  # fmt: skip
