"""Chat clients: how a question goes to a language model and an answer comes back."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, Protocol, TypeVar, cast

from commonplace.errors import InvalidInput
from commonplace.models.openai import OpenAIService, Post, ServiceFailed, default_url
from commonplace.values import Json

_JSON: dict[str, Json] = {"response_format": {"type": "json_object"}}
_NOT_UNDERSTOOD = (400, 422)
_OF_THIS_QUESTION = (400, 413, 422)
_GRACE = 5.0
"""Seconds to wait beyond the timeout for a client that blocks the event loop, and so the timeout too."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message to or from the model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's answer."""

    text: str
    tokens: int | None
    """Tokens of the question and the answer as the service counts them; None if it does not say."""


class NoReply(Exception):
    """The model gave no answer.

    `kind` says why and quotes nothing of the conversation. `paid` means that the question may cost tokens all the
    same, `away` that other questions would fail too.
    """

    def __init__(self, kind: str, *, paid: bool = False, away: bool = True) -> None:
        super().__init__(kind)
        self.kind = kind
        self.paid = paid
        self.away = away


class Chat(Protocol):
    """Asks a model: OpenAIChat, AutoGenChat, or your own."""

    def ask(self, turns: Sequence[Turn], *, within: float) -> Reply:
        """Return the model's answer, as JSON if it can be told to; raise NoReply if none comes in `within` seconds."""


def make_chat(client: object) -> Chat:
    """Return a Chat for a text such as "openai:gpt-4o-mini", a Chat, or an AutoGen client."""
    if isinstance(client, str):
        maker, _, model = client.partition(":")
        if maker != "openai" or not model:
            raise InvalidInput(f"unknown model {client!r}: expected 'openai:MODEL'")
        return OpenAIChat(model)
    if not isinstance(client, type):
        if callable(getattr(client, "ask", None)):
            return cast(Chat, client)
        if inspect.iscoroutinefunction(getattr(client, "create", None)):
            return AutoGenChat(client)
    raise InvalidInput(
        f"a model is 'openai:MODEL', an OpenAIChat or an AutoGen ChatCompletionClient, not {type(client).__name__}"
    )


class OpenAIChat:
    """Asks a model through an OpenAI-compatible service, with the standard library alone.

    `base_url` is the part before `/chat/completions`; the default is OPENAI_BASE_URL, or OpenAI itself. `api_key`
    falls back to OPENAI_API_KEY and is never shown. `timeout` and `retries` are those of OpenAIEmbedder. `options`
    are sent with every request, such as {"temperature": 0}; there are no defaults, since services differ in what they
    accept. `client` sends one request in place of the standard library.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 30.0,
        retries: int = 3,
        headers: Mapping[str, str] | None = None,
        options: Mapping[str, Json] | None = None,
        client: Post | None = None,
    ) -> None:
        if not model or retries < 0 or timeout <= 0:
            raise InvalidInput("a model has a name; retries is at least 0 and timeout more than 0")
        self._service = OpenAIService(
            base_url or default_url(), "/chat/completions", api_key=api_key, timeout=timeout, retries=retries,
            headers=headers, client=client,
        )  # fmt: skip
        self._model = model
        self._options = dict(options or {})
        self._knows_json = True

    def __repr__(self) -> str:
        return f"OpenAIChat(model={self._model!r}, url={self._service.url!r})"

    def ask(self, turns: Sequence[Turn], *, within: float) -> Reply:
        """Return the model's answer; raise NoReply if none comes in `within` seconds."""
        request: dict[str, Json] = {
            "model": self._model,
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
        }
        try:
            return _read_completion(self._send({**request, **self._options}, within))
        except ServiceFailed as error:
            kind = "no answer" if error.status is None else f"status {error.status}"
            # A service that falls silent may have done the work, and charge for it.
            raise NoReply(kind, paid=error.status is None, away=error.status not in _OF_THIS_QUESTION) from error

    def _send(self, request: dict[str, Json], within: float) -> bytes:
        """Return the service's answer; one that does not know JSON mode is asked without it from then on."""
        if self._knows_json:
            try:
                return self._service.ask(json.dumps({**_JSON, **request}).encode(), within=within)
            except ServiceFailed as error:
                if error.status not in _NOT_UNDERSTOOD:
                    raise
        answer = self._service.ask(json.dumps(request).encode(), within=within)
        self._knows_json = False
        return answer


def _read_completion(body: bytes) -> Reply:
    try:
        answer: Any = json.loads(body)
        choice = answer["choices"][0]
        message, usage = choice["message"], answer.get("usage")
        text = message.get("content")
        refused = message.get("refusal") or choice.get("finish_reason") == "content_filter"
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise NoReply("not a chat completion", paid=True) from error
    if refused or not isinstance(text, str):
        raise NoReply("refused", paid=True, away=False)
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    known = isinstance(total, int) and not isinstance(total, bool) and total > 0
    return Reply(text=text, tokens=total if known else None)


class AutoGenChat:
    """Asks an AutoGen `ChatCompletionClient` from any thread.

    The client's connections belong to this module's event loop: use a client that no agent uses.
    """

    def __init__(self, client: Any) -> None:
        if find_spec("autogen_core") is None:
            raise InvalidInput('an AutoGen client needs its package: pip install "autogen-core>=0.4"')
        self._client = client

    def __repr__(self) -> str:
        return f"AutoGenChat({type(self._client).__name__})"

    def ask(self, turns: Sequence[Turn], *, within: float) -> Reply:
        """Return the model's answer; raise NoReply if none comes in `within` seconds or the client raises anything."""
        from autogen_core import models  # optional, and slow to import

        messages: list[object] = [
            models.SystemMessage(content=turn.text)
            if turn.role == "system"
            else models.UserMessage(content=turn.text, source="conversation")
            if turn.role == "user"
            else models.AssistantMessage(content=turn.text, source="reader")
            for turn in turns
        ]
        info = getattr(self._client, "model_info", None)
        knows_json = isinstance(info, dict) and info.get("json_output") is True
        try:
            answer = _await(self._client.create(messages, **({"json_output": True} if knows_json else {})), within)
        except Late:
            raise NoReply("no answer", paid=True) from None
        except Exception as error:
            raise NoReply(type(error).__name__) from error
        return _read_result(answer)


def _read_result(answer: Any) -> Reply:
    text = getattr(answer, "content", None)
    if not isinstance(text, str) or getattr(answer, "finish_reason", None) == "content_filter":
        raise NoReply("refused", paid=True, away=False)
    usage = getattr(answer, "usage", None)
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    total = sum(count for count in counts if isinstance(count, int))
    return Reply(text=text, tokens=total if total > 0 else None)  # a client that does not know says 0


def _await(work: Coroutine[Any, Any, T], within: float) -> T:
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, within), _event_loop())
    try:
        return future.result(within + _GRACE)
    except (Late, asyncio.TimeoutError) as error:  # the same class from Python 3.11 on
        future.cancel()
        raise Late from error


_loops: dict[int, asyncio.AbstractEventLoop] = {}
_starting = threading.Lock()


def _event_loop() -> asyncio.AbstractEventLoop:
    """Return this process's loop, which runs in a daemon thread. One per process: no thread survives a fork."""
    with _starting:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="commonplace models", daemon=True).start()
        return loop
