"""Claims with another verb: Sarah lives in Lisbon, we switched from Jest to Vitest, the plan allows 10 projects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonplace.reconcile.claims.claim import (
    NOTHING,
    Claim,
    Stems,
    about_subject,
    all_words,
    content,
    sort_of,
    typed,
    untyped,
    with_of,
)
from commonplace.reconcile.claims.clauses import Phrase, Sentence
from commonplace.reconcile.claims.copular import at_time
from commonplace.reconcile.claims.tokens import stem
from commonplace.reconcile.claims.words import (
    AVERSE,
    CANON,
    CHOOSE,
    DETERMINER,
    DROP,
    HAPPEN,
    MOVED,
    SINGLE,
    SWITCH,
    USING,
)

_AIMS = frozenset(("to", "on", "at", "until", "for", "by", "every"))
_TYPED = ("date", "time", "number")
_CHOOSING = DROP | SWITCH | CHOOSE | {"replace", "use", "decide"}
_PARTICLES = frozenset("up out down off in".split())
_DIRECTIONS = frozenset("into onto from in on".split())
_LASTING = frozenset(("live", "work", "stay"))
_GROUPS = frozenset(stem(word) for word in "team squad department project role position topic".split())
"""Things that one moves to without leaving a place."""
_UNITS = frozenset(
    stem(word) for word in "second minute hour day week month year millisecond percent dollar euro pound".split()
)


def verbal(sentence: Sentence) -> Claim:
    """Read what something does, has, uses, or what was done to it."""
    claim, base = about_subject(sentence.subject), sentence.verb
    found = _moved(claim, base, sentence.phrases)
    if found is None and base in _CHOOSING:
        found = _chosen(claim, base, sentence.phrases)
    if found is not None:
        return found
    if base == "call" or (base == "name" and sentence.passive):
        return _called(claim, sentence.phrases)
    meant = AVERSE.get(base, base)
    return replace(_framed(claim, CANON.get(meant, meant), sentence), positive=base not in AVERSE)


def _moved(claim: Claim, base: str, phrases: Sequence[Phrase]) -> Claim | None:
    """Read "was raised to 60 seconds", "slipped to Thursday", "starts at 3pm" as what the subject now is."""
    aim = next((each for each in phrases if each.preposition in _AIMS and sort_of(each.tokens) in _TYPED), None)
    if aim is None:
        return None
    if not phrases[0].preposition:
        return _set(base, phrases, aim)
    rest = [each for each in phrases if each is not aim]
    sort = sort_of(aim.tokens)
    if sort != "number":
        return replace(at_time(claim, [aim, *rest]), changed=base in MOVED) if base in MOVED | HAPPEN else None
    if aim.preposition != "to" or base not in MOVED:
        return None
    before = [each for each in rest if each.preposition == "from"]
    return replace(
        claim, relation="be", about=_labelled(aim), value=typed(aim.tokens), sort=sort, single=True, changed=True,
        rejected=all_words(before), qualifiers=all_words([each for each in rest if each not in before]),
    )  # fmt: skip


def _set(base: str, phrases: Sequence[Phrase], aim: Phrase) -> Claim | None:
    """Read "we raised the timeout to 60 seconds" as what the timeout is, whoever raised it."""
    place = phrases.index(aim)
    if aim.preposition != "to" or base not in MOVED or phrases[0].tokens[0].low in _PARTICLES:
        return None
    before = [each for each in phrases[:place] if each.preposition == "from"]
    what = [token for each in phrases[:place] if each not in before for token in each.tokens]
    return _moved(about_subject(what), base, [*before, aim, *phrases[place + 1 :]])


def _labelled(aim: Phrase) -> Stems:
    """The word that names a number, "port" in "port 5151"; a word after the number is counted, and is no attribute."""
    upto = next(place for place, token in enumerate(aim.tokens) if token.kind in _TYPED)
    return content(aim.tokens[:upto]) - _UNITS


def _chosen(claim: Claim, base: str, phrases: Sequence[Phrase]) -> Claim | None:
    """Read what was taken into use and what was given up for it."""
    by = {phrase.preposition: phrase for phrase in reversed(phrases)}
    if "" in by and by[""].tokens[0].low in _PARTICLES:
        return None
    taken, left = _exchange(base, by)
    if taken is None and left is None:
        return None
    rest = [each for each in phrases if each is not taken and each is not left]
    if base == "move" and taken is not None and left is None and "team" not in claim.subject:
        value = content(taken.tokens)
        if value & _GROUPS or all(token.kind in ("word", "sign") for token in taken.tokens):
            return replace(claim, relation="move:to", value=value, sort="words", changed=True, event=True)
        return replace(claim, relation="live:in", value=value, sort="words", single=True, changed=True)
    return _taken(replace(claim, changed=base not in CHOOSE | {"use", "decide"}), taken, left, rest)


def _exchange(base: str, by: dict[str, Phrase]) -> tuple[Phrase | None, Phrase | None]:
    """Give the phrase that names what is taken and the one that names what is left for it."""
    if base == "replace" and "" in by and "with" in by:
        return by["with"], by[""]
    if base in DROP:
        return None, None if _DIRECTIONS & by.keys() else by.get("")
    if base == "decide":
        return by.get("on") or by.get("for"), by.get("against")
    if base in CHOOSE or base == "use":
        return by.get("") or by.get("on"), by.get("over")
    if base in SWITCH and "" not in by:
        return by.get("to"), by.get("from")
    return None, None


def _taken(claim: Claim, taken: Phrase | None, left: Phrase | None, rest: list[Phrase]) -> Claim:
    over = [each for each in rest if each.preposition == "over"]
    given_up = all_words([*over, *([left] if left else [])])
    claim = replace(claim, relation="use", qualifiers=all_words([each for each in rest if each not in over]))
    if taken is None:
        return replace(claim, value=given_up, sort="words", positive=False, changed=True)
    if sort_of(taken.tokens) == "number":
        about, value = untyped(taken.tokens), typed(taken.tokens)
        return replace(claim, about=about, value=value, sort="number", single=True, rejected=given_up)
    return replace(claim, value=content(taken.tokens), sort="words", rejected=given_up)


def _called(claim: Claim, phrases: Sequence[Phrase]) -> Claim:
    """Read "my cat is called Luna" as what my cat's name is."""
    value = content(phrases[0].tokens) if phrases else NOTHING
    return replace(
        claim, subject=claim.subject | {"name"}, head="name", relation="be", value=value, sort="words", single=True
    )


