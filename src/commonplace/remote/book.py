"""RemoteBook and its companions: every verb as one request to a server, with the same values and the same errors.

Verbs are rows of a table. Each is bound by the signature that Book declares, its arguments are placed by the path's
template and sent as a body or a query, and the answer is read as the type that the verb returns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from string import Formatter
from types import SimpleNamespace
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints
from urllib.parse import quote

from commonplace import wire
from commonplace.book import Book, copy_declaration
from commonplace.canvas import Canvas
from commonplace.errors import InvalidInput, NotFound
from commonplace.kv import KeyValue
from commonplace.memories import write
from commonplace.remote import arguments, streams
from commonplace.remote.arguments import Convert, Fields, count, flag
from commonplace.remote.transport import Request, Transport, encode, path_part, query_string
from commonplace.transcript import Transcript
from commonplace.values import NOBODY, Draft, Entry, Json, Learned, Memory, Message, checks

F = TypeVar("F", bound=Callable[..., Any])


def _implement(declared: F) -> Callable[[Callable[[Any, dict[str, Any]], Any]], F]:
    """Give a function that takes all arguments by name the signature of a declared verb."""
    signature = inspect.signature(declared)

    def decorate(function: Callable[[Any, dict[str, Any]], Any]) -> F:
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return function(bound.arguments.pop("self"), bound.arguments)

        return cast(F, copy_declaration(declared, call))

    return decorate


def _verb(
    declared: F,
    method: str,
    path: str = "",
    key: str = "",
    *,
    own: Mapping[str, Convert] | None = None,
    writes: bool | None = None,
    patient: bool = False,
) -> F:
    """Return a verb with the declared signature that makes one request.

    `{names}` in the path are arguments. `key` is the field of the answer that is returned, unless the whole answer is.
    `own` are converters for arguments that this verb sends in another way than most.
    """
    read, converters = _reader(declared, key), own or {}
    defaults = {each.name: each.default for each in inspect.signature(declared).parameters.values()}
    placed = [name for _, name, _, _ in Formatter().parse(path) if name]

    @_implement(declared)
    def call(self: Any, given: dict[str, Any]) -> Any:
        headers = {} if "if_version" in converters else _version_headers(given.pop("if_version", None))
        place = self._path + path.format(**{name: _PLACES[name](given.pop(name)) for name in placed})
        fields = arguments.encode(given, defaults, converters)
        if method in ("GET", "DELETE"):
            place, body = place + query_string(fields), None
        else:
            body = encode(fields)
        changes = method != "GET" if writes is None else writes
        request = Request(method=method, path=place, body=body, headers=headers, writes=changes, patient=patient)
        return self._transport.call(request, read)

    return call


def _reader(declared: Callable[..., Any], key: str) -> Callable[[Any], Any]:
    """Return a function that reads a verb's result from the JSON of an answer."""
    # Without the parameters, whose recursive types cannot be evaluated.
    returned = SimpleNamespace(__annotations__={"return": declared.__annotations__["return"]})
    kind = get_type_hints(returned, declared.__globals__)["return"]
    if isinstance(kind, type) and is_dataclass(kind):
        return partial(wire.read, kind)
    item = next(iter(get_args(kind)), None)
    if get_origin(kind) is list and isinstance(item, type) and is_dataclass(item):
        return lambda answer: [wire.read(item, each) for each in answer[key]]
    make = get_origin(kind) or kind
    return lambda answer: make(answer[key])


def _version_headers(if_version: int | None) -> dict[str, str]:
    """Return the header for compare-and-set; version 0 means that nothing may exist yet."""
    version = checks.version(if_version)
    if version is None:
        return {}
    return {"If-Match": f'"{version}"'} if version else {"If-None-Match": "*"}


_PLACES: dict[str, Convert] = {
    "id": lambda value: path_part(checks.name(value, "id")),
    "key": lambda value: path_part(checks.name(value, "key")),
    # A checked path has no part that a proxy would remove; its slashes may stay slashes.
    "path": lambda value: quote(checks.path(value), safe="/"),
}


class _Resource:
    """A resource below a space's path: a namespace, a canvas or a session."""

    def __init__(self, transport: Transport, path: str) -> None:
        self._transport = transport
        self._path = path


