"""Measure how free-worded updates are reconciled: `python bench/updates.py PAIRS.json… [--learn] [--misses]`.

Each pair is an earlier and a later statement and their relation, as in training/pairs. The two are remembered a month
apart with `reconcile=True`, each pair in a scope of its own; with `--learn`, they are learned as two messages. Pairs
that the reader was trained on flatter it.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import commonplace
from commonplace import Book, Scope

WHEN = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
LATER = WHEN + timedelta(days=30)
RESULTS = ("closed", "repeated", "disputed", "linked", "untouched", "not learned")


def main() -> None:
    """Print, by relation, how often each result came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="+", type=Path)
    parser.add_argument("--learn", action="store_true", help="learn two messages instead of remembering two statements")
    parser.add_argument("--sample", type=int, default=0, help="take so many pairs of each file")
    parser.add_argument("--misses", action="store_true", help="print the pairs that came out wrong")
    given = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    book = commonplace.open(Path(tempfile.mkdtemp()) / "updates.db")
    for path in given.pairs:
        pairs = json.loads(path.read_text("utf-8"))
        if given.sample:
            pairs = random.Random(7).sample(pairs, min(given.sample, len(pairs)))
        for number, pair in enumerate(pairs):
            scope = Scope(user=f"{path.stem} {number}")
            result = (learn if given.learn else remember)(book, scope, pair)
            counts[pair["relation"]][result] += 1
            if given.misses and (result == "closed") != (pair["relation"] == "replaces"):
                print(f"{pair['relation']}, {result}: {pair['earlier']!r} / {pair['later']!r}")
    show(counts)


def remember(book: Book, scope: Scope, pair: dict[str, Any]) -> str:
    """Remember both statements and return what became of the earlier one."""
    said = [(pair["earlier"], "Ana", WHEN), (pair["later"], "Ana" if pair["same_speaker"] else "Ben", LATER)]
    old, new = (
        book.remember(text, scope=scope, source=source, said_at=at, reconcile=True) for text, source, at in said
    )
    return judge(book, [old.id], new.id)


def learn(book: Book, scope: Scope, pair: dict[str, Any]) -> str:
    """Learn both as messages and return what became of the memories of the earlier one."""
    said = [(pair["earlier"], "Ana", WHEN), (pair["later"], "Ana" if pair["same_speaker"] else "Ben", LATER)]
    first, second = (
        book.learn([{"name": name, "content": text, "said_at": at}], session=at.isoformat(), scope=scope, wait=True)
        for text, name, at in said
    )
    if not first.memories or not second.memories:
        return "not learned"
    results = {judge(book, [old.id for old in first.memories], new.id) for new in second.memories}
    return next(result for result in RESULTS if result in results)


def judge(book: Book, old: list[str], new: str) -> str:
    """Return what a later memory did to earlier ones."""
    if new in old:
        return "repeated"
    if any(book.get(id).superseded_by == new for id in old):
        return "closed"
    relations = {link.relation for link in book.links(new) if {link.id, link.other} & {*old}}
    return "disputed" if "disputes" in relations else "linked" if "adds to" in relations else "untouched"


def show(counts: dict[str, Counter[str]]) -> None:
    """Print the table, and how many of the pairs that replace nothing were closed."""
    print("relation".ljust(12), *(name.rjust(12) for name in ("pairs", *RESULTS)))
    for relation, results in sorted(counts.items()):
        shares = [f"{100 * results[name] / results.total():.1f}%" for name in RESULTS]
        print(relation.ljust(12), str(results.total()).rjust(12), *(share.rjust(12) for share in shares))
    others = sum((results for relation, results in counts.items() if relation != "replaces"), Counter[str]())
    if others:
        print(f"closed wrongly: {100 * others['closed'] / others.total():.1f}% of {others.total()} other pairs")


if __name__ == "__main__":
    main()
