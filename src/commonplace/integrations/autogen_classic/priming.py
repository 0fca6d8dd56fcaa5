"""prime: what is known, in the system messages of agents before they begin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from autogen import ConversableAgent, GroupChat

from commonplace.integrations.autogen_classic.recalling import unfenced
from commonplace.integrations.conversation import clean_text, shorten
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.values import Recall, Scope, Within

BEGIN, END = "[From earlier conversations]", "[End of earlier conversations]"
_BLOCK = re.compile(rf"\n*^{re.escape(BEGIN)}$.*?^{re.escape(END)}$", re.MULTILINE | re.DOTALL)


def prime(
    agents: ConversableAgent | Iterable[ConversableAgent] | GroupChat,
    book: BookLike | None,
    query: str,
    *,
    space: str | None = None,
    k: int = 10,
    max_tokens: int = 2000,
    within: Within | Scope | None = None,
    kinds: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    threshold: float | None = None,
) -> Recall:
    """Put what bears on a query into the system messages of agents, quoted, in place of what an earlier call put there.

    Where nothing bears on it, nothing stands there. Returns what was recalled.
    """
    found = open_shared(book, space).recall(
        shorten(clean_text(query)), k=k, max_tokens=max_tokens, within=within, kinds=kinds, tags=tags,
        threshold=threshold,
    )  # fmt: skip
    known = [agents] if isinstance(agents, ConversableAgent) else getattr(agents, "agents", agents)
    for agent in known:
        agent.update_system_message(_primed(agent.system_message, unfenced(found.text)))
    return found


def _primed(system: Any, text: str) -> Any:
    """A system message with a text, or without one; of an agent that takes pictures it is a list of parts."""
    block = f"{BEGIN}\n{text}\n{END}" if text else ""
    if isinstance(system, list):
        others = [part for part in system if not _BLOCK.fullmatch(str(part.get("text")))]
        return [*others, {"type": "text", "text": block}] if block else others
    rest = _BLOCK.sub("", system or "")
    return f"{rest}\n\n{block}" if block else rest