def _framed(claim: Claim, base: str, sentence: Sentence) -> Claim:
    """Fill the place of the verb that holds the value; what else is said narrows the claim."""
    phrases = sentence.phrases
    by = next((place for place, each in enumerate(phrases) if each.preposition == "by"), None)
    if sentence.passive and by is not None:
        agent, rest = with_of(phrases[by], phrases[by + 1 :])
        return replace(
            claim, relation=f"{base}:by", value=content(agent.tokens), sort="words", single=True, turned=True,
            qualifiers=all_words([*phrases[:by], *rest]),
        )  # fmt: skip
    compared = base == "prefer" or base in USING
    over = [each for each in phrases if each.preposition == "over" and compared]
    claim = replace(claim, rejected=all_words(over), turned=sentence.passive)
    phrases = [each for each in phrases if each not in over]
    if phrases:
        return _valued(claim, base, phrases, sentence)
    if sentence.form is not None and (sentence.passive or sentence.progressive):
        return replace(claim, relation="be", value=content([sentence.form]), sort="state")
    return replace(claim, relation=base)


def _valued(claim: Claim, base: str, phrases: Sequence[Phrase], sentence: Sentence) -> Claim:
    first, rest = phrases[0], phrases[1:]
    slot = "by" if base == "work" and first.preposition in ("at", "for") else first.preposition
    event = sentence.past and not sentence.passive
    claim = replace(claim, relation=f"{base}:{slot}" if slot else base, event=event)
    if sort_of(first.tokens) in _TYPED:
        return _counted(claim, first, rest)
    if _is_kind(first, rest) and not sentence.progressive:
        held, rest = with_of(rest[0], rest[1:])
        return replace(
            claim, about=content(first.tokens), value=content(held.tokens), sort="words", single=True,
            qualifiers=all_words(rest),
        )  # fmt: skip
    first, rest = with_of(first, rest)
    lasting = not sentence.progressive or base in _LASTING
    measured = [each for each in rest if sort_of(each.tokens) == "number"]
    return replace(
        claim, value=content(first.tokens), sort="words", single=lasting and f"{base}:{first.preposition}" in SINGLE,
        qualifiers=all_words([each for each in rest if each not in measured]),
        measures=frozenset((" ".join(sorted(untyped(each.tokens))), min(typed(each.tokens))) for each in measured),
    )  # fmt: skip


def _counted(claim: Claim, first: Phrase, rest: Sequence[Phrase]) -> Claim:
    """Read a number, date or time as the value: of what, the words beside it say; its unit belongs to it."""
    beside = untyped(first.tokens)
    return replace(
        claim, about=beside - _UNITS, value=typed(first.tokens) | (beside & _UNITS), sort=sort_of(first.tokens),
        single=not claim.event, qualifiers=all_words(rest),
    )  # fmt: skip


def _is_kind(first: Phrase, rest: Sequence[Phrase]) -> bool:
    """Tell whether a value stands behind its kind, "the city of London": "the" says that there is one."""
    if not rest or rest[0].preposition != "of" or len(first.tokens) < 2 or first.tokens[0].low != "the":
        return False
    return rest[0].tokens[0].low not in DETERMINER or rest[0].tokens[0].low == "the"
