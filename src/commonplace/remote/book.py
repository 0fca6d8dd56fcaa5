"""RemoteBook: every verb of Book as one request to a server, with the same values and the same errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import EllipsisType
from typing import Any, Literal, TypeVar, overload

from commonplace import wire
from commonplace.book import Book, Jobs, Links, Memories, Names, Revisions, Vector
from commonplace.errors import InvalidInput
from commonplace.memories import write
from commonplace.remote import bodies, streams
from commonplace.remote.canvas import RemoteCanvas
from commonplace.remote.kv import RemoteKeyValue
from commonplace.remote.transcript import RemoteTranscript
from commonplace.remote.transport import Request, Transport, encoded, expected, part, query
from commonplace.values import (
    NOBODY,
    Check,
    Content,
    Draft,
    Forgotten,
    Job,
    Json,
    Kind,
    Learned,
    Link,
    Memory,
    Order,
    Origin,
    Page,
    Recall,
    Revision,
    Scope,
    Signal,
    Stats,
    Within,
    checks,
)

_Told = Mapping[str, Any]
T = TypeVar("T")


class RemoteBook(Book):
    """One space of a store that a server keeps. Made by `open`; safe between threads."""

    def __init__(self, transport: Transport, space: str) -> None:
        super().__init__(space, transport.shown)
        self._transport = transport
        self._path = f"/spaces/{part(self._space)}"

    @property
    def closed(self) -> bool:
        return self._transport.closed

    def in_space(self, space: str) -> RemoteBook:
        return RemoteBook(self._transport, space)

    @overload
    def remember(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
        self,
        content: str | bytes | dict[str, Json] | Draft,
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memory: ...

    @overload
    def remember(
        self,
        content: Sequence[str | bytes | dict[str, Json] | Draft],
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memories: ...

    def remember(
        self,
        content: str | bytes | dict[str, Json] | Draft | Sequence[str | bytes | dict[str, Json] | Draft],
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memory | Memories:
        options = Draft(
            content="", kind=kind, tags=tags, metadata=metadata or {}, importance=importance,
            scope=scope or NOBODY, source=source, origin=origin, said_at=said_at, ttl=ttl, text=text, mime=mime, id=id,
            vector=vector, supersedes=supersedes, reason=reason,
        )  # fmt: skip
        wanted = [bodies.draft(each) for each in write.expand(content, options)]
        how = {"reconcile": True} if reconcile else {}
        if isinstance(content, (list, tuple)):
            return self._change("/memories/batch", {"memories": wanted, **how}, _memories, patient=True)
        return self._change("/memories", {**wanted[0], **how}, _memory)

    def learn(
        self,
        conversation: str | Iterable[Mapping[str, object] | str],
        *,
        session: str | None = None,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        origin: Origin | None = None,
        every: int = 1,
        idle: float = 60.0,
        wait: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learned:
        body = {
            **bodies.conversation(conversation),
            "scope": bodies.scope(scope or NOBODY),
            "tags": bodies.names(tags, "tags"),
            "every": checks.count(every, "every", least=1),
            "idle": checks.amount(idle, "idle"),
            "wait": bool(wait),
            **bodies.given(session=checks.optional_name(session, "session"), origin=origin),
        }
        learned = self._change("/learn", body, lambda told: wire.read(Learned, told), patient=True)
        if wait and progress is not None:
            progress(len(learned.messages), len(learned.messages))
        return learned

    def jobs(self) -> Jobs:
        return self._get("/jobs", lambda told: [wire.read(Job, each) for each in told["jobs"]])

    def work(self, *, hurry: bool = False) -> int:
        return self._change("/jobs/work", {"hurry": bool(hurry)}, lambda told: int(told["done"]), patient=True)

    def retry(self, number: int | None = None) -> int:
        wanted = None if number is None else checks.count(number, "number", least=1)
        return self._change("/jobs/retry", bodies.given(number=wanted), lambda told: int(told["retried"]))

    def links(self, id: str) -> Links:
        return self._get(f"{_at(id)}/links", _links)

    def undo(self, id: str, other: str) -> Links:
        return self._change(f"{_at(id)}/undo", {"other": checks.name(other, "other")}, _links)

    def recall(
        self,
        query: str,
        *,
        k: int = 10,
        max_tokens: int | None = 2000,
        within: Within | Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        threshold: float | None = None,
        order: Order = "relevance",
        as_of: datetime | None = None,
        superseded: bool = False,
        vector: Vector | None = None,
    ) -> Recall:
        body = {
            "query": bodies.text(query, "query") or "",
            "k": checks.count(k, "k", least=1),
            "max_tokens": None if max_tokens is None else checks.count(max_tokens, "max_tokens"),
            "order": order,
            "superseded": bool(superseded),
            **bodies.selection(filter=filter, kinds=kinds, tags=tags),
            **bodies.given(
                within=bodies.within(within),
                threshold=None if threshold is None else checks.share(threshold, "threshold"),
                as_of=None if as_of is None else bodies.moment(as_of),
                vector=None if vector is None else bodies.vector(vector),
            ),
        }
        return self._post("/recall", body, lambda told: wire.read(Recall, told))

    def get(self, id: str, *, version: int | None = None) -> Memory:
        number = None if version is None else checks.count(version, "version", least=1)
        return self._get(_at(id) + query(version=number), _memory)

    def list(
        self,
        *,
        filter: Mapping[str, object] | None = None,
        within: Within | Scope | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        superseded: bool = False,
        order: Literal["newest", "oldest"] = "newest",
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        body = {
            "superseded": bool(superseded),
            "order": order,
            "limit": checks.count(limit, "limit", least=1),
            **bodies.selection(filter=filter, kinds=kinds, tags=tags),
            **bodies.given(within=bodies.within(within), cursor=cursor),
        }
        return self._post("/memories/list", body, lambda told: wire.read(Page, told))

    def revise(
        self,
        id: str,
        content: Content | EllipsisType = ...,
        *,
        kind: Kind | EllipsisType = ...,
        tags: Sequence[str] | EllipsisType = ...,
        metadata: Mapping[str, Json] | EllipsisType = ...,
        importance: float | EllipsisType = ...,
        source: str | None | EllipsisType = ...,
        said_at: datetime | EllipsisType = ...,
        ttl: float | None | EllipsisType = ...,
        text: str | EllipsisType = ...,
        mime: str | EllipsisType = ...,
        vector: Vector | EllipsisType = ...,
        reason: str | None = None,
        if_version: int | None = None,
    ) -> Memory:
        change = bodies.change(
            content=content, kind=kind, tags=tags, metadata=metadata, importance=importance, source=source,
            said_at=said_at, ttl=ttl, text=text, mime=mime, vector=vector,
        )  # fmt: skip
        body = {**change, **bodies.given(reason=bodies.text(reason, "reason"))}
        return self._change(_at(id), body, _memory, method="PATCH", headers=expected(if_version))

    def forget(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        body = {
            **bodies.target(id, scope),
            **bodies.selection(filter=filter, kinds=kinds, tags=tags),
            "everything": bool(everything),
            "dry_run": bool(dry_run),
        }
        return self._change("/memories/forget", body, _forgotten, patient=True)

    def prune(
        self,
        *,
        older_than: float | None = None,
        weaker_than: float | None = None,
        keep: int | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        dry_run: bool = True,
    ) -> Forgotten:
        body = {
            **bodies.given(
                older_than=None if older_than is None else checks.amount(older_than, "older_than"),
                weaker_than=None if weaker_than is None else checks.amount(weaker_than, "weaker_than"),
                keep=None if keep is None else checks.count(keep, "keep"),
            ),
            **bodies.selection(filter=None, kinds=kinds, tags=tags),
            "dry_run": bool(dry_run),
        }
        return self._change("/memories/prune", body, _forgotten, patient=True)

    def quarantine(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        reason: str,
    ) -> Names:
        body = {
            **bodies.target(id, scope),
            **bodies.selection(filter=filter, kinds=kinds, tags=tags),
            "reason": checks.text(reason, "reason", limit=10_000),
        }
        return self._change("/memories/quarantine", body, _ids, patient=True)

    def release(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> Names:
        body = {**bodies.target(id, scope), **bodies.selection(filter=filter, kinds=kinds, tags=tags)}
        return self._change("/memories/release", body, _ids, patient=True)

    def history(self, id: str) -> Revisions:
        return self._get(f"{_at(id)}/history", lambda told: [wire.read(Revision, each) for each in told["revisions"]])

    def feedback(self, target: str, signal: Signal) -> int:
        body = {"target": checks.text(target, "target", limit=1_000_000), "signal": signal}
        return self._change("/feedback", body, lambda told: int(told["memories"]))

    def kv(self, namespace: str) -> RemoteKeyValue:
        return RemoteKeyValue(self._transport, self._path, namespace)

    def canvas(self, name: str) -> RemoteCanvas:
        return RemoteCanvas(self._transport, self._path, name)

    def transcript(self, session: str) -> RemoteTranscript:
        return RemoteTranscript(self._transport, self._path, session)

    def namespaces(self) -> Names:
        return self._get("/kv", lambda told: [*told["namespaces"]])

    def canvases(self) -> Names:
        return self._get("/canvases", lambda told: [*told["canvases"]])

    def transcripts(self) -> Names:
        return self._get("/transcripts", lambda told: [*told["transcripts"]])

    def stats(self) -> Stats:
        return self._get("/stats", lambda told: wire.read(Stats, told))

    def check(self, *, deep: bool = False) -> Check:
        place = "/check" + query(deep=True if deep else None)
        return self._get(place, lambda told: wire.read(Check, told), patient=True)

    def export(self, *, vectors: bool = False) -> Iterator[dict[str, Json]]:
        place = self._path + "/export" + query(vectors=True if vectors else None)
        with self._transport.stream(Request(method="GET", path=place, patient=True)) as pieces:
            yield from streams.received(pieces, self._transport.shown)

    def load(self, records: Iterable[Mapping[str, Json]]) -> int:
        if not isinstance(records, Iterable):
            raise InvalidInput(f"records are what export() gives, not {type(records).__name__}")
        request = Request(
            method="POST",
            path=f"{self._path}/import",
            body=streams.sent(records),
            headers={"Content-Type": "application/x-ndjson"},
            writes=True,
            patient=True,
        )
        try:
            return self._transport.call(request, lambda told: int(told["records"]))
        except streams.Broken as broken:
            raise broken.error from None

    def backup(self, path: str | PathLike[str]) -> None:
        target = Path(path)
        streams.ensure_new(target)
        with self._transport.stream(Request(method="GET", path=f"{self._path}/backup", patient=True)) as pieces:
            streams.saved(pieces, target)

    def close(self) -> None:
        self._transport.close()

    def _get(self, path: str, read: Callable[[Any], T], *, patient: bool = False) -> T:
        return self._transport.call(Request(method="GET", path=self._path + path, patient=patient), read)

    def _post(self, path: str, body: object, read: Callable[[Any], T]) -> T:
        """Ask for something whose question is too large for a URL; nothing changes."""
        return self._transport.call(Request(method="POST", path=self._path + path, body=encoded(body)), read)

    def _change(
        self,
        path: str,
        body: object,
        read: Callable[[Any], T],
        *,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        patient: bool = False,
    ) -> T:
        request = Request(
            method=method, path=self._path + path, body=encoded(body), headers=headers or {}, writes=True,
            patient=patient,
        )  # fmt: skip
        return self._transport.call(request, read)


def _at(id: str) -> str:
    return f"/memories/{part(checks.name(id, 'id'))}"


def _memory(told: object) -> Memory:
    return wire.read(Memory, told)


def _memories(told: _Told) -> Memories:
    return [wire.read(Memory, each) for each in told["memories"]]


def _links(told: _Told) -> Links:
    return [wire.read(Link, each) for each in told["links"]]


def _forgotten(told: object) -> Forgotten:
    return wire.read(Forgotten, told)


def _ids(told: _Told) -> Names:
    return [*told["ids"]]
