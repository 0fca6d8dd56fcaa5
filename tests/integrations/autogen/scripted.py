"""Agents without a model: AutoGen's replay client has scripted answers and records what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType
from autogen_core.models import CreateResult, LLMMessage, ModelFamily, ModelInfo, RequestUsage, SystemMessage
from autogen_core.models import UserMessage as UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient

ABLE = ModelInfo(
    vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
)


class OneSystemMessage(ReplayChatCompletionClient):
    """Rejects system messages that are not adjacent, as AutoGen's Anthropic client and others do."""

    async def create(self, messages: Sequence[LLMMessage], **options: Any) -> CreateResult:
        places = [at for at, message in enumerate(messages) if isinstance(message, SystemMessage)]
        if places and places != list(range(places[0], places[0] + len(places))):
            raise ValueError("Multiple and Not continuous system messages are not supported")
        return await super().create(messages, **options)


def client(*replies: str | CreateResult, strict: bool = False) -> ReplayChatCompletionClient:
    return (OneSystemMessage if strict else ReplayChatCompletionClient)(list(replies) or ["ok"] * 20, model_info=ABLE)


def agent(*memories: Memory, model: ReplayChatCompletionClient | None = None, **options: Any) -> AssistantAgent:
    options.setdefault("name", "assistant")
    return AssistantAgent(model_client=model or client(), memory=list(memories), **options)


def call(name: str, arguments: str) -> CreateResult:
    """A model's wish to use a tool."""
    return CreateResult(
        finish_reason="function_calls",
        content=[FunctionCall(id="1", name=name, arguments=arguments)],
        usage=RequestUsage(prompt_tokens=0, completion_tokens=0),
        cached=False,
    )


def asked(model: ReplayChatCompletionClient, turn: int = -1) -> list[LLMMessage]:
    """The messages that the model was given, in its last call or another."""
    messages: list[LLMMessage] = model.create_calls[turn]["messages"]
    return messages


def text(content: str, **metadata: Any) -> MemoryContent:
    return MemoryContent(content=content, mime_type=MemoryMimeType.TEXT, metadata=metadata or None)
