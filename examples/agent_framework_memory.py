"""An Agent Framework agent that remembers across programs, and whose session continues: run it twice.

pip install ".[agent-framework]"
"""

import asyncio
import sys
from collections.abc import Awaitable
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, FunctionInvocationLayer, Message

from commonplace.integrations.agent_framework import CommonplaceContextProvider, CommonplaceHistoryProvider


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Replays answers, and prints what it was asked."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = list(answers)

    def _inner_get_response(
        self, *, messages: Any, stream: bool, options: Any, **kwargs: Any
    ) -> Awaitable[ChatResponse]:
        async def answer() -> ChatResponse:
            for message in messages:
                print(f"  {message.role}: {message.text}")
            return ChatResponse(messages=[Message("assistant", [self.answers.pop(0)])])

        return answer()


async def main(path: str) -> None:
    # For a real model change this line: OpenAIChatClient(model="gpt-4o") of agent_framework.openai.
    model = Scripted("I will keep that in mind.", "FastAPI, because of async support.")

    memory, history = CommonplaceContextProvider(path), CommonplaceHistoryProvider(path)
    assistant = Agent(model, name="assistant", context_providers=[history, memory])
    session = assistant.create_session(session_id="monday")
    print(f"there were {len(await history.get_messages('monday'))} messages before")
    await assistant.run("We chose FastAPI over Flask as the web framework because of async support.", session=session)
    book = await memory.book()
    while await book.jobs():  # learning runs in the background; this example waits for it
        await asyncio.sleep(0.02)

    # Another agent in another session, in another program perhaps, has it from its first message.
    newcomer = Agent(model, name="newcomer", context_providers=[CommonplaceContextProvider(path, learn=False)])
    answer = await newcomer.run("Which web framework did we choose, and why?")
    print(f"newcomer: {answer.text}")
    for each in (memory, history, *newcomer.context_providers):
        await each.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "team.db"))
