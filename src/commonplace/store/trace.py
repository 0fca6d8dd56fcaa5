"""What search keeps of each memory: a fixed-size head, the vector as float16, hashed words and tags."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from commonplace.text.speakers import speaker
from commonplace.text.terms import encode
from commonplace.values import KINDS, Kind, Scope

FOREVER = np.iinfo(np.int64).max

_HEAD = struct.Struct("<BBxxIIIq")
HEAD = np.dtype(
    {
        "names": ["kind", "closed", "user", "agent", "session", "expires"],
        "formats": ["u1", "u1", "<u4", "<u4", "<u4", "<i8"],
        "offsets": [0, 1, 4, 8, 12, 16],
        "itemsize": _HEAD.size,
    }
)


def head(*, kind: Kind, scope: Scope, expires_at: int | None, closed: bool) -> bytes:
    """Pack what a search narrows by without asking SQL."""
    return _HEAD.pack(
        KINDS.index(kind),
        closed,
        name_hash(scope.user),
        name_hash(scope.agent),
        name_hash(scope.session),
        FOREVER if expires_at is None else expires_at,
    )


def session_of(head: bytes) -> int:
    """The session's number in a packed head."""
    session: int = _HEAD.unpack(head)[4]
    return session


def name_hash(name: str | None) -> int:
    """A number for a user, agent or session; 0 for none. A collision only costs a row that SQL then refuses."""
    return 0 if name is None else zlib.crc32(name.encode()) or 1


def tag_hash(tag: str) -> int:
    """A number for a tag, kept among the words; the prefix keeps it apart from them."""
    return zlib.crc32(b"\0tag\0" + tag.encode())


def speaker_hash(word: str) -> int:
    """A number for a word of a speaker's name, kept among the words like a tag."""
    return zlib.crc32(b"\0by\0" + word.encode())


def terms(text: str, tags: Sequence[str], source: str | None = None) -> bytes:
    """Words with their counts; tags and who spoke with a count of zero, so that they narrow and never score."""
    words = encode(text)
    n = len(words) // 5
    labels = [*map(tag_hash, tags), *map(speaker_hash, sorted(speaker(source, text)))]
    return words[: 4 * n] + struct.pack(f"<{len(labels)}I", *labels) + words[4 * n :] + bytes(len(labels))


def halves(vectors: npt.NDArray[np.float32]) -> list[bytes]:
    """Unit vectors as they are stored: float16, little-endian."""
    size = 2 * vectors.shape[1]
    flat = vectors.astype("<f2").tobytes()
    return [flat[start : start + size] for start in range(0, len(flat), size)]
