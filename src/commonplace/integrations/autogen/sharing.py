"""Memory that a team shares: each agent's own, the group's, and everybody's."""

from __future__ import annotations

from typing import Any, Literal

from commonplace.errors import InvalidInput
from commonplace.integrations.autogen.memory import CommonplaceMemory
from commonplace.integrations.door import Where
from commonplace.values import NOBODY, Scope, Within

Level = Literal["agent", "group", "global"]


def shared_memory(
    where: Where, *, agent: str, group: str | None = None, writes: Level = "group", **options: Any
) -> CommonplaceMemory:
    """A memory for one agent of a group: it finds its own, its group's and everybody's, and writes where `writes` says.

    `options` are those of CommonplaceMemory. Scopes help to find the right thing and are no wall: groups that must not
    see each other get a `space` each.
    """
    scopes = {"agent": Scope(agent=agent), "group": Scope(session=group), "global": NOBODY}
    if writes not in scopes:
        raise InvalidInput(f"writes is 'agent', 'group' or 'global', not {writes!r}")
    if writes == "group" and group is None:
        raise InvalidInput("there is no group to write for: name one with group=, or pass writes='agent' or 'global'")
    # Without a group nothing of any group is found: no session is called by an empty list of names.
    within = Within(agents=(agent,), sessions=() if group is None else (group,))
    return CommonplaceMemory(where, scope=scopes[writes], within=within, **options)