class RemoteKeyValue(_Resource, KeyValue):
    """One namespace of a space's key-value entries, over HTTP. Made by `RemoteBook.kv`."""

    def entry(self, key: str) -> Entry | None:
        path = f"{self._path}/{_PLACES['key'](key)}"
        try:
            return self._transport.call(Request(method="GET", path=path), lambda answer: wire.read(Entry, answer))
        except NotFound:
            return None

    set = _verb(KeyValue.set, "PUT", "/{key}")
    delete = _verb(KeyValue.delete, "DELETE", "/{key}", "deleted")
    keys = _verb(KeyValue.keys, "GET", "", "keys")
    append = _verb(KeyValue.append, "POST", "/{key}")


def _versions(if_version: int | Mapping[str, int]) -> int | dict[str, int | None] | None:
    if isinstance(if_version, Mapping):
        return {checks.path(path): checks.version(number) for path, number in if_version.items()}
    return checks.version(if_version)


class RemoteCanvas(_Resource, Canvas):
    """One canvas of a space, over HTTP. Made by `RemoteBook.canvas`."""

    write = _verb(Canvas.write, "PUT", "/files/{path}", own={"content": partial(arguments.text, what="content")})
    delete = _verb(Canvas.delete, "DELETE", "/files/{path}")
    forget = _verb(Canvas.forget, "POST", "/forget", "revisions")
    file = _verb(Canvas.file, "GET", "/files/{path}")
    files = _verb(Canvas.files, "GET", "", "files")
    revisions = _verb(Canvas.revisions, "GET", "/revisions/{path}", "revisions")
    diff = _verb(Canvas.diff, "GET", "/diff/{path}", "diff")
    apply = _verb(
        Canvas.apply, "POST", "/patch", "files",
        own={"text": lambda value: Fields(patch=arguments.text(value, "patch")), "if_version": _versions},
    )  # fmt: skip


class RemoteTranscript(_Resource, Transcript):
    """The messages of one session of a space, over HTTP. Made by `RemoteBook.transcript`."""

    @_implement(Transcript.append)
    def append(self, given: dict[str, Any]) -> Message:
        scope = given.pop("scope")
        return self.extend([given], scope=scope)[0]

    extend = _verb(Transcript.extend, "POST", "", "messages")
    read = _verb(Transcript.read, "GET", "", "messages", own={"limit": count("limit")})
    resume = _verb(Transcript.resume, "GET", "", "messages", own={"limit": count("limit")})
    tail = _verb(Transcript.tail, "GET", "", "messages")
    forget = _verb(Transcript.forget, "DELETE", "", "messages")


_SELECTED: dict[str, Convert] = {"id": arguments.ids, "scope": arguments.exact_scope}


