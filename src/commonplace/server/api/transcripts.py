"""Transcripts over HTTP: conversations kept verbatim."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ConfigDict

from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.server.api import answers
from commonplace.server.api.answering import Body, Route, answered, given
from commonplace.server.api.learning import Said
from commonplace.server.asking import READ, WRITE
from commonplace.server.callers import Ask
from commonplace.server.paths import Name

router = APIRouter(tags=["transcripts"], route_class=Route)
Reading = Annotated[Ask, Depends(READ)]
Writing = Annotated[Ask, Depends(WRITE)]


class Lines(Body):
    """Messages to add at the end, all or none."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"messages": [{"role": "user", "name": "Sarah", "content": "Good morning"}]}]}
    )

    messages: list[Said]


@router.get("/transcripts", response_model=answers.Transcripts, operation_id="transcripts")
async def transcripts(request: Request, ask: Reading) -> Response:
    """The sessions that have a transcript."""
    return await answered(request, ask, lambda book: {"transcripts": book.transcripts()})


@router.get("/transcripts/{session}", response_model=answers.Messages, operation_id="read_transcript")
async def read(
    request: Request,
    ask: Reading,
    session: Name,
    start: Annotated[int | None, Query(description="From this number on.")] = None,
    after: Annotated[int | None, Query(description="What was said after this number.")] = None,
    tail: Annotated[int | None, Query(description="The last so many.")] = None,
    limit: Annotated[int | None, Query(description="At most so many; not with tail.")] = None,
) -> Response:
    """Messages, oldest first: all of them, from a number on, or the last."""
    if sum(way is not None for way in (start, after, tail)) > 1 or (tail is not None and limit is not None):
        raise InvalidInput("say where to read in one way: start, after or tail, and limit with the first two only")

    def verb(book: Book) -> object:
        transcript = book.transcript(session)
        if tail is not None:
            return {"messages": transcript.tail(tail)}
        if after is not None:
            return {"messages": transcript.resume(after, limit=limit)}
        return {"messages": transcript.read(start=1 if start is None else start, limit=limit)}

    return await answered(request, ask, verb)


@router.post("/transcripts/{session}", status_code=201, response_model=answers.Messages, operation_id="say")
async def say(request: Request, ask: Writing, session: Name, body: Lines) -> Response:
    """Add messages at the end, all or none; when this answers, they are on disk and have their numbers."""
    lines = [given(each) for each in body.messages]
    return await answered(request, ask, lambda book: {"messages": book.transcript(session).extend(lines)}, status=201)


@router.delete("/transcripts/{session}", response_model=answers.Unsaid, operation_id="forget_transcript")
async def forget(request: Request, ask: Writing, session: Name) -> Response:
    """Erase the whole transcript, with what was learned from it alone."""
    return await answered(request, ask, lambda book: {"messages": book.transcript(session).forget()})
