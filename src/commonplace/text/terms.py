"""Terms of a text: hashed word stems, and the words of its speaker's name.

Memories and questions are split into terms here and nowhere else.
"""

from __future__ import annotations

import re
import struct
import threading
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
import Stemmer  # type: ignore[import-not-found]  # a C extension without type stubs

from commonplace.text.lexicon import ASKING, COMMON, EMPTY, NODS, SAME

# A word may hold connectors inside (user_id, v1.2, gpt-4, don't, 1,200) and end in ++ or # (C++, C#).
# Marks of Indic and South-East Asian scripts are not in \w, but belong to their words.
_LETTER = r"[\w\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u109f\u1780-\u17d3]"
_WORD = re.compile(rf"{_LETTER}+(?:(?:[.'’-]|(?<=\d),(?=\d\d\d)){_LETTER}+)*(?:\+\+|\#)?")
_STRIPPED = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")
_UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    r"\uf900-\ufaff\U00020000-\U0003ffff]+)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CONTRACTED = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_SPOKEN = re.compile(r"([A-Z][\w'’-]*(?: [A-Z][\w'’.-]*){0,2}|user|assistant|human|ai|bot): ")
_NAME = re.compile(r"[^\W\d_][\w'’-]*")

_LONGEST_SOURCE = 100
_LONGEST_NOD = 60
_CACHE_LIMIT = 100_000
_LONGEST_CACHED = 40
_LONGEST_WORD = 64

_stemmer = Stemmer.Stemmer("english", 0)
_stemming = threading.Lock()
_full: dict[str, tuple[int, ...]] = {}
_kept: dict[str, tuple[int, ...]] = {}


def terms(text: str) -> dict[int, int]:
    """Count a text's informative words by the hash of their stem; if there are none, count all its words."""
    chunks = text.split()
    return _count(chunks, _kept, drop=True) or _count(chunks, _full, drop=False)


def query_terms(query: str) -> tuple[int, ...]:
    """Return the distinct hashes of what a question asks about; a question of empty words keeps them all."""
    words = _WORD.findall(query)
    asked = [word for word in words if word.casefold() not in ASKING]
    found = _count(asked, _kept, drop=True) or _count(words, _kept, drop=True) or _count(words, _full, drop=False)
    return tuple(found)


