"""Check the form of the training data: `python training/check.py` prints the counts, and fails on the first defect."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TYPES = ("direct", "paraphrase", "inference", "update", "multi", "temporal", "overview", "turn", "smalltalk", "none")
UNANSWERED = ("none", "smalltalk")
RELATIONS = ("replaces", "repeats", "adds", "disputes", "unrelated")
ENTRY = {"id", "at", "speaker", "role", "session", "text"}
QUESTION = {"id", "at", "text", "type", "relevant", "stale", "note"}


class Defect(Exception):
    """A file that does not have the form that README.md describes."""


def ensure(holds: bool, place: str, complaint: str) -> None:
    if not holds:
        raise Defect(f"{place}: {complaint}")


def check_book(book: dict[str, Any]) -> Counter[str]:
    ids = [entry["id"] for entry in book["entries"]]
    times = [entry["at"] for entry in book["entries"]]
    ensure(len(set(ids)) == len(ids), book["id"], "two entries have one id")
    ensure(times == sorted(times), book["id"], "entries are not in the order of time")
    for entry in book["entries"]:
        ensure(set(entry) == ENTRY and bool(entry["text"].strip()), f"{book['id']}/{entry['id']}", "wrong fields")
    for question in book["questions"]:
        check_question(question, set(ids), f"{book['id']}/{question['id']}")
    return Counter(question["type"] for question in book["questions"])


def check_question(question: dict[str, Any], ids: set[str], place: str) -> None:
    relevant, stale = set(question["relevant"]), set(question["stale"])
    ensure(set(question) == QUESTION, place, "wrong fields")
    ensure(question["type"] in TYPES, place, "unknown type")
    ensure(relevant | stale <= ids, place, "an entry that is not there")
    ensure(not relevant & stale, place, "an entry is both relevant and stale")
    ensure((question["type"] in UNANSWERED) == (not relevant), place, "what is relevant does not fit the type")


def check_fragment(fragment: dict[str, Any]) -> None:
    """Check that what a sentence needs is there: "2.1" is the first sentence of the second message."""
    messages = fragment["messages"]
    there = {f"{m}.{s}" for m, each in enumerate(messages, 1) for s in range(1, len(each["sentences"]) + 1)}
    for message in messages:
        for sentence in message["sentences"]:
            ensure(set(sentence["needs"]) <= there, fragment["id"], "a sentence needs one that is not there")


def main() -> None:
    for path in sorted((HERE / "books").glob("*.json")):
        books = json.loads(path.read_text("utf-8"))["books"]
        counts = sum((check_book(book) for book in books), Counter[str]())
        print(f"{path.name}: {len(books)} books, {counts.total()} questions: {dict(counts)}")
    for path in sorted((HERE / "pairs").glob("*.json")):
        pairs = json.loads(path.read_text("utf-8"))
        for number, pair in enumerate(pairs):
            ensure(pair["relation"] in RELATIONS, f"{path.name} {number}", "unknown relation")
        print(f"{path.name}: {len(pairs)} pairs: {dict(Counter(pair['relation'] for pair in pairs))}")
    for path in sorted((HERE / "keep").glob("*.json")):
        fragments = json.loads(path.read_text("utf-8"))
        sentences = [each for part in fragments for message in part["messages"] for each in message["sentences"]]
        for fragment in fragments:
            check_fragment(fragment)
        kept = sum(each["keep"] for each in sentences)
        print(f"{path.name}: {len(fragments)} fragments, {len(sentences)} sentences, {kept} kept")


if __name__ == "__main__":
    main()
