"""Tools with which a model remembers, recalls and forgets on its own accord.

Annotations are values here: not every version of AutoGen reads those of a function inside of another as text.
"""

from typing import Annotated, Literal

from autogen import ConversableAgent

from commonplace.errors import InvalidInput
from commonplace.integrations.autogen_classic.books import opened
from commonplace.integrations.door import Where
from commonplace.integrations.model_tools import FORGET, ID, KIND, QUESTION, RECALL, REMEMBER, TEXT, ModelTools, Noted
from commonplace.values import NOBODY, Scope, Within


def register_memory_tools(
    book: Where | None,
    *,
    caller: ConversableAgent,
    executor: ConversableAgent,
    space: str | None = None,
    scope: Scope = NOBODY,
    within: Within | Scope | None = None,
    k: int = 10,
    max_tokens: int = 2000,
    api_style: Literal["function", "tool"] | None = None,
) -> None:
    """Give the caller's model the tools remember, recall and forget, which the executor runs.

    They write into `scope`, look `within`, and forget only what is of their scope. What a model remembers has the
    origin `agent`: it never overrules what a person said. A caller that was given functions gets functions.
    """
    if not caller.llm_config:
        raise InvalidInput(f"{caller.name} has no model that could call tools: give it an llm_config")
    given = opened(book, space)
    tools = ModelTools(book=lambda: given, scope=scope, within=within, k=k, max_tokens=max_tokens)

    def remember(text: Annotated[str, TEXT], kind: Annotated[Noted, KIND] = "note") -> str:
        return tools.remember(text, kind)

    def recall(question: Annotated[str, QUESTION]) -> str:
        return tools.recall(question)

    def forget(id: Annotated[str, ID]) -> str:
        return tools.forget(id)

    style = api_style or ("function" if caller.llm_config.get("functions") else "tool")
    for function, described in ((remember, REMEMBER), (recall, RECALL), (forget, FORGET)):
        known = caller.register_for_llm(name=function.__name__, description=described, api_style=style)(function)
        executor.register_for_execution(name=function.__name__)(known)
