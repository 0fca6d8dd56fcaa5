"""Learning over HTTP, and the jobs that do it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ConfigDict, Field

from commonplace.errors import InvalidInput
from commonplace.server.api import answers
from commonplace.server.api.answering import Body, Route, answered, given
from commonplace.server.api.shapes import Metadata, Moment, Names, Scope
from commonplace.server.asking import READ, WRITE
from commonplace.server.callers import Ask
from commonplace.values import Origin

router = APIRouter(tags=["learning"], route_class=Route)
Writing = Annotated[Ask, Depends(WRITE)]


class Said(Body):
    """One message."""

    content: Any = Field(description="Text, or any JSON.", examples=["I prefer TypeScript now, not Python."])
    role: str = Field(default="user", examples=["user"])
    name: str | None = Field(default=None, examples=["Sarah"])
    said_at: Moment | None = None
    metadata: Metadata | None = None


class Conversation(Body):
    """What was said: `messages`, or `text` with lines such as "Sarah: I prefer tea"."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "messages": [{"role": "user", "name": "Sarah", "content": "I prefer TypeScript now, not Python."}],
                    "session": "standup",
                }
            ]
        }
    )

    messages: list[Said | str] | None = None
    text: str | None = None
    session: str | None = Field(default=None, description="The conversation's name; a new one, if absent.")
    scope: Scope | None = None
    tags: Names = Field(default_factory=list)
    origin: Origin | None = None
    every: int = Field(default=1, description="Learn from so many messages of a session together.")
    idle: float = Field(default=60.0, description="Seconds after which fewer are learned from, if nobody speaks.")
    wait: bool = Field(default=False, description="Learn now and tell what came of it, with status 200.")


class Work(Body):
    """How to do the jobs that are due."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"hurry": True}]})

    hurry: bool = Field(default=False, description="Also those that wait for more messages.")


class Retry(Body):
    """Which job to queue again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"number": 7}]})

    number: int | None = Field(default=None, description="All that have failed for good, if absent.")


@router.post(
    "/learn",
    status_code=202,
    response_model=answers.Learned,
    responses={200: {"model": answers.Learned, "description": "With `wait`: what came of it."}},
    operation_id="learn",
)
async def learn(request: Request, ask: Writing, body: Conversation) -> Response:
    """Keep a conversation as it was said, and make memories of it."""
    options = given(body)
    options.pop("messages", None)
    options.pop("text", None)
    said = _said(body)
    if body.scope is not None:
        options["scope"] = body.scope.value()
    ask = replace(ask, long=body.wait)
    return await answered(
        request, ask, lambda book: book.learn(said, **options), status=200 if body.wait else 202, keep=body.wait
    )


def _said(body: Conversation) -> str | list[dict[str, Any] | str]:
    if body.messages is not None and body.text is None:
        return [_line(each) for each in body.messages]
    if body.text is not None and body.messages is None:
        return body.text
    raise InvalidInput("give messages or text, one of the two")


def _line(said: Said | str) -> dict[str, Any] | str:
    return said if isinstance(said, str) else given(said)


@router.get("/jobs", response_model=answers.Jobs, operation_id="jobs")
async def jobs(request: Request, ask: Annotated[Ask, Depends(READ)]) -> Response:
    """The jobs that wait, run, or have failed for good, oldest first."""
    return await answered(request, ask, lambda book: {"jobs": book.jobs()})


@router.post("/jobs/work", response_model=answers.Worked, operation_id="work")
async def work(request: Request, ask: Writing, body: Work | None = None) -> Response:
    """Do the jobs of this space that are due, now."""
    hurry = body is not None and body.hurry
    ask = replace(ask, long=True)
    return await answered(request, ask, lambda book: {"done": book.work(hurry=hurry)}, keep=True)


@router.post("/jobs/retry", response_model=answers.Retried, operation_id="retry")
async def retry(request: Request, ask: Writing, body: Retry | None = None) -> Response:
    """Queue a job again that had failed for good, or all of them."""
    number = None if body is None else body.number
    return await answered(request, ask, lambda book: {"retried": book.retry(number)})
