"""Whether a sentence says what was said: its words are looked for in the conversation that it was read from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from commonplace.text.lexicon import EMPTY
from commonplace.text.terms import terms

SHARE = 0.8
"""Of a sentence's words that say something, so many must be in the conversation; names and numbers all."""

_FRAME = """
    agree agreed agrees assistant avoid avoided avoids because call called choose chooses chose chosen commit committed
    decide decided decides decision dislike dislikes fact fail failed fails failure find finds forget found instead know
    known knows learn learned learnt like likes need needs note own owns pattern plan planned planning plans prefer
    preference preferred prefers project reason reject rejected rejects remember rule said say says shall switch
    switched switches task team use used user uses using want wanted wants work works
"""
_FREE = EMPTY | frozenset(_FRAME.split())
"""Words with which anything is retold."""
_NUMBERS = {
    name: str(number)
    for number, name in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
}
_NUMBERS |= {"first": "1", "second": "2", "third": "3", "noon": "12", "dozen": "12"}
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_OWNED = re.compile(r"['’]s$")
_DIGITS = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d\d\d)")
_LONGEST_ALIKE = 4
_ALIKE = 0.6


class Heard:
    """The words of a conversation, as far as a sentence may draw on them."""

    def __init__(self, texts: Iterable[str], said: date) -> None:
        whole = "\n".join([*texts, _spelled(said)])
        self._terms = set(terms(whole))
        self._words = _words(whole)
        self._beginnings = {word[:_LONGEST_ALIKE] for word in self._words}
        self._numbers = _numbers(whole) | {_NUMBERS[word] for word in self._words if word in _NUMBERS}

    def supports(self, text: str, due: date | None = None) -> bool:
        """Whether a sentence holds nothing that was not said, or at most a word or so of its own."""
        day = "" if due is None else _spelled(due)
        if not _numbers(text) <= self._numbers | _numbers(day):
            return False
        free = _FREE | _words(day)
        spoken = (match for match in _WORD.finditer(text) if not match[0].isdigit())
        words = [match for match in spoken if _OWNED.sub("", match[0]).casefold() not in free]
        unheard = [match for match in words if not self._has(match[0])]
        return not any(map(_is_name, unheard)) and len(words) - len(unheard) >= SHARE * len(words)

    def _has(self, word: str) -> bool:
        """Whether a word was heard, perhaps in another form."""
        plain = word.casefold()
        if plain in self._words or self._terms.issuperset(terms(word)):
            return True
        if plain[:_LONGEST_ALIKE] not in self._beginnings:
            return False
        return any(_is_alike(plain, other) for other in self._words)


def _spelled(day: date) -> str:
    """A day in the words and numbers by which sentences name it."""
    return f"{day:%A %a %d %B %b %Y} {day.month}"


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _numbers(text: str) -> set[str]:
    """The numbers of a text; 10:00 is 10, 07 is 7, and 40,000 is one number."""
    found = {digits.lstrip("0") for digits in _DIGITS.findall(_THOUSANDS.sub("", text))}
    return found - {""}


def _is_name(match: re.Match[str]) -> bool:
    """A word that is written like a name; the first of a text has its capital anyway."""
    word = match[0]
    inner = any(letter.isupper() or letter.isdigit() for letter in word[1:])
    return inner or (word[0].isupper() and match.start() > 0)


def _is_alike(word: str, other: str) -> bool:
    """Two words with the same beginning, as long as most of the longer one."""
    same = 0
    for one, two in zip(word, other, strict=False):
        if one != two:
            break
        same += 1
    return same >= max(_LONGEST_ALIKE, _ALIKE * max(len(word), len(other)))
