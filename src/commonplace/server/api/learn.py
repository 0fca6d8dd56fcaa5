"""Learning over HTTP, and its jobs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field

from commonplace.errors import InvalidInput
from commonplace.server.api import models
from commonplace.server.api.models import Metadata, Moment, Names, ScopeBody, example
from commonplace.server.api.routes import Body, ReadExchange, Route, WriteExchange
from commonplace.values import Origin

router = APIRouter(tags=["learning"], route_class=Route)


class MessageBody(Body):
    """One message."""

    content: Any = Field(description="Text, or any JSON.", examples=["I prefer TypeScript now, not Python."])
    role: str = Field(default="user", examples=["user"])
    name: str | None = Field(default=None, examples=["Sarah"])
    said_at: Moment | None = None
    metadata: Metadata | None = None


class LearnBody(Body):
    """A conversation: `messages`, or `text` with lines such as "Sarah: I prefer tea"."""

    model_config = example(
        {
            "messages": [{"role": "user", "name": "Sarah", "content": "I prefer TypeScript now, not Python."}],
            "session": "standup",
        }
    )

    messages: list[MessageBody | str] | None = None
    text: str | None = None
    session: str | None = Field(default=None, description="The conversation's name; a new one, if absent.")
    scope: ScopeBody | None = None
    tags: Names = Field(default_factory=list)
    origin: Origin | None = None
    every: int = Field(default=1, description="Learn from so many messages of a session together.")
    idle: float = Field(default=60.0, description="Seconds after which fewer are learned from, if no more come.")
    wait: bool = Field(default=False, description="Learn now and return the result, with status 200.")

    def conversation(self) -> str | list[dict[str, Any] | str]:
        if self.messages is not None and self.text is None:
            return [each if isinstance(each, str) else each.given() for each in self.messages]
        if self.text is not None and self.messages is None:
            return self.text
        raise InvalidInput("give messages or text, one of the two")


class WorkBody(Body):
    """How to run the jobs that are due."""

    model_config = example({"hurry": True})

    hurry: bool = Field(default=False, description="Also those that wait for more messages.")


class RetryBody(Body):
    """Which job to queue again."""

    model_config = example({"number": 7})

    number: int | None = Field(default=None, description="All permanently failed jobs, if absent.")


@router.post(
    "/learn",
    status_code=202,
    response_model=models.Learned,
    responses={200: {"model": models.Learned, "description": "With `wait`: the result."}},
)
async def learn(http: WriteExchange, body: LearnBody) -> Response:
    """Keep a conversation verbatim, and make memories of it."""
    conversation = body.conversation()
    options = {name: part for name, part in body.given().items() if name not in ("messages", "text")}
    return await http.having(long=body.wait).answer(
        lambda book: book.learn(conversation, **options), status=200 if body.wait else 202, keep=body.wait
    )


@router.get("/jobs", response_model=models.Jobs)
async def jobs(http: ReadExchange) -> Response:
    """The jobs that wait, run, or have failed for good, oldest first."""
    return await http.answer(lambda book: {"jobs": book.jobs()})


@router.post("/jobs/work", response_model=models.Worked)
async def work(http: WriteExchange, body: WorkBody | None = None) -> Response:
    """Run the jobs of this space that are due, now."""
    hurry = body is not None and body.hurry
    return await http.having(long=True).answer(lambda book: {"done": book.work(hurry=hurry)}, keep=True)


@router.post("/jobs/retry", response_model=models.Retried)
async def retry(http: WriteExchange, body: RetryBody | None = None) -> Response:
    """Queue a job again that had failed for good, or all of them."""
    number = None if body is None else body.number
    return await http.answer(lambda book: {"retried": book.retry(number)})
