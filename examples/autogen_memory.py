"""An AutoGen agent that remembers across programs: run it twice.

pip install ".[autogen]" "autogen-ext==0.7.5"
"""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient

from commonplace.integrations.autogen import CommonplaceMemory


async def main(path: str) -> None:
    # For a real model change this line: OpenAIChatCompletionClient(model="gpt-4o") of autogen_ext.models.openai.
    model = ReplayChatCompletionClient(["I will keep that in mind.", "FastAPI, because of async support."])

    memory = CommonplaceMemory(path, learn=True)
    assistant = AssistantAgent("assistant", model, memory=[memory])
    await assistant.run(task="We chose FastAPI over Flask as the web framework because of async support.")
    book = await memory.book()
    while await book.jobs():  # learning runs in the background; this example waits for it
        await asyncio.sleep(0.02)

    # Another agent, in another program perhaps, has it from its first message.
    newcomer = AssistantAgent("newcomer", model, memory=[CommonplaceMemory(path)])
    result = await newcomer.run(task="Which web framework did we choose, and why?")
    for message in model.create_calls[-1]["messages"]:
        if isinstance(message, UserMessage):
            print(f"{message.source}: {message.content}")
    print(f"newcomer: {result.messages[-1].to_text()}")
    await memory.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "team.db"))
