"""Rows for learning: talk whose sentences are worth keeping or not, and pairs of statements with their relation."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from commonplace.learn.segment import sentences
from commonplace.models.statements import (
    ACTS,
    DETAILS,
    KINDS,
    OWNERS,
    RELATIONS,
    TIMES,
    Pair,
    Row,
    Split,
    Turn,
    lay_out_pair,
    lay_out_turn,
)

T = TypeVar("T")
TEAM = ("team", "the team")
NOT_REPLACED = -2
"""The label of two entries of a book of which only this is known: the later one does not outdate the earlier one."""
_UNKNOWN = (-1,) * len(DETAILS)


@dataclass(frozen=True)
class Told:
    """The labels of a sentence: whether it is kept, then its details, and the earlier sentences that it needs."""

    keep: int = -1
    details: tuple[int, ...] = _UNKNOWN
    needs: frozenset[int] | None = None
    """Places in the row; None: not known."""


@dataclass(frozen=True)
class Example:
    """What is read, and its labels."""

    row: Row
    relation: int = -1
    told: list[Told] = field(default_factory=list)


def read_pairs(path: Path, split: Split) -> Iterator[Example]:
    """Yield the pairs of a file."""
    for pair in json.loads(path.read_text("utf-8")):
        shown = Pair(pair["earlier"], pair["later"], pair["same_speaker"])
        yield Example(lay_out_pair(split, shown), RELATIONS.index(pair["relation"]))


def read_book_pairs(path: Path, split: Split) -> Iterator[Example]:
    """Yield pairs of entries: one that a question calls outdated with the only later one that answers it, and the most
    similar earlier entries that no question calls outdated."""
    for book in json.loads(path.read_text("utf-8"))["books"]:
        entries = {entry["id"]: entry for entry in book["entries"]}
        order = {name: place for place, name in enumerate(entries)}
        stale = {name for question in book["questions"] for name in question.get("stale", ())}
        words = {name: set(re.findall(r"\w{4,}", entry["text"].lower())) for name, entry in entries.items()}
        used = set()
        for question in book["questions"]:
            for old in question.get("stale", ()):
                newer = [name for name in question["relevant"] if order[name] > order[old]]
                if len(newer) == 1 and (old, newer[0]) not in used:
                    used.add((old, newer[0]))
                    yield _pair(split, entries[old], entries[newer[0]], RELATIONS.index("replaces"))
            for name in question["relevant"][:2]:
                before = [each for each in islice(entries, order[name]) if each not in stale and words[each]]
                near = sorted(before, key=lambda each: -len(words[each] & words[name]) / len(words[each] | words[name]))
                for each in near[:1]:
                    if (each, name) not in used:
                        used.add((each, name))
                        yield _pair(split, entries[each], entries[name], NOT_REPLACED)


def _pair(split: Split, earlier: dict[str, Any], later: dict[str, Any], relation: int) -> Example:
    same = earlier.get("speaker") == later.get("speaker")
    return Example(lay_out_pair(split, Pair(earlier["text"], later["text"], same)), relation)


def read_fragments(path: Path, split: Split) -> Iterator[Example]:
    """Yield the fragments of a file."""
    for fragment in json.loads(path.read_text("utf-8")):
        row, told, places = Row([], [], []), [], {}
        for number, message in enumerate(fragment["messages"], 1):
            turn = _turn(message, [sentence["text"] for sentence in message["sentences"]])
            for place, sentence in enumerate(message["sentences"], 1):
                places[f"{number}.{place}"] = len(told)
                told.append(_label(sentence, turn.speaker, places) if sentence["keep"] else Told(keep=0))
            row = _append(row, lay_out_turn(split, turn, number))
        yield Example(row, told=told)


def _append(row: Row, more: Row) -> Row:
    start = len(row.tokens)
    return Row(row.tokens + more.tokens, row.turns + more.turns, row.marks + [start + mark for mark in more.marks])


def _turn(message: dict[str, Any], texts: Sequence[str]) -> Turn:
    assistant = message["role"] == "assistant"
    return Turn(message["name"] or ("Assistant" if assistant else "user"), assistant, texts)


def _label(sentence: dict[str, Any], name: str, places: dict[str, int]) -> Told:
    details = (
        _find(KINDS, sentence["kind"]),
        _owner(sentence["owner"], name),
        _find(ACTS, sentence["act"]),
        _find(TIMES, sentence["about"]),
    )
    return Told(1, details, frozenset(places[str(each)] for each in sentence["needs"] if str(each) in places))


def _owner(owner: str | None, name: str) -> int:
    if owner is None:
        return -1
    return OWNERS.index("team" if owner in TEAM else "speaker" if owner in (name, "user", "speaker") else "other")


def read_snippets(path: Path, split: Split) -> Iterator[Example]:
    """Yield the snippets of a file: a sentence is kept if it holds most words that a memory must have."""
    for line in path.read_text("utf-8").splitlines():
        snippet = json.loads(line)
        wanted = [memory for memory in snippet["memories"] if memory["act"] != "forget"]
        texts = [[span.text for span in sentences(message["text"])] for message in snippet["messages"]]
        most = [max((_count(text, memory) for each in texts for text in each), default=0) for memory in wanted]
        row, told = Row([], [], []), []
        for number, (message, said) in enumerate(zip(snippet["messages"], texts, strict=True), 1):
            turn = _turn(message, said)
            row = _append(row, lay_out_turn(split, turn, number))
            for text in said:
                meant = [each for each, best in zip(wanted, most, strict=True) if best and _count(text, each) == best]
                told.append(_label_snippet(meant, message, turn.speaker))
        yield Example(row, told=told)


def _label_snippet(meant: Sequence[dict[str, Any]], message: dict[str, Any], name: str) -> Told:
    if message["role"] not in ("user", "assistant") or any(memory.get("optional") for memory in meant):
        return Told()
    if len(meant) != 1:
        return Told(keep=int(bool(meant)))
    memory = meant[0]
    kind = _find(KINDS, memory["kind"][0]) if len(memory["kind"]) == 1 else -1
    act = {"keep": ACTS.index("state"), "correct": ACTS.index("correct")}.get(memory["act"], -1)
    return Told(1, (kind, _owner(memory["owner"], name), act, -1))


def _count(text: str, memory: dict[str, Any]) -> int:
    return sum(word.lower() in text.lower() for word in memory["has"])


def _find(names: Sequence[str], name: str | None) -> int:
    return names.index(name) if name in names else -1


def shuffle_forever(rows: Sequence[T], chance: random.Random) -> Iterator[T]:
    """Yield the rows again and again, each time in another order."""
    while True:
        yield from chance.sample(rows, len(rows))
