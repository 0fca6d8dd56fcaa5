"""Tools with which a model remembers, recalls and forgets on its own accord."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from autogen_core.tools import BaseTool, FunctionTool

from commonplace.adapters.autogen.door import Door, Where
from commonplace.errors import InvalidInput
from commonplace.values import NOBODY, Scope, Within

Noted = Literal["note", "fact", "preference", "decision", "pattern", "failure", "insight"]


def memory_tools(
    where: Where,
    *,
    space: str | None = None,
    scope: Scope = NOBODY,
    within: Within | Scope | None = None,
    k: int = 10,
    max_tokens: int = 2000,
) -> list[BaseTool[Any, Any]]:
    """Tools remember, recall and forget on one book; they write into `scope`, look `within`, and forget only their own.

    What a model remembers has the origin `agent`: it never overrules what a person said. A book that is opened here is
    open as long as the program runs; pass an open one to close it yourself.
    """
    door = Door(where, space)

    async def remember(
        text: Annotated[str, "One thing worth keeping, in a sentence that makes sense on its own"],
        kind: Annotated[Noted, "What sort of thing it is; failure for what was tried and did not work"] = "note",
    ) -> str:
        book = await door.book()
        memory = await book.remember(text, kind=kind, scope=scope, origin="agent", reconcile=True)
        return f"Remembered as {memory.id}."

    async def recall(question: Annotated[str, "What you want to know, as a question"]) -> str:
        book = await door.book()
        answer = await book.recall(question, k=k, max_tokens=max_tokens, within=within)
        if not answer.text:
            return "Nothing that bears on this is known."
        ids = ", ".join(hit.memory.id for hit in (*answer.hits, *answer.avoid))
        return f"{answer.text}\nTheir ids, in this order: {ids}"

    async def forget(id: Annotated[str, "The id of the memory, as recall gave it"]) -> str:
        book = await door.book()
        if (await book.get(id)).scope != scope:
            raise InvalidInput(
                f"memory {id} belongs to somebody else: say that it is wrong, and let its owner forget it"
            )
        await book.forget(id)
        return f"Forgot {id}."

    return [
        FunctionTool(remember, "Keep something for later conversations and for other agents.", name="remember"),
        FunctionTool(recall, "Find what is known from earlier conversations and from other agents.", name="recall"),
        FunctionTool(forget, "Remove something that was remembered and is wrong or not wanted.", name="forget"),
    ]
