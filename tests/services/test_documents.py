"""The programs of the three documents run, with nothing changed but an address or an import.

AutoGen is the real pyautogen 0.2.35; the model on the other side of its HTTP is scripted. Where a document's program is
at odds with AutoGen itself, the test says so and changes that, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import commonplace
from tests.services import documents
from tests.services.model import model
from tests.services.serving import Served, run_client, talking

SOURCE = str(Path(commonplace.__file__).parent.parent)
AUTOGEN = {"AUTOGEN_USE_DOCKER": "0", "PYTHONWARNINGS": "ignore"}


def test_memstores_tools_run_with_only_the_address_changed(served: Served, at: str, space: str) -> None:
    code = documents.MEMSTORE_TOOLS.replace("https://memstore.dev", at) + (
        "print(recall('what does Alice prefer?'))\n"
        "print(remember('Alice prefers TypeScript', tags=['user:alice', 'preference']))\n"
        "print(recall('what does Alice prefer?'))\n"
    )
    first, stored, found = run_client(code, MEMSTORE_API_KEY="cp_key").splitlines()
    (memory,) = served.book(space).list()
    assert first == "No relevant memories found."
    assert stored == f"Memory stored (id: {memory.id})"
    assert found == "- Alice prefers TypeScript"
    assert memory.tags == ("user:alice", "preference")


@pytest.mark.clients
@pytest.mark.slow
def test_memstores_agents_remember_across_conversations(at: str, tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    def script(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        last = request["messages"][-1]
        if last["role"] == "function":
            return {"content": "TERMINATE"}
        if "I prefer" in last["content"]:
            told = '{"content": "Alice prefers TypeScript for web services", "tags": ["user:alice"]}'
            return {"function_call": {"name": "remember", "arguments": told}}
        return {"content": "TERMINATE"}

    (tmp_path / "memory_tools.py").write_text(documents.MEMSTORE_TOOLS.replace("https://memstore.dev", at), "utf-8")
    code = documents.MEMSTORE_AGENTS + (
        "start_conversation_with_memory('I prefer TypeScript for web services', 'alice')\n"
        "assistant.reset()\n"
        "start_conversation_with_memory('Which language should the web service be in?', 'alice')\n"
    )
    with model(script) as url:
        run_client(
            code,
            "autogen-0.2.35",
            cwd=tmp_path,
            PYTHONPATH=str(tmp_path),
            OPENAI_BASE_URL=url,
            MEMSTORE_API_KEY="k",
            **AUTOGEN,
        )
    systems = [request["messages"][0]["content"] for request in asked]
    assert "No relevant memories found." in systems[0]
    assert "- Alice prefers TypeScript for web services" in systems[-1]
    assert [request["messages"][-1]["role"] for request in asked] == ["user", "function", "user"]
    assert asked[0]["functions"][0]["name"] == "remember"


LINES = {
    "senior software engineer": "We decided to use FastAPI over Flask because of async support.",
    "You review code": "The coding standard is type hints on every endpoint. We always validate input.",
    "You break down tasks": "The architecture decision is JWT tokens that expire after 15 minutes.",
}


@pytest.mark.clients
@pytest.mark.slow
def test_zero_latencys_group_chat_remembers_in_the_next_run(tmp_path: Path) -> None:
    spoken: list[str] = []
    systems: list[str] = []

    def script(request: dict[str, Any]) -> dict[str, Any]:
        system = str(request["messages"][0]["content"])
        for role, line in LINES.items():
            if role in system:
                systems.append(system)
                return {"content": line}
        spoken.append(("Coder", "Reviewer", "Planner")[len(spoken) % 3])
        return {"content": spoken[-1]}

    code = documents.ZERO_LATENCY.replace("from zero_latency", "from commonplace.integrations.services.zerolatency")
    hooked = code.replace("# Set up GroupChat", documents.ZERO_LATENCY_HOOKS + "\n# Set up GroupChat")
    env = {"COMMONPLACE_BOOK": "team.db", "PYTHONPATH": SOURCE, **AUTOGEN}
    with model(script) as url:
        told = run_client(hooked, "autogen-0.2.35", cwd=tmp_path, OPENAI_BASE_URL=url, **env)
    assert told.endswith("Memories stored — extraction happens in the background.\n")
    assert systems
    assert not any("FastAPI" in system for system in systems)
    # The next run recalls before it makes its agents; AutoGen is not needed to see what.
    beginning = code.partition("# LLM config")[0].replace("import autogen", "")
    assert "FastAPI" in run_client(f"{beginning}\nprint(past_context.text)", cwd=tmp_path, **env)
    with commonplace.open(tmp_path / "team.db") as book:
        assert book.list(kinds=["decision"]).memories
        assert not [job for job in book.jobs() if job.state == "dead"]


def test_zero_latencys_two_requests_run_with_only_the_address_changed(at: str) -> None:
    with talking(at) as client:
        answers = [
            client.post(path, json=body, headers={"Authorization": "Bearer YOUR_API_KEY"})
            for path, body in documents.ZERO_LATENCY_REQUESTS
        ]
    assert [answer.status_code for answer in answers] == [202, 200]
    assert "FastAPI" in answers[1].json()["text"]


BOTWIRE = (
    documents.BOTWIRE_AGENT
    + documents.BOTWIRE_STATE
    # AutoGen's GroupChat needs `messages`, and gives `append` the speaker: the document forgets both.
    + documents.BOTWIRE_GROUP.replace("append(self, message):", "append(self, message, speaker):")
    .replace("super().append(message)", "super().append(message, speaker)")
    .replace("agents=agents, **kwargs)", "agents=agents, messages=[], **kwargs)")
    + """
