"""Statements as reconciliation compares them, and how two of them relate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from commonplace.values import Kind
from commonplace.values.extraction import Act

Link = Literal["same", "contradicts", "adds", "unrelated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A memory or a draft as reconciliation compares it."""

    text: str
    kind: Kind
    owner: str | None
    said_at: datetime
    act: Act = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How a new statement stands to a known one, and why, in words that history shows."""

    link: Link
    reason: str
    certainty: float
