"""Turns of a conversation: cleaning their words, recalling what is relevant to them, learning from them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from commonplace import Book, Hit, Score, pack
from commonplace.errors import InvalidInput
from commonplace.values import Memory, Order, Origin, Scope, Within, checks

_LONGEST_QUESTION = 4_000
"""Characters of a question: the beginning and the end of a long message, where people ask."""
_LONGEST_NAME = 100
_LIMITS = {"relevance": 10, "time": 100}
"""Memories that are recalled when `k` is None, by order."""
_UNJUDGED = Score(meaning=0.0, words=0.0, relevance=1.0, certainty=1.0, recency=1.0, strength=1.0)
_MARK = "line"
"""The key in the metadata of a message under which the digest of the line stands."""
_MORE = 200
"""Messages that are read beyond the number of lines given: several agents may speak in one conversation."""
_LOCKS = 64
"""Locks by session, so that conversations seldom wait for each other."""
_KNOWN_LINES = 10_000


def clean_text(text: str) -> str:
    """Replace NULs and lone surrogates, which a book refuses: they must not end a turn."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def shorten(text: str) -> str:
    """Return the beginning and the end of a text that is too long for a question."""
    half = _LONGEST_QUESTION // 2
    return text if len(text) <= _LONGEST_QUESTION else f"{text[:half]}\n{text[-half:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """Recalled memories, and the text that quotes them within the budget."""

    text: str = ""
    hits: tuple[Hit, ...] = ()
    avoid: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """The options of a recall; names and meanings are those of `Book.recall`, which would refuse the same values.

    `order="time"` recalls the newest `k` memories, whatever was said.
    """

    within: Within | Scope | None = None
    order: Order = "relevance"
    k: int | None = None
    threshold: float | None = None
    max_tokens: int | None = 2000
    filter: Mapping[str, Any] | None = None
    kinds: Sequence[str] | None = None
    tags: Sequence[str] | None = None

    def __post_init__(self) -> None:
        checks.within(self.within)
        checks.order(self.order)
        if self.k is not None:
            checks.count(self.k, "k", least=1, most=1_000)
        if self.threshold is not None:
            checks.share(self.threshold, "threshold")
        if self.max_tokens is not None:
            checks.count(self.max_tokens, "max_tokens", least=1)
        checks.kinds(self.kinds)
        checks.tags(self.tags or ())

    def replace(self, changes: Mapping[str, Any]) -> RecallOptions:
        """Return these options with changes for one query; an unknown option is refused."""
        known = sorted(field.name for field in fields(self))
        for name in changes:
            if name not in known:
                raise InvalidInput(f"unknown option {name!r}; known: {', '.join(known)}")
        return replace(self, **changes)

    def outside(self, session: str) -> RecallOptions:
        """Return these options without the messages of a session, which the model sees already."""
        others: dict[str, Any] = {"session": {"$ne": session}}
        return replace(self, filter=others if self.filter is None else {"$and": [self.filter, others]})

    def recall(self, book: Book, query: str) -> Recollection:
        """Recall what is relevant to the query, or with `order="time"` the newest. An empty query finds nothing."""
        limit = _LIMITS[self.order] if self.k is None else self.k
        selection: dict[str, Any] = {
            "within": self.within, "filter": self.filter, "kinds": self.kinds, "tags": self.tags
        }  # fmt: skip
        if self.order == "time":
            return _quote_newest(book.list(**selection, order="newest", limit=limit).memories, self.max_tokens)
        if not query.strip():
            return Recollection()
        found = book.recall(query, k=limit, threshold=self.threshold, max_tokens=self.max_tokens, **selection)
        return Recollection(text=found.text, hits=found.hits, avoid=found.avoid)


def _quote_newest(newest_first: Sequence[Memory], max_tokens: int | None) -> Recollection:
    """Quote memories oldest first; if not all fit, the newest do. Those without text are returned, not quoted."""
    hits = [Hit(memory=each, score=1 / (age + 1), parts=_UNJUDGED) for age, each in enumerate(newest_first)]
    hits.reverse()
    failures = [hit for hit in hits if hit.memory.text and hit.memory.kind == "failure"]
    packed = pack([hit for hit in hits if hit.memory.text and hit not in failures], failures, max_tokens=max_tokens)
    quoted = (*packed.hits, *packed.avoid)
    return Recollection(text=packed.text, hits=tuple(hit for hit in hits if hit in quoted or not hit.memory.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenLine:
    """Something that somebody said; `mark` distinguishes it from the same words said at another time."""

    speaker: str
    text: str
    by_person: bool
    new: bool = False
    """Whether it is certainly new; a line that is not, and is in the transcript, is not learned again."""
    mark: object = None
    said_at: datetime | None = None

    def message(self) -> dict[str, Any]:
        """Return the line as `Book.learn` takes it."""
        text = clean_text(self.text)
        name = " ".join(clean_text(self.speaker).split())[:_LONGEST_NAME] or "unknown"
        digest = hashlib.blake2b(repr((name, text, self.mark)).encode(), digest_size=8).hexdigest()
        role = "user" if self.by_person else "assistant"
        return {"content": text, "role": role, "name": name, "said_at": self.said_at, "metadata": {_MARK: digest}}


class TranscriptListener:
    """Learns each line of a conversation once, however often it is told.

    Known lines are those of the session's transcript, which is written together with what is learned: after a crash or
    a restart no line is learned twice, and none is missing.
    """

    def __init__(self, scope: Scope, tags: Sequence[str] = (), origin: Origin | None = None) -> None:
        ensure_no_session(scope)
        self._options: dict[str, Any] = {"scope": scope, "tags": tuple(tags), "origin": origin}
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def listen(self, book: Book, session: str, lines: Sequence[SpokenLine]) -> None:
        """Learn from the lines that are new; when this returns they are on disk."""
        messages = [(line.new, line.message()) for line in lines if line.text.strip()]
        if not messages:
            return
        with self._locks[hash(session) % _LOCKS]:  # agents that share this may hear the same at once
            known = {each.metadata.get(_MARK) for each in book.transcript(session).tail(len(messages) + _MORE)}
            unknown = [message for new, message in messages if new or message["metadata"][_MARK] not in known]
            if unknown:
                book.learn(unknown, session=session, **self._options)


class HeardLines:
    """Counts how often each line was heard: agents of one team hear the same lines, and each would report them."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    def add(self, line: Hashable, count: int) -> bool:
        """Note that a line stands `count` times in a conversation; return whether that is more often than before.

        People change their minds, and back: the same words said again are new.
        """
        with self._lock:
            before = self._counts.pop(line, 0)
            self._counts[line] = max(before, count)
            if len(self._counts) > _KNOWN_LINES:
                del self._counts[next(iter(self._counts))]
        return count > before

    def remove(self, line: Hashable) -> None:
        """Take back one occurrence, which could not be stored."""
        with self._lock:
            self._counts[line] = self._counts.get(line, 1) - 1


def ensure_no_session(scope: Scope) -> None:
    """Refuse a scope with a session for what is learned."""
    if scope.session is not None:
        raise InvalidInput("learned memories cannot belong to a session or group: use a separate space for the group")
