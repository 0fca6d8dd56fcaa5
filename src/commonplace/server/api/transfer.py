"""Whole spaces over HTTP: export, import and backup as streams of any size; statistics and checks."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic_core import to_json
from starlette.requests import ClientDisconnect

from commonplace.book import Book
from commonplace.errors import CommonplaceError, InvalidInput, StoreFull
from commonplace.server.api.models import answer_of
from commonplace.server.api.routes import AdminExchange, Exchange, ImportExchange, ReadExchange, VerbRouter, ensure_type
from commonplace.server.door import Door
from commonplace.server.problems import problem_body

router = VerbRouter(__name__, "streams")
care = VerbRouter(__name__, "care")
LINES = "application/x-ndjson"
_LINE_TYPES = (LINES, "application/ndjson", "application/jsonl", "application/x-jsonlines")
_BATCH = 200
_CHUNK = 1 << 20
_LONGEST = 128_000_000
"""Largest line in bytes: enough for the largest content in Base64 with its vector and metadata."""
_Records = Iterator[dict[str, Any]]


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"description": "One JSON record a line; the last is the end.", "content": {LINES: {}}}},
)
async def export(
    http: ReadExchange,
    vectors: Annotated[bool, Query(description="Also the vectors, which `import` then need not make again.")] = False,
    user: Annotated[str | None, Query(description="Only what belongs to this user.")] = None,
) -> Response:
    """Everything in the space, a JSON record a line. The last line is `{"type": "end", "records": n}`, or an error."""
    door = http.door

    def begin(book: Book) -> tuple[_Records, list[dict[str, Any]]]:
        records: _Records = book.export(vectors=vectors, user=user)
        return records, list(islice(records, _BATCH))

    records, first = await door.run(http.call, begin)
    return StreamingResponse(_send_lines(door, records, first), media_type=LINES)


async def _send_lines(door: Door, records: _Records, batch: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    sent = 0
    try:
        while batch:
            yield await door.in_thread(partial(b"".join, (to_json(record) + b"\n" for record in batch)))
            sent += len(batch)
            batch = await door.in_thread(lambda: list(islice(records, _BATCH)))
    except CommonplaceError as error:
        # The status is already sent, so the last line has to report it.
        yield to_json({**problem_body(error), "type": "error"}) + b"\n"
        return
    yield to_json({"type": "end", "records": sent}) + b"\n"


@router.post(
    "/import",
    response_model=answer_of(Book.load, "records", "Loaded"),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                LINES: {
                    "schema": {"type": "string"},
                    "example": '{"type": "header", "commonplace": 1, "space": "a", "at": "2026-05-04T09:30:00Z"}\n',
                }
            },
        }
    },
)
async def import_records(http: ImportExchange) -> Response:
    """Import what `export` wrote, all or nothing; known records are skipped."""
    ensure_type(http.request, *_LINE_TYPES)
    door = http.door
    await door.admit(http.call)
    with tempfile.TemporaryFile() as spool:
        body = await _spool(door, http.request, spool)
        digest = hashlib.sha256(f"{http.call.digest}:{body}".encode()).hexdigest()
        return await http.having(long=True, is_import=True, digest=digest).answer(
            lambda book: {"records": book.load(_read_records(spool))}
        )


async def _spool(door: Door, request: Request, spool: IO[bytes]) -> str:
    """Write a body to a file, and return its digest; the event loop never waits for the disk."""
    digest, waiting, size = hashlib.sha256(), [], 0
    try:
        async for chunk in request.stream():
            digest.update(chunk)
            waiting.append(chunk)
            size += len(chunk)
            if size >= _CHUNK:
                await door.in_thread(partial(spool.write, b"".join(waiting)))
                waiting, size = [], 0
        await door.in_thread(partial(spool.write, b"".join(waiting)))
    except ClientDisconnect as error:
        raise InvalidInput("the connection ended before the body did: nothing was stored") from error
    except OSError as error:
        raise StoreFull(f"the server has no room for the records while it checks them: {error.strerror}") from error
    return digest.hexdigest()


def _read_records(spool: IO[bytes]) -> Iterator[Any]:
    """Yield the records of a file of lines; raise InvalidInput if the end line does not match."""
    spool.seek(0)
    taken, ended = 0, False
    for number, line in enumerate(iter(partial(spool.readline, _LONGEST + 1), b""), start=1):
        if len(line) > _LONGEST:
            raise InvalidInput(f"line {number} has more than {_LONGEST:,} bytes: nothing was stored")
        if not line.strip():
            continue
        record = _parse_record(line, number)
        if ended:
            raise InvalidInput(f"line {number} comes after the end: nothing was stored")
        if record.get("type") == "error":
            raise InvalidInput(f"line {number} reports that the export failed: nothing was stored")
        if record.get("type") == "end":
            if record.get("records") != taken:
                raise InvalidInput(f"there are {taken} records, not {record.get('records')!r}: nothing was stored")
            ended = True
            continue
        taken += 1
        yield record


def _parse_record(line: bytes, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"line {number} is not JSON: {error}; nothing was stored") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"line {number} is not a JSON object: nothing was stored")
    return record


@router.get(
    "/backup",
    response_class=Response,
    responses={200: {"description": "The book's file.", "content": {"application/vnd.sqlite3": {}}}},
)
async def backup(http: AdminExchange) -> Response:
    """The whole store, every space, as one file; for a key that opens every space."""
    door = http.door
    place = await door.run(http.having(operation="read", everywhere=True, long=True).call, _back_up)
    return StreamingResponse(
        _send(door, place),
        media_type="application/vnd.sqlite3",
        headers={"Content-Disposition": 'attachment; filename="commonplace.db"'},
    )


def _back_up(book: Book) -> tempfile.TemporaryDirectory[str]:
    place = tempfile.TemporaryDirectory(prefix="commonplace-backup-")
    try:
        book.backup(Path(place.name) / "book.db")
    except BaseException:
        place.cleanup()
        raise
    return place


async def _send(door: Door, place: tempfile.TemporaryDirectory[str]) -> AsyncIterator[bytes]:
    try:
        with (Path(place.name) / "book.db").open("rb") as file:
            while chunk := await door.in_thread(partial(file.read, _CHUNK)):
                yield chunk
    finally:
        place.cleanup()


care.verb(Book.stats, "GET", "/stats")


@care.implement(Book.check, "GET", "/check")
async def check(http: Exchange, given: dict[str, Any]) -> Response:
    """Verify the store and that recall works; for a key that opens every space, since it is about all of them."""
    role = "admin" if given["deep"] else http.call.role
    return await http.having(everywhere=True, long=True, role=role).answer(lambda book: book.check(**given))
