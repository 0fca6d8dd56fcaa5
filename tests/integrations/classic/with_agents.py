"""Persistent agents, in one process and in several, with every version of AutoGen."""

from __future__ import annotations

import asyncio
import multiprocessing
from typing import Any

from autogen import UserProxyAgent

from commonplace.integrations.autogen_classic import GroupChatMemory, Persistent, PersistentAgent, StatefulAgent
from commonplace.integrations.services.botwire import Memory
from tests.integrations.classic import documents
from tests.integrations.classic.scripted import says


def processes_lose_nothing_of_each_other() -> None:
    """Runs first: a process may only be forked while no book is open in it."""
    context = multiprocessing.get_context("fork")
    together = context.Barrier(3)
    workers = [context.Process(target=write_a_lot, args=(number, together)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    memory = GroupChatMemory("race", "race.db")
    for number in range(3):
        mine = [each["content"] for each in memory.messages if each["name"] == f"w{number}"]
        assert mine == [f"message {at}" for at in range(25)]
    shared = StatefulAgent("shared", book="race.db", llm_config=False)
    assert len(shared.user_preferences) == 3 * 25
    assert len(shared.learned_patterns) == 3 * 25
    assert shared.get_context()["conversation_count"] == 3 * 25
    names: dict[str, Any] = {"PersistentAgent": PersistentAgent, "Memory": Memory}
    exec(documents.WRITER, names)
    assert names["findings"] == {"topic": "FastAPI", "key_points": ["async"]}


def write_a_lot(number: int, together: Any) -> None:
    memory = GroupChatMemory("race", "race.db")
    agent = StatefulAgent("shared", book="race.db", llm_config=False)
    together.wait()
    for at in range(25):
        agent.learn_preference(f"{number}/{at}", at)
    for at in range(25):
        agent.add_pattern([number, at])
        memory.add({"role": "user", "name": f"w{number}", "content": f"message {at}"})
        agent.receive(f"{number} says {at}", silent=True)
    if number == 0:
        exec(documents.RESEARCHER.replace("[...]", '["async"]'), {"PersistentAgent": PersistentAgent})


def a_persistent_agent_continues() -> None:
    names: dict[str, Any] = {"PersistentAgent": PersistentAgent}
    exec(documents.PERSISTENT_AGENT, names)
    user = says("ann", kind=UserProxyAgent)
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    agent = PersistentAgent("worker", llm_config=False)
    agent.receive("Use the tool", user, request_reply=False, silent=True)
    agent.send({"content": None, "tool_calls": [call]}, user, request_reply=False, silent=True)
    agent.receive({"role": "tool", "tool_call_id": "c1", "content": "42"}, user, request_reply=False, silent=True)
    asyncio.run(agent.a_receive("Awaited", user, request_reply=False, silent=True))
    later, friend = says("worker", kind=PersistentAgent), says("bob")
    later.receive("Hello", friend, silent=True)
    assert [each["content"] for each in later.chat_messages[friend]] == ["Hello"], "what others said is not his"
    user.initiate_chat(later, message="Go on", max_turns=1, silent=True)
    assert [dict(each) for each in later.chat_messages[user]] == [
        *agent.chat_messages[user],
        later.chat_messages[user][-1],
    ]
    senders = [each["sender"] for each in later.memory.get("conversation_history")]
    assert senders == ["ann", "worker", "ann", "ann", "bob", "ann"]
    short = PersistentAgent("worker", llm_config=False, recent=4)
    short.receive("!", user, silent=True)
    assert [each["content"] for each in short.chat_messages[user]] == ["Awaited", "Go on", "!"], (
        "no answer without its call"
    )
    assert names["agent"].conversation_history == [
        {"sender": "user", "message": "Remember: I'm working on a Flask API"}
    ]

    for words in ("one", "two"):  # each time the program ends between a call and its answer
        crashed = PersistentAgent("crashed", llm_config=False)
        crashed.receive(words, user, request_reply=False, silent=True)
        crashed.send({"content": None, "tool_calls": [call]}, user, request_reply=False, silent=True)
    crashed = PersistentAgent("crashed", llm_config=False)
    crashed.receive("three", user, request_reply=False, silent=True)
    assert [each["content"] for each in crashed.chat_messages[user]] == ["one", "two", "three"]

    class Proxy(Persistent, UserProxyAgent):
        pass

    Proxy("proxy", human_input_mode="NEVER", code_execution_config=False).receive("Hi", silent=True)
    assert Proxy("proxy", code_execution_config=False).message_count == 1


def a_stateful_agent_shares_its_state() -> None:
    one, other = StatefulAgent("stateful", llm_config=False), StatefulAgent("stateful", llm_config=False)
    one.learn_preference("language", "TypeScript")
    other.learn_preference("key", "E flat")
    one.add_pattern("prefers short answers")
    other.add_pattern("asks twice")
    one.receive("Hello", silent=True)
    assert other.get_context() == {
        "preferences": {"language": "TypeScript", "key": "E flat"},
        "patterns": ["prefers short answers", "asks twice"],
        "conversation_count": 1,
    }
    other.memory.set("draft", {"n": 1})
    assert (one.memory.get("draft"), one.memory.get("none", 5)) == ({"n": 1}, 5)
    one.memory.set("draft", None)
    assert "draft" not in other.memory
