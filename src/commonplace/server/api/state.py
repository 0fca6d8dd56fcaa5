"""Shared state over HTTP: key-value entries, canvases and transcripts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from commonplace.book import Book
from commonplace.canvas import Canvas
from commonplace.errors import InvalidInput, NotFound
from commonplace.kv import KeyValue
from commonplace.server.api.memories import MessageBody
from commonplace.server.api.models import answer_of, model_of
from commonplace.server.api.routes import Exchange, Name, ReadExchange, VerbRouter
from commonplace.transcript import Transcript
from commonplace.values import Entry

router = APIRouter()

# -- key-value entries ---------------------------------------------------------------------------------

kv = VerbRouter(__name__, "key-value")
_ENTRY = "/kv/{namespace}/{key:path}"
kv.verb(Book.namespaces, "GET", "/kv", "namespaces")
kv.verb(KeyValue.keys, "GET", "/kv/{namespace}", "keys")


@kv.implement(KeyValue.entry, "GET", _ENTRY, response_model=model_of(Entry))
async def get_entry(http: Exchange, given: dict[str, Any]) -> Response:
    """Return the value with its version and times."""
    namespace, key = given["namespace"], given["key"]

    def verb(book: Book) -> Entry:
        entry = book.kv(namespace).entry(key)
        if entry is None:
            raise NotFound(f"there is no key {key!r} in the namespace {namespace!r}")
        return entry

    return await http.answer(verb)


kv.verb(
    KeyValue.set, "PUT", _ENTRY, name="set_entry", description="Set a value; when this answers, it is on disk.",
    body="EntryBody", example={"value": {"topic": "FastAPI"}, "ttl": 3600},
)  # fmt: skip


@kv.implement(KeyValue.append, "POST", _ENTRY, body="ItemsBody", example={"items": ["a finding"]})
async def append_to_entry(http: Exchange, given: dict[str, Any]) -> Response:
    """Add items to the end of a list in one step, creating the list if there is none."""
    scope = given.get("scope")
    return await http.answer(
        lambda book: book.kv(given["namespace"]).append(given["key"], *given["items"], scope=scope)
    )


kv.verb(
    KeyValue.delete, "DELETE", _ENTRY, "deleted", name="delete_entry",
    description="Delete a value; `deleted` is false if there was none.",
)  # fmt: skip

# -- canvases ------------------------------------------------------------------------------------------

canvas = VerbRouter(__name__, "canvases")
_FILE = "/canvases/{canvas}/files/{path:path}"
_PATCH = "--- a/story.md\n+++ b/story.md\n@@ -1 +1 @@\n-Once\n+Once upon a time\n"
canvas.verb(Book.canvases, "GET", "/canvases", "canvases")
canvas.verb(Canvas.files, "GET", "/canvases/{canvas}", "files", title="Standing")
canvas.verb(Canvas.file, "GET", _FILE, name="read_file")
canvas.verb(
    Canvas.write, "PUT", _FILE, name="write_file", description="Write a file as its next revision.",
    body="FileBody", example={"content": "Once upon a time…", "author": "writer"},
)  # fmt: skip
canvas.verb(Canvas.delete, "DELETE", _FILE, name="delete_file")
canvas.verb(
    Canvas.apply, "POST", "/canvases/{canvas}/patch", "files", name="apply_patch",
    body="PatchBody", example={"patch": _PATCH, "author": "editor"}, own={"text": (str, Field(alias="patch"))},
)  # fmt: skip
canvas.verb(Canvas.revisions, "GET", "/canvases/{canvas}/revisions/{path:path}", "revisions", name="file_revisions")
canvas.verb(
    Canvas.diff, "GET", "/canvases/{canvas}/diff/{path:path}", "diff",
    description="Return a unified diff from one revision to another, or to the newest; `patch` accepts it.",
)  # fmt: skip
canvas.verb(
    Canvas.forget, "POST", "/canvases/{canvas}/forget", "revisions", name="forget_file", title="Erased",
    body="PathBody", example={"path": "story.md"},
)  # fmt: skip

# -- transcripts ---------------------------------------------------------------------------------------

transcript = VerbRouter(__name__, "transcripts")
_SESSION = "/transcripts/{session}"
transcript.verb(Book.transcripts, "GET", "/transcripts", "transcripts")


@transcript.get(_SESSION, response_model=answer_of(Transcript.read, "messages"))
async def read_transcript(
    http: ReadExchange,
    session: Name,
    start: Annotated[int | None, Query(description="From this number on.")] = None,
    after: Annotated[int | None, Query(description="Messages after this number.")] = None,
    tail: Annotated[int | None, Query(description="The last so many.")] = None,
    limit: Annotated[int | None, Query(description="At most so many; not with tail.")] = None,
) -> Response:
    """Return messages, oldest first: all of them, from a number on, or the last."""
    if sum(way is not None for way in (start, after, tail)) > 1 or (tail is not None and limit is not None):
        raise InvalidInput("give one of start, after and tail; limit works with start and after only")

    def verb(book: Book) -> object:
        found = book.transcript(session)
        if tail is not None:
            return {"messages": found.tail(tail)}
        if after is not None:
            return {"messages": found.resume(after, limit=limit)}
        return {"messages": found.read(start=1 if start is None else start, limit=limit)}

    return await http.answer(verb)


transcript.verb(
    Transcript.extend, "POST", _SESSION, "messages", name="say", status_code=201,
    description="Add messages at the end, all or none; when this answers, they are on disk and have their numbers.",
    body="MessagesBody", example={"messages": [{"role": "user", "name": "Sarah", "content": "Good morning"}]},
    own={"lines": (list[MessageBody], Field(alias="messages"))},
)  # fmt: skip
transcript.verb(Transcript.forget, "DELETE", _SESSION, "messages", name="forget_transcript", title="Unsaid")

for each in (kv, canvas, transcript):
    router.include_router(each)
