"""attach: agents that are learned from while they talk."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from types import TracebackType

from autogen import ConversableAgent, GroupChat

from commonplace.book import Book
from commonplace.errors import CommonplaceError, InvalidInput, StoreUnavailable
from commonplace.integrations.autogen_classic.listening import Listener
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.values import NOBODY, Job, Scope

logger = logging.getLogger(__name__)
_PATIENCE = 30.0
"""Seconds that closing waits for a job that is running; it is done all the same, later."""


class Learner:
    """Gives what agents say to `learn`; each message is on disk before it is sent. Made by `attach`.

    A book that fails does not end the chat, and nothing is lost in silence: what could not be stored waits in
    `unlearned`, a warning is logged, the next message tries again, and `close` raises if it still cannot be stored.
    """

    def __init__(self, book: Book, *, every: int, session: str | None, scope: Scope, tags: Sequence[str]) -> None:
        self._book = book
        self._every = every
        self._scope = scope
        self._tags = tuple(tags)
        self._lock = threading.Lock()
        self._waiting: list[tuple[dict[str, str], str]] = []
        self._refused: list[tuple[dict[str, str], str]] = []
        self._sessions: set[str] = set()
        self._error: CommonplaceError | None = None
        self.listener = Listener(self.learn, session)

    @property
    def unlearned(self) -> list[dict[str, str]]:
        """What was said and could not be stored, oldest first."""
        return [line for line, _ in (*self._refused, *self._waiting)]

    def learn(self, line: dict[str, str], session: str) -> None:
        """Store what was said, after what is still waiting."""
        with self._lock:
            self._sessions.add(session)
            self._waiting.append((line, session))
            self._store()

    def close(self) -> None:
        """Stop listening, store what waits, and learn from the rest of the conversation; closing twice is harmless."""
        if not self.listener.on:
            return
        self.listener.sweep()
        self.listener.on = False
        with self._lock:
            self._store()
            if self._error is not None and self.unlearned:
                kind = InvalidInput if self._refused else StoreUnavailable
                told = f"{len(self.unlearned)} messages were not learned from, they are in .unlearned: {self._error}"
                raise kind(told) from self._error
        self._book.work(hurry=True)
        self._wait()

    def __enter__(self) -> Learner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _store(self) -> None:
        while self._waiting:
            line, session = self._waiting[0]
            try:
                self._book.learn([line], session=session, every=self._every, scope=self._scope, tags=self._tags)
            except InvalidInput as error:
                self._refused.append((line, session))
                self._warn("what %s said cannot be learned from: %s", line["name"], error)
            except CommonplaceError as error:
                return self._warn("the memory failed; %d messages wait to be stored: %s", len(self._waiting), error)
            self._waiting.pop(0)
        return None

    def _wait(self) -> None:
        """Wait for what another thread is learning from this conversation: it may be the program's last moment."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and any(self._is_mine(job) for job in self._book.jobs()):
            time.sleep(0.01)

    def _is_mine(self, job: Job) -> bool:
        return job.state == "running" and job.payload.get("session") in self._sessions

    def _warn(self, message: str, what: object, error: CommonplaceError) -> None:
        self._error = error
        logger.warning(message, what, error)


def attach(
    book: BookLike | None,
    agents: Iterable[ConversableAgent] | GroupChat,
    every: int = 10,
    *,
    space: str | None = None,
    session: str | None = None,
    scope: Scope = NOBODY,
    tags: Sequence[str] = (),
) -> Learner:
    """Learn from what agents say while they talk, `every` so many messages; close it when the conversation is over.

    Each message is kept once with its speaker, however many agents hear it. What is said by somebody who was not given
    is kept when one of the agents answers it. Without a `session` each conversation gets one of its own.
    """
    learner = Learner(open_shared(book, space), every=every, session=session, scope=scope, tags=tags)
    learner.listener.add(getattr(agents, "agents", agents))
    return learner
