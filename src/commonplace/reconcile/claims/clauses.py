"""The main clause of a sentence in its parts: subject, verb, and the phrases behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from commonplace.reconcile.claims.tokens import Token, tokens
from commonplace.reconcile.claims.words import (
    ADVERB,
    AUXILIARY,
    BE,
    CEASE,
    DETERMINER,
    FINITE,
    FIRST,
    HAVE,
    INTEND,
    LEAD,
    LEADS,
    NEGATION,
    NEW,
    OPENING,
    PREPOSITION,
    TOGETHER,
    is_noun_mostly,
    verb_forms,
)

_LEADS = re.compile(rf"(?:{LEADS})\b[\s,:]*", re.I)
_RATHER = re.compile(r"\bwould rather (?:have |use |get |see )?|'d rather (?:have |use |get |see )?", re.I)
_CUTTING = frozenset("because which who whom although though whereas while since so but".split())
_WHENS = frozenset("last next this every each".split())
_PERIODS = frozenset(
    "day week month year morning evening afternoon night weekend quarter sprint time season summer winter".split()
)
_DAYS = frozenset("yesterday tomorrow tonight".split())
_RELATIVE = frozenset("that where which who".split())


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words behind a preposition, or the object, whose preposition is empty."""

    preposition: str
    tokens: tuple[Token, ...]


@dataclass(slots=True)
class Sentence:
    """One clause, taken apart; `verb` is the base form, empty where none was found."""

    all: list[Token]
    subject: list[Token] = field(default_factory=list)
    verb: str = ""
    form: Token | None = None
    phrases: list[Phrase] = field(default_factory=list)
    fronted: list[Token] = field(default_factory=list)
    contrast: list[Token] = field(default_factory=list)
    tail: list[Token] = field(default_factory=list)
    """The text after the clause: a reason, a further clause."""
    negative: bool = False
    passive: bool = False
    progressive: bool = False
    past: bool = False
    changed: bool = False


def parse(text: str, owner: tuple[str, ...]) -> Sentence:
    """Take a text's first clause apart, "I" and "my" read as the owner."""
    text = _RATHER.sub(" prefer ", text.replace("’", "'"))
    for _ in range(3):
        text = _LEADS.sub("", text, count=1) if _LEADS.match(text) else text
    whole = _owned(tokens(text), owner)
    sentence = Sentence(all=[token for token in whole if token.kind != "sign"])
    clause = _fronted(_led(whole), sentence)
    place = _verb_at(clause)
    if place is None:
        sentence.negative = _odd(whole)
        return sentence
    clause = _clause(clause, place, sentence)
    sentence.changed = any(token.low in NEW for token in [*sentence.fronted, *clause])
    sentence.subject = _bare(clause[:place], sentence)
    _verb(clause, place, sentence)
    if not sentence.subject and owner and sentence.verb != "be":
        sentence.subject = [Token(part, part, "owner") for part in owner]
    return sentence


def _odd(read: Sequence[Token]) -> bool:
    return sum(token.low in NEGATION for token in read) % 2 == 1


def _owned(read: list[Token], owner: tuple[str, ...]) -> list[Token]:
    """Put the owner in the place of "I" and "my"; a team speaks of itself as "we"."""
    found: list[Token] = []
    for token in read:
        if token.low in FIRST or token.low in TOGETHER:
            who = ("team",) if token.low in TOGETHER else owner or ("i",)
            found += [Token(part, part, "owner") for part in who]
            if token.low in ("my", "our"):
                found.append(Token("'s", "", "sign"))
        else:
            found.append(token)
    return found


def _led(read: list[Token]) -> list[Token]:
    """Leave out what only leads up to a claim: "Actually,", "No,"."""
    start = 0
    while start < len(read) - 1 and (read[start].low in LEAD or read[start].kind == "sign"):
        if read[start].low == "no" and read[start + 1].kind != "sign":
            break
        start += 1
    return read[start:]


def _clause(read: list[Token], verb: int, sentence: Sentence) -> list[Token]:
    """Give the clause up to where the next one begins; a contrast (", not 3pm") is put aside."""
    for place in range(verb + 1, len(read)):
        token = read[place]
        after = read[place + 1] if place + 1 < len(read) else None
        if token.kind == "sign" and token.low == "," and after is not None and after.low == "not":
            sentence.contrast = read[place + 2 :]
            return read[:place]
        if _cuts(token, after):
            sentence.tail = read[place:]
            return read[:place]
    return read


