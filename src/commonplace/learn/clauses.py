"""Clauses of a sentence: each with a subject and a verb of its own, or with the speaker for a subject left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.learn import words
from commonplace.learn.regex import compiled
from commonplace.learn.segment import Span

_WORD = re.compile(r"[^\W_](?:[\w'’./:@%+-]*[\w'’%+])?")
_JOINT = compiled(
    r"\s*(?:(?P<mark>[,;:]|[-–—]+(?=\s)|—)\s*)?"
    r"""(?:(?P<word>\b(?:and|but|so|plus|also|&|while|whereas|though|although|tho|except)\b)\s+(?:then_|also_|btw_
        |now_)?)?""",
    re.IGNORECASE,
)
_MARK = re.compile(r"[,;:]\s|\s[-–—]\s")
_PLACES = re.compile(r"[,;:]\s|\s[-–—]+\s|—|\s(?:and|but|so|plus|&|while|whereas)\s", re.IGNORECASE)
_SUBORDINATE = compiled(
    r"""(?:if|when|whenever|once|after|before|while|since(?!_then)|because|as|until(?!_then)|unless|although|though
        |given|for|in|on|at|with"""
    r"|following|during|due|from|to|by|without|instead|every_time|now_that|starting)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:please|pls|plz|don'?t|do not|never|always|avoid|use|keep|make sure|only|stop|no more|let's|lets|just)\b",
    re.IGNORECASE,
)
_BINDERS = frozenset(
    "that which who whom whose where if when because since to as than like without while until".split()
)
_AFTER_NOUNS = frozenset("above over under below with from of in on at for without between".split())
_BEFORE_NOUNS = frozenset(
    "the a an my our your his her their this that to and or of in on at for with no any some".split()
)
_ADVERBIAL = compiled(r"""
    (?:(?:until|since|from|by)_then|after_that|for_now|meanwhile|then|now|today|(?:yes|no)(?=,?_(?:i|we|it|he|she
    |they)\b))\b,?_""")
_CONTRACTED = re.compile(r"(?:i|we|he|she|they|it)(?:['’](?:m|s|re|ve|ll|d))\s", re.IGNORECASE)
_SPEAKING = re.compile(r"(?:i|we)(?:['’](?:m|re|ve|ll))?\s", re.IGNORECASE)
_CARELESS = compiled(
    r"""\b(?:im|ive|id(?=_(?:rather|like|love|prefer|say))|dont|cant|wont|didnt|doesnt|isnt|arent|wasnt|werent|couldnt
        |wouldnt"""
    r"|shouldnt|havent|hasnt|youre|theyre|thats|weve|hes|shes)\b",
    re.IGNORECASE,
)
_BEFORE_VERBS = frozenset("never always only just".split())
_LEFT_OUT = compiled(
    r"""(?:just_|finally_|recently_|already_|also_|never_|always_)*(?:(?P<ing>(?:not_)?(?:doing|going|moving|switching
        |sticking|staying|using|dropping|keeping|planning|heading|flying|leaving|taking"""
    r"""|starting|learning|working|targeting|migrating|travell?ing|seeing|visiting|replacing|cancell?ing|buying
        |selling|renewing|killing|skipping|hiring|closing))\s"""
    r"""|(?P<past>tried|kept|let|went|decided|chose|picked|gave|bought|moved|found|learn(?:ed|t)|switched|ended|got
        |met|lost|spent"""
    r"""|rolled|settled|opted|used|discovered|noticed|finished|started|quit|joined|signed|booked|had|made|wasted|broke
        |cancell?ed|dropped|replaced|deleted|sold|hired|ran|rejected|approved|adopted|upgraded|wrote|built|grew|tested
        |agreed|bumped|pinned|turned|overwrote|tripped|changed_my|attempted)\s"""
    r"""|(?P<base>will|won't|gonna|can't_stand|love|hate|prefer|like|dislike|enjoy|need|want|live|work|don't_(?:like
        |eat|drink|want))\s"""
    r"""|(?P<been>been_)|(?P<not>not_(?:a_(?:big_|huge_)?fan|into|keen)|allergic|big_fan|huge_fan|more_of_a|happy_with
        |based_in)\b)""",
    re.IGNORECASE,
)
_OBJECTS = frozenset(
    """
    the a an my our your his her their its this that these those it them him us me all some every both two three four
    five everything everyone nothing to up out off down back
    """.split()
)
_PLURALS = frozenset("people kids children men women police staff customers parents".split())


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as rules read it."""

    start: int
    end: int
    text: str
    """As it was said, but with a subject that was left out put back: "I'm going with quartz"."""
    low: str
    words: tuple[str, ...]
    joint: str

    @property
    def first(self) -> str:
        """The first word in lower case."""
        return self.words[0] if self.words else ""


def clauses(sentence: Span) -> list[Clause]:
    """Split a sentence where a new clause begins; what only lists or explains stays together."""
    cuts = _cuts(sentence.text)
    found: list[Clause] = []
    for (begin, joint), (end, _) in zip(cuts, [*cuts[1:], (len(sentence.text), "")], strict=True):
        text = sentence.text[begin:end]
        kept = text.rstrip(" ,;:-–—&\t\n")
        kept = re.sub(r"[\s,]+(?:and|but|so|plus|&|while|whereas)$", "", kept, flags=re.IGNORECASE).rstrip(" ,;:-–—")
        if kept:
            start = sentence.start + begin
            found.append(clause(kept, start, start + len(kept), joint))
    return found


def clause(text: str, start: int, end: int, joint: str = "") -> Clause:
    """Read one clause."""
    text = _CARELESS.sub(_careful, text.replace("’", "'"))
    if (found := _LEFT_OUT.match(text)) and not (found["ing"] and _is_gerund(text)):
        text = _subject(found) + text[0].lower() + text[1:]
    elif _is_deed(text):
        text = f"I {text[0].lower()}{text[1:]}"
    low = " ".join(text.lower().split())
    return Clause(start, end, text, low, tuple(each.rstrip(".:") for each in _WORD.findall(low)), joint)


def _is_gerund(text: str) -> bool:
    """Tell whether "moving …" is itself a subject: "moving the job to UTC caused double runs"."""
    for each in _WORD.findall(text.lower())[2:12]:
        if each in _BINDERS and each != "to":
            return False
        if each in words.AUXILIARIES or each in words.PASTS or (each in words.THIRDS and each not in words.NOUNS):
            return True
    return False


def _is_deed(text: str) -> bool:
    """Tell whether a clause begins with what its speaker did: "Painted the shed"."""
    first, second = (*_WORD.findall(text[:40].lower()), "", "")[:2]
    return first in words.PASTS and second in _OBJECTS and first not in words.VERBS


def _careful(found: re.Match[str]) -> str:
    """Put the apostrophe back where it was left out."""
    word = found[0]
    at = -1 if word.lower().endswith(("nt", "im", "id", "s")) else -2
    return f"{word[:at]}'{word[at:]}"


def _subject(left_out: re.Match[str]) -> str:
    """Give the subject that was left out, with what its verb needs."""
    if left_out["been"]:
        return "I've "
    return "I'm " if left_out["ing"] or left_out["not"] or "gonna" in left_out[0].lower() else "I "


def joined(first: Clause, second: Clause, between: str) -> Clause:
    """Make one clause of two that belong together."""
    text = f"{first.text}{between}{second.text}"
    low = " ".join(text.lower().split())
    return replace(first, end=second.end, text=text, low=low, words=first.words + second.words)


def _cuts(text: str) -> list[tuple[int, str]]:
    """Give where clauses begin, and what joins each to the one before."""
    cuts = [(0, "")]
    quoted = [found.span() for found in re.finditer(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|\([^()]*\)", text)]
    for place in _PLACES.finditer(text):
        if any(begin < place.start() < end for begin, end in quoted) or place.start() < cuts[-1][0]:
            continue
        joint = _JOINT.match(text, place.start())
        if joint is None or joint.end() >= len(text):
            continue
        left, right = text[cuts[-1][0] : place.start()], text[joint.end() : joint.end() + 120]
        word = (joint["word"] or "").lower()
        mark = (joint["mark"] or "").strip()
        if (_whole(left, cuts) or _is_new(left, right)) and _begins(right, word, mark):
            cuts.append((joint.end(), word or mark or "-"))
    return cuts


def _is_new(left: str, right: str) -> bool:
    """Tell whether a clause surely begins after a few words that are none: "not perfume, she's got asthma"."""
    if _SUBORDINATE.match(left.lstrip()):
        return False
    if _SPEAKING.match(right) and any(map(str.isdigit, left)):
        # "Half marathon on the 26th and I've never run that far": a date needs no verb.
        return True
    return len(left.split()) <= 3 and bool(_CONTRACTED.match(right))


def _whole(left: str, cuts: list[tuple[int, str]]) -> bool:
    """Tell whether what stands before a joint is a clause: not an introduction, not a list."""
    low = left.lower().replace("’", "'").lstrip()
    if _IMPERATIVE.match(low) or _LEFT_OUT.match(low):
        return True
    if _SUBORDINATE.match(low) and "," not in low:
        return False
    found = _WORD.findall(low)
    if len(found) > 1 and found[0] in ("i", "we", "they", "you"):
        return any(each in words.VERBS or words.is_finite(each) for each in found[1:6])
    return len(found) > 1 and any(map(words.is_finite, found[:12]))


def _begins(right: str, word: str, mark: str) -> bool:
    """Tell whether a new clause begins here: a subject and its verb, or a command."""
    low = _ADVERBIAL.sub("", right.lower().replace("’", "'"))
    found = _WORD.findall(low)[:9]
    if not found:
        return False
    head = found[0]
    if head in words.PRONOUNS or head.partition("'")[0] in words.PRONOUNS:
        return head != "that" or (len(found) > 1 and found[1] in words.AUXILIARIES)
    if _IMPERATIVE.match(low):
        return (bool(mark) or word in ("so", "but")) and (
            head not in _BEFORE_VERBS or found[1:2] == [] or found[1] in words.VERBS
        )
    if (left_out := _LEFT_OUT.match(low)) and not (left_out["ing"] or left_out["not"]):
        apposed = (
            mark == ","
            and bool(left_out["past"])
            and found[1:2] != []
            and found[1] not in _OBJECTS
            and not found[1][0].isdigit()
        )
        return (bool(mark) or word == "but") and not apposed and not (mark == "," and head == "like")
    # A verb after the next mark belongs to the clause after that.
    found = _WORD.findall(_MARK.split(low, maxsplit=1)[0])[:9] or found
    return _has_verb(found, mark) or (bool(mark or word) and plural_verb(found))


def _has_verb(found: list[str], mark: str) -> bool:
    if words.is_finite(found[0]) and not found[0].endswith("'s"):
        # "… and rejected it": the subject is the one before.
        return False
    for index, each in enumerate(found[:7]):
        if index and words.is_finite(each) and not (each.endswith("'s") and index < len(found) - 1 and index > 2):
            return each in words.AUXILIARIES or each.endswith(("n't", "'ll", "'re")) or index < 6
        if each.endswith("'s") and each.partition("'")[0] not in words.KIN:
            return bool(mark) and len(found) > 1 and _is_predicate(found[index + 1])
        if each in _BINDERS:
            return index == 0 and each == "since" and any(map(words.is_finite, found[2:6]))
    return False


def plural_verb(found: Sequence[str]) -> bool:
    """Tell whether a plural stands before a verb in its base form: "contracts above 50k land on my desk"."""
    if words.is_finite(found[0]) and (len(found) < 2 or found[1] not in _AFTER_NOUNS):
        return False
    for index, each in enumerate(found[1:6], 1):
        if each in words.VERBS and found[index - 1] not in _BEFORE_NOUNS:
            return any(map(_is_plural, found[:index]))
        if each in _BINDERS:
            return False
    return False


def _is_plural(noun: str) -> bool:
    if noun in _PLURALS or (noun[0].isdigit() and noun.endswith("s")):
        return True
    return noun.endswith("s") and len(noun) > 3 and not noun.endswith(("ss", "'s"))


def _is_predicate(word: str) -> bool:
    return word in ("in", "at", "on", "fine", "ok", "not", "a", "the", "an", "called", "now", "my", "our", "just") or (
        word.endswith(("ed", "ing"))
    )
