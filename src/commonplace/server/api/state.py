"""Shared state over HTTP: key-value entries, canvases and transcripts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.server.api import models
from commonplace.server.api.learn import MessageBody
from commonplace.server.api.models import example
from commonplace.server.api.routes import Body, Name, ReadExchange, Route, WriteExchange

router = APIRouter(route_class=Route)


class EntryBody(Body):
    """A value to set."""

    model_config = example({"value": {"topic": "FastAPI"}, "ttl": 3600})

    value: Any = Field(description="Any JSON.")
    ttl: float | None = Field(default=None, description="Seconds after which it is gone.")


class ItemsBody(Body):
    """Items to add to the end of a list."""

    model_config = example({"items": ["a finding"]})

    items: list[Any]


class FileBody(Body):
    """A file's next revision."""

    model_config = example({"content": "Once upon a time…", "author": "writer"})

    content: str
    author: str | None = None


class PatchBody(Body):
    """A unified diff over one or several files."""

    model_config = example(
        {"patch": "--- a/story.md\n+++ b/story.md\n@@ -1 +1 @@\n-Once\n+Once upon a time\n", "author": "editor"}
    )

    patch: str
    author: str | None = None
    if_version: int | dict[str, int] | None = Field(
        default=None, description="The revision that the file must be at, or an object of paths and revisions."
    )


class PathBody(Body):
    """A file's path."""

    model_config = example({"path": "story.md"})

    path: str


class MessagesBody(Body):
    """Messages to add at the end, all or none."""

    model_config = example({"messages": [{"role": "user", "name": "Sarah", "content": "Good morning"}]})

    messages: list[MessageBody]


# -- key-value entries ---------------------------------------------------------------------------------

kv = APIRouter(tags=["key-value"], route_class=Route)


@kv.get("/kv", response_model=models.Namespaces)
async def namespaces(http: ReadExchange) -> Response:
    """The namespaces that hold anything."""
    return await http.answer(lambda book: {"namespaces": book.namespaces()})


@kv.get("/kv/{namespace}", response_model=models.Keys)
async def keys(
    http: ReadExchange,
    namespace: Name,
    prefix: Annotated[str, Query(description="Only keys that begin with it.")] = "",
) -> Response:
    """The keys of a namespace, sorted."""
    return await http.answer(lambda book: {"keys": book.kv(namespace).keys(prefix)})


@kv.get("/kv/{namespace}/{key:path}", response_model=models.Entry)
async def get_entry(http: ReadExchange, namespace: Name, key: Name) -> Response:
    """The value with its version and times."""

    def verb(book: Book) -> object:
        entry = book.kv(namespace).entry(key)
        if entry is None:
            raise NotFound(f"there is no key {key!r} in the namespace {namespace!r}")
        return entry

    return await http.answer(verb)


@kv.put("/kv/{namespace}/{key:path}", response_model=models.Entry)
async def set_entry(http: WriteExchange, namespace: Name, key: Name, body: EntryBody) -> Response:
    """Set a value. `If-Match: "3"` replaces only version 3, `If-None-Match: *` only sets a new key."""
    version = http.expected_version()
    return await http.answer(lambda book: book.kv(namespace).set(key, body.value, ttl=body.ttl, if_version=version))


@kv.post("/kv/{namespace}/{key:path}", response_model=models.Entry)
async def append_to_entry(http: WriteExchange, namespace: Name, key: Name, body: ItemsBody) -> Response:
    """Add items to the end of a list in one step; create the list if there is none."""
    return await http.answer(lambda book: book.kv(namespace).append(key, *body.items))


@kv.delete("/kv/{namespace}/{key:path}", response_model=models.Deleted)
async def delete_entry(http: WriteExchange, namespace: Name, key: Name) -> Response:
    """Delete a value; `deleted` is false if there was none."""
    version = http.expected_version()
    return await http.answer(lambda book: {"deleted": book.kv(namespace).delete(key, if_version=version)})


# -- canvases ------------------------------------------------------------------------------------------

canvas_routes = APIRouter(tags=["canvases"], route_class=Route)


@canvas_routes.get("/canvases", response_model=models.Canvases)
async def canvases(http: ReadExchange) -> Response:
    """The canvases that hold a file."""
    return await http.answer(lambda book: {"canvases": book.canvases()})


@canvas_routes.get("/canvases/{canvas}", response_model=models.Standing)
async def files(http: ReadExchange, canvas: Name) -> Response:
    """The current files and the revision of each."""
    return await http.answer(lambda book: {"files": book.canvas(canvas).files()})


@canvas_routes.get("/canvases/{canvas}/files/{path:path}", response_model=models.File)
async def read_file(
    http: ReadExchange,
    canvas: Name,
    path: Name,
    revision: Annotated[int | None, Query(description="The newest, if absent.")] = None,
) -> Response:
    """A file, or one of its revisions."""
    return await http.answer(lambda book: book.canvas(canvas).file(path, revision))


