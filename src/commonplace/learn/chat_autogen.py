"""A model behind an AutoGen `ChatCompletionClient`, awaited on an event loop of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import TimeoutError as Late
from importlib.util import find_spec
from typing import Any, TypeVar

from commonplace.errors import InvalidInput
from commonplace.learn.chat import NoReply, Reply, Turn

_GRACE = 5.0
"""Seconds after which a client that holds up the loop, and so the time-out too, is given up."""

T = TypeVar("T")


class AutoGenChat:
    """Asks through an AutoGen client, from any thread.

    The client's connections come to belong to this module's event loop: give it one that no agent uses.
    """

    def __init__(self, client: Any) -> None:
        if find_spec("autogen_core") is None:
            raise InvalidInput('an AutoGen client needs its package: pip install "autogen-core>=0.4"')
        self._client = client

    def __repr__(self) -> str:
        return f"AutoGenChat({type(self._client).__name__})"

    def ask(self, turns: Sequence[Turn], *, within: float) -> Reply:
        """The model's answer; NoReply if none comes within so many seconds, or the client raises anything."""
        from autogen_core import models

        messages: list[object] = [
            models.SystemMessage(content=turn.text)
            if turn.role == "system"
            else models.UserMessage(content=turn.text, source="conversation")
            if turn.role == "user"
            else models.AssistantMessage(content=turn.text, source="reader")
            for turn in turns
        ]
        options = {"json_output": True} if self._knows_json() else {}
        try:
            answer = _await(self._client.create(messages, **options), within)
        except Late:
            raise NoReply("no answer", paid=True) from None
        except Exception as error:
            raise NoReply(type(error).__name__) from error
        return _reply(answer)

    def _knows_json(self) -> bool:
        info = getattr(self._client, "model_info", None)
        return isinstance(info, dict) and info.get("json_output") is True


def _reply(answer: Any) -> Reply:
    text = getattr(answer, "content", None)
    if not isinstance(text, str) or getattr(answer, "finish_reason", None) == "content_filter":
        raise NoReply("refused", paid=True, away=False)
    usage = getattr(answer, "usage", None)
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    total = sum(count for count in counts if isinstance(count, int))
    # A client that does not know says 0.
    return Reply(text=text, tokens=total if total > 0 else None)


def _await(work: Coroutine[Any, Any, T], within: float) -> T:
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, within), _running())
    try:
        return future.result(within + _GRACE)
    except (Late, asyncio.TimeoutError) as error:  # one and the same from Python 3.11 on
        future.cancel()
        raise Late from error


_loops: dict[int, asyncio.AbstractEventLoop] = {}
_starting = threading.Lock()


def _running() -> asyncio.AbstractEventLoop:
    """The loop of this process, in a thread that ends with it. By process: no thread survives a fork."""
    with _starting:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="commonplace models", daemon=True).start()
        return loop
