"""A model behind any service that speaks OpenAI's `/chat/completions`, with the standard library alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.learn.chat import NoReply, Reply, Turn
from commonplace.models.embedders.http_post import Post
from commonplace.models.embedders.openai_service import OpenAIService, ServiceFailed, home
from commonplace.values import Json

_JSON: dict[str, Json] = {"response_format": {"type": "json_object"}}
_NOT_UNDERSTOOD = (400, 422)
_OF_THIS_QUESTION = (400, 413, 422)


class OpenAIChat:
    """Asks a model through an OpenAI-compatible service.

    `base_url` is the part before `/chat/completions`; without it OPENAI_BASE_URL counts, or OpenAI itself. `api_key`
    falls back to OPENAI_API_KEY and is shown nowhere. `timeout` and `retries` are those of OpenAIEmbedder. `options`
    goes along with every request, such as {"temperature": 0}: services differ in what they take, so nothing does
    unless you say so. `client` sends one request in place of the standard library.
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
            base_url or home(), "/chat/completions", api_key=api_key, timeout=timeout, retries=retries,
            headers=headers, client=client,
        )  # fmt: skip
        self._model = model
        self._options = dict(options or {})
        self._knows_json = True

    def __repr__(self) -> str:
        return f"OpenAIChat(model={self._model!r}, url={self._service.url!r})"

    def ask(self, turns: Sequence[Turn], *, within: float) -> Reply:
        """The model's answer; NoReply if none comes within so many seconds."""
        told: dict[str, Json] = {
            "model": self._model,
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
        }
        try:
            return _reply(self._sent({**told, **self._options}, within))
        except ServiceFailed as error:
            kind = "no answer" if error.status is None else f"status {error.status}"
            # Whoever falls silent may have worked, and charge for it.
            raise NoReply(kind, paid=error.status is None, away=error.status not in _OF_THIS_QUESTION) from error

    def _sent(self, told: dict[str, Json], within: float) -> bytes:
        """The service's answer; one that does not know JSON mode is asked without it, from then on."""
        if self._knows_json:
            try:
                return self._service.ask(_body({**_JSON, **told}), within=within)
            except ServiceFailed as error:
                if error.status not in _NOT_UNDERSTOOD:
                    raise
        answer = self._service.ask(_body(told), within=within)
        self._knows_json = False
        return answer


def _body(told: Mapping[str, Json]) -> bytes:
    return json.dumps(told).encode()


def _reply(body: bytes) -> Reply:
    try:
        answer: Any = json.loads(body)
        choice = answer["choices"][0]
        message = choice["message"]
        text = message.get("content")
        refused = message.get("refusal") or choice.get("finish_reason") == "content_filter"
        tokens = _tokens(answer.get("usage"))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise NoReply("not a chat completion", paid=True) from error
    if refused or not isinstance(text, str):
        raise NoReply("refused", paid=True, away=False)
    return Reply(text=text, tokens=tokens)


def _tokens(usage: Any) -> int | None:
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and not isinstance(total, bool) and total > 0 else None
