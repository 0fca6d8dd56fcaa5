"""Who asks, and what they may: frozen values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from commonplace.access import patterns
from commonplace.access.keys import ROLES as ROLES
from commonplace.access.keys import Role as Role
from commonplace.access.plans import UNLIMITED, Limits
from commonplace.store.tables.meters import Spent

Operation = Literal["read", "recall", "write", "admin"]
"""What a request does, as limits count it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever sent a request: what the key stands for, or anybody where no key is needed."""

    key: str | None
    """The key's public id; None where the server is open."""
    role: Role
    spaces: tuple[str, ...]
    """Patterns of the spaces that it opens: "team-a", "agents-*"."""
    home: str
    """The space of dialects that name none."""
    limits: Limits = UNLIMITED
    spent: tuple[Spent, ...] = ()
    """What of the limits was used when the key was read."""

    def opens(self, space: str) -> bool:
        """Whether a space is one of theirs."""
        return any(patterns.matches(pattern, space) for pattern in self.spaces)

    @property
    def opens_all(self) -> bool:
        """Whether every space is theirs, also those that are yet to come."""
        return any(patterns.covers(pattern, patterns.STAR) for pattern in self.spaces)

    def may(self, role: Role) -> bool:
        """Whether their role is enough."""
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request as the door sees it: with which key, where, what for."""

    secret: str | None
    """The key as it was sent, in whatever header."""
    space: str | None
    """None: the caller's home."""
    host: str | None = None
    """By what name the server was called, as the Host header has it."""
    role: Role
    operation: Operation
    everywhere: bool = False
    """Whether it is about the book as a whole, and with that about every space."""
    long: bool = False
    """Whether it may take as long as there is data: it is done in threads of its own, and keeps nobody waiting."""
    namespace: str | None = None
    """The key-value namespace that it is about: some limits are a namespace's."""
    once: str | None = None
    """The request's own name: what was done under it is not done again."""
    digest: str = ""
    """What the request says, so that another one under its name is noticed."""
