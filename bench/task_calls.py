"""Count the model calls of each operation of task-centric memory: commonplace and AutoGen.

    python bench/task_calls.py [--json]

Both are run with the same scripted client, which counts. AutoGen's needs an environment of its own:
pip install "autogen-ext==0.7.5" "autogen-agentchat==0.7.5" chromadb==1.5.9; its default embedding is a download, in
place of which its collections get the one that commonplace brings along. The script answers every
question as helpfully as it can, so that each operation goes its whole way.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NEEDED = {"autogen_agentchat": "autogen-agentchat==0.7.5", "autogen_ext": "autogen-ext==0.7.5", "chromadb": "chromadb"}
MEMOS = (
    ("What color do I like?", "Deep blue is my favorite color"),
    ("What's another color I like?", "I really like cyan"),
    ("What's my favorite food?", "Halibut is my favorite"),
    ("Which color is my car?", "My car is green"),
)
ASKED = "What colors do I like most?"
TOLD = "My favorite color is red."


def main() -> None:
    """Run both, and print how often each asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    missing = [package for name, package in NEEDED.items() if find_spec(name) is None]
    if missing:
        sys.exit(f"this needs an environment with: pip install {' '.join(missing)}")
    logging.disable(logging.WARNING)  # the replay client warns of every question that it cannot count in tokens
    with tempfile.TemporaryDirectory() as folder:
        ours = asyncio.run(counted(Path(folder) / "ours", own_controller, own_teachability))
        without = asyncio.run(counted(Path(folder) / "without", no_client_controller, own_teachability))
        theirs = asyncio.run(counted(Path(folder) / "theirs", autogens_controller, autogens_teachability))
    if options.json:
        print(json.dumps({"ours": ours, "ours, no client": without, "autogen": theirs}))
        return
    print(f"{'questions to a model':52} {'ours':>5} {'no client':>10} {'AutoGen':>8}")
    for operation, count in ours.items():
        print(f"{operation:52} {count:5} {without[operation]:10} {theirs[operation]:8}")


def own_controller(folder: Path, client: Any, assign: Any) -> Any:
    from commonplace.integrations.tasks import MemoryController

    return MemoryController(True, client, assign, {"MemoryBank": {"path": str(folder)}})


def no_client_controller(folder: Path, client: Any, assign: Any) -> Any:
    return own_controller(folder, None, assign)


def own_teachability(controller: Any) -> Any:
    from commonplace.integrations.tasks.utils import Teachability

    return Teachability(controller)


def autogens_controller(folder: Path, client: Any, assign: Any) -> Any:
    from autogen_ext.experimental.task_centric_memory import MemoryController
    from autogen_ext.experimental.task_centric_memory.utils import PageLogger
    from task_chroma import shipped_embedding

    folder.mkdir()
    logger = PageLogger({"path": str(folder / "pages")})
    with shipped_embedding():
        return MemoryController(True, client, assign, {"MemoryBank": {"path": str(folder)}}, logger)


def autogens_teachability(controller: Any) -> Any:
    from autogen_ext.experimental.task_centric_memory.utils import Teachability

    return Teachability(controller)


async def counted(folder: Path, make: Callable[..., Any], teachable: Callable[[Any], Any]) -> dict[str, int]:
    """The questions that each operation asked, in the order in which they are run."""
    from autogen_agentchat.agents import AssistantAgent

    client, tried = scripted(), []

    async def assign(task: str) -> tuple[str, str]:
        tried.append(task)
        # Wrong the first time; right with the insight from that failure.
        return ("11" if len(tried) == 1 else "12"), "I counted."

    controller = make(folder, client, assign)
    found: dict[str, int] = {}

    async def measure(name: str, work: Awaitable[Any]) -> None:
        before = client.calls
        await work
        found[name] = client.calls - before

    for number, (task, insight) in enumerate(MEMOS):
        await measure("add_memo(insight, task)" if not number else "another", controller.add_memo(insight, task))
    del found["another"]
    await measure("add_memo(insight)", controller.add_memo("Tea is best at 80 degrees"))
    await measure("retrieve_relevant_memos(task), 5 memos", controller.retrieve_relevant_memos(ASKED))
    await measure("consider_memo_storage(advice)", controller.consider_memo_storage(TOLD))
    await measure("consider_memo_storage(no advice)", controller.consider_memo_storage(ASKED))
    pair = controller.add_task_solution_pair_to_memory("Sort three numbers", "Compare two, then place the third")
    await measure("add_task_solution_pair_to_memory", pair)
    agent = AssistantAgent("assistant", client, memory=[teachable(controller)])
    before = client.calls
    await agent.run(task=ASKED)
    found["one turn with Teachability, without the agent's own"] = client.calls - before - 1
    await measure("train_on_task, one failure", controller.train_on_task("How many eggs are in a dozen?", "12"))
    return found


def scripted() -> Any:
    from autogen_core.models import ModelFamily, ModelInfo
    from autogen_ext.models.replay import ReplayChatCompletionClient

    able = ModelInfo(
        vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
    )

    class Counting(ReplayChatCompletionClient):
        """Answers every question so that the operation goes on, and counts."""

        calls = 0

        async def create(self, messages: Any, **options: Any) -> Any:
            self.calls += 1
            self.chat_completions = [answer(messages)]
            self._current_index = 0
            return await super().create(messages, **options)

    return Counting([""], model_info=able)


def answer(messages: Any) -> str:
    """Return the answer of a helpful model, in the requested form."""
    said = "\n".join(str(message.content) for message in messages)
    asked = str(messages[-1].content)
    if '"advice": string' in said:
        advice = None if asked.count("?") else TOLD
        return json.dumps({"advice": advice, "task": "questions about colors" if advice else None})
    if '"useful": [number]' in said:
        return json.dumps({"useful": [1, 2]})
    if '"topics": [string]' in said:
        return json.dumps({"task": "questions about what somebody likes", "topics": ["likes", "colors"]})
    if '"misconception": string' in said:
        return json.dumps({"misconception": "thought of ten", "insight": "A dozen is a fixed number; look it up."})
    if '"correct": true or false' in said:
        return json.dumps({"answer": "11", "correct": False})
    if "single character" in asked:
        return "0" if "'11'" in asked or "\n11" in asked or "11" in asked.rsplit("graded", 1)[-1] else "1"
    if "information or advice" in asked:
        return "None" if "?" in asked.rsplit("analyze", 1)[-1] else TOLD
    if "extract a possible answer" in asked:
        return "12" if asked.rstrip("]'\" ").endswith("12") else "11"
    return "colors that somebody likes"


if __name__ == "__main__":
    main()
