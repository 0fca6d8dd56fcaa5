"""Shared by the tests of extraction with a model: a conversation, answers about it, and scripted models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from commonplace.learn.chat import NoReply, Reply, Turn
from commonplace.values.extraction import Finding, Utterance

MONDAY = datetime(2026, 3, 2, 10, 0, tzinfo=timezone.utc)


def said(text: str, speaker: str | None = "Sarah", role: str = "user", **more: Any) -> Utterance:
    return Utterance(text=text, speaker=speaker, role=role, said_at=MONDAY, **more)


CHOICE = said("ok after the spike: we chose FastAPI over Flask because of the async support. Thanks everyone!")
LIKING = said("I prefer dark mode. Please send the report by Friday", "Tom")
TALK = [CHOICE, LIKING]


def entry(message: int = 0, **parts: Any) -> dict[str, Any]:
    """A memory as a model should answer it; about the choice unless told otherwise."""
    good = {
        "message": message,
        "quote": "we chose FastAPI over Flask because of the async support",
        "text": "The team chose FastAPI over Flask because of the async support",
        "kind": "decision",
        "act": "keep",
        "owner": "the team",
        "reason": "async support",
        "rejected": ["Flask"],
        "due": None,
        "importance": 0.8,
    }
    return {**good, **parts}


def liking(**parts: Any) -> dict[str, Any]:
    plain = {"quote": "I prefer dark mode", "text": "Tom prefers dark mode", "kind": "preference", "owner": "Tom"}
    return entry(1, **{**plain, "reason": None, "rejected": [], **parts})


def answer(*entries: object) -> str:
    return json.dumps({"memories": list(entries)})


class Script:
    """A model with scripted answers that records its requests."""

    def __init__(self, *answers: str | Exception, tokens: int | None = 100) -> None:
        self.answers = list(answers)
        self.tokens = tokens
        self.asked: list[list[Turn]] = []

    def ask(self, turns: Sequence[Turn], *, within: float) -> Reply:
        assert within > 0
        self.asked.append(list(turns))
        if not self.answers:
            raise NoReply("the script is over")
        next_one = self.answers.pop(0)
        if isinstance(next_one, Exception):
            raise next_one
        return Reply(text=next_one, tokens=self.tokens)


class ByRule:
    """Stands for the rules: finds one note in each message, and says that it did."""

    def __init__(self) -> None:
        self.calls = 0

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        self.calls += 1
        return [[Finding(text=each.text, kind="note", start=0, end=len(each.text), rule="rule")] for each in messages]


def rules_of(found: Sequence[Sequence[Finding]]) -> list[list[str]]:
    """By which rule each finding of each message was found."""
    return [[each.rule for each in those] for those in found]
