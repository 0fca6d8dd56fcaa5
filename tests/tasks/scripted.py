"""Scripted models for task-centric memory: AutoGen's replay client, which also records every question."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from autogen_core.models import CreateResult, LLMMessage, ModelFamily, ModelInfo
from autogen_ext.models.replay import ReplayChatCompletionClient

ABLE = ModelInfo(
    vision=False, function_calling=True, json_output=True, family=ModelFamily.UNKNOWN, structured_output=False
)
Script = Callable[[str, dict[str, Any]], object]
"""Takes the name of the step and the question; returns the answer, which is written as JSON unless it is text."""


class Answering(ReplayChatCompletionClient):
    """Answers the questions of memory by a script, and everything else with `says`."""

    def __init__(self, script: Script | None = None, says: str = "noted") -> None:
        super().__init__([""], model_info=ABLE)
        self.script = script
        self.says = says
        self.asked: list[str] = []
        """The names of the steps that asked, in order; "agent" for an agent's own question."""

    async def create(self, messages: Sequence[LLMMessage], **options: Any) -> CreateResult:
        step = step_of(str(messages[0].content))
        self.asked.append(step)
        answer: object = self.says
        if step != "agent" and self.script is not None:
            answer = self.script(step, json.loads(str(messages[-1].content)))
        self.chat_completions = [answer if isinstance(answer, str) else json.dumps(answer)]
        self._current_index = 0
        return await super().create(messages, **options)


def step_of(prompt: str) -> str:
    marks = {'"advice"': "advice", '"useful"': "useful", '"topics"': "index", '"misconception"': "lesson"}
    marks['"correct"'] = "grade"
    return next((name for mark, name in marks.items() if mark in prompt), "agent")
