"""The data sets as books to fill and questions to ask of them, all in one shape."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

FOREIGN = 60
"""Questions of other conversations that each long book is asked."""
_EPOCH = datetime(2025, 1, 1, tzinfo=timezone.utc)
_ROLES = {"u": "user", "a": "assistant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One turn or fact, as a user of a memory would have it."""

    id: str
    text: str
    said_at: datetime
    session: str | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, what answers it, and what it must not be credited for."""

    id: str
    text: str
    category: str
    evidence: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    """Sessions that hold the evidence."""
    ignored: frozenset[str] = frozenset()
    """Sessions that may hold the answer too: what comes from them is not counted."""
    old: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
    days: tuple[date, date] | None = None
    """The first and last day of the answer, where it is a date that can be read by rule."""

    @property
    def answerable(self) -> bool:
        return bool(self.evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A book's content, the questions that it answers, and those that it cannot."""

    set: str
    name: str
    units: Sequence[Unit]
    questions: list[Question]
    foreign: list[Question] = field(default_factory=list)
    """Questions about somebody else's conversation."""


def load(paths: Sequence[Path]) -> list[Case]:
    """Read every set that these files or folders hold."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    cases = [case for file in files if file.stem in _READERS for case in _READERS[file.stem](file)]
    if not cases:
        raise SystemExit(f"no known data in {', '.join(map(str, paths))}: expected {', '.join(_READERS)} (.json)")
    return cases


def _conversations(path: Path) -> Iterator[Case]:
    told = json.loads(path.read_text())
    asked = [[_question(raw) for raw in each["questions"] if _is_sound(raw)] for each in told]
    chance = random.Random(7)
    for number, each in enumerate(told):
        others = [q for other, qs in enumerate(asked) if other != number for q in qs if q.answerable]
        yield Case(
            set=path.stem,
            name=each["space"],
            units=[_unit(raw) for raw in each["units"]],
            questions=asked[number],
            foreign=chance.sample(others, min(FOREIGN, len(others))),
        )


def _unit(raw: dict[str, Any]) -> Unit:
    photo = f" [photo: {raw['image']}]" if raw.get("image") else ""
    return Unit(
        id=str(raw["id"]),
        text=raw["text"] + photo,
        said_at=_moment(raw["date"]),
        session=str(raw["session"]),
        speaker=raw["speaker"],
    )


def _is_sound(raw: dict[str, Any]) -> bool:
    """Leave out doubtful labels, and questions that have an answer but no evidence for it."""
    return raw.get("label") != "suspect" and bool(raw["evidence"] or not raw["answerable"])


def _question(raw: dict[str, Any]) -> Question:
    """Read a question; the evidence of an unanswerable one only misleads, and is none."""
    answerable = raw["answerable"]
    return Question(
        id=raw["id"],
        text=raw["question"],
        category=raw["category"] if answerable or raw["category"] in _UNANSWERABLE else "unanswerable",
        evidence=_names(raw["evidence"]) if answerable else frozenset(),
        sessions=_names(raw.get("evidence_sessions")) if answerable else frozenset(),
        ignored=_names(raw.get("exclude")),
        old=_names(raw.get("old")),
        new=_names(raw.get("new")),
        days=_days(raw.get("answer_range")),
    )


_UNANSWERABLE = frozenset({"adversarial", "abstention"})


def _names(raw: Sequence[object] | None) -> frozenset[str]:
    return frozenset(map(str, raw or ()))


def _days(raw: Sequence[str] | None) -> tuple[date, date] | None:
    return (date.fromisoformat(raw[0]), date.fromisoformat(raw[1])) if raw else None


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def _haystacks(path: Path) -> Iterator[Case]:
    """LongMemEval twice: each question with a haystack of its own, then all of them on one book of everything."""
    data = json.loads(path.read_text())
    sessions = data["sessions"]
    asked = [_question(raw) for raw in data["questions"]]
    chance = random.Random(7)
    for raw, question in zip(data["questions"], asked, strict=True):
        held = {session for session, _ in raw["haystack"]}
        strangers = [other for other in asked if other.answerable and not held & (other.sessions | other.ignored)]
        yield Case(
            set=f"{path.stem} mix",
            name=question.id,
            units=[unit for session, date in raw["haystack"] for unit in _session(session, date, sessions)],
            questions=[question],
            foreign=chance.sample(strangers, min(1, len(strangers))),
        )
    dated = sorted((said["date"], session) for session, said in sessions.items())
    everything = [unit for date, session in dated for unit in _session(session, date, sessions)]
    yield Case(set=f"{path.stem} mixL", name="all", units=everything, questions=[q for q in asked if q.answerable])


def _session(name: str, date: str, sessions: dict[str, Any]) -> Iterator[Unit]:
    for place, (role, text) in enumerate(sessions[name]["turns"]):
        if text.strip():
            yield Unit(
                id=f"{name}:{place}", text=text, said_at=_moment(date), session=name, speaker=_ROLES[role]
            )  # fmt: skip


def _facts(path: Path) -> Iterator[Case]:
    """Numbered facts, of which a later one replaces an earlier: an hour lies between any two."""
    for each in json.loads(path.read_text()):
        units = [
            Unit(id=number, text=fact, said_at=_EPOCH + timedelta(hours=place))
            for place, (number, fact) in enumerate(each["units"])
        ]
        questions = [_question(raw) for raw in each["questions"] if _is_sound(raw)]
        yield Case(set=path.stem, name=each["space"], units=units, questions=questions)


_READERS = {
    "locomo": _conversations,
    "longmemeval": _haystacks,
    "beam100k": _conversations,
    "conflicts": _facts,
}
