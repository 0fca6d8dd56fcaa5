"""A model's answer, read and checked: nothing in it is believed that the conversation does not bear out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, cast, get_args

from commonplace.learn.persons import named
from commonplace.learn.support import Heard
from commonplace.values import KINDS, Kind
from commonplace.values.extraction import TEAM, Act, Finding, Utterance

MOST = 6
"""Memories of one message; a model that finds more is making them up."""
RULE = "model"
_LEARNED = tuple(kind for kind in KINDS if kind != "message")
_ACTS: tuple[Act, ...] = get_args(Act)
_LONGEST_TEXT = 500
_LONGEST_PART = 300
_MOST_REJECTED = 8
_LONGEST = 400_000
_COMPLAINTS = 5
_EARLIEST, _LATEST = timedelta(days=366), timedelta(days=3660)
"""How far a due day may lie before and after the message."""

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ALIKE = [{"'", "’", "‘", "`"}, {'"', "“", "”", "„", "«", "»"}, {"-", "‐", "‑", "–", "—", "−"}]


class Unreadable(Exception):
    """An answer that is not what was asked for; the message tells the model why."""


@dataclass(slots=True, kw_only=True)
class Reading:
    """What an answer is worth."""

    found: dict[int, list[Finding]] = field(default_factory=dict)
    spoiled: set[int] = field(default_factory=set)
    """Messages with an entry that has not the form which was asked for."""
    complaints: list[str] = field(default_factory=list)
    doubted: dict[int, int] = field(default_factory=dict)
    """How many entries of each message were left out because the conversation does not bear them out."""

    @property
    def unsettled(self) -> set[int]:
        """Messages of which nothing can be told from this answer, though it said something."""
        return self.spoiled | {at for at in self.doubted if at not in self.found}


def read(answer: str, messages: Sequence[Utterance], before: Sequence[int], part: Sequence[int]) -> Reading:
    """Read an answer about the messages of `part`; Unreadable if it is no JSON of the right form."""
    reading = Reading()
    shown = sorted([*before, *part])
    for number, entry in enumerate(_entries(answer), 1):
        try:
            at = _message(entry, part)
        except Unreadable as error:
            _complain(reading, number, error)
            continue
        try:
            finding = _finding(entry, messages[at], [messages[each] for each in shown if each < at])
        except Unreadable as error:
            _complain(reading, number, error)
            reading.spoiled.add(at)
            continue
        _add(reading, at, finding)
    return reading


def _complain(reading: Reading, number: int, error: Unreadable) -> None:
    if len(reading.complaints) < _COMPLAINTS:
        reading.complaints.append(f"memory {number}: {error}")


def _add(reading: Reading, at: int, finding: Finding | None) -> None:
    if finding is None:
        reading.doubted[at] = reading.doubted.get(at, 0) + 1
        return
    those = reading.found.setdefault(at, [])
    if len(those) < MOST and finding.text.casefold() not in {each.text.casefold() for each in those}:
        those.append(finding)


def _entries(answer: str) -> list[Mapping[str, Any]]:
    value = json_in(answer)
    entries = value.get("memories") if isinstance(value, dict) else value
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Unreadable('it is not an object with a list "memories" of objects')
    return cast("list[Mapping[str, Any]]", entries)


def json_in(answer: str) -> object:
    """The JSON in an answer; what stands around it, such as a fence or thoughts, is let pass."""
    if len(answer) > _LONGEST:
        raise Unreadable("it is far too long")
    bare = answer.rpartition("</think>")[2].strip()
    fenced = _FENCED.search(bare)
    first, last = bare.find("{"), bare.rfind("}")
    tries = [bare, *([fenced[1]] if fenced else []), *([bare[first : last + 1]] if 0 <= first < last else [])]
    problem = "it is empty"
    for text in tries:
        try:
            return cast(object, json.loads(text))
        except RecursionError:
            problem = "it is nested too deeply"
        except ValueError as error:
            problem = f"it is not JSON ({str(error)[:80]})"
    raise Unreadable(problem)


def _message(entry: Mapping[str, Any], part: Sequence[int]) -> int:
    at = entry.get("message")
    if isinstance(at, bool) or not isinstance(at, int) or at not in part:
        raise Unreadable('"message" is not the number of one of the messages')
    return at


def _finding(entry: Mapping[str, Any], said: Utterance, before: Sequence[Utterance]) -> Finding | None:
    """The memory of an entry; None if the message, with those before it, does not bear it out."""
    text = _text(entry, "text", _LONGEST_TEXT)
    quote = _text(entry, "quote", len(said.text) + _LONGEST_TEXT)
    reason = _text(entry, "reason", _LONGEST_PART)
    owner = _text(entry, "owner", _LONGEST_PART)
    kind, act = _one_of(entry, "kind", _LEARNED), _one_of({"act": "keep", **entry}, "act", _ACTS)
    rejected, due, importance = _rejected(entry), _due(entry, said.said_at), _importance(entry)
    if text is None or quote is None:
        raise Unreadable('"text" and "quote" must not be missing or empty')
    span = _find(quote, said.text)
    names = [named(each.speaker, each.role) for each in (*before, said)]
    heard = Heard([*(each.text for each in (*before, said)), *names], said.said_at.date())
    day = None if due is None else due.date()
    if span is None or not heard.supports(text, day) or not _is_owner(owner, names, heard):
        return None
    return Finding(
        text=text,
        kind=cast(Kind, kind),
        act=cast(Act, act),
        owner=owner,
        reason=reason if reason and heard.supports(reason, day) else None,
        rejected=tuple(each for each in rejected if heard.supports(each)),
        due=due,
        importance=importance,
        start=span[0],
        end=span[1],
        rule=RULE,
    )


def _text(entry: Mapping[str, Any], name: str, longest: int) -> str | None:
    value = entry.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Unreadable(f'"{name}" is not a text')
    if len(value) > longest:
        raise Unreadable(f'"{name}" is longer than {longest} characters')
    return _clean(value) or None


def _clean(value: str) -> str:
    """One line of what can be stored and shown."""
    return " ".join(_UNPRINTABLE.sub(" ", value).split())


def _one_of(entry: Mapping[str, Any], name: str, allowed: Sequence[str]) -> str:
    value = entry.get(name)
    if value not in allowed:
        raise Unreadable(f'"{name}" is not one of {", ".join(allowed)}')
    return cast(str, value)


def _rejected(entry: Mapping[str, Any]) -> list[str]:
    value = entry.get("rejected") or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Unreadable('"rejected" is not a list of texts')
    clean = (_clean(each) for each in value[:_MOST_REJECTED])
    return [each for each in clean if 0 < len(each) <= _LONGEST_PART]


def _due(entry: Mapping[str, Any], said_at: datetime) -> datetime | None:
    value = entry.get("due")
    if value is None:
        return None
    try:
        day = date.fromisoformat(value)
    except (TypeError, ValueError):
        raise Unreadable('"due" is not a day as YYYY-MM-DD') from None
    if not -_EARLIEST <= day - said_at.date() <= _LATEST:
        raise Unreadable('"due" lies too far from the day of the message')
    return datetime.combine(day, time(), said_at.tzinfo)


def _importance(entry: Mapping[str, Any]) -> float:
    value = entry.get("importance", 0.5)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise Unreadable('"importance" is not a number from 0 to 1')
    return float(value)


def _is_owner(owner: str | None, names: Sequence[str], heard: Heard) -> bool:
    """Whether an owner is somebody of this conversation, or named in it."""
    return owner is None or owner == TEAM or owner in names or heard.supports(owner)


def _find(quote: str, text: str) -> tuple[int, int] | None:
    """Where the words of a quote stand; spaces, capitals and the form of quotation marks and dashes do not count."""
    at = text.find(quote)
    if at >= 0:
        return (at, at + len(quote)) if len(quote) > 1 or len(text.strip()) == 1 else None
    pattern = r"\s+".join("".join(map(_any_form, word)) for word in quote.split())
    found = re.search(pattern, text, re.IGNORECASE) if len(quote) > 1 else None
    return found.span() if found else None


def _any_form(letter: str) -> str:
    for forms in _ALIKE:
        if letter in forms:
            return f"[{re.escape(''.join(sorted(forms)))}]"
    return re.escape(letter)
