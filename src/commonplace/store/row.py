"""Rows of the memory tables as typed values: how they leave the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from commonplace.values import NOBODY, Action, Json, Kind, Origin, Scope


class MemoryRow(NamedTuple):
    """One version of a memory as the table holds it: moments in microseconds, tags and metadata as JSON text."""

    seq: int
    id: str
    version: int
    action: Action
    reason: str | None
    kind: Kind
    form: str
    mime: str
    importance: float
    scope_user: str | None
    scope_agent: str | None
    scope_session: str | None
    source: str | None
    said_at: int
    created_at: int
    recorded_at: int
    ended_at: int | None
    expires_at: int | None
    valid_to: int | None
    superseded_by: str | None
    origin: Origin
    tags: str
    metadata: str
    text: str
    content: Any

    @property
    def scope(self) -> Scope:
        """The scope; most memories are everybody's, and one value serves them all."""
        user, agent, session = self.scope_user, self.scope_agent, self.scope_session
        return Scope(user=user, agent=agent, session=session) if user or agent or session else NOBODY

    @property
    def metadata_value(self) -> Mapping[str, Json]:
        """The metadata as a mapping."""
        found: Mapping[str, Json] = json.loads(self.metadata) if self.metadata != "{}" else {}
        return found

    def is_expired(self, now: int) -> bool:
        """Whether the memory's time to live has ended."""
        return self.expires_at is not None and self.expires_at <= now


class FeedbackRow(NamedTuple):
    """How often a memory was used, ignored, wrong or confirmed."""

    id: str
    used: int = 0
    ignored: int = 0
    wrong: int = 0
    confirmed: int = 0
    last_at: int = 0


class LifeRow(NamedTuple):
    """What pruning weighs of a memory."""

    id: str
    kind: Kind
    said_at: int
    importance: float
    used: int
    ignored: int
    wrong: int
    confirmed: int
    last_use: int
    stands: bool
