"""BERT's uncased WordPiece tokenizer in plain Python.

It returns the ids that `tokenizers` returns for `bert-base-uncased` vocabularies, with one intended
difference: a special token spelled out in a text, such as "[SEP]", is read as plain characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache

_ASCII_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),  # `tokenizers` begins here too, although the Unicode block begins at 2B820
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
# Not Cn: which characters are unassigned depends on Python's version, and a text's ids must not.
_REMOVED = ("Cc", "Cf", "Cs", "Co")
_LONGEST_WORD = 100
_CACHED_WORDS = 65_536


class WordPiece:
    """Splits texts into the ids of a WordPiece vocabulary. Safe to share between threads."""

    def __init__(self, vocabulary: Mapping[str, int], *, unknown: str = "[UNK]") -> None:
        self._vocabulary = vocabulary
        self._unknown = (vocabulary[unknown],)
        self._longest_piece = max(map(len, vocabulary))
        self._cached: Callable[[str], tuple[int, ...]] = lru_cache(maxsize=_CACHED_WORDS)(self._pieces)

    def encode(self, text: str, limit: int) -> list[int]:
        """Return the ids of a text, without special tokens, at most `limit` of them."""
        split, unknown = self._cached, self._unknown
        ids: list[int] = []
        for word in words(text)[:limit]:
            # Very long words are not looked up, so the cache holds short keys only.
            ids += split(word) if len(word) <= _LONGEST_WORD else unknown
        return ids[:limit]

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Return the longest pieces from the left; one that is not in the vocabulary makes the word unknown."""
        whole = self._vocabulary.get(word)
        if whole is not None:
            return (whole,)
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self._longest_piece), start, -1):
                piece = self._vocabulary.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return self._unknown
            ids.append(piece)
            start = end
        return tuple(ids)


def words(text: str) -> list[str]:
    """Return a text's words and punctuation marks in lower case, without accents."""
    if text.isascii():
        if _ASCII_CONTROLS.search(text):
            text = _ASCII_CONTROLS.sub("", text)
        found: list[str] = _ASCII_WORDS.findall(text.lower())
        return found
    return text.translate(_CLEANER).split()


class _Cleaner(dict[int, str]):
    """A table for `str.translate`, filled as characters occur."""

    def __missing__(self, code: int) -> str:
        cleaned = self[code] = _clean(chr(code))
        return cleaned


_CLEANER = _Cleaner()


def _clean(char: str) -> str:
    """Return what one character becomes: nothing, a space, a word of its own, or lower-case letters."""
    if char in "\t\n\r":
        return " "
    if char == "\ufffd" or unicodedata.category(char) in _REMOVED:
        return ""
    if char.isspace():
        return " "
    parts = [part for part in unicodedata.normalize("NFD", char) if unicodedata.category(part) != "Mn"]
    letters = "".join(parts).lower()
    cleaned = "".join(f" {letter} " if _is_punctuation(letter) else letter for letter in letters)
    is_ideograph = any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)
    return f" {cleaned} " if is_ideograph else cleaned


def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return char.isprintable() and not char.isalnum() and char != " "
    return unicodedata.category(char).startswith("P")
