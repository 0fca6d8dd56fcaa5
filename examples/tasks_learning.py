"""An agent that learns from a mistake and from its user, and has it in the next program: run it twice.

pip install ".[autogen]" "autogen-ext==0.7.5"
"""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.replay import ReplayChatCompletionClient

from commonplace.integrations.tasks import MemoryController
from commonplace.integrations.tasks.utils import Teachability

TASK = "A farmer has 17 sheep. All but 9 run away. How many are left?"


async def main(path: str) -> None:
    # For a real model change this line: OpenAIChatCompletionClient(model="gpt-4o") of autogen_ext.models.openai.
    model = ReplayChatCompletionClient(["The answer is: 8", "The answer is: 9", "In the form 2024-001."])

    async def assign(task: str) -> tuple[str, str]:
        result = await AssistantAgent("solver", model).run(task=task)
        return result.messages[-1].to_text(), result.messages[-1].to_text()

    # With client=model it is the model that finds the insight, judges memos and grades; without one, rules do.
    controller = MemoryController(task_assignment_callback=assign, config={"max_test_trials": 1}, book=path)
    if not await controller.retrieve_relevant_memos(TASK):
        await controller.train_on_task(TASK, expected_answer="9")
    for memo in await controller.retrieve_relevant_memos(TASK):
        print(f"learned: {memo.insight}")

    teachable = AssistantAgent("assistant", model, memory=[Teachability(controller)])
    await controller.consider_memo_storage("Our invoices are always numbered with the year first.")
    await teachable.run(task="How do I number the next invoice?")
    print(model.create_calls[-1]["messages"][-2].content)
    await controller.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "team.db"))