def _cuts(token: Token, after: Token | None) -> bool:
    if token.kind == "sign":
        if token.low == ",":
            return after is not None and (after.low in _CUTTING or after.low in ("and", "or"))
        return token.low != "'s"
    return token.low in ("because", "although", "though", "but") or (
        token.low in ("and", "so") and after is not None and after.kind == "owner"
    )


def _fronted(read: list[Token], sentence: Sentence) -> list[Token]:
    if not read or read[0].low not in OPENING:
        return read
    for place, token in enumerate(read):
        if token.low == "," and place + 1 < len(read):
            sentence.fronted = [each for each in read[:place] if each.kind != "sign"]
            return read[place + 1 :]
    return read


def _verb_at(clause: Sequence[Token]) -> int | None:
    """Give the place of the main clause's first verb."""
    known = verb_forms()
    relative = False
    imperative: int | None = None
    for place, token in enumerate(clause):
        before = clause[place - 1] if place else None
        if token.low in _RELATIVE and place > 1:
            relative = True
        if not _may_be_verb(clause, place, known, relative=relative):
            continue
        if place == 0 or all(each.low in NEGATION or each.low in ADVERB for each in clause[:place]):
            imperative = place if imperative is None else imperative
            continue
        if relative:  # the verb of "the company that produced it"; the main one comes after
            relative = False
        elif token.low in FINITE or before is None or before.low not in AUXILIARY:
            return place
    return imperative


def _may_be_verb(clause: Sequence[Token], place: int, known: dict[str, str], *, relative: bool) -> bool:
    token = clause[place]
    if token.low in FINITE:
        return True
    base = known.get(token.low)
    if base is None or token.kind not in ("word", "name") or is_noun_mostly(base):
        return False
    if token.kind == "name" and place:
        return False
    before = clause[place - 1] if place else None
    if relative:
        return not token.low.endswith("ing")
    if before is not None and _nominal_before(before):
        return False
    return not (token.low.endswith("ing") or _verb_next(clause, place, known))


def _nominal_before(before: Token) -> bool:
    """Tell whether a word stands where a noun is due: after an article, a possessor, a preposition."""
    if before.low == "to":
        return True
    return before.low in DETERMINER or before.low == "'s" or before.low in PREPOSITION or before.kind == "number"


def _verb_next(clause: Sequence[Token], place: int, known: dict[str, str]) -> bool:
    """Tell whether the next word is the verb, so that this one is a noun: "unit tests use", "API calls are"."""
    after = next((each for each in clause[place + 1 :] if each.low not in ADVERB), None)
    if after is None:
        return False
    if after.low in FINITE:
        return True
    finite = after.low in known and not after.low.endswith("ing")
    return after.kind == "word" and finite and known[after.low] != "like" and place > 0


def _bare(part: Sequence[Token], sentence: Sentence) -> list[Token]:
    """Take negation and adverbs out of the subject: "nobody", "we never"."""
    kept: list[Token] = []
    for token in part:
        if token.low in NEGATION:
            sentence.negative = not sentence.negative
        elif not (token.low in ADVERB and token.low != "there"):
            kept.append(token)
    return kept


def _verb(clause: Sequence[Token], place: int, sentence: Sentence) -> None:
    known = verb_forms()
    helpers: list[str] = []
    while place < len(clause) and _helps(clause, place, known):
        token = clause[place]
        if token.low in NEGATION:
            sentence.negative = not sentence.negative
        elif token.low in AUXILIARY:
            helpers.append(token.low)
        place += 1
    _main(clause, place, helpers, sentence)


def _helps(clause: Sequence[Token], place: int, known: dict[str, str]) -> bool:
    token = clause[place]
    if token.low in HAVE:  # "has a cat" is the verb itself
        follows = next((each for each in clause[place + 1 :] if each.low not in ADVERB | NEGATION), None)
        return follows is not None and (follows.low in known or follows.low in BE) and follows.low != "a"
    return token.low in AUXILIARY or token.low in NEGATION or token.low in ADVERB


def _main(clause: Sequence[Token], place: int, helpers: list[str], sentence: Sentence) -> None:
    known = verb_forms()
    token = clause[place] if place < len(clause) else None
    base = known.get(token.low, "") if token is not None and token.kind != "sign" else ""
    last = helpers[-1] if helpers else ""
    if last in BE and token is not None:
        base = base or _unknown(token)
        sentence.progressive = bool(base) and token.low.endswith("ing")
        sentence.passive = bool(base) and token.low != base and not sentence.progressive
    if last in BE and not (sentence.progressive or sentence.passive):
        _be(clause, place, helpers, sentence)
        return
    if token is None or not base:
        sentence.verb = "be" if last in BE else ""
        sentence.phrases = _phrases(clause[place:], sentence)
        return
    sentence.form = token
    sentence.past = not helpers and token.low != base and not token.low.endswith(("s", "ing"))
    _chain(clause, place, base, sentence)


