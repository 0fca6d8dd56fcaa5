"""Rows of the memory tables as typed values, and the packed form in which search keeps each memory."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from commonplace.text.terms import encode, speaker_words
from commonplace.values import KINDS, NOBODY, Action, Json, Kind, Origin, Scope


class MemoryRow(NamedTuple):
    """One version of a memory as the table holds it: moments in microseconds, tags and metadata as JSON text."""

    seq: int
    id: str
    version: int
    action: Action
    reason: str | None
    kind: Kind
    form: str
    mime: str
    importance: float
    scope_user: str | None
    scope_agent: str | None
    scope_session: str | None
    source: str | None
    said_at: int
    created_at: int
    recorded_at: int
    ended_at: int | None
    expires_at: int | None
    valid_to: int | None
    superseded_by: str | None
    origin: Origin
    tags: str
    metadata: str
    text: str
    content: Any

    @property
    def scope(self) -> Scope:
        """The scope; memories without one share one value."""
        return make_scope(self.scope_user, self.scope_agent, self.scope_session)

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The tags as a tuple."""
        return tuple(json.loads(self.tags)) if self.tags != "[]" else ()

    @property
    def metadata_value(self) -> Mapping[str, Json]:
        """The metadata as a mapping."""
        found: Mapping[str, Json] = json.loads(self.metadata) if self.metadata != "{}" else {}
        return found

    def is_expired(self, now: int) -> bool:
        """Whether the memory's time to live has ended."""
        return self.expires_at is not None and self.expires_at <= now


def make_scope(user: str | None, agent: str | None, session: str | None = None) -> Scope:
    """Return the scope of a row's columns; rows without one share one value."""
    return Scope(user=user, agent=agent, session=session) if user or agent or session else NOBODY


class FeedbackRow(NamedTuple):
    """How often a memory was used, ignored, wrong or confirmed."""

    id: str
    used: int = 0
    ignored: int = 0
    wrong: int = 0
    confirmed: int = 0
    last_at: int = 0


class LifeRow(NamedTuple):
    """The facts by which pruning judges a memory."""

    id: str
    kind: Kind
    said_at: int
    importance: float
    used: int
    ignored: int
    wrong: int
    confirmed: int
    last_use: int
    stands: bool


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


def pack_head(*, kind: Kind, scope: Scope, expires_at: int | None, closed: bool) -> bytes:
    """Pack the fields by which a search filters without SQL."""
    return _HEAD.pack(
        KINDS.index(kind),
        closed,
        hash_name(scope.user),
        hash_name(scope.agent),
        hash_name(scope.session),
        FOREVER if expires_at is None else expires_at,
    )


def session_of(head: bytes) -> int:
    """Return the session's hash from a packed head."""
    session: int = _HEAD.unpack(head)[4]
    return session


def hash_name(name: str | None) -> int:
    """Return a number for a user, agent or session; 0 for none. After a collision, SQL rejects the row."""
    return 0 if name is None else zlib.crc32(name.encode()) or 1


def hash_tag(tag: str) -> int:
    """Return a number for a tag. The prefix keeps it apart from words."""
    return zlib.crc32(b"\0tag\0" + tag.encode())


def hash_speaker(word: str) -> int:
    """Return a number for a word of a speaker's name, stored like a tag."""
    return zlib.crc32(b"\0by\0" + word.encode())


def pack_terms(text: str, tags: Sequence[str], source: str | None = None) -> bytes:
    """Pack the words with their counts; tags and speakers get a count of zero, so they filter but never score."""
    words = encode(text)
    n = len(words) // 5
    labels = [*map(hash_tag, tags), *map(hash_speaker, sorted(speaker_words(source, text)))]
    return words[: 4 * n] + struct.pack(f"<{len(labels)}I", *labels) + words[4 * n :] + bytes(len(labels))


def pack_vectors(vectors: npt.NDArray[np.float32]) -> list[bytes]:
    """Return unit vectors as they are stored: little-endian float16."""
    size = 2 * vectors.shape[1]
    flat = vectors.astype("<f2").tobytes()
    return [flat[start : start + size] for start in range(0, len(flat), size)]
