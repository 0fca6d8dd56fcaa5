"""Agents and a model with scripted answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import autogen
from autogen import ConversableAgent, GroupChatManager

asked: list[dict[str, Any]] = []
"""The requests to the model since its script was given."""
_script: list[Callable[[dict[str, Any]], dict[str, Any]]] = []
config: dict[str, Any] = {}
"""The llm_config of the model that runs."""


def scripted(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """An llm_config whose model answers from a script; its requests are in `asked`."""
    asked.clear()
    _script[:] = [answer]
    return dict(config)


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The script of the model."""
    asked.append(request)
    return _script[0](request)


def seen() -> str:
    """The last request to the model."""
    return json.dumps(asked[-1]["messages"], ensure_ascii=False)


def says(name: str, *lines: str | None, kind: type[ConversableAgent] = ConversableAgent, **options: Any) -> Any:
    """An agent that says these lines, one for each turn, and then nothing."""
    agent = kind(name, llm_config=False, human_input_mode="NEVER", code_execution_config=False, **options)
    script = iter(lines)
    agent.register_reply(
        [autogen.Agent, None],
        lambda recipient, messages=None, sender=None, config=None: (True, next(script, None)),
    )
    return agent


def manages(chat: Any, **options: Any) -> GroupChatManager:
    """A manager of a chat, without a model."""
    return GroupChatManager(groupchat=chat, llm_config=False, silent=True, **options)


def told(messages: Any) -> list[tuple[str, str, str]]:
    """Role, name and content of messages."""
    return [(each["role"], each["name"], each["content"]) for each in messages]
