"""Two AutoGen agents that write one file; the second one's patch is stale, and it is told so.

pip install ".[autogen]" "autogen-ext==0.7.5"
"""

import asyncio
import json
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelFamily, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

from commonplace.integrations.autogen import CanvasMemory

ABLE = ModelInfo(
    vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
)
STORY = "A hare met a sunflower.\nThey became friends.\n"
STALE = "@@ -1,2 +1,2 @@\n-A rabbit met a sunflower.\n+A rabbit met a sunflower called Sunny.\n They became friends.\n"
FRESH = STALE.replace("rabbit", "hare")


def uses(tool: str, **arguments: str) -> CreateResult:
    """Return a model's call of a tool."""
    call = FunctionCall(id="1", name=tool, arguments=json.dumps(arguments))
    usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
    return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)


async def main(path: str) -> None:
    # For a real model change these lines: OpenAIChatCompletionClient(model="gpt-4o") of autogen_ext.models.openai.
    writes = ReplayChatCompletionClient([uses("update_file", filename="story.md", new_content=STORY)], model_info=ABLE)
    patches = [uses("apply_patch", filename="story.md", patch_text=text) for text in (STALE, FRESH)]
    edits = ReplayChatCompletionClient([*patches, "Done."], model_info=ABLE)

    canvas = CanvasMemory(path, "story")
    writer = AssistantAgent("writer", writes, tools=[canvas.get_update_file_tool("writer")], memory=[canvas])
    editor = AssistantAgent(
        "editor", edits, tools=[canvas.get_apply_patch_tool("editor")], memory=[canvas], max_tool_iterations=3
    )
    await writer.run(task="Write a story about a hare and a sunflower.")
    result = await editor.run(task="Give the sunflower a name.")
    for message in result.messages:
        if isinstance(message, ToolCallExecutionEvent):
            print(f"editor's tool: {message.content[0].content}")
    for file in canvas.canvas.files.revisions("story.md"):
        print(f"revision {file.revision} by {file.author}: {file.content.splitlines()[0]}")
    await canvas.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "team.db"))
