"""Transcripts: a conversation kept verbatim, message by message, so that it can go on in another process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from commonplace import checks, times
from commonplace.core import Place
from commonplace.errors import InvalidInput
from commonplace.settings import Settings
from commonplace.store import messages
from commonplace.store.base import Store
from commonplace.values import Json, Message

_FIELDS = {"content", "role", "name", "said_at", "metadata"}


class Transcript:
    """The messages of one session of a space. Made by `Book.transcript`."""

    def __init__(self, store: Store, place: Place, session: str, settings: Settings) -> None:
        self._store = store
        self._place = place
        self._session = checks.name(session, "session")
        self._limit = settings.max_text_bytes

    def append(
        self,
        content: Json,
        *,
        role: str = "user",
        name: str | None = None,
        said_at: datetime | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Message:
        """Add a message at the end; when this returns it is on disk and has its number."""
        line = self._line(content, role, name, said_at, metadata, times.now())
        return self._write([line])[0]

    def extend(self, lines: Iterable[Mapping[str, object]]) -> list[Message]:
        """Add messages (mappings with content, role, name, said_at, metadata) at the end, all or none."""
        now = times.now()
        return self._write([self._from_mapping(line, now) for line in lines])

    def read(self, *, start: int = 1, limit: int | None = None) -> list[Message]:
        """Messages from number `start` on, oldest first."""
        return self._after(checks.count(start, "start", least=1) - 1, limit)

    def resume(self, after: int = 0, *, limit: int | None = None) -> list[Message]:
        """What was said after message number `after`: pass the last number seen to go on from there."""
        return self._after(checks.count(after, "after"), limit)

    def tail(self, n: int = 20) -> list[Message]:
        """The last `n` messages, oldest first."""
        space, most = self._place.find(), checks.count(n, "n")
        return self._store.read(lambda tx: messages.tail(tx, space, self._session, most), space)

    def forget(self) -> int:
        """Erase the whole transcript and return how many messages it had."""
        space = self._place.find()
        erased = self._store.write(lambda tx: messages.forget(tx, space, self._session), space)
        self._store.scrub(space)
        return erased

    def _after(self, number: int, limit: int | None) -> list[Message]:
        space, most = self._place.find(), None if limit is None else checks.count(limit, "limit")
        return self._store.read(lambda tx: messages.after(tx, space, self._session, number, most), space)

    def _write(self, lines: list[messages.Line]) -> list[Message]:
        space, now = self._place.make(), times.now()
        return self._store.write(lambda tx: messages.append(tx, space, self._session, lines, now=now), space)

    def _from_mapping(self, line: Mapping[str, object], now: int) -> messages.Line:
        if not isinstance(line, Mapping) or "content" not in line or not set(line) <= _FIELDS:
            raise InvalidInput(
                f"a message is a mapping with content and perhaps role, name, said_at, metadata, not {line!r}"
            )
        values: dict[str, Any] = {"role": "user", "name": None, "said_at": None, "metadata": None, **line}
        return self._line(values["content"], values["role"], values["name"], values["said_at"], values["metadata"], now)

    def _line(
        self,
        content: object,
        role: object,
        name: object,
        said_at: datetime | None,
        metadata: Mapping[str, Json] | None,
        now: int,
    ) -> messages.Line:
        return messages.Line(
            role=checks.name(role, "role"),
            name=checks.optional_name(name, "name"),
            content=checks.json_text(content, "content", limit=self._limit),
            metadata=checks.metadata(metadata, limit=self._limit),
            said_at=now if said_at is None else times.to_micros(said_at),
        )