def are_common(terms: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Return which terms are words that occur in texts about anything."""
    known = _common_terms()
    return np.fromiter((term in known for term in terms), np.bool_, len(terms))


def encode(text: str) -> bytes:
    """Pack a text's terms: n hashes (uint32, little-endian, rising), then n counts (uint8, capped at 255)."""
    found = terms(text)
    hashes = sorted(found)
    counts = [found[term] for term in hashes]
    if counts and max(counts) > 255:
        counts = [min(count, 255) for count in counts]
    return struct.pack(f"<{len(hashes)}I", *hashes) + bytes(counts)


def decode(blob: bytes) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """Unpack what `encode` packed: the rising hashes and their counts."""
    n = len(blob) // 5
    return np.frombuffer(blob, "<u4", n), np.frombuffer(blob, np.uint8, n, 4 * n)


def speaker_words(source: str | None, text: str) -> frozenset[str]:
    """Return the words of the speaker's name in lower case, from the source or from the beginning of the text."""
    if source is None:
        found = _SPOKEN.match(text)
        if found is None:
            return frozenset()
        source = found[1]
    return _name_words(source[:_LONGEST_SOURCE])


@lru_cache(maxsize=1024)
def _name_words(name: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _NAME.findall(name))


def is_nod(text: str) -> bool:
    """Return whether a turn only acknowledges or greets ("Noted.", "Sure, thanks!")."""
    if len(text) > _LONGEST_NOD:
        return False
    said = [word.casefold() for word in _NAME.findall(text)]
    return len(said) > 0 and NODS.issuperset(said)


def is_question(text: str) -> bool:
    """Return whether a turn ends with a question. Such a turn seldom answers one."""
    return "?" in text[-3:]


def _count(chunks: list[str], cache: dict[str, tuple[int, ...]], *, drop: bool) -> dict[int, int]:
    found = list(map(cache.get, chunks))
    if None in found:
        known = zip(found, chunks, strict=True)
        found = [_analyse(chunk, cache, drop=drop) if hashes is None else hashes for hashes, chunk in known]
    return Counter(chain.from_iterable(found))  # type: ignore[arg-type]  # none of them is None any more


def _analyse(chunk: str, cache: dict[str, tuple[int, ...]], *, drop: bool) -> tuple[int, ...]:
    """Hash the words of a chunk and cache them; long chunks are too rare to be cached."""
    hashes = tuple(
        _hash(part) for word in _WORD.findall(chunk) for part in _parts(word) if not (drop and _is_empty(part, word))
    )
    if len(chunk) <= _LONGEST_CACHED:
        if len(cache) >= _CACHE_LIMIT:
            cache.clear()
        cache[chunk] = hashes
    return hashes


def _is_empty(part: str, word: str) -> bool:
    """Return whether a part is a function word; written as US, IT or May it is a name."""
    if part not in EMPTY:
        return False
    return not (len(word) > 1 and word.isupper()) and word != "May"


def _parts(word: str) -> Iterator[str]:
    """Yield the plain words in one written word: an identifier as a whole and in parts, CJK as pairs."""
    if word.isascii() and word.isalnum() and (word.islower() or word[1:].islower() or word.isdigit()):
        yield word.lower()[:_LONGEST_WORD]
        return
    plain = _strip_accents(word)
    if plain.isascii():
        yield from _identifier_parts(plain)
        return
    for index, run in enumerate(_UNSPACED.split(plain)):
        if index % 2:
            yield from (left + right for left, right in pairwise(run)) if len(run) > 1 else run
        else:
            for piece in _WORD.findall(run):
                yield from _identifier_parts(piece)


def _strip_accents(word: str) -> str:
    """Strip accents and compatibility forms, but keep case: camelCase is split later."""
    if word.isascii():
        return word
    apart = _STRIPPED.sub("", unicodedata.normalize("NFKD", word.replace("’", "'")))
    return unicodedata.normalize("NFC", apart)


def _identifier_parts(word: str) -> Iterator[str]:
    """Yield a name's parts, and the whole if it is an identifier: user_id and userId are the same whole."""
    word = _strip_contraction(word.replace(",", ""))
    sections = [section for section in re.split(r"[._-]", word) if section]
    parts = [part for section in sections for part in _CAMEL.split(section)]
    if len(parts) > 1 and _is_name(word, parts):
        yield _join(parts)
    for part in parts:
        yield part.casefold()[:_LONGEST_WORD]


def _is_name(word: str, parts: list[str]) -> bool:
    """Tell an identifier (e-mail and gpt-4 too) from words that prose merely hyphenates."""
    hyphenated = "-" in word and len(parts) == word.count("-") + 1
    return not hyphenated or any(len(part) == 1 or part[0].isdigit() for part in parts)


def _join(parts: list[str]) -> str:
    """Join without connectors, but keep numbers apart: 1.2 is not 12."""
    whole = parts[0]
    for part in parts[1:]:
        whole += "." + part if whole[-1].isdigit() and part[0].isdigit() else part
    return whole.casefold()[:_LONGEST_WORD]


def _strip_contraction(word: str) -> str:
    """Drop what an apostrophe appends (Alice's, don't); inside a name drop only the apostrophe (O'Brien)."""
    if "'" not in word:
        return word
    head, _, tail = word.rpartition("'")
    if tail.casefold() not in _CONTRACTED:
        return word.replace("'", "")
    return head.replace("'", "")[: -1 if tail.casefold() == "t" and len(head) > 2 else None]


def _hash(word: str) -> int:
    with _stemming:  # a stemmer keeps state while it works
        stem = _stemmer.stemWord(SAME.get(word, word))
    return zlib.crc32(stem.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1)
def _common_terms() -> frozenset[int]:
    return frozenset(_hash(word) for word in COMMON)
