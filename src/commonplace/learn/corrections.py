"""Corrections: "actually, it's Tuesday" says nothing alone; with what was said before it is a whole statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from commonplace.learn import words
from commonplace.learn.clauses import clause
from commonplace.learn.persons import Who
from commonplace.learn.regex import compiled
from commonplace.learn.said import Said
from commonplace.recall.lexicon import COMMON, EMPTY

_STRONG = r"""
    (?:(?:small|slight|minor|quick|one|a)\s+)*correction(?:\s+to\s+[^:,]{3,60})?|i\s+meant(?:\s+to\s+(?:say|write))?
    |i\s+mean|i\s+(?:mixed|messed)\s+(?:that|it|them|this|things)\s+up
    |(?:please\s+)?ignore\s+my\s+(?:last|previous|earlier)\s+(?:message|mail|note|post|one)
    |i\s+(?:gave|told|sent)\s+(?:you|everyone|them)\s+the\s+wrong\s+(?P<noun>\w+(?:\s\w+)?)|scratch\s+that|strike\s+that
    |(?:please\s+|pls\s+)?ignore(?:\s+(?:that|this|it|(?:the|my)\s+\w+(?:\s\w+)?))?(?=[,.:;!]|$)
    |make\s+that|my\s+(?:bad|mistake)|i\s+was\s+(?:wrong|mistaken)(?:\s+(?:about|on)\s+[^:,.]{3,60})?|i\s+(?:misspoke
    |mistyped|misread|misremembered|got\s+that\s+wrong|take\s+that\s+back|stand\s+corrected|made\s+a\s+mistake)|typo
    |errat(?:um|a)|i\s+changed\s+my\s+mind|changed\s+my\s+mind|let\s+me\s+correct\s+(?:that|myself)|(?:i\s+(?:have
    |need|must|want)\s+(?:to\s+)?)?(?:to\s+)?correct\s+(?:that|myself|one\s+thing)|(?:that|this|it)(?:'s|\s+was|\s+is
    |\s+has|\s+isn't|\s+wasn't)?\s+(?:(?:not|no\s+longer)\s+(?:quite\s+|entirely\s+|actually\s+|at\s+all\s+)?(?:right
    |true|correct|accurate|the\s+case)|(?:quite\s+|all\s+)?wrong|incorrect|outdated|out\s+of\s+date|changed|a\s+typo
    |old\s+(?:info|news)|before\s+[\w.]+)|not\s+any\s?more|no\s+longer|wrong(?:\s+\w+)?(?=[,.:;!–—-]|\s[-–—]|$)|edit
    |(?:it|that|this|he|she|they|i|we)\s+(?:is|was|are|were|does|did|do|has|have|am)(?:\s+not|n't)(?=[,.!]|$)
    |not\s+(?:true|correct|quite(?:\s+right)?|exactly|right)(?=[,.:;!]|$)"""
_WEAK = r"""actually|o{1,2}ps|sorry(?:\s+(?:folks|all|guys|everyone|team))?|oops|whoops|wait|no\s+wait
    |no(?=[,.!…]|\s+(?:wait|it|it's|that|i|we|he|she|they|the|my|our|sorry|actually)\b)
    |nope|nah|oh|ah|hm+|well
    |hang\s+on|hold\s+on|update|ugh|er+|yes|yeah|yep|right|now(?=\s+(?:it|they|he|she)\b)|on\s+second\s+thoughts?
    |rather|in\s+fact|but|and|ok|okay|so|argh|damn|apologies|well\s+actually"""
_CUE = compiled(rf"(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK}))\b(?:[\s,:;.!…–—-]+|$)", re.IGNORECASE)
_WHERE = re.compile(r"(?:on|in|at|about|with|earlier|before|there|yesterday)\b[\w ]{0,30}", re.IGNORECASE)
_STAR = re.compile(r"\*+(?=\w)")
_START = re.compile("")
_AT_END = compiled(
    r"""(?:,|\s[-–—]|\.|;)\s*(?:sorry,?\s*)?(?:i\s+(?:mistyped|misread|misspoke|got\s+it\s+wrong)|my\s+(?:bad|mistake)
        |typo|wrong\s+before|you(?:'ve|\s+have)?\s+(?:got|have|had|mixed)\s+(?:that|it|them|this)\s+(?:mixed\s+up|wrong
        |the\s+wrong\s+way\s+round|up|backwards))[\s.!]*$|^\S+(?:\s\S+){0,4},?\s+(?:actually|sorry|i\s+mean)[\s.!]*$""",
    re.IGNORECASE,
)
_SPELLED = compiled(
    r"""(?:it's|it_is)_(?P<before>[^,;.]+)[,;.]_(?:and_)?(?:you|they|people|everyone)_(?:all_)?(?:keep|always|still)s?_
    (?:writ|spell|call|pronounc)|(?:you|they|people|everyone)_(?:all_)?(?:keep|always|still)s?_
    (?:writ|spell|call|pronounc)[^,;.]*[,;.]_(?:but_)?(?:it's|it_is)_(?P<after>[^,;.]+)""",
    re.IGNORECASE,
)
_SWAP = re.compile(r"not (?P<old>[^,;]{1,30}), (?:it's |but )?(?P<new>[^,;.!]{1,30})[.!]*$", re.IGNORECASE)
_SWAPPED = re.compile(r"(?P<new>(?:it's )?[^,;.!?]{1,40}), not (?P<old>[^,;.!?]{1,30})[.!]*$", re.IGNORECASE)
_BARE = compiled(
    r"""(?:no,?_|nope,?_)?(?:the_|on_|at_)?(?P<value>[^,;.!?]{1,20}?)(?:_(?:these_days|now|actually|today))?
        (?:,_[^?]{3,60}|[.!]*)$""",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"(?:the|my|our) (?:correct|right|actual|real|proper) (?P<rest>\w+(?: \w+)? (?:is|are|was) .+)$", re.IGNORECASE
)
_MINE_IS = re.compile(r"(?:my|our) (?P<key>\w+(?: \w+)?)(?:'s| is| are) (?P<value>[^,;.]{2,40})", re.IGNORECASE)
_SAME_WORDS = 2
_TOKEN = re.compile(r"\w+")
_TELLING = (
    "actually",
    "sorry",
    "ops",
    "oops",
    "wait",
    "no",
    "nah",
    "whoops",
    "update",
    "rather",
    "apologies",
    "now",
    "on second",
    "in fact",
)
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
_IS = compiled(
    r"""(?:(?:since|as_of|from|starting)_\w+,?_|(?:these_days|nowadays|by_now|this_(?:year|month|week|time)
        |now),?_)?(?:(?:it|that|this|he|she|they|make\s+(?:it|that)|i\s+meant(?:\s+to\s+say)?|i\s+mean|should\s+be
        |that\s+should\s+be|it\s+should\s+be|should\s+have\s+been)(?:'s|'re|\s+is|\s+was|\s+are|\s+should\s+be
        |'ll\s+be|\s+will\s+be)?(?:\s+(?:now|actually|really|supposed\s+to\s+be))?\s+(?:at\s+|on\s+|in\s+
        |the\s+)?)(?=\S)""",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[,;:]\s+.*$|\s[–—-]\s.*$|\.\s*$|!+\s*$|\s+(?:now|instead|sorry|my bad|actually|not that)\s*$|\s*\(.*\)\s*$",
    re.IGNORECASE,
)
_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_TYPES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
        r"\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b",
        r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?\b",
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
        r"\b\d{1,2}(?:st|nd|rd|th)\b",
        r"(?<!\w)[~.]?/[\w./~-]+|\b[\w.-]+/[\w./-]+",
        rf"\b(?:half|quarter) (?:past|to) \w+|(?<=\bat )(?:{_HOURS})\b",
        r"\b\d{1,2}:\d\d(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b|\bnoon\b|\bmidnight\b",
        r"[€$£] ?\d[\d,.]*[km]?\b",
        r"\b\d[\d,.:]*\d? ?(?:%|[a-z]{1,7}\b)",
        r"\b\d[\d.,:x/-]*\d\b|\b\d\b",
        r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)\b",
        r"\"[^\"]+\"",
        r"\S+@\S+|https?://\S+",
    )
)
_NAME = re.compile(r"\b[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)*")
_PLACED = re.compile(r"\b((?:from|in|at|to|with|on|by|until)(?: the| a| an)?) ((?!the |an? )[\w'-]+)", re.IGNORECASE)
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


def only_announces(text: str) -> bool:
    """Tell whether a sentence only says that something was wrong; the next one says what is right."""
    text = text.replace("’", "'")
    begin, strong = 0, False
    while found := _CUE.match(text, begin):
        strong = strong or bool(found["strong"])
        begin = found.end()
    rest = text[begin:].rstrip(" .!")
    return strong and (not rest or bool(_WHERE.fullmatch(rest)))


def may_announce(text: str) -> bool:
    """Tell whether a few words, such as "sorry folks, calendar clash", may lead up to a correction."""
    return _cues(text.replace("’", "'"))[2] and len(text.split()) <= 6


def correction(
    text: str, said: Sequence[Said], who: Who, *, announced: bool = False, asked: bool = False
) -> Corrected | None:
    """Read a sentence as a correction of something said before; None when it corrects nothing.

    Asked is for what answers a question: a bare value is then no correction.
    """
    text = text.replace("’", "'")
    begin, strong, told = _cues(text)
    strong = strong or announced
    rest = _named(text[:begin], text[begin:].strip())
    if spelled := _SPELLED.match(text):
        return Corrected(f"The right spelling is {spelled['before'] or spelled['after']}", who, None)
    if found := _swapped(text, said) or (not asked and _replaced(text, said, who)) or _contradicted(text, said, who):
        return found
    if found := _updated(text, said, who):
        return found
    if right := _RIGHT.match(text):
        return _restated(f"the {right['rest']}", None, said, who, strong=True)
    if not rest or not (strong or told):
        return None
    if contrast := _CONTRAST.match(rest):
        return _restated(contrast["new"], None, said, who, strong)
    if again := _SAID_THAT.search(rest):
        return _restated(again["new"], None, said, who, strong=True)
    strong = strong or bool(_YOU_WROTE.search(rest))
    old, rest = _wrong_value(rest)
    value = _value(rest)
    if value is not None:
        return _put_right(value, old, said, strong) or _by_preposition(rest, said)
    return _restated(rest, old, said, who, strong)


def taken_back(text: str) -> tuple[str, str] | None:
    """Give what was said and what is right, where one sentence tells both: "I said X, that's outdated: it's Y"."""
    found = _TAKEN_BACK.match(text.replace("’", "'"))
    return (found["claim"], found["right"]) if found else None


def _swapped(text: str, said: Sequence[Said]) -> Corrected | None:
    """Read "not weekly, every two weeks" and "every two weeks, not weekly" by the value that was said before."""
    swap = _SWAP.match(text) or _SWAPPED.match(text)
    if not swap or not said or not any(_has(each.text, swap["old"]) for each in said[-3:]):
        return None
    return _put_right(swap["new"].removeprefix("it's "), swap["old"], said, False)


def _replaced(text: str, said: Sequence[Said], who: Who) -> Corrected | None:
    """Read a bare value that another speaker sets against the last one of its kind: "the 18th, legal moved it"."""
    if not said or said[-1].who.name == who.name or not (bare := _BARE.match(text)):
        return None
    value = bare["value"]
    for kind in _TYPES:
        if kind.fullmatch(value) and (places := list(kind.finditer(said[-1].text))):
            if places[-1][0].lower() == value.lower():
                return None
            place = places[-1]
            right = said[-1].text[: place.start()] + value + said[-1].text[place.end() :]
            return Corrected(right, said[-1].who, said[-1], made=True)
    return None


def _contradicted(text: str, said: Sequence[Said], who: Who) -> Corrected | None:
    """Read "My team lead is Folke" against an assistant's "I have Bruna down as your team lead"."""
    mine = _MINE_IS.match(text)
    if not mine:
        return None
    others = [each for each in said[-4:] if each.who.name != who.name]
    claimed = next((each for each in reversed(others) if _has(each.text, f"your {mine['key']}")), None)
    if claimed is None or _has(claimed.text, mine["value"].rstrip(".!")):
        return None
    return Corrected(text.rstrip(".! "), who, claimed, sure=True)


def _updated(text: str, said: Sequence[Said], who: Who) -> Corrected | None:
    """Read another speaker's statement with one number for another: "the pilot has 10 sites" after "has 12 sites"."""
    numbers, others = _parts(text)
    if len(numbers) != 1 or len(others) < _SAME_WORDS:
        return None
    for each in reversed(said[-4:]):
        known, about = _parts(each.text)
        if each.who.name != who.name and len(known) == 1 and known != numbers and about and about <= others:
            return Corrected(text.rstrip(".! "), who, each, made=True)
    return None


def _parts(text: str) -> tuple[set[str], set[str]]:
    """Give the numbers of a text and its words with content."""
    found = {each.lower() for each in _TOKEN.findall(text)}
    numbers = {each for each in found if each[0].isdigit()}
    return numbers, found - numbers - _CLOSED


def _has(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _named(cue: str, rest: str) -> str:
    """Put what was wrong into "the right one is …", where the sentence names it."""
    found = _CUE.match(cue)
    if not found or not found["noun"]:
        return rest
    return re.sub(r"^(?:the (?:right|correct) one|it)(?='s|\s+is)", f"the {found['noun']}", rest, flags=re.IGNORECASE)


def _cues(text: str) -> tuple[int, bool, bool]:
    """Give where the point begins, whether the sentence surely corrects, and whether it may."""
    star = _STAR.match(text) or (_AT_END.search(text) and _START.match(text))
    begin, strong, told = (star.end(), True, True) if star else (0, False, False)
    while found := _CUE.match(text, begin):
        if found.end() >= len(text):
            break
        strong = strong or bool(found["strong"])
        told = told or " ".join((found["weak"] or "").lower().split()).startswith(_TELLING)
        begin = found.end()
    return begin, strong, told


def _wrong_value(rest: str) -> tuple[str | None, str]:
    """Give the value that was wrong, where it is named, and the rest without it."""
    if found := _YOU_WROTE.search(rest):
        return found["old"].strip(" \"'"), rest[: found.start()]
    if found := _SAID_BUT.match(rest) or _NOT_BUT.match(rest):
        return found["old"].strip(" \"'"), found["new"]
    if found := _NOT.search(rest):
        return found["old"].strip(" \"'"), (rest[: found.start()] + rest[found.end() :]).strip() or rest
    return None, rest


def _value(rest: str) -> str | None:
    """Give the new value of a sentence that is nothing else; None of one with a subject of its own."""
    bare = _IS.match(rest)
    value = _AFTER.sub("", rest[bare.end() :] if bare else rest)
    value = re.sub(r"\s+it\s+is$", "", _AFTER.sub("", value).strip(" \"'.!"))
    value = re.sub(r"^(?:to|at|on|in|from|by|the)\s+(?=\S)", "", value, flags=re.IGNORECASE)
    found = [each.lower() for each in re.findall(r"[\w'.:/-]+", value) if each.lower() != "may"]
    if not found or len(found) > 6:
        return None
    if not bare and (found[0] in words.PRONOUNS or any(map(words.is_finite, found)) or found[0] in ("my", "our")):
        return None
    if bare and any(each in words.AUXILIARIES for each in found):
        return None
    return value


def _put_right(value: str, old: str | None, said: Sequence[Said], strong: bool) -> Corrected | None:
    if old:
        for each in reversed(said):
            if (found := re.search(rf"(?<!\w){re.escape(old)}(?!\w)", each.text, re.IGNORECASE)) is not None:
                return Corrected(
                    each.text[: found.start()] + value + each.text[found.end() :], each.who, each, made=True
                )
    for each in reversed(said[-6:]):
        if (text := _substituted(each.text, value)) is not None:
            return Corrected(text, each.who, each, made=True)
    if said and strong and (subject := _subject(said[-1].text)):
        return Corrected(f"{subject} is {value}", said[-1].who, said[-1], made=True)
    return None


def _substituted(text: str, value: str) -> str | None:
    """Put a value in the place of one of its kind; None where there is none."""
    for kind in _TYPES:
        if kind.search(value) and (places := list(kind.finditer(text))):
            place = places[-1]
            return text[: place.start()] + value + _without_unit(text[place.end() :], value)
    if _NAME.match(value) and (names := [each for each in _NAME.finditer(text) if each.start() > 0]):
        place = max(names, key=lambda each: (SequenceMatcher(None, each[0], value).ratio(), each.start()))
        return text[: place.start()] + value + text[place.end() :]
    similar = [
        (SequenceMatcher(None, each[0].lower(), value.lower()).ratio(), each.span()) for each in _WORD.finditer(text)
    ]
    ratio, (start, end) = max(similar, default=(0.0, (0, 0)))
    return text[:start] + value + text[end:] if ratio > 0.6 else None


def _without_unit(after: str, value: str) -> str:
    """Drop what the value brings along itself: three cats, four cats."""
    unit = value.rpartition(" ")[2]
    return after[len(unit) + 1 :] if after.lower().startswith(f" {unit.lower()}") else after


def _subject(text: str) -> str | None:
    found = list(re.finditer(r"\S+", text))
    for index, each in enumerate(found[:10]):
        if index and words.is_finite(each[0].lower()):
            return text[: each.start()].strip()
    return None


def _restated(rest: str, old: str | None, said: Sequence[Said], who: Who, strong: bool) -> Corrected | None:
    """A correction that is a whole clause: it stands as it is, if it is about something said before."""
    content = {each.lower() for each in _WORD.findall(rest)} - _CLOSED
    about = next((each for each in reversed(said) if _shares(each.text, content)), None)
    if about is None and not strong:
        return None
    if about is None and not old and (moved := _by_preposition(rest, said)):
        return moved
    cut = re.sub(r"[,;]\s+(?:sorry|my bad|misread|typo|autocorrect|not that|i said).*$", "", rest, flags=re.IGNORECASE)
    if clause(cut, 0, 0).first.partition("'")[0] in ("it", "that", "this"):
        return None
    return Corrected(cut, who, about, sure=strong)


def _shares(text: str, content: set[str]) -> bool:
    return not content.isdisjoint(each.lower() for each in _WORD.findall(text))


def _by_preposition(rest: str, said: Sequence[Said]) -> Corrected | None:
    """ "It's in the library" puts "the dinner is in the gym" right by what stands after the same word."""
    if not said:
        return None
    last = said[-1]
    for found in _PLACED.finditer(rest):
        for place in _PLACED.finditer(last.text):
            if place[1].lower() == found[1].lower() and found[2].istitle() == place[2].istitle():
                text = last.text[: place.start(2)] + found[2] + last.text[place.end(2) :]
                return Corrected(text, last.who, last, made=True)
    return None