def _unknown(token: Token) -> str:
    """Give the base of a verb that no list holds, by its ending: after "is" these are verbs."""
    if token.kind == "word" and len(token.low) > 5 and token.low.endswith(("ing", "ed")):
        return token.stem
    return ""


def _be(clause: Sequence[Token], place: int, helpers: list[str], sentence: Sentence) -> None:
    rest = clause[place:]
    sentence.verb = "be"
    if sentence.subject and sentence.subject[0].low == "there":
        _exists(rest, sentence)
        return
    if "been" in helpers and rest and rest[0].low == "to":  # "have been to Rome"
        sentence.verb = "visit"
        rest = rest[1:]
    sentence.phrases = _phrases(rest, sentence)


def _exists(rest: Sequence[Token], sentence: Sentence) -> None:
    """Read "there is a man playing the flute" as what the man does."""
    known = verb_forms()
    sentence.subject = []
    for place, token in enumerate(rest):
        if place and token.low.endswith("ing") and token.low in known:
            sentence.subject = _bare(rest[:place], sentence)
            sentence.form = token
            _chain(rest, place, known[token.low], sentence)
            return
    noun = next((place for place, token in enumerate(rest) if token.low in PREPOSITION), len(rest))
    sentence.subject = _bare(rest[:noun], sentence)
    sentence.verb = "exist"
    sentence.phrases = _phrases(rest[noun:], sentence)


def _chain(clause: Sequence[Token], place: int, base: str, sentence: Sentence) -> None:
    """Follow a verb to the one it leads to: "decided to use", "stopped playing", "wants to visit"."""
    known = verb_forms()
    rest = list(clause[place + 1 :])
    turn = False
    while rest and rest[0].low in ADVERB | NEGATION and base in INTEND | CEASE:
        turn ^= rest.pop(0).low in NEGATION
    infinitive = (
        len(rest) > 1 and rest[0].low == "to" and rest[1].kind != "name" and known.get(rest[1].low) == rest[1].low
    )
    gerund = bool(rest) and rest[0].low.endswith("ing") and rest[0].low in known
    if base in CEASE and (gerund or sentence.form is None or not rest):
        sentence.negative = not sentence.negative
    if infinitive and (base in INTEND or base == "go"):
        sentence.negative ^= turn
        _chain(rest, 1, rest[1].low, sentence)
        return
    if gerund and base in CEASE | {"start", "begin", "keep", "continue"}:
        _chain(rest, 0, known[rest[0].low], sentence)
        return
    if base == "decide" and rest and rest[0].low == "against" and len(rest) > 1 and rest[1].low in known:
        sentence.negative = not sentence.negative
        _chain(rest, 1, known[rest[1].low], sentence)
        return
    if infinitive:
        base, rest = f"{base} {rest[1].low}", rest[2:]
    elif gerund:
        base, rest = f"{base} {known[rest[0].low]}", rest[1:]
    sentence.verb = base
    sentence.phrases = _phrases(rest, sentence)


def _phrases(rest: Sequence[Token], sentence: Sentence) -> list[Phrase]:
    """Divide what follows the verb at its prepositions; "last week" and "every Friday" are phrases too."""
    found: list[Phrase] = []
    preposition, held = "", list[Token]()
    for place, token in enumerate(rest):
        after = rest[place + 1] if place + 1 < len(rest) else None
        if token.low in NEGATION:
            sentence.negative = not sentence.negative
        elif token.low in PREPOSITION or _opens_time(token, after):
            _close(found, preposition, held)
            preposition, held = ("every" if token.low in _WHENS else token.low), []
            if token.low in _DAYS or token.low in ("last", "next", "this"):
                held = [token]
        elif token.low not in ADVERB and (token.kind != "sign" or token.low == "'s"):
            held.append(token)
    _close(found, preposition, held)
    return found


def _opens_time(token: Token, after: Token | None) -> bool:
    if token.low in _DAYS:
        return True
    return token.low in _WHENS and after is not None and (after.low in _PERIODS or after.kind == "date")


def _close(found: list[Phrase], preposition: str, held: list[Token]) -> None:
    if held:
        found.append(Phrase(preposition, tuple(held)))
