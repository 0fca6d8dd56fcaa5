"""Shared by the tests of extraction: a conversation, answers about it, scripted models and readers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from commonplace.learn.chat import NoReply, Reply
from commonplace.learn.chat import Turn as Asked
from commonplace.models.statements import TalkTurn, Told
from commonplace.values.extraction import Finding, Utterance

MONDAY = datetime(2026, 3, 2, 10, 0, tzinfo=timezone.utc)


def said(text: str, speaker: str | None = "Sarah", role: str = "user", **more: Any) -> Utterance:
    return Utterance(text=text, speaker=speaker, role=role, said_at=MONDAY, **more)


CHOICE = said("ok after the spike: we chose FastAPI over Flask because of the async support. Thanks everyone!")
LIKING = said("I prefer dark mode. Please send the report by Friday", "Tom")
TALK = [CHOICE, LIKING]


def entry(sentence: int = 0, **parts: Any) -> dict[str, Any]:
    """A choice as a model should make it; of the sentence about FastAPI unless told otherwise."""
    return {"sentence": sentence, "kind": "decision", "owner": "the team", "act": "state", "needs": [], **parts}


def liking(**parts: Any) -> dict[str, Any]:
    return entry(2, **{"kind": "preference", "owner": "Tom", **parts})


def answer(*entries: object) -> str:
    return json.dumps({"keep": list(entries)})


class Script:
    """A model with scripted answers that records its requests."""

    def __init__(self, *answers: str | Exception, tokens: int | None = 100) -> None:
        self.answers = list(answers)
        self.tokens = tokens
        self.asked: list[list[Asked]] = []

    def ask(self, turns: Sequence[Asked], *, within: float) -> Reply:
        assert within > 0
        self.asked.append(list(turns))
        if not self.answers:
            raise NoReply("the script is over")
        next_one = self.answers.pop(0)
        if isinstance(next_one, Exception):
            raise next_one
        return Reply(text=next_one, tokens=self.tokens)


class Fallback:
    """An extractor that finds one note in each message, and says that it did."""

    def __init__(self) -> None:
        self.calls = 0

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        self.calls += 1
        return [
            [Finding(text=each.text, kind="note", start=0, end=len(each.text), rule="fallback")] for each in messages
        ]


class Reading:
    """A reader of statements that knows some sentences by heart: what it tells of each, if that is worth keeping."""

    def __init__(self, told: Mapping[str, Mapping[str, Any]]) -> None:
        self.told = told
        self.turns: list[TalkTurn] = []

    def read_talk(self, turns: Sequence[TalkTurn]) -> list[list[Told]]:
        self.turns = list(turns)
        places = {text: (number, at) for number, turn in enumerate(turns) for at, text in enumerate(turn.sentences)}
        return [[self._tell(text, places) for text in turn.sentences] for turn in turns]

    def _tell(self, text: str, places: Mapping[str, tuple[int, int]]) -> Told:
        parts = dict(self.told.get(text, {"keep": 0.0}))
        needs = tuple(places[each] for each in parts.pop("needs", ()))
        plain = {"keep": 0.9, "kind": "fact", "owner": "speaker", "act": "state", "time": "present"}
        return Told(**{**plain, **parts, "needs": needs})


def rules_of(found: Sequence[Sequence[Finding]]) -> list[list[str]]:
    """Return how each finding of each message was found."""
    return [[each.rule for each in those] for those in found]