agent, user = PersistentAgent("assistant"), ConversableAgent("user", llm_config=False)
# AutoGen prints the name of whoever sends, so that somebody has to.
agent.receive("Remember: I'm working on a Flask API", sender=user, request_reply=False)
agent.receive("It has two endpoints", sender=user, request_reply=False)

stateful = StatefulAgent("stateful")
stateful.learn_preference("language", "TypeScript")
stateful.add_pattern("prefers short answers")

agent_a = PersistentAgent("researcher")
agent_a.memory.set("research_findings", {"topic": "FastAPI", "key_points": ["async"]})

agents = [ConversableAgent("coder", llm_config=False), ConversableAgent("reviewer", llm_config=False)]
chat = PersistentGroupChat(agents=agents, max_round=3, speaker_selection_method="round_robin")
manager = GroupChatManager(groupchat=chat, llm_config=False)
agents[0].initiate_chat(manager, message="Let us begin")
"""
)
LATER = """
from botwire import Memory
assert Memory("autogen-assistant").get("conversation_history") == [
    {"sender": "user", "message": "Remember: I'm working on a Flask API"},
    {"sender": "user", "message": "It has two endpoints"},
]
shared_memory = Memory("autogen-researcher")  # Same namespace
assert shared_memory.get("research_findings") == {"topic": "FastAPI", "key_points": ["async"]}
assert Memory("autogen-stateful").get("preferences") == {"language": "TypeScript"}
assert Memory("autogen-stateful").get("patterns") == ["prefers short answers"]
group = Memory("group-chat-session")
assert group.get("messages")[0]["content"] == "Let us begin", group.get("messages")
assert group.get("speaker_history")[0] == "coder"
print("done")
"""


@pytest.mark.clients
def test_botwires_agents_go_on_after_a_restart(at: str, tmp_path: Path) -> None:
    run_client(BOTWIRE, "botwire-0.2.1", "autogen-0.2.35", cwd=tmp_path, BOTWIRE_URL=at, **AUTOGEN)
    assert run_client(LATER, "botwire-0.2.1", BOTWIRE_URL=at) == "done\n"


@pytest.mark.slow
def test_botwires_agents_go_on_from_a_file_with_only_the_import_changed(tmp_path: Path) -> None:
    code = documents.BOTWIRE_AGENT.replace("from autogen import ConversableAgent", "ConversableAgent = object")
    code = code.replace("super().__init__(name=name, **kwargs)", "self.name = name").replace(
        "result = super().receive(message, sender, request_reply, silent)", "result = None"
    )
    moved = code.replace("from botwire", "from commonplace.integrations.services.botwire")
    moved += "agent = PersistentAgent('assistant')\nagent.receive(\"Remember: I'm working on a Flask API\")\n"
    moved += "print(len(agent.memory.get('conversation_history')))"
    env = {"COMMONPLACE_BOOK": "team.db", "PYTHONPATH": SOURCE}
    assert [run_client(moved, cwd=tmp_path, **env) for _ in range(2)] == ["1\n", "2\n"]
