"""An AutoGen team that shares memory and continues where it stopped: run it twice, or kill it in between.

pip install ".[autogen]" "autogen-ext==0.7.5"
"""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelFamily, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

import commonplace
from commonplace.integrations.autogen import PersistentTeam, memory_tools, shared_memory

ABLE = ModelInfo(
    vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
)
FOUND = '{"text": "The lighthouse of Procida was built in 1883", "kind": "fact"}'


def remembers(arguments: str) -> CreateResult:
    """Return a model's call of the tool `remember`."""
    call = FunctionCall(id="1", name="remember", arguments=arguments)
    usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
    return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)


async def main(path: str) -> None:
    # For a real model change these two lines: OpenAIChatCompletionClient(model="gpt-4o") of autogen_ext.models.openai.
    reads = ReplayChatCompletionClient([remembers(FOUND), "I have written it down."], model_info=ABLE)
    writes = ReplayChatCompletionClient(["The lighthouse has stood since 1883."], model_info=ABLE)

    with commonplace.open(path) as book:
        researcher = AssistantAgent(
            "researcher",
            reads,
            tools=memory_tools(book),
            reflect_on_tool_use=True,
            memory=[shared_memory(book, agent="researcher", group="guide")],
        )
        writer = AssistantAgent("writer", writes, memory=[shared_memory(book, agent="writer", group="guide")])
        team = PersistentTeam(RoundRobinGroupChat([researcher, writer], max_turns=2), book, "guide")
        before = len(await team.transcript())
        async for message in team.run_stream(task="When was the lighthouse of Procida built?"):
            if not isinstance(message, TaskResult):
                print(f"{message.source}: {message.to_text()}")
        print(f"{before} messages were on disk before, {len(await team.transcript())} are now.")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "team.db"))
