"""Rows for the model of statements: talk whose sentences are worth keeping or not, and pairs with their relation."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from commonplace.learn.segment import sentences
from commonplace.models.embedders.static import StaticEmbedder
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
    TalkTurn,
    cut_windows,
)

T = TypeVar("T")
TEAM = ("team", "the team")
NOT_REPLACED = -2
"""The label of two entries of a book of which only this is known: the later one does not outdate the earlier one."""
NEAR, MOST_NEAR = 0.45, 2
"""The cosine from which two entries of a book are neighbours, and how many earlier neighbours of each are taken."""
_UNKNOWN = (-1,) * len(DETAILS)


@dataclass(frozen=True)
class Label:
    """What is known of a sentence: whether it is kept, then its details, and the earlier sentences that it needs."""

    keep: int = -1
    details: tuple[int, ...] = _UNKNOWN
    needs: frozenset[int] | None = None
    """Places in the row; None: not known."""


@dataclass(frozen=True)
class Talk:
    """A row of a talk, and the label of each sentence; one that an earlier row has read already is not known."""

    row: Row
    labels: list[Label]


@dataclass(frozen=True)
class Related:
    """A pair, and its relation."""

    pair: Pair
    relation: int


def read_pairs(path: Path) -> Iterator[Related]:
    """Yield the pairs of a file."""
    for pair in json.loads(path.read_text("utf-8")):
        shown = Pair(pair["earlier"], pair["later"], pair["same_speaker"])
        yield Related(shown, RELATIONS.index(pair["relation"]))


def read_book_pairs(path: Path, embedder: StaticEmbedder) -> Iterator[Related]:
    """Yield pairs of entries: one that a question calls outdated with the only later one that answers it, and near
    neighbours of which no question calls one outdated."""
    for book in json.loads(path.read_text("utf-8"))["books"]:
        entries = {entry["id"]: entry for entry in book["entries"]}
        order = {name: place for place, name in enumerate(entries)}
        stale = {name for question in book["questions"] for name in question.get("stale", ())}
        used = set()
        for question in book["questions"]:
            for old in question.get("stale", ()):
                newer = [name for name in question["relevant"] if order[name] > order[old]]
                if len(newer) == 1 and (old, newer[0]) not in used:
                    used.add((old, newer[0]))
                    yield Related(_pair(entries[old], entries[newer[0]]), RELATIONS.index("replaces"))
        names = list(entries)
        vectors = embedder.embed([entry["text"] for entry in entries.values()])
        near = np.tril(vectors @ vectors.T, -1)
        for later, row in enumerate(near):
            for earlier in np.argsort(-row)[:MOST_NEAR]:
                if row[earlier] >= NEAR and names[earlier] not in stale:
                    yield Related(_pair(entries[names[earlier]], entries[names[later]]), NOT_REPLACED)


def _pair(earlier: dict[str, Any], later: dict[str, Any]) -> Pair:
    return Pair(earlier["text"], later["text"], earlier.get("speaker") == later.get("speaker"))


def read_fragments(path: Path, split: Split) -> Iterator[Talk]:
    """Yield the fragments of a file."""
    for fragment in json.loads(path.read_text("utf-8")):
        turns, labels, places = [], [], {}
        for number, message in enumerate(fragment["messages"], 1):
            turn = _turn(message, [sentence["text"] for sentence in message["sentences"]])
            turns.append(turn)
            for place, sentence in enumerate(message["sentences"], 1):
                places[f"{number}.{place}"] = number - 1, place - 1
                labels.append(_label(sentence, turn.speaker) if sentence["keep"] else Label(0))
        needs = {
            places[f"{number}.{place}"]: {places[str(each)] for each in sentence["needs"] if str(each) in places}
            for number, message in enumerate(fragment["messages"], 1)
            for place, sentence in enumerate(message["sentences"], 1)
            if sentence["keep"]
        }
        yield from _cut(split, turns, dict(zip(places.values(), labels, strict=True)), needs)


def _cut(
    split: Split,
    turns: Sequence[TalkTurn],
    labels: dict[tuple[int, int], Label],
    needs: dict[tuple[int, int], set[tuple[int, int]]],
) -> Iterator[Talk]:
    """Yield the windows of a talk with their labels."""
    for window in cut_windows(split, turns):
        told = []
        for number, place in enumerate(window.places):
            label = Label() if number < window.fresh else labels[place]
            if number >= window.fresh and place in needs:
                seen = frozenset(at for at, other in enumerate(window.places[:number]) if other in needs[place])
                label = Label(label.keep, label.details, seen)
            told.append(label)
        yield Talk(window.row, told)


def _turn(message: dict[str, Any], texts: Sequence[str]) -> TalkTurn:
    assistant = message["role"] == "assistant"
    return TalkTurn(message["name"] or ("Assistant" if assistant else "user"), assistant, texts)


def _label(sentence: dict[str, Any], name: str) -> Label:
    details = (
        _find(KINDS, sentence["kind"]),
        _owner(sentence["owner"], name),
        _find(ACTS, sentence["act"]),
        _find(TIMES, sentence["about"]),
    )
    return Label(1, details)


def _owner(owner: str | None, name: str) -> int:
    if owner is None:
        return -1
    return OWNERS.index("team" if owner in TEAM else "speaker" if owner in (name, "user", "speaker") else "other")


def read_snippets(path: Path, split: Split) -> Iterator[Talk]:
    """Yield the snippets of a file: a sentence is kept if it holds most words that a memory must have."""
    for line in path.read_text("utf-8").splitlines():
        snippet = json.loads(line)
        wanted = [memory for memory in snippet["memories"] if memory["act"] != "forget"]
        texts = [[span.text for span in sentences(message["text"])] for message in snippet["messages"]]
        most = [max((_count(text, memory) for each in texts for text in each), default=0) for memory in wanted]
        turns, labels = [], {}
        for number, (message, said) in enumerate(zip(snippet["messages"], texts, strict=True)):
            turns.append(_turn(message, said))
            for place, text in enumerate(said):
                meant = [each for each, best in zip(wanted, most, strict=True) if best and _count(text, each) == best]
                labels[number, place] = _label_snippet(meant, message, turns[-1].speaker)
        yield from _cut(split, turns, labels, {})


def _label_snippet(meant: Sequence[dict[str, Any]], message: dict[str, Any], name: str) -> Label:
    if message["role"] not in ("user", "assistant") or any(memory.get("optional") for memory in meant):
        return Label()
    if len(meant) != 1:
        return Label(keep=int(bool(meant)))
    memory = meant[0]
    kind = _find(KINDS, memory["kind"][0]) if len(memory["kind"]) == 1 else -1
    act = {"keep": ACTS.index("state"), "correct": ACTS.index("correct")}.get(memory["act"], -1)
    return Label(1, (kind, _owner(memory["owner"], name), act, -1))


def _count(text: str, memory: dict[str, Any]) -> int:
    return sum(word.lower() in text.lower() for word in memory["has"])


def _find(names: Sequence[str], name: str | None) -> int:
    return names.index(name) if name in names else -1


def shuffle_forever(rows: Sequence[T], chance: random.Random) -> Iterator[T]:
    """Yield the rows again and again, each time in another order."""
    while True:
        yield from chance.sample(rows, len(rows))
