"""Where AutoGen lets others in: only this module knows how its versions differ.

Version 0.2.40 calls separate hooks in asynchronous chats; the others call the same hooks in both. None has a hook that
only the model's input passes through, so that text meant for the model is added around the reply function that asks it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from autogen import ConversableAgent

Messages = list[dict[str, Any]]
Change = Callable[[ConversableAgent, Messages, Any], Messages]
"""Takes an agent, the messages that it is about to answer, and their sender; returns what its model sees."""
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
            agent.replace_reply_func(own, _wrap(own))
        for own in {ConversableAgent.a_generate_oai_reply, type(agent).a_generate_oai_reply}:
            agent.replace_reply_func(own, _wrap_async(own))


def _register(agent: ConversableAgent, method: str, hook: Callable[..., Any]) -> None:
    async def run(*given: Any, **named: Any) -> Any:
        return await asyncio.to_thread(hook, *given, **named)

    agent.register_hook(method, hook)
    if f"a_{method}" in agent.hook_lists:
        agent.register_hook(f"a_{method}", run)


def _wrap(reply: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(reply)
    def run(recipient: Any, messages: Messages | None = None, sender: Any = None, config: Any = None) -> Any:
        return reply(recipient, messages=_change(recipient, messages, sender), sender=sender, config=config)

    return run


def _wrap_async(reply: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(reply)
    async def run(recipient: Any, messages: Messages | None = None, sender: Any = None, config: Any = None) -> Any:
        changed = await asyncio.to_thread(_change, recipient, messages, sender)
        return await reply(recipient, messages=changed, sender=sender, config=config)

    return run


def _change(agent: ConversableAgent, messages: Messages | None, sender: Any) -> Messages:
    """Return the messages as an agent's model sees them; for an agent without a model nothing is recalled."""
    changed: Messages = agent.chat_messages[sender] if messages is None else messages
    for change in _changes[agent] if agent.client is not None else ():
        changed = change(agent, changed, sender)
    return changed
