"""Group chats and their memories, with every version of AutoGen."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import autogen
from autogen import ConversableAgent, GroupChatManager, UserProxyAgent

import commonplace
from commonplace.integrations.autogen_classic import (
    GroupChat,
    GroupChatMemory,
    MemoryBase,
    PersistentAgent,
    PersistentGroupChat,
    share_memory,
)
from tests.integrations.classic import documents
from tests.integrations.classic.scripted import asked, manages, says, scripted, told


def the_document_of_the_group_memory_runs() -> None:
    code = documents.GROUP_MEMORY.replace(", GroupChat, GroupChatManager, GroupChatMemory", ", GroupChatManager")
    code = code.replace(
        "import autogen\n",
        "import autogen\nfrom commonplace.integrations.autogen_classic import GroupChat, GroupChatMemory\n",
        1,
    )
    llm = scripted(lambda request: {"content": "def reverse(s): return s[::-1]"})
    Path("OAI_CONFIG_LIST").write_text(json.dumps(llm["config_list"]), "utf-8")
    if not autogen.__version__.startswith("0.2."):
        # ag2 asks for a model that chooses the speaker, and its later versions read the file in another way.
        code = code.replace("groupchat=group_chat", "groupchat=group_chat, llm_config=assistant.llm_config")
        code = code.replace("autogen.config_list_from_json", "autogen.LLMConfig.from_json")
        code = code.replace(
            '{"config_list": autogen.LLMConfig.from_json("OAI_CONFIG_LIST")}',
            'autogen.LLMConfig.from_json(path="OAI_CONFIG_LIST")',
        )
    exec(code, {"__name__": "document"})
    first = GroupChatMemory()
    assert told(first.messages)[0] == ("user", "user", "Please write a function to reverse a string in Python.")
    assert ("assistant", "assistant", "def reverse(s): return s[::-1]") in told(first.get(role="assistant"))
    count = len(first.messages)
    exec(code, {"__name__": "document"})  # as in another process: the chat continues
    assert len(first.messages) == 2 * count
    request = next(each for each in asked if "reverse a string" in json.dumps(each["messages"][2:]))
    assert json.dumps(asked[-1]["messages"]).count("Please write") == 2, request


def a_custom_memory_plugs_into_a_chat_and_an_agent() -> None:
    names: dict[str, Any] = {}
    exec(documents.CUSTOM_MEMORY.replace("autogen.memory", "commonplace.integrations.autogen_classic"), names)
    memory, private = names["MyCustomMemory"](), GroupChatMemory("coder only")
    assert isinstance(memory, MemoryBase)
    user, coder = says("user", kind=UserProxyAgent), says("coder", "Done", "Done again")
    share_memory(private, coder)
    chat = GroupChat([user, coder], [], 2, memory=memory, speaker_selection_method="round_robin")
    user.initiate_chat(manages(chat), message="Go", silent=True)
    assert told(memory.get()) == [("user", "user", "Go"), ("assistant", "coder", "Done")]
    assert told(memory.get(role="user")) == [("user", "user", "Go")]
    assert told(private.get()) == told(memory.get())
    again = GroupChat([user, coder], max_round=2, memory=memory, speaker_selection_method="round_robin")
    assert [each["content"] for each in again.messages] == ["Go", "Done"]


def a_persistent_group_chat_continues() -> None:
    def chat(*lines: str, method: str = "round_robin") -> tuple[Any, Any, Any]:
        user, coder = says("user", kind=UserProxyAgent), says("coder", *lines)
        made = PersistentGroupChat([user, coder], memory="standup", max_round=2, speaker_selection_method=method)
        return made, user, coder

    first, user, _ = chat("It is done")
    user.initiate_chat(manages(first), message="Report", silent=True)
    first.append({"content": "said by nobody here", "name": "Ann", "role": "user"})
    first.append({"content": "and without a name"})
    second, user, coder = chat("Still done")
    manager = manages(second)
    assert [each["content"] for each in second.messages] == [
        "Report",
        "It is done",
        "said by nobody here",
        "and without a name",
    ]
    user.initiate_chat(manager, message="And today?", silent=True)  # clears the history, as AutoGen does
    assert second.speaker_history == ["user", "coder", "Ann", "user", "user", "coder"]
    assert second.group_memory.get("speaker_history") == second.speaker_history
    assert told(coder.chat_messages[manager])[:2] == [("user", "user", "Report"), ("assistant", "coder", "It is done")]
    assert len(coder.chat_messages[manager]) == len(second.messages) == 6
    user.initiate_chat(manager, message="From the start", silent=True)
    assert [each["content"] for each in second.messages] == ["From the start"], "a later clearing clears"
    third, user, coder = chat("x")
    manager = manages(third)
    last, message = manager.resume(messages=[each for each in third.messages if each["name"] != "Ann"], silent=True)
    assert (last.name, message["content"]) == ("user", "From the start")
    assert len(GroupChatMemory("standup").messages) == 7, "what is resumed is not stored again"
    assert len(third.messages) == 5
    last.initiate_chat(manager, message=message, clear_history=False, silent=True)
    assert len(GroupChatMemory("standup").messages) == 8, "nor is the one that it is begun with"


def the_document_of_the_persistent_group_chat_runs() -> None:
    names = {"ConversableAgent": ConversableAgent, "GroupChatManager": GroupChatManager}
    names["PersistentGroupChat"] = partial(PersistentGroupChat, book="document.db")
    exec(documents.PERSISTENT_GROUP, names)
    names["chat"].append({"content": "Let us begin", "role": "user"}, names["agents"][0])
    exec(documents.PERSISTENT_GROUP, names)
    assert told(names["chat"].messages) == [("user", "coder", "Let us begin")]


def a_persistent_agent_in_a_persistent_group_hears_all_of_it_once() -> None:
    def run(message: str, *members: Any) -> list[list[str]]:
        user = says("user", kind=UserProxyAgent)
        options: dict[str, Any] = {"max_round": 2, "speaker_selection_method": "round_robin"}
        manager = manages(PersistentGroupChat([user, *members], memory="crew", book="crew.db", **options))
        user.initiate_chat(manager, message=message, silent=True)
        return [[each["content"] for each in member.chat_messages[manager]] for member in members]

    def worker(name: str) -> Any:
        return says(name, "On it", kind=PersistentAgent, book="crew.db")

    assert run("Go", worker("a")) == [["Go", "On it"]]
    expected = ["Go", "On it", "More", "On it"]
    assert run("More", worker("a"), worker("newcomer")) == [expected, expected]


def an_append_costs_the_same_after_thousands() -> None:
    memory = GroupChatMemory("long", commonplace.open("long.db"))
    memory.book.transcript("long").extend({"content": f"message {n} " + "x" * 90} for n in range(3_000))
    wal = Path("long.db-wal")
    before = wal.stat().st_size
    memory.add({"role": "user", "name": "ann", "content": "one more"})
    assert wal.stat().st_size - before < 50_000, "a list would be 300 kB, written again"
    assert len(memory.messages) == 3_001
    assert memory.clear() == 3_001
    memory.book.close()
