"""Tools with which a model remembers, recalls and forgets on its own accord."""

from __future__ import annotations

from typing import Annotated

from agent_framework import FunctionTool, tool

from commonplace.integrations.door import Door, Where
from commonplace.integrations.model_tools import (
    FORGET,
    ID,
    KIND,
    QUESTION,
    RECALL,
    REMEMBER,
    TEXT,
    ModelTools,
    Noted,
    told,
)
from commonplace.values import NOBODY, Scope, Within


def memory_tools(
    where: Where | None = None,
    *,
    space: str | None = None,
    scope: Scope = NOBODY,
    within: Within | Scope | None = None,
    k: int = 10,
    max_tokens: int = 2000,
) -> list[FunctionTool]:
    """Tools remember, recall and forget on one book; they write into `scope`, look `within`, and forget only their own.

    What a model remembers has the origin `agent`: it never overrules what a person said. A book that is opened here is
    open as long as the program runs; pass an open one to close it yourself.
    """
    door = Door(where, space)
    tools = ModelTools(book=door.open, scope=scope, within=within, k=k, max_tokens=max_tokens)

    async def remember(text: Annotated[str, TEXT], kind: Annotated[Noted, KIND] = "note") -> str:
        return await door.run(told, tools.remember, text, kind)

    async def recall(question: Annotated[str, QUESTION]) -> str:
        return await door.run(told, tools.recall, question)

    async def forget(id: Annotated[str, ID]) -> str:
        return await door.run(told, tools.forget, id)

    return [
        tool(remember, name="remember", description=REMEMBER),
        tool(recall, name="recall", description=RECALL),
        tool(forget, name="forget", description=FORGET),
    ]
