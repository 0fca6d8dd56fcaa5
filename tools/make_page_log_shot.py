"""Makes docs/images/page_log.png: a run of agents in a page log, in Chromium. Run it after changing the layout.

python tools/make_page_log_shot.py
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall, Image
from autogen_core.models import CreateResult, LLMMessage, ModelInfo, RequestUsage, SystemMessage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL import Image as Pixels
from PIL import ImageDraw

from commonplace.integrations.tasks.pages import PageLogger

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "images" / "page_log.png"
INFO = ModelInfo(vision=True, function_calling=True, json_output=True, structured_output=False, family="unknown")
RULES = "You plan routes for a mill that ships flour. Give one route, with its reason."


class Planner:
    """Learns how to plan from what went wrong, and logs what it does."""

    def __init__(self, logger: PageLogger) -> None:
        self.logger = logger

    async def train(self, task: str) -> None:
        self.logger.enter_function()
        self.logger.info(f"Task: {task}")
        for trial in (1, 2):
            with self.logger.page(f"Trial {trial}"):
                await self.attempt(task, trial)
        self.logger.info("Learned: from November to March the pass is closed; go by the canal.")
        self.logger.leave_function()

    async def attempt(self, task: str, trial: int) -> None:
        self.logger.enter_function()
        hints = await self.recall(task) if trial == 2 else ""
        answers = [tool_call(), "By the canal: the pass is closed until March, and the lock at Ouse is open."]
        result = await agent(answers if trial == 2 else ["Over the pass, which is the shortest way."]).run(
            task=task + hints
        )
        sent: list[LLMMessage] = [SystemMessage(content=RULES), UserMessage(content=[task, chart()], source="user")]
        self.logger.log_model_task("Ask the planner", sent, result)
        await self.grade(result.messages[-1].to_text(), trial)
        self.logger.leave_function()

    async def recall(self, task: str) -> str:
        self.logger.enter_function()
        self.logger.log_dict_list([{"insight": "The pass is closed in winter", "relevance": 0.82}], "1 memory found")
        await asyncio.sleep(0.03)
        self.logger.leave_function()
        return "\nThe pass is closed in winter."

    async def grade(self, answer: str, trial: int) -> None:
        self.logger.enter_function()
        question: list[LLMMessage] = [
            UserMessage(content=f"Is this route open in January?\n\n{answer}", source="grader")
        ]
        verdict = await model(["Yes" if trial == 2 else "No: the pass is closed"]).create(question)
        self.logger.log_model_call("Ask the grader", question, verdict)
        if trial == 1:
            self.logger.warning("Trial 1 failed: the pass is closed")
        await asyncio.sleep(0.05)
        self.logger.leave_function()


def rivers(month: str) -> str:
    """Which locks are open in a month."""
    return f"{month}: Ouse open, Foss closed"


def tool_call() -> CreateResult:
    return CreateResult(
        content=[FunctionCall(id="call_1", name="rivers", arguments='{"month": "January"}')],
        usage=RequestUsage(prompt_tokens=212, completion_tokens=18),
        finish_reason="function_calls",
        cached=False,
        thought="The memory says that the pass is closed: see whether the canal is open.",
    )


def model(answers: list[Any]) -> ReplayChatCompletionClient:
    return ReplayChatCompletionClient(answers, model_info=INFO)


def agent(answers: list[Any]) -> AssistantAgent:
    return AssistantAgent("planner", model(answers), tools=[rivers], reflect_on_tool_use=True, system_message=RULES)


def chart() -> Image:
    """A map of sorts."""
    picture = Pixels.new("RGB", (240, 120), "#eef3f7")
    draw = ImageDraw.Draw(picture)
    draw.line([(10, 100), (80, 60), (150, 80), (230, 20)], fill="#3b7dc4", width=5)
    draw.line([(10, 100), (120, 15), (230, 20)], fill="#b9533f", width=3)
    for at in ((10, 100), (230, 20)):
        draw.ellipse([at[0] - 6, at[1] - 6, at[0] + 6, at[1] + 6], fill="#1f2328")
    return Image(picture)


async def work(logger: PageLogger) -> None:
    """Two tasks at once, each with its own part of the tree."""
    with logger.page("Two tasks at once"):
        tasks = ("Bring 40 sacks to Harrogate in January", "Bring 12 sacks to Selby in February")
        await asyncio.gather(*(Planner(logger).train(task) for task in tasks))


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.browser import browser

    with tempfile.TemporaryDirectory() as directory, browser() as chromium:
        logger = PageLogger({"level": "DEBUG", "path": directory})
        asyncio.run(work(logger))
        logger.finalize()
        tree, page = Path(directory) / "tree.png", Path(directory) / "page.png"
        run = Path(str(logger.directory))
        chromium.open((run / "index.html").as_uri())
        chromium.shoot(tree, width=720, height=840)
        last = chromium.run(
            "[...document.querySelectorAll('li.model a')].filter(a => /planner/.test(a.text)).pop().href"
        )
        chromium.open(last)
        chromium.shoot(page, width=720, height=840, dark=True)
        both = Pixels.new("RGB", (1440, 840))
        both.paste(Pixels.open(tree), (0, 0))
        both.paste(Pixels.open(page), (720, 0))
        both.quantize(128).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
