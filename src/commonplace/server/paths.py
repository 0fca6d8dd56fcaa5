"""Names in paths: routes see the path as it was sent, so that a name may hold any character, a slash too."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from pydantic import AfterValidator
from starlette.types import ASGIApp, Receive, Scope, Send


def decoded(name: str) -> str:
    """A part of a path as it was meant."""
    return unquote(name, errors="surrogateescape")


Name = Annotated[str, AfterValidator(decoded)]
"""A part of a path, decoded: `a%2Fb` is the name a/b. What is no valid text is refused by the verb."""


class RawPath:
    """Routes by the path as it was sent: decoded before, `a%2Fb` could not be told from two parts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw: bytes = scope.get("raw_path") or scope["path"].encode()
            scope["path"] = raw.partition(b"?")[0].decode("utf-8", "surrogateescape")
        await self._app(scope, receive, send)
