"""Counting bytes in files that are read block by block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def count_bytes(blocks: Iterable[bytes], wanted: Sequence[bytes]) -> int:
    """Return how often some bytes occur in a file that is given in blocks, also across their borders."""
    overlap = max(map(len, wanted), default=1) - 1
    count, tail = 0, b""
    for block in blocks:
        window = tail + block
        count += sum(window.count(each) - tail.count(each) for each in wanted)
        tail = window[len(window) - overlap :] if overlap else b""
    return count
