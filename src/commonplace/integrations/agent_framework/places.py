"""Where a provider stores and where it searches: said with scopes, or with the ids of Agent Framework's providers."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.integrations.door import Door, Where
from commonplace.values import NOBODY, Scope, Within, checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """An application, an agent and a user; each of them may be None."""

    application: str | None = None
    agent: str | None = None
    user: str | None = None

    @property
    def scope(self) -> Scope:
        return Scope(user=self.user, agent=self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The book, the scope that is written to, and the space and the part of it that are searched."""

    door: Door
    scope: Scope
    searched_space: str
    within: Within | Scope | None

    def stored(self) -> Book:
        """The book that is written to."""
        return self.door.open()

    def searched(self) -> Book:
        """The book that is searched: the same, perhaps behind another wall."""
        book = self.door.open()
        return book if self.searched_space == book.space else book.in_space(self.searched_space)


def places(
    where: Where | None,
    *,
    space: str | None,
    scope: Scope | None,
    within: Within | Scope | None,
    stored: Ids,
    searched: Ids,
) -> Places:
    """The places that were meant; what is not said of the search is as it is stored, so that nobody reads others'."""
    ids = None if stored.scope == NOBODY else stored.scope
    elsewhere = _searched(searched, scope or stored.scope)
    _ensure_one("space", space, "application_id", stored.application)
    _ensure_one("scope", scope, "agent_id and user_id", ids)
    _ensure_one("within", within, "search_agent_id and search_user_id", elsewhere)
    door, given = Door(where, space or stored.application), scope or ids or NOBODY
    return Places(
        door=door,
        scope=checks.scope(given),
        searched_space=searched.application or door.space,
        within=checks.within(within or elsewhere or _own(given)),
    )


def _searched(ids: Ids, scope: Scope) -> Within | Scope | None:
    if ids.agent is None and ids.user is None:
        return None
    return _own(Scope(user=ids.user or scope.user, agent=ids.agent or scope.agent))


def _own(scope: Scope) -> Within:
    """What is of the scope's user and agent, and what is everybody's."""
    return Within(
        users=None if scope.user is None else (scope.user,), agents=None if scope.agent is None else (scope.agent,)
    )


def _ensure_one(ours: str, mine: object, theirs: str, other: object) -> None:
    if mine is not None and other is not None and mine != other:
        raise InvalidInput(f"pass {ours}, or {theirs}: they say the same thing, and here they differ")
