"""Extraction: the messages that an extractor is given and the findings that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from commonplace.values import Kind

Act = Literal["keep", "correct", "forget"]
"""A sentence asks to keep something, to keep it instead of an earlier memory, or to forget it."""

TEAM = "the team"
"""The owner of what "we" decide, prefer or plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One message of a conversation."""

    text: str
    speaker: str | None
    role: str
    """user, assistant, system or tool."""
    said_at: datetime
    context: bool = False
    """Whether it only gives later messages context, and nothing is extracted from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One memory in a message, and its place there."""

    text: str
    """What was said, in its own words, with what it needs to be understood; of `forget`, the subject."""
    kind: Kind
    act: Act = "keep"
    owner: str | None = None
    """A speaker's name, TEAM, or None for a fact about the world."""
    due: datetime | None = None
    """The day that a plan or commitment names, relative to the time of the message."""
    importance: float = 0.5
    start: int
    end: int
    """The span of the message's text that this comes from."""
    rule: str
    """How it was found: "reader", "model", "remember", "forget"."""


class Extractor(Protocol):
    """Extracts memories from messages: the reader that ships with commonplace, or a model."""

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        """Return the findings in each message; earlier messages are the context of later ones."""
