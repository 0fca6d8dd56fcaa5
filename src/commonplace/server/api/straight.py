"""The shortest way to a recall: what agents ask before every answer is not routed, and everything else is.

Routing, dependencies and their bookkeeping cost as much as a recall in a small space. A request that is in order is
answered here, by the same body, door and errors; one that is not in order goes the usual way, which says what is wrong.
"""

from __future__ import annotations

import json
import re

from fastapi import Request, Response
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.errors import CommonplaceError
from commonplace.server.api import recalling
from commonplace.server.api.answering import JSON, encoded, told
from commonplace.server.asking import host, secret
from commonplace.server.callers import Ask
from commonplace.server.door import Door
from commonplace.server.paths import decoded
from commonplace.server.problems import problem

_RECALL = re.compile(r"/v1/spaces/([^/]+)/recall")


class Straight:
    """Answers recalls; passes everything else on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _RECALL.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        if request.headers.get("content-type") != JSON:
            await self._app(scope, receive, send)
            return
        body = await _whole(receive)
        asked = _asked(body)
        if asked is None:
            await self._app(scope, _again(body, receive), send)
            return
        scope["endpoint"] = recalling.recall
        ask = Ask(secret=secret(request), host=host(request), space=decoded(found[1]), role="read", operation="recall")
        answer = await _answer(scope["app"].state.door, ask, asked)
        await answer(scope, receive, send)


async def _answer(door: Door, ask: Ask, asked: recalling.Question) -> Response:
    try:
        return told(await door.run(ask, lambda book: encoded(book.recall(**recalling.arguments(asked)))), 200)
    except CommonplaceError as error:
        return problem(error)


async def _whole(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body", False):
        message = await receive()
        body += message.get("body", b"")
    return body


def _asked(body: bytes) -> recalling.Question | None:
    try:
        return recalling.Question.model_validate(json.loads(body))
    except (ValueError, ValidationError, RecursionError):
        return None


def _again(body: bytes, receive: Receive) -> Receive:
    """What was read already, and then what comes."""
    read = False

    async def receiving() -> Message:
        nonlocal read
        if read:
            return await receive()
        read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