class RemoteBook(Book):
    """One space of a store that a server keeps. Made by `open`; safe between threads."""

    def __init__(self, transport: Transport, space: str) -> None:
        super().__init__(space, transport.label)
        self._transport = transport
        self._path = f"/spaces/{path_part(self._space)}"

    @property
    def served(self) -> bool:
        return True

    @property
    def closed(self) -> bool:
        return self._transport.closed

    def in_space(self, space: str) -> RemoteBook:
        return RemoteBook(self._transport, space)

    @_implement(Book.remember)
    def remember(self, given: dict[str, Any]) -> Memory | list[Memory]:
        content, reconcile = given.pop("content"), given.pop("reconcile")
        given.update(metadata=given["metadata"] or {}, scope=given["scope"] or NOBODY)
        drafts = [arguments.draft(each) for each in write.expand(content, Draft(content="", **given))]
        many = isinstance(content, (list, tuple))
        fields = {"memories": drafts} if many else drafts[0]
        request = Request(
            method="POST", path=f"{self._path}/memories{'/batch' if many else ''}",
            body=encode({**fields, **({"reconcile": True} if reconcile else {})}), writes=True, patient=many,
        )  # fmt: skip
        stored = self._transport.call(
            request, lambda answer: [wire.read(Memory, each) for each in (answer["memories"] if many else [answer])]
        )
        return stored if many else stored[0]

    _learn = _verb(Book.learn, "POST", "/learn", patient=True, own={"progress": lambda progress: Fields()})

    @_implement(Book.learn)
    def learn(self, given: dict[str, Any]) -> Learned:
        learned = self._learn(**given)
        if given["wait"] and given["progress"] is not None:
            given["progress"](len(learned.messages), len(learned.messages))
        return learned

    jobs = _verb(Book.jobs, "GET", "/jobs", "jobs")
    work = _verb(Book.work, "POST", "/jobs/work", "done", patient=True)
    retry = _verb(Book.retry, "POST", "/jobs/retry", "retried")
    links = _verb(Book.links, "GET", "/memories/{id}/links", "links")
    undo = _verb(Book.undo, "POST", "/memories/{id}/undo", "links")
    recall = _verb(Book.recall, "POST", "/recall", writes=False)
    brief = _verb(
        Book.brief, "GET", "/brief",
        own={
            **{part: partial(checks.optional_name, what=f"scope.{part}") for part in ("user", "agent", "session")},
            "max_tokens": partial(checks.count, what="max_tokens"),
        },
    )  # fmt: skip
    get = _verb(Book.get, "GET", "/memories/{id}")
    list = _verb(Book.list, "POST", "/memories/list", writes=False)
    revise = _verb(Book.revise, "PATCH", "/memories/{id}")
    forget = _verb(Book.forget, "POST", "/memories/forget", patient=True, own=_SELECTED)
    users = _verb(Book.users, "GET", "/users", "users")
    receipts = _verb(Book.receipts, "GET", "/receipts", "receipts")
    settle_receipts = _verb(Book.settle_receipts, "POST", "/receipts/settle", "receipts", patient=True)
    verify_receipts = _verb(
        Book.verify_receipts, "POST", "/receipts/verify", writes=False, own={"known": arguments.receipts}
    )
    erase_again = _verb(
        Book.erase_again, "POST", "/receipts/again", "receipts", patient=True, own={"receipts": arguments.receipts}
    )
    prune = _verb(Book.prune, "POST", "/memories/prune", patient=True)
    quarantine = _verb(
        Book.quarantine, "POST", "/memories/quarantine", "ids", patient=True,
        own={**_SELECTED, "reason": partial(checks.text, what="reason", limit=10_000)},
    )  # fmt: skip
    release = _verb(Book.release, "POST", "/memories/release", "ids", patient=True, own=_SELECTED)
    history = _verb(Book.history, "GET", "/memories/{id}/history", "revisions")
    feedback = _verb(Book.feedback, "POST", "/feedback", "memories")

    def kv(self, namespace: str) -> RemoteKeyValue:
        return RemoteKeyValue(self._transport, self._below("kv", checks.name(namespace, "namespace")))

    def canvas(self, name: str) -> RemoteCanvas:
        return RemoteCanvas(self._transport, self._below("canvases", checks.name(name, "canvas name")))

    def transcript(self, session: str) -> RemoteTranscript:
        return RemoteTranscript(self._transport, self._below("transcripts", checks.name(session, "session")))

    namespaces = _verb(Book.namespaces, "GET", "/kv", "namespaces")
    canvases = _verb(Book.canvases, "GET", "/canvases", "canvases")
    transcripts = _verb(Book.transcripts, "GET", "/transcripts", "transcripts")
    stats = _verb(Book.stats, "GET", "/stats")
    check = _verb(Book.check, "GET", "/check", patient=True)

    def export(self, *, vectors: bool = False, user: str | None = None) -> Iterator[dict[str, Json]]:
        whose = checks.optional_name(user, "user")
        path = f"{self._path}/export{query_string({'vectors': flag(vectors), 'user': whose})}"
        with self._transport.stream(Request(method="GET", path=path, patient=True)) as pieces:
            yield from streams.decode_records(pieces, self._transport.label)

    def load(self, records: Iterable[Mapping[str, Json]]) -> int:
        if not isinstance(records, Iterable):
            raise InvalidInput(f"records are what export() gives, not {type(records).__name__}")
        request = Request(
            method="POST", path=f"{self._path}/import", body=streams.encode_records(records),
            headers={"Content-Type": "application/x-ndjson"}, writes=True, patient=True,
        )  # fmt: skip
        try:
            return self._transport.call(request, lambda answer: int(answer["records"]))
        except streams.SourceFailed as failed:
            raise failed.error from None

    def backup(self, path: str | PathLike[str]) -> None:
        target = Path(path)
        streams.ensure_new(target)
        with self._transport.stream(Request(method="GET", path=f"{self._path}/backup", patient=True)) as pieces:
            streams.save(pieces, target)

    def close(self) -> None:
        self._transport.close()

    def _below(self, kind: str, name: str) -> str:
        return f"{self._path}/{kind}/{path_part(name)}"