@canvas_routes.put("/canvases/{canvas}/files/{path:path}", response_model=models.File)
async def write_file(http: WriteExchange, canvas: Name, path: Name, body: FileBody) -> Response:
    """Write a file as its next revision; `If-Match` and `If-None-Match: *` as for entries."""
    version = http.expected_version()
    return await http.answer(
        lambda book: book.canvas(canvas).write(path, body.content, author=body.author, if_version=version)
    )


@canvas_routes.delete("/canvases/{canvas}/files/{path:path}", response_model=models.File)
async def delete_file(
    http: WriteExchange,
    canvas: Name,
    path: Name,
    author: Annotated[str | None, Query(description="Who deletes it.")] = None,
) -> Response:
    """Delete a file; its revisions stay readable by number."""
    version = http.expected_version()
    return await http.answer(lambda book: book.canvas(canvas).delete(path, author=author, if_version=version))


@canvas_routes.post("/canvases/{canvas}/patch", response_model=models.Files)
async def apply_patch(http: WriteExchange, canvas: Name, body: PatchBody) -> Response:
    """Apply a unified diff over one or several files, all or nothing."""
    return await http.answer(
        lambda book: {"files": book.canvas(canvas).apply(body.patch, author=body.author, if_version=body.if_version)}
    )


@canvas_routes.get("/canvases/{canvas}/revisions/{path:path}", response_model=models.Revisions)
async def file_revisions(http: ReadExchange, canvas: Name, path: Name) -> Response:
    """Every revision of a file, oldest first."""
    return await http.answer(lambda book: {"revisions": book.canvas(canvas).revisions(path)})


@canvas_routes.get("/canvases/{canvas}/diff/{path:path}", response_model=models.Diff)
async def diff(
    http: ReadExchange,
    canvas: Name,
    path: Name,
    old: Annotated[int, Query(description="The first revision.")],
    new: Annotated[int | None, Query(description="The newest, if absent.")] = None,
) -> Response:
    """A unified diff from one revision to another, or to the newest."""
    return await http.answer(lambda book: {"diff": book.canvas(canvas).diff(path, old, new)})


@canvas_routes.post("/canvases/{canvas}/forget", response_model=models.Erased)
async def forget_file(http: WriteExchange, canvas: Name, body: PathBody) -> Response:
    """Erase a file with every revision."""
    return await http.answer(lambda book: {"revisions": book.canvas(canvas).forget(body.path)})


# -- transcripts ---------------------------------------------------------------------------------------

transcript_routes = APIRouter(tags=["transcripts"], route_class=Route)


@transcript_routes.get("/transcripts", response_model=models.Transcripts)
async def transcripts(http: ReadExchange) -> Response:
    """The sessions that have a transcript."""
    return await http.answer(lambda book: {"transcripts": book.transcripts()})


@transcript_routes.get("/transcripts/{session}", response_model=models.Messages)
async def read_transcript(
    http: ReadExchange,
    session: Name,
    start: Annotated[int | None, Query(description="From this number on.")] = None,
    after: Annotated[int | None, Query(description="Messages after this number.")] = None,
    tail: Annotated[int | None, Query(description="The last so many.")] = None,
    limit: Annotated[int | None, Query(description="At most so many; not with tail.")] = None,
) -> Response:
    """Messages, oldest first: all of them, from a number on, or the last."""
    if sum(way is not None for way in (start, after, tail)) > 1 or (tail is not None and limit is not None):
        raise InvalidInput("give one of start, after and tail; limit works with start and after only")

    def verb(book: Book) -> object:
        transcript = book.transcript(session)
        if tail is not None:
            return {"messages": transcript.tail(tail)}
        if after is not None:
            return {"messages": transcript.resume(after, limit=limit)}
        return {"messages": transcript.read(start=1 if start is None else start, limit=limit)}

    return await http.answer(verb)


@transcript_routes.post("/transcripts/{session}", status_code=201, response_model=models.Messages)
async def say(http: WriteExchange, session: Name, body: MessagesBody) -> Response:
    """Add messages at the end, all or none; the answer means that they are on disk and have their numbers."""
    messages = [each.given() for each in body.messages]
    return await http.answer(lambda book: {"messages": book.transcript(session).extend(messages)}, status=201)


@transcript_routes.delete("/transcripts/{session}", response_model=models.Unsaid)
async def forget_transcript(http: WriteExchange, session: Name) -> Response:
    """Erase the whole transcript, with what was learned from it alone."""
    return await http.answer(lambda book: {"messages": book.transcript(session).forget()})


for each in (kv, canvas_routes, transcript_routes):
    router.include_router(each)
