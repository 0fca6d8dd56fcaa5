"""Score what recall returns on books with labelled questions, through the public API with its defaults.

    python bench/everyday.py FILE… [--manner full,readme,bare] [--reader none] [--rows rows.jsonl] [--json]

FILES have the form of training/books (training/README.md); everyday.json is one. Each question is scored by F1 of the
returned entries against the relevant ones; a question without relevant entries scores 1 if recall is silent. Intervals
are 95 percent, by drawing books again.

Manners of remembering: `full` gives speaker, session and date; `readme` text and source; `bare` the text alone.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import commonplace

TYPES = ("direct", "paraphrase", "inference", "update", "multi", "temporal", "overview", "turn", "smalltalk", "none")
MANNERS = ("full", "readme", "bare")
DRAWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question and how recall did on it."""

    key: str
    book: str
    manner: str
    type: str
    text: str
    relevant: tuple[str, ...]
    stale: tuple[str, ...]
    got: tuple[str, ...]
    coverage: str

    @property
    def hits(self) -> int:
        return len(set(self.relevant) & set(self.got))

    @property
    def f1(self) -> float:
        if not self.relevant:
            return float(not self.got)
        return 2 * self.hits / (len(self.got) + len(self.relevant))

    def found_in(self, first: int) -> bool:
        return bool(set(self.relevant) & set(self.got[:first]))

    @property
    def above(self) -> bool:
        """Whether a current entry stands above every stale one."""
        places = {id: place for place, id in enumerate(self.got)}
        first = min((places[id] for id in self.relevant if id in places), default=None)
        old = min((places[id] for id in self.stale if id in places), default=len(places))
        return first is not None and first < old


def ask(paths: Sequence[Path], manner: str, reader: str | None) -> Iterator[Asked]:
    """Remember each book and ask its questions."""
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            for book in json.loads(path.read_text("utf-8"))["books"]:
                with commonplace.open(Path(folder, f"{path.stem}-{book['id']}.db"), reader=reader) as opened:
                    ids = {_remember(opened, entry, manner): entry["id"] for entry in book["entries"]}
                    yield from (_ask(opened, ids, book["id"], question, manner) for question in book["questions"])


def _remember(book: commonplace.Book, entry: dict[str, Any], manner: str) -> str:
    session = entry["session"] or None
    options: dict[str, Any] = {}
    if manner != "bare":
        options["source"] = entry["speaker"] or None
    if manner == "full":
        options["said_at"] = datetime.fromisoformat(entry["at"])
        if session:
            options |= {"scope": commonplace.Scope(session=session), "kind": "message"}
    kept: commonplace.Memory = book.remember(entry["text"], **options)
    return kept.id


def _ask(book: commonplace.Book, ids: dict[str, str], name: str, question: dict[str, Any], manner: str) -> Asked:
    asked_at = datetime.fromisoformat(question["at"]) if manner == "full" else None
    found = book.recall(question["text"], asked_at=asked_at)
    return Asked(
        key=f"{name}/{question['id']}", book=name, manner=manner, type=question["type"], text=question["text"],
        relevant=tuple(question["relevant"]), stale=tuple(question["stale"]),
        got=tuple(ids[hit.memory.id] for hit in (*found.hits, *found.avoid)), coverage=found.coverage,
    )  # fmt: skip


FIGURES: dict[str, tuple[Callable[[Asked], bool], Callable[[Asked], float]]] = {
    "F1": (lambda row: True, lambda row: row.f1),
    "any@1": (lambda row: bool(row.relevant), lambda row: row.found_in(1)),
    "any@5": (lambda row: bool(row.relevant), lambda row: row.found_in(5)),
    "recall": (lambda row: bool(row.relevant), lambda row: row.hits / len(row.relevant)),
    "precision": (lambda row: bool(row.got), lambda row: row.hits / len(row.got)),
    "silent": (lambda row: not row.relevant, lambda row: not row.got),
    "current": (lambda row: bool(row.stale), lambda row: row.above),
    "lines": (lambda row: True, lambda row: float(len(row.got))),
}
"""Which questions each figure is about, and its value; `current`: a current entry above every stale one."""


def figure(rows: Sequence[Asked], name: str) -> float | None:
    about, value = FIGURES[name]
    values = [float(value(row)) for row in rows if about(row)]
    return sum(values) / len(values) if values else None


def interval(rows: Sequence[Asked], name: str) -> tuple[float, float]:
    """Return the 95 percent interval of a figure, by drawing books again."""
    books: dict[str, list[Asked]] = defaultdict(list)
    for row in rows:
        books[row.book].append(row)
    chance, drawn = random.Random(0), []
    for _ in range(DRAWS):
        some = [row for _ in books for row in books[chance.choice([*books])]]
        if (value := figure(some, name)) is not None:
            drawn.append(value)
    drawn.sort()
    return drawn[len(drawn) // 40], drawn[-len(drawn) // 40 - 1]


def report(rows: Sequence[Asked]) -> str:
    lines = [f"{'type':<11}{'n':>5}" + "".join(f"{name:>10}" for name in FIGURES)]
    for kind in (*TYPES, "all"):
        some = [row for row in rows if kind in (row.type, "all")]
        if some:
            cells = [figure(some, name) for name in FIGURES]
            shown = "".join(f"{'-' if cell is None else f'{cell:.3f}':>10}" for cell in cells)
            lines.append(f"{kind:<11}{len(some):>5}{shown}")
    low, high = interval(rows, "F1")
    lines.append(f"F1 of all: {low:.3f} to {high:.3f}")
    return "\n".join(lines)


def main() -> None:
    """Ask, print the figures, and write the rows if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--manner", default="full", help="full, readme or bare, or several: full,bare")
    parser.add_argument("--reader", default="default", help="as for commonplace.open (default)")
    parser.add_argument("--rows", type=Path, help="write one line of JSON for each question here")
    options = parser.parse_args()
    for manner in options.manner.split(","):
        rows = [*ask(options.files, manner, None if options.reader == "none" else options.reader)]
        print(f"\n{manner}, reader {options.reader}\n{report(rows)}", flush=True)
        if options.rows:
            with options.rows.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
