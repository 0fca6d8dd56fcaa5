"""Compare the recall of SQLite and PostgreSQL through the public API, on labelled data.

    python bench/pg_parity.py DATA/locomo.json DATA/longmemeval.json DATA/beam100k.json

A file is a list of {space, units: [{id, date, speaker, text}], questions: [{question, evidence, answerable}]}, or
{sessions: {id: {turns: [[who, text]]}}, questions: [{…, haystack: [[session, date]]}]}, where each question has a
space of its own. The embedder is the default one; k=10, threshold=0, max_tokens=None. Ends with an error if the
engines differ by more than half a point.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pg_server
from turns import say

import commonplace
from commonplace import Book, Draft

K = 10
POINTS = 0.5
MEASURES = ("any@10", "all@10", "NDCG@10")
ENGINES = ("SQLite", "PostgreSQL")
BATCH = 1_000
WHO = {"u": "user", "a": "assistant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One space: what it holds, and questions with the ids of what answers them."""

    space: str
    drafts: list[Draft]
    asked: list[tuple[str, list[str]]]


@dataclass(slots=True, kw_only=True)
class Score:
    """Sums over the questions of one file on one engine."""

    sums: list[float] = field(default_factory=lambda: [0.0] * len(MEASURES))
    seconds: float = 0.0

    def points(self, questions: int) -> list[float]:
        return [100 * total / max(questions, 1) for total in self.sums]


@dataclass(slots=True, kw_only=True)
class Outcome:
    """One file's scores on both engines, and on how many questions they gave the same ten in the same order."""

    name: str
    questions: int = 0
    same: int = 0
    scores: dict[str, Score] = field(default_factory=lambda: {engine: Score() for engine in ENGINES})

    def difference(self) -> float:
        """The largest difference of any measure, in points."""
        one, other = (self.scores[engine].points(self.questions) for engine in ENGINES)
        return max(abs(a - b) for a, b in zip(one, other, strict=True))


def main() -> None:
    """Compare, print, and end with an error if the engines differ."""
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="pg-parity-", dir=options.tmp))
    try:
        with pg_server.running(folder, {}) as server:
            outcomes = [_file(server, folder, path, options.questions) for path in options.data]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    say("", lasting=True)
    _print(outcomes)
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n", encoding="utf-8")
    if any(each.difference() > POINTS for each in outcomes):
        sys.exit(f"the engines differ by more than {POINTS:g} points")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    parser.add_argument("--questions", type=int, default=sys.maxsize, help="at most so many of each file")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tmp", type=Path)
    return parser.parse_args()


def _file(server: pg_server.Server, folder: Path, path: Path, most: int) -> Outcome:
    outcome = Outcome(name=path.stem)
    database = f"parity_{path.stem}"
    books = {
        "SQLite": commonplace.open(folder / f"{path.stem}.db"),
        "PostgreSQL": commonplace.open(server.make(database)),
    }
    for case in _cases(json.loads(path.read_text(encoding="utf-8"))):
        if outcome.questions >= most:
            break
        say(f"{path.stem}: {case.space}")
        _compare(books, case, outcome)
    for book in books.values():
        book.close()
    server.drop(database)
    return outcome


def _compare(books: dict[str, Book], case: Case, outcome: Outcome) -> None:
    found: dict[str, list[list[str]]] = {}
    for engine, whole in books.items():
        book = whole.in_space(case.space)
        for start in range(0, len(case.drafts), BATCH):
            book.remember(case.drafts[start : start + BATCH])
        start_time = time.perf_counter()
        found[engine] = [_recalled(book, question) for question, _ in case.asked]
        outcome.scores[engine].seconds += time.perf_counter() - start_time
    for engine, answers in found.items():
        for (_, evidence), ids in zip(case.asked, answers, strict=True):
            for place, value in enumerate(_measures(ids, evidence)):
                outcome.scores[engine].sums[place] += value
    outcome.questions += len(case.asked)
    outcome.same += sum(a == b for a, b in zip(*found.values(), strict=True))


def _recalled(book: Book, question: str) -> list[str]:
    return [hit.memory.id for hit in book.recall(question, k=K, threshold=0, max_tokens=None).hits]


def _measures(ids: Sequence[str], evidence: Sequence[str]) -> tuple[float, float, float]:
    wanted = set(evidence)
    gain = sum(1 / math.log2(rank + 2) for rank, id in enumerate(ids) if id in wanted)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(wanted), K)))
    return float(bool(wanted & set(ids))), float(wanted <= set(ids)), gain / ideal


def _cases(data: Any) -> Iterator[Case]:
    yield from _haystacks(data) if isinstance(data, dict) else _conversations(data)


def _conversations(data: list[dict[str, Any]]) -> Iterator[Case]:
    for each in data:
        drafts = [
            Draft(content=f"{unit['speaker']}: {unit['text']}", id=unit["id"], said_at=_moment(unit["date"]))
            for unit in each["units"]
        ]
        yield Case(space=each["space"], drafts=drafts, asked=[q for one in each["questions"] for q in _asked(one)])


def _haystacks(data: dict[str, Any]) -> Iterator[Case]:
    for question in data["questions"]:
        asked = _asked(question)
        if asked:
            drafts = [
                Draft(content=f"{WHO[who]}: {text}", id=f"{session}:{turn}", said_at=_moment(date))
                for session, date in question["haystack"]
                for turn, (who, text) in enumerate(data["sessions"][session]["turns"])
                if text.strip()
            ]
            yield Case(space=question["id"], drafts=drafts, asked=asked)


def _asked(question: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """A question that can be scored; none if nothing answers it or its label is in doubt."""
    scored = question["answerable"] and question["evidence"] and question.get("label") != "suspect"
    return [(question["question"], question["evidence"])] if scored else []


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def _print(outcomes: Sequence[Outcome]) -> None:
    print("points of 100".ljust(30) + "".join(name.rjust(10) for name in MEASURES) + "recalls/s".rjust(12))
    for outcome in outcomes:
        for engine, score in outcome.scores.items():
            cells = [f"{value:10.2f}" for value in score.points(outcome.questions)]
            rate = outcome.questions / max(score.seconds, 1e-9)
            print(f"{outcome.name}, {engine}".ljust(30) + "".join(cells) + f"{rate:12.0f}")
        print(
            f"  {outcome.questions} questions; the same ten in the same order on {outcome.same};"
            f" largest difference {outcome.difference():.2f} points"
        )


if __name__ == "__main__":
    main()
