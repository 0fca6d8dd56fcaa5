"""Shared by the tests of MCP: the eras of the protocol, and the parts of an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")
ERAS = ("legacy", "2026-07-28")
"""With a handshake, and with requests that stand alone."""
LONGEST = 120


def run(ask: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine function; a server that does not answer fails the test."""

    async def limited() -> T:
        with anyio.fail_after(LONGEST):
            return await ask()

    return anyio.run(limited)


def text(answer: Any) -> str:
    """Return what the model reads."""
    return str(answer.content[0].text)


def data(answer: Any) -> dict[str, Any]:
    """Return the structured result."""
    found: dict[str, Any] = answer.structured_content
    return found
