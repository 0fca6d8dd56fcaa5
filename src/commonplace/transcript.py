"""Transcripts: conversations kept word for word, so that another process can continue them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime

from commonplace.guard import redaction
from commonplace.memories import forget as forgetting
from commonplace.memories import messages as saying
from commonplace.memories.core import Place
from commonplace.settings import Settings
from commonplace.store.base import Store
from commonplace.store.tables import messages
from commonplace.values import Json, Message, Scope, checks, times


class Transcript(ABC):
    """The messages of one session of a space. Made by `Book.transcript`."""

    @abstractmethod
    def append(
        self,
        content: Json,
        *,
        role: str = "user",
        name: str | None = None,
        said_at: datetime | None = None,
        metadata: Mapping[str, Json] | None = None,
        scope: Scope | None = None,
    ) -> Message:
        """Add a message at the end; when this returns it is on disk and has its number.

        `scope` is the user and agent that it belongs to: it is erased and exported with them.
        """

    @abstractmethod
    def extend(self, lines: Iterable[Mapping[str, object]], *, scope: Scope | None = None) -> list[Message]:
        """Add messages (mappings with content, role, name, said_at, metadata) at the end, all or none.

        `scope` is as in `append`.
        """

    @abstractmethod
    def read(self, *, start: int = 1, limit: int | None = None) -> list[Message]:
        """Return the messages from number `start` on, oldest first."""

    @abstractmethod
    def resume(self, after: int = 0, *, limit: int | None = None) -> list[Message]:
        """Return the messages after number `after`, which is the last number that the caller has seen."""

    @abstractmethod
    def tail(self, n: int = 20) -> list[Message]:
        """Return the last `n` messages, oldest first."""

    @abstractmethod
    def forget(self) -> int:
        """Erase the whole transcript and what was learned from it alone; return how many messages it had."""


class LocalTranscript(Transcript):
    """A transcript in a store that this process has opened."""

    def __init__(self, store: Store, place: Place, session: str, settings: Settings) -> None:
        self._store = store
        self._place = place
        self._session = checks.name(session, "session")
        self._settings = settings

    def append(
        self,
        content: Json,
        *,
        role: str = "user",
        name: str | None = None,
        said_at: datetime | None = None,
        metadata: Mapping[str, Json] | None = None,
        scope: Scope | None = None,
    ) -> Message:
        line = saying.make_line(
            content, role=role, name=name, said_at=said_at, metadata=metadata, now=times.now(), settings=self._settings
        )
        return self._write([line], scope)[0]

    def extend(self, lines: Iterable[Mapping[str, object]], *, scope: Scope | None = None) -> list[Message]:
        now = times.now()
        return self._write([saying.read_mapping(line, now=now, settings=self._settings) for line in lines], scope)

    def read(self, *, start: int = 1, limit: int | None = None) -> list[Message]:
        return self._after(checks.count(start, "start", least=1) - 1, limit)

    def resume(self, after: int = 0, *, limit: int | None = None) -> list[Message]:
        return self._after(checks.count(after, "after"), limit)

    def tail(self, n: int = 20) -> list[Message]:
        space, most = self._place.find(), checks.count(n, "n")
        return self._store.read(lambda tx: messages.tail(tx, space, self._session, most), space)

    def forget(self) -> int:
        space = self._place.find()
        erased = self._store.write(lambda tx: forgetting.forget_session(tx, space, self._session), space)
        self._store.scrub(space)
        return erased

    def _after(self, number: int, limit: int | None) -> list[Message]:
        space, most = self._place.find(), None if limit is None else checks.count(limit, "limit")
        return self._store.read(lambda tx: messages.after(tx, space, self._session, number, most), space)

    def _write(self, lines: list[messages.Line], scope: Scope | None) -> list[Message]:
        owner = checks.speaker(scope)
        redaction.check_key(self._session, "session", self._settings.redact)
        space = self._place.make()
        # The time is taken inside the transaction, so that it rises with the numbers.
        return self._store.write(
            lambda tx: messages.append(tx, space, self._session, lines, now=times.now(), scope=owner), space
        )
