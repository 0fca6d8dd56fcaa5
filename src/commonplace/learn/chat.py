"""Asking a model: what goes to it and what comes back, whoever carries it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from commonplace.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message to or from the model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    tokens: int | None
    """Of the question and the answer, as the service counts them; None if it does not say."""


class NoReply(Exception):
    """The model gave no answer.

    `kind` says why, without a word of what was said; `paid` that it may cost all the same; `away` that other questions
    would fare no better.
    """

    def __init__(self, kind: str, *, paid: bool = False, away: bool = True) -> None:
        super().__init__(kind)
        self.kind = kind
        self.paid = paid
        self.away = away


class Chat(Protocol):
    """Carries a question to a model: OpenAIChat, an AutoGen client in its wrapping, or your own."""

    def ask(self, turns: Sequence[Turn], *, within: float) -> Reply:
        """The model's answer, as JSON if it can be told so; NoReply if none comes within so many seconds."""


def chat(client: object) -> Chat:
    """What asks the model behind `client`: a text such as "openai:gpt-4o-mini", a Chat, or an AutoGen client."""
    if isinstance(client, str):
        return _named(client)
    if not isinstance(client, type):
        if callable(getattr(client, "ask", None)):
            return cast(Chat, client)
        if inspect.iscoroutinefunction(getattr(client, "create", None)):
            from commonplace.learn.chat_autogen import AutoGenChat

            return AutoGenChat(client)
    raise InvalidInput(
        f"a model is 'openai:MODEL', an OpenAIChat or an AutoGen ChatCompletionClient, not {type(client).__name__}"
    )


def _named(spec: str) -> Chat:
    from commonplace.learn.chat_openai import OpenAIChat

    maker, _, model = spec.partition(":")
    if maker != "openai" or not model:
        raise InvalidInput(f"unknown model {spec!r}: expected 'openai:MODEL'")
    return OpenAIChat(model)
