"""A chat client with scripted answers that records its requests, and agents that use it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Answers with each of its lines in turn; `calls` are the messages of every call."""

    def __init__(self, *answers: str | Content) -> None:
        super().__init__()
        self.answers = list(answers)
        self.calls: list[list[Message]] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        self.calls.append(list(messages))
        said = self.answers.pop(0)
        if stream:
            return ResponseStream(self._streamed(said), finalizer=ChatResponse.from_updates)

        async def answer() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [said])])

        return answer()

    async def _streamed(self, said: str | Content) -> AsyncIterable[ChatResponseUpdate]:
        content = Content.from_text(said) if isinstance(said, str) else said
        yield ChatResponseUpdate(role="assistant", contents=[content])

    def texts(self) -> list[str]:
        """The messages of the last request."""
        return [message.text for message in self.calls[-1]]


def call(name: str, arguments: str) -> Content:
    """A model's wish to call a tool."""
    return Content.from_function_call(f"call_{name}", name, arguments=arguments)


def agent(*providers: Any, answers: Sequence[str | Content] = (), name: str = "helper", **options: Any) -> Agent:
    """An agent with a scripted client."""
    return Agent(Scripted(*(answers or ["noted"] * 50)), "Be brief.", name=name, context_providers=providers, **options)
