"""Transcripts behind a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from commonplace import wire
from commonplace.errors import InvalidInput
from commonplace.remote import bodies
from commonplace.remote.transport import Request, Transport, encoded, part, query
from commonplace.transcript import Transcript
from commonplace.values import Json, Message, checks


class RemoteTranscript(Transcript):
    """The messages of one session of a space, over HTTP. Made by `RemoteBook.transcript`."""

    def __init__(self, transport: Transport, space: str, session: str) -> None:
        self._transport = transport
        self._path = f"{space}/transcripts/{part(checks.name(session, 'session'))}"

    def append(
        self,
        content: Json,
        *,
        role: str = "user",
        name: str | None = None,
        said_at: datetime | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Message:
        line = {"content": content, "role": role, "name": name, "said_at": said_at, "metadata": metadata}
        return self._add([bodies.message(line)])[0]

    def extend(self, lines: Iterable[Mapping[str, object]]) -> list[Message]:
        if not isinstance(lines, Iterable):
            raise InvalidInput(f"messages are a list of mappings, not {type(lines).__name__}")
        return self._add([bodies.message(line) for line in lines])

    def read(self, *, start: int = 1, limit: int | None = None) -> list[Message]:
        return self._read(start=checks.count(start, "start", least=1), limit=_limit(limit))

    def resume(self, after: int = 0, *, limit: int | None = None) -> list[Message]:
        return self._read(after=checks.count(after, "after"), limit=_limit(limit))

    def tail(self, n: int = 20) -> list[Message]:
        return self._read(tail=checks.count(n, "n"))

    def forget(self) -> int:
        request = Request(method="DELETE", path=self._path, writes=True)
        return self._transport.call(request, lambda told: int(told["messages"]))

    def _read(self, **place: int | None) -> list[Message]:
        return self._transport.call(Request(method="GET", path=self._path + query(**place)), _messages)

    def _add(self, lines: list[bodies.Fields]) -> list[Message]:
        body = encoded({"messages": lines})
        return self._transport.call(Request(method="POST", path=self._path, body=body, writes=True), _messages)


def _limit(limit: int | None) -> int | None:
    return None if limit is None else checks.count(limit, "limit")


def _messages(told: Mapping[str, list[object]]) -> list[Message]:
    return [wire.read(Message, each) for each in told["messages"]]
