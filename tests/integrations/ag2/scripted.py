"""AG2 agents whose model has scripted answers and records what it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ag2 import Agent, KnowledgeConfig
from ag2.aggregate import AggregateTrigger
from ag2.config import LLMClient
from ag2.events import BaseEvent, ModelRequest, ModelResponse, TextInput
from ag2.testing import TestConfig

from commonplace.integrations.ag2 import BookKnowledgeStore, LearnAggregate


class _Watched(LLMClient):
    def __init__(self, client: LLMClient, calls: list[tuple[list[str], list[BaseEvent]]]) -> None:
        self._client = client
        self._calls = calls

    async def __call__(self, messages: Sequence[BaseEvent], context: Any, **kwargs: Any) -> ModelResponse:
        self._calls.append((list(context.prompt), list(messages)))
        return await self._client(messages, context, **kwargs)


class Scripted(TestConfig):
    """AG2's own scripted model; `calls` are the prompts and the events of every call."""

    __test__ = False

    def __init__(self, *turns: Any) -> None:
        super().__init__(*turns, raise_tool_errors=False)
        self.calls: list[tuple[list[str], list[BaseEvent]]] = []
        self._client: LLMClient | None = None

    def create(self) -> Any:
        self._client = self._client or _Watched(super().create(), self.calls)
        return self._client

    def shown(self, call: int = -1) -> list[list[str]]:
        """The texts of each request that the model saw in a call."""
        _, events = self.calls[call]
        return [
            [part.content for part in event.parts if isinstance(part, TextInput)]
            for event in events
            if isinstance(event, ModelRequest)
        ]


def agent(*policies: Any, answers: Sequence[Any] = (), name: str = "helper", **options: Any) -> Agent[Any]:
    """An agent with a scripted model; its config keeps what the model was shown."""
    return Agent(name, "Be brief.", config=Scripted(*(answers or ["noted"] * 50)), assembly=policies, **options)


def learning(where: Any, **options: Any) -> KnowledgeConfig:
    """Return the options with which an agent learns at the end of every turn."""
    return KnowledgeConfig(
        BookKnowledgeStore(where, "test"),
        aggregate=LearnAggregate(where, **options),
        aggregate_trigger=AggregateTrigger(on_end=True),
    )
