"""Whole spaces over HTTP: export, import and backup, in pieces, so that no size is too large."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic_core import to_json
from starlette.requests import ClientDisconnect

from commonplace.book import Book
from commonplace.errors import CommonplaceError, InvalidInput, StoreFull
from commonplace.server.api import answers
from commonplace.server.api.answering import Route, answered, door, ensure_type
from commonplace.server.asking import ADMIN, IMPORT, READ
from commonplace.server.callers import Ask
from commonplace.server.door import Door
from commonplace.server.problems import told

router = APIRouter(tags=["streams"], route_class=Route)
LINES = "application/x-ndjson"
_LINE_TYPES = (LINES, "application/ndjson", "application/jsonl", "application/x-jsonlines")
_BATCH = 200
_CHUNK = 1 << 20
_LONGEST = 128_000_000
"""Bytes of a line: the largest content in Base64, with its vector and all that is said of it, has less."""
_Records = Iterator[dict[str, Any]]


@router.get(
    "/export",
    operation_id="export",
    response_class=Response,
    responses={200: {"description": "One JSON record a line; the last is the end.", "content": {LINES: {}}}},
)
async def export(
    request: Request,
    ask: Annotated[Ask, Depends(READ)],
    vectors: Annotated[bool, Query(description="Also the vectors, which `import` then need not make again.")] = False,
) -> Response:
    """Everything in the space, a JSON record a line. The last line is `{"type": "end", "records": n}`, or an error."""
    here = door(request)

    def begin(book: Book) -> tuple[_Records, list[dict[str, Any]]]:
        records: _Records = book.export(vectors=vectors)
        return records, list(islice(records, _BATCH))

    records, first = await here.run(ask, begin)
    return StreamingResponse(_lines(here, records, first), media_type=LINES)


async def _lines(here: Door, records: _Records, batch: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    sent = 0
    try:
        while batch:
            yield await here.aside(partial(_joined, batch))
            sent += len(batch)
            batch = await here.aside(lambda: list(islice(records, _BATCH)))
    except CommonplaceError as error:
        # The status is sent already: only the last line can tell.
        yield to_json({**told(error), "type": "error"}) + b"\n"
        return
    yield to_json({"type": "end", "records": sent}) + b"\n"


def _joined(batch: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(to_json(record) + b"\n" for record in batch)


@router.post(
    "/import",
    operation_id="import_records",
    response_model=answers.Loaded,
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
async def load(request: Request, ask: Annotated[Ask, Depends(IMPORT)]) -> Response:
    """Take in what `export` gave, all or nothing; what is there already is left alone."""
    ensure_type(request, *_LINE_TYPES)
    here = door(request)
    await here.aside(partial(here.admitted, ask))
    with tempfile.TemporaryFile() as spool:
        digest = await _spooled(here, request, spool)
        if ask.once:
            ask = replace(ask, digest=hashlib.sha256(f"{ask.digest}:{digest}".encode()).hexdigest())
        ask = replace(ask, long=True)
        return await answered(request, ask, lambda book: {"records": book.load(_records(spool))})


async def _spooled(here: Door, request: Request, spool: IO[bytes]) -> str:
    """Put a body into a file, and return its digest; the event loop never waits for the disk."""
    digest, waiting, size = hashlib.sha256(), [], 0
    try:
        async for chunk in request.stream():
            digest.update(chunk)
            waiting.append(chunk)
            size += len(chunk)
            if size >= _CHUNK:
                await here.aside(partial(spool.write, b"".join(waiting)))
                waiting, size = [], 0
        await here.aside(partial(spool.write, b"".join(waiting)))
    except ClientDisconnect as error:
        raise InvalidInput("the connection broke off before the end: nothing was taken in") from error
    except OSError as error:
        raise StoreFull(f"the server has no room for the records while it checks them: {error.strerror}") from error
    return digest.hexdigest()


def _records(spool: IO[bytes]) -> Iterator[Any]:
    """The records of a file of lines; one that ends before its end line says so is refused."""
    spool.seek(0)
    taken, ended = 0, False
    for number, line in enumerate(iter(partial(spool.readline, _LONGEST + 1), b""), start=1):
        if len(line) > _LONGEST:
            raise InvalidInput(f"line {number} has more than {_LONGEST:,} bytes: nothing was taken in")
        if not line.strip():
            continue
        record = _record(line, number)
        if ended:
            raise InvalidInput(f"line {number} comes after the end: nothing was taken in")
        if record.get("type") == "error":
            raise InvalidInput(f"line {number} says that the export failed: nothing was taken in")
        if record.get("type") == "end":
            if record.get("records") != taken:
                raise InvalidInput(f"there are {taken} records, not {record.get('records')!r}: nothing was taken in")
            ended = True
            continue
        taken += 1
        yield record


def _record(line: bytes, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"line {number} is not JSON: {error}; nothing was taken in") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"line {number} is no JSON object: nothing was taken in")
    return record


@router.get(
    "/backup",
    operation_id="backup",
    response_class=Response,
    responses={200: {"description": "The book's file.", "content": {"application/vnd.sqlite3": {}}}},
)
async def backup(request: Request, ask: Annotated[Ask, Depends(ADMIN)]) -> Response:
    """The whole store, every space, as one file; for a key that opens every space."""
    here = door(request)
    place = await here.run(replace(ask, operation="read", everywhere=True, long=True), _backed_up)
    return StreamingResponse(
        _sent(here, place),
        media_type="application/vnd.sqlite3",
        headers={"Content-Disposition": 'attachment; filename="commonplace.db"'},
    )


def _backed_up(book: Book) -> tempfile.TemporaryDirectory[str]:
    place = tempfile.TemporaryDirectory(prefix="commonplace-backup-")
    try:
        book.backup(Path(place.name) / "book.db")
    except BaseException:
        place.cleanup()
        raise
    return place


async def _sent(here: Door, place: tempfile.TemporaryDirectory[str]) -> AsyncIterator[bytes]:
    try:
        with (Path(place.name) / "book.db").open("rb") as file:
            while chunk := await here.aside(partial(file.read, _CHUNK)):
                yield chunk
    finally:
        place.cleanup()
