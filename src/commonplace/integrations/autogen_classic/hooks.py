"""Where AutoGen lets others in: what differs between its versions is known here and nowhere else.

Version 0.2.40 calls hooks of their own in asynchronous chats; the others call the same hooks in both. None has a hook
that only the model's input passes through, so that what is meant for the model is put around the reply that asks it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from autogen import ConversableAgent

Messages = list[dict[str, Any]]
Change = Callable[[ConversableAgent, Messages, Any], Messages]
"""Takes an agent, the messages that it is about to answer, and their sender; returns what its model shall see."""
_changes: WeakKeyDictionary[ConversableAgent, list[Change]] = WeakKeyDictionary()


def before_send(agent: ConversableAgent, hook: Callable[..., Any]) -> None:
    """Call a hook with sender, message, recipient and silent whenever an agent speaks; it returns the message."""
    _register(agent, "process_message_before_send", hook)


def before_reply(agent: ConversableAgent, hook: Callable[[Messages], Messages]) -> None:
    """Call a hook with the messages whenever an agent is about to reply, with or without a model."""
    _register(agent, "process_all_messages_before_reply", hook)


def before_model(agent: ConversableAgent, change: Change) -> None:
    """Let a function change what an agent's model is asked, and nothing else.

    Termination checks, code execution and the stored history see the messages as they were said: a hook on the
    messages would let recalled text end a chat, or run.
    """
    changes = _changes.setdefault(agent, [])
    changes.append(change)
    if len(changes) == 1:
        for own in {ConversableAgent.generate_oai_reply, type(agent).generate_oai_reply}:
            agent.replace_reply_func(own, _changed(own))
        for own in {ConversableAgent.a_generate_oai_reply, type(agent).a_generate_oai_reply}:
            agent.replace_reply_func(own, _a_changed(own))


def _register(agent: ConversableAgent, method: str, hook: Callable[..., Any]) -> None:
    agent.register_hook(method, hook)
    if f"a_{method}" in agent.hook_lists:
        agent.register_hook(f"a_{method}", _in_a_thread(hook))


def _in_a_thread(hook: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def run(*given: Any, **named: Any) -> Any:
        return await asyncio.to_thread(hook, *given, **named)

    return run


def _changed(reply: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(reply)
    def changed(recipient: Any, messages: Messages | None = None, sender: Any = None, config: Any = None) -> Any:
        return reply(recipient, messages=_shown(recipient, messages, sender), sender=sender, config=config)

    return changed


def _a_changed(reply: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(reply)
    async def changed(recipient: Any, messages: Messages | None = None, sender: Any = None, config: Any = None) -> Any:
        shown = await asyncio.to_thread(_shown, recipient, messages, sender)
        return await reply(recipient, messages=shown, sender=sender, config=config)

    return changed


def _shown(agent: ConversableAgent, messages: Messages | None, sender: Any) -> Messages:
    """The messages as an agent's model shall see them; an agent without a model looks nothing up."""
    shown: Messages = agent.chat_messages[sender] if messages is None else messages
    for change in _changes[agent] if agent.client is not None else ():
        shown = change(agent, shown, sender)
    return shown
