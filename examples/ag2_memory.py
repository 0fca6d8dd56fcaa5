"""An AG2 agent that remembers across programs: run it twice.

pip install ".[ag2]"
"""

import asyncio
import sys

from ag2 import Agent, KnowledgeConfig
from ag2.aggregate import AggregateTrigger
from ag2.testing import TestConfig

from commonplace.integrations.ag2 import BookKnowledgeStore, LearnAggregate, RecallPolicy


class Show:
    """A policy that only prints the last request as the policies before it made it."""

    name = "show"

    async def apply(self, prompts, events, context):
        for part in events[-1].parts:
            print(f"  {part.content}")
        return prompts, events


async def main(path: str) -> None:
    # For a real model change these two lines: OpenAIConfig(model="gpt-4o") of ag2.config, for both agents.
    listening = TestConfig("I will keep that in mind.")
    answering = TestConfig("FastAPI, because of async support.")

    learn = LearnAggregate(path)
    knowledge = KnowledgeConfig(
        BookKnowledgeStore(path, "assistant"), aggregate=learn, aggregate_trigger=AggregateTrigger(on_end=True)
    )
    assistant = Agent("assistant", config=listening, knowledge=knowledge)
    await assistant.ask("We chose FastAPI over Flask as the web framework because of async support.")
    book = await learn.book()
    while await book.jobs():  # learning runs in the background; this example waits for it
        await asyncio.sleep(0.02)

    # Another agent, in another program perhaps, has it from its first message.
    recall = RecallPolicy(path)
    newcomer = Agent("newcomer", config=answering, assembly=[recall, Show()])
    reply = await newcomer.ask("Which web framework did we choose, and why?")
    print(f"newcomer: {reply.body}")
    for each in (knowledge.store, learn, recall):
        await each.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "team.db"))
