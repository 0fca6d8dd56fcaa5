"""The tools with which a model remembers, recalls and forgets, registered with classic AutoGen's agents."""

from __future__ import annotations

from typing import Literal

from autogen import ConversableAgent
from typing_extensions import Unpack

from commonplace.errors import InvalidInput
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.integrations.tools import ToolOptions, make_functions


def register_memory_tools(
    book: BookLike | None,
    *,
    caller: ConversableAgent,
    executor: ConversableAgent,
    space: str | None = None,
    api_style: Literal["function", "tool"] | None = None,
    **options: Unpack[ToolOptions],
) -> None:
    """Give the caller's model the tools remember, recall and forget, which the executor runs.

    They write into `scope`, look `within`, and forget only what is in their scope. A caller that was given functions
    gets functions.
    """
    if not caller.llm_config:
        raise InvalidInput(f"{caller.name} has no model that could call tools: give it an llm_config")
    shared = open_shared(book, space)
    style = api_style or ("function" if caller.llm_config.get("functions") else "tool")
    for function in make_functions(lambda: shared, **options):
        name, about = function.__name__, function.__doc__
        known = caller.register_for_llm(name=name, description=about, api_style=style)(function)
        executor.register_for_execution(name=name)(known)
