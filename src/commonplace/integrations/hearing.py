"""Learning from a conversation that is told again and again: each line once, whoever tells it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.integrations.words import readable
from commonplace.values import Origin, Scope

_MARK = "line"
"""The key in a line's metadata under which its mark stands."""
_MORE = 200
"""Lines beyond those told that are looked at: several agents may speak in one conversation."""
_LONGEST_NAME = 100
_LOCKS = 64
"""Conversations that do not wait for each other, as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Something that somebody said; `mark` tells it from the same words said at another time."""

    speaker: str
    text: str
    by_person: bool
    new: bool = False
    """Whether it is certain that nobody told of it before; what is not new and known is left out."""
    mark: object = None
    said_at: datetime | None = None

    def line(self) -> dict[str, Any]:
        """The line as `Book.learn` takes it."""
        said = readable(self.text)
        name = " ".join(readable(self.speaker).split())[:_LONGEST_NAME] or "unknown"
        digest = hashlib.blake2b(repr((name, said, self.mark)).encode(), digest_size=8).hexdigest()
        role = "user" if self.by_person else "assistant"
        return {"content": said, "role": role, "name": name, "said_at": self.said_at, "metadata": {_MARK: digest}}


class Listener:
    """Gives each line of a conversation to `learn`, once; a durable job of the book makes memories of it.

    Which lines are known stands in the conversation's transcript, which is written with what is learned: neither a
    crash nor a restart has a line learned twice or not at all.
    """

    def __init__(self, scope: Scope, tags: Sequence[str] = (), origin: Origin | None = None) -> None:
        if scope.session is not None:
            raise InvalidInput("what is learned belongs to no session: give a group a space of its own")
        self._scope = scope
        self._tags = tuple(tags)
        self._origin = origin
        self._one_at_a_time = [threading.Lock() for _ in range(_LOCKS)]

    def listen(self, book: Book, session: str, heard: Sequence[Heard]) -> None:
        """Learn from the lines that are new; when this returns they are on disk."""
        lines = [(each.new, each.line()) for each in heard if each.text.strip()]
        if not lines:
            return
        with self._one_at_a_time[hash(session) % _LOCKS]:  # agents that share this may hear the same at once
            known = {each.metadata.get(_MARK) for each in book.transcript(session).tail(len(lines) + _MORE)}
            told = [line for new, line in lines if new or line["metadata"][_MARK] not in known]
            if told:
                book.learn(told, session=session, scope=self._scope, tags=self._tags, origin=self._origin)
