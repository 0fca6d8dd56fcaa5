"""Corrections: "actually, it's Tuesday" says nothing alone; with what was said before it is a whole statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.learn.clauses import clause
from commonplace.learn.cues import cues, named
from commonplace.learn.persons import Who
from commonplace.learn.regex import compiled
from commonplace.learn.said import Said
from commonplace.learn.values import has, placed, replaced, subject_of, substituted, value_in, without
from commonplace.text.lexicon import COMMON, EMPTY

_SPELLED = compiled(
    r"""(?:it's|it_is)_(?P<before>[^,;.]+)[,;.]_(?:and_)?(?:you|they|people|everyone)_(?:all_)?(?:keep|always|still)s?_
    (?:writ|spell|call|pronounc)|(?:you|they|people|everyone)_(?:all_)?(?:keep|always|still)s?_
    (?:writ|spell|call|pronounc)[^,;.]*[,;.]_(?:but_)?(?:it's|it_is)_(?P<after>[^,;.]+)""",
    re.IGNORECASE,
)
_SWAP = re.compile(r"not (?P<old>[^,;]{1,30}), (?:it's |but )?(?P<new>[^,;.!]{1,30})[.!]*$", re.IGNORECASE)
_SWAPPED = re.compile(r"(?P<new>(?:it's )?[^,;.!?]{1,40}), not (?P<old>[^,;.!?]{1,30})[.!]*$", re.IGNORECASE)
_BARE = compiled(
    r"""(?:no,?_|nope,?_)?(?:(?:it|that)(?:'s|_is)_(?:actually_|now_)?)?(?:the_|on_
        |at_)?(?P<value>[^,;.!?]{1,20}?)(?:_(?:these_days|now|actually|today))?
        (?:,_[^?]{3,60}|[.!]*)$""",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"(?:the|my|our) (?:correct|right|actual|real|proper) (?P<rest>\w+(?: \w+)? (?:is|are|was) .+)$", re.IGNORECASE
)
_MINE_IS = re.compile(r"(?:my|our) (?P<key>\w+(?: \w+)?)(?:'s| is| are) (?P<value>[^,;.]{2,40})", re.IGNORECASE)
_SAYS = re.compile(r"^.{2,40}?\b(?:says?|said|states?|claims?|shows?|lists?)\s+(?:that\s+)?", re.IGNORECASE)
_SAME_WORDS = 2
_TOKEN = re.compile(r"\w+")
_NOT = compiled(
    r"""(?:,\s*|\s+)(?:and\s+|is\s+|it's\s+)?(?:not|instead\s+of|rather\s+than)\s+(?:on\s+|at\s+|in\s+|the\s+
        |a\s+)?(?P<old>[^,;.]{1,40}?)\s*(?:[,;.]|$)""",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(
    r"(?:it's\s+|it\s+is\s+)?not\s+(?P<old>[^,;.]{1,40}?),?\s+(?:but|it's|it\s+is|rather)\s+(?P<new>.+)$", re.IGNORECASE
)
_SAID_BUT = compiled(
    r"""i\s+(?:said|wrote|typed|put)\s+(?P<old>[^,;.]{1,40}?),?\s+(?:but|and)?\s*(?:i\s+)?(?:meant|it's|it\s+is
        |should\s+be|it\s+should\s+be|mean)\s+(?P<new>.+)$""",
    re.IGNORECASE,
)
_YOU_WROTE = compiled(
    r"""(?:,|;|_and|_but|_[-–—])_(?:you|they)_(?:all_)?(?:wrote|said|put|spelled|spelt|typed|called_(?:it|me|her|him)
        |have|had)_
    (?P<old>[^,;.]{1,40}?)[\s.!]*$""",
    re.IGNORECASE,
)
_TAKEN_BACK = compiled(
    r"""(?:earlier_)?i_(?:said|wrote|told_(?:you|them|everyone)|mentioned
        |claimed)_(?:earlier_)?(?:that_)?(?P<claim>[^,;:]{5,80})[,;:]_(?:but_|and_)?
        (?:that|which|this)(?:'s|_is|_was|_isn't)_(?:\w+_)?(?:wrong|outdated|old|right|correct|incorrect|true|changed
        |a_mistake|nonsense)
        [:;,.–—-]?_(?P<right>.+)$""",
    re.IGNORECASE,
)
_SAID_THAT = re.compile(r"\bi\s+(?:said|meant|wrote)\s+(?:that\s+)?(?P<new>(?:i|we|my|our|the)\b.+)$", re.IGNORECASE)
_CONTRAST = compiled(
    r"""
    (?:i|we|it|they|he|she|the\s[\w\s]{2,30}|my\s[\w\s]{2,30})(?:\s+(?:do|does|did|am|are|is|was|were))?(?:n't|\s+not
    |nt)\s[^,;]{2,60}[,;]\s*(?:but\s+)?(?P<new>(?:i|we|they|he|she)\b(?!\s+said).+)$""",
    re.IGNORECASE,
)
_SPELT = compiled(
    r"""(?:it's|it_is|that's|my_(?:sur|last_|first_)?name_is)_(?:spelled|spelt
        |written)_(?P<new>[^,;.]+?)(?:,_not_.*)?[.!]*$""",
    re.IGNORECASE,
)
_IS_NOT = compiled(
    r"""[^,;.]{1,40}?(?:'s_not|_isn't|_is_not|_aren't|_are_not|_wasn't|_was_not|'m_not|_am_not)_(?:an?_
        |the_)?(?P<old>[^,;.]{2,40})[,;.]_
        (?:but_)?(?:it|he|she|they|i|we)(?:'s|'re|'m|_is|_are|_am|_was)_(?:an?_|the_)?(?P<new>[^,;.]{2,40})""",
    re.IGNORECASE,
)
_ITS = re.compile(r"it's\s+", re.IGNORECASE)
_CLEFT = re.compile(r"it(?:'s| is| was) (?P<what>.+?) (?:that|who|which) (?P<does>.+)$", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NEGATED = re.compile(r"\bnot\b|n't\b", re.IGNORECASE)
_POINTS_AT = re.compile(r"\b(?:it|that|them|this)[.!\s]*$", re.IGNORECASE)
_POINTS = ("it", "that", "this")
_CLOSED = EMPTY | COMMON
_WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class Corrected:
    """The right statement, whose words these are, and what it corrects."""

    text: str
    who: Who
    base: Said | None
    made: bool = False
    """Whether it was put together from what was said before."""
    sure: bool = False
    """Whether its own words leave no doubt that it corrects something."""


def correction(
    text: str, said: Sequence[Said], who: Who, *, announced: bool = False, asked: bool = False
) -> Corrected | None:
    """Read a sentence as a correction of something said before; None when it corrects nothing.

    Asked is for what answers a question: a bare value is then no correction.
    """
    text = text.replace("’", "'")
    begin, strong, told = cues(text)
    if spelled := _SPELLED.match(text) or _SPELT.match(text):
        return Corrected(f"The right spelling is {next(filter(None, spelled.groups()))}", who, None, sure=True)
    if found := _against(text, said, who, asked=asked):
        return found
    if right := _RIGHT.match(text):
        return _restated(f"the {right['rest']}", None, said, who, strong=True)
    rest = named(text[:begin], text[begin:].strip())
    if not rest or not (strong or announced or told):
        return None
    return _told(rest, said, who, strong=strong or announced)


def taken_back(text: str) -> tuple[str, str] | None:
    """Give what was said and what is right, where one sentence tells both: "I said X, that's outdated: it's Y"."""
    found = _TAKEN_BACK.match(text.replace("’", "'"))
    return (found["claim"], found["right"]) if found else None


def _told(rest: str, said: Sequence[Said], who: Who, *, strong: bool) -> Corrected | None:
    """Read what follows the words that announce a correction."""
    if contrast := _CONTRAST.match(rest):
        return _restated(contrast["new"], None, said, who, strong)
    if again := _SAID_THAT.search(rest):
        return _restated(again["new"], None, said, who, strong=True)
    old, rest = _wrong_value(rest)
    strong = strong or old is not None
    value = value_in(rest)
    if value is not None:
        plain = not old and said and replaced(said[-1].text, value) is None
        return (_moved(rest, said) if plain else None) or _put_right(value, old, said, strong)
    return _restated(rest, old, said, who, strong)


def _against(text: str, said: Sequence[Said], who: Who, *, asked: bool) -> Corrected | None:
    """Read a sentence that no word announces, but that says something else than was said before."""
    if not said:
        return None
    return (
        _swapped(text, said, who)
        or (None if asked else _replaced(text, said, who))
        or _contradicted(text, said, who)
        or updated(text, said, who)
    )


def _swapped(text: str, said: Sequence[Said], who: Who) -> Corrected | None:
    """Read "not weekly, every two weeks" and "Rex isn't a beagle, he's a dachshund" by what was said before."""
    if not _NEGATED.search(text):
        return None
    swap = _SWAP.match(text) or _SWAPPED.match(text) or _IS_NOT.match(text)
    base = next((each for each in reversed(said[-3:]) if swap and has(each.text, swap["old"])), None)
    if not swap or base is None:
        return None
    new = _ITS.sub("", swap["new"], count=1).rstrip(".! ")
    if _begins_alike(new, base.text):  # "I prefer TypeScript now, not Python": the whole statement, no value for one
        return Corrected(new, who, base, sure=True)
    return _put_right(_inside(new), swap["old"], said, False)


def _inside(value: str) -> str:
    """A value as it stands inside of a sentence: "Every two weeks" began one."""
    return value[:1].lower() + value[1:] if value.partition(" ")[0].lower() in _CLOSED - {"i"} else value


def _begins_alike(new: str, old: str) -> bool:
    words, before = _TOKEN.findall(new.lower()), _TOKEN.findall(old.lower())
    return len(words) > _SAME_WORDS and words[:_SAME_WORDS] == before[:_SAME_WORDS]


def _replaced(text: str, said: Sequence[Said], who: Who) -> Corrected | None:
    """Read a bare value that another speaker sets against the last one of its kind: "the 18th, legal moved it"."""
    last = said[-1]
    if last.who.name == who.name or not (bare := _BARE.match(text)):
        return None
    right = replaced(last.text, bare["value"])
    return Corrected(right, last.who, last, made=True) if right else None


def _contradicted(text: str, said: Sequence[Said], who: Who) -> Corrected | None:
    """Read "My team lead is Folke" against an assistant's "I have Bruna down as your team lead"."""
    mine = _MINE_IS.match(text)
    if not mine:
        return None
    others = [each for each in said[-4:] if each.who.name != who.name]
    claimed = next((each for each in reversed(others) if has(each.text, f"your {mine['key']}")), None)
    if claimed is None or has(claimed.text, mine["value"].rstrip(".!")):
        return None
    return Corrected(text.rstrip(".! "), who, claimed, sure=True)


def updated(text: str, said: Sequence[Said], who: Who) -> Corrected | None:
    """Read another speaker's statement with one number for another: "the pilot has 10 sites" after "has 12 sites"."""
    if not _DIGIT.search(text):
        return None
    numbers, others = _parts(text)
    if len(numbers) != 1 or len(others) < _SAME_WORDS:
        return None
    for each in reversed(said[-4:]):
        if each.who.name == who.name or not _DIGIT.search(each.text):
            continue
        known, about = _parts(each.text)
        if len(known) == 1 and known != numbers and about and about <= others:
            return Corrected(text.rstrip(".! "), who, each, made=True)
    return None


def _parts(text: str) -> tuple[set[str], set[str]]:
    """Give the numbers of a text and its words with content."""
    found = {each.lower() for each in _TOKEN.findall(_SAYS.sub("", text, count=1))}
    numbers = {each for each in found if each[0].isdigit()}
    return numbers, found - numbers - _CLOSED


def _wrong_value(rest: str) -> tuple[str | None, str]:
    """Give the value that was wrong, where it is named, and the rest without it."""
    if found := _YOU_WROTE.search(rest):
        return found["old"].strip(" \"'"), rest[: found.start()]
    if found := _SAID_BUT.match(rest) or _NOT_BUT.match(rest):
        return found["old"].strip(" \"'"), found["new"]
    if found := _NOT.search(rest):
        return found["old"].strip(" \"'"), (rest[: found.start()] + rest[found.end() :]).strip() or rest
    return None, rest


def _put_right(value: str, old: str | None, said: Sequence[Said], strong: bool) -> Corrected | None:
    for each in reversed(said) if old else ():
        if old and has(each.text, old):
            text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: value, each.text, count=1, flags=re.IGNORECASE)
            return Corrected(text, each.who, each, made=True)
    for each in reversed(said[-6:]):
        if (text_or_none := substituted(each.text, value)) is not None:
            return Corrected(text_or_none, each.who, each, made=True)
    if not said or not strong:
        return None
    last = said[-1]
    if value[0].islower() and " " not in value and (head := without(last.text)):
        # "*milk": a word for the last one.
        return Corrected(f"{head} {value}", last.who, last, made=True)
    subject = subject_of(last.text)
    return Corrected(f"{subject} is {value}", last.who, last, made=True) if subject else None


def _moved(rest: str, said: Sequence[Said]) -> Corrected | None:
    right = placed(rest, said[-1].text) if said else None
    return Corrected(right, said[-1].who, said[-1], made=True) if right else None


def _restated(rest: str, old: str | None, said: Sequence[Said], who: Who, strong: bool) -> Corrected | None:
    """A correction that is a whole clause: it stands as it is, if it is about something said before."""
    content = {each.lower() for each in _WORD.findall(rest)} - _CLOSED
    about = next((each for each in reversed(said) if _shares(each.text, content)), None)
    if about is None and (not strong or _POINTS_AT.search(rest)):
        return None
    if about is None and not old and (moved := _moved(rest, said)):
        return moved
    cut = re.sub(r"[,;]\s+(?:sorry|my bad|misread|typo|autocorrect|not that|i said).*$", "", rest, flags=re.IGNORECASE)
    if cleft := _CLEFT.match(cut):
        cut = f"{cleft['what']} {cleft['does']}"
    if clause(cut, 0, 0).first.partition("'")[0] in _POINTS:
        return None
    if about is None and said and said[-1].who.name != who.name:
        about = said[-1]
    return Corrected(cut, who, about, sure=strong)


def _shares(text: str, content: set[str]) -> bool:
    return not content.isdisjoint(each.lower() for each in _WORD.findall(text))
