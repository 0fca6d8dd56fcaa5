"""Measure what a caller gets who sets nothing: one plain recall a question, with its own cut-off, k and budget.

    python bench/defaults.py DATA… [--sets locomo,beam100k] [--manner full|readme|bare] [--reader none] [--books 3]

DATA are files, or folders with files, of locomo.json, longmemeval.json, beam100k.json and realmem.json.

Printed for each set: whether any and all of the evidence is among the returned memories, and within 1,000 tokens of the
text; how many lines are returned, and the share of them that is evidence; whether the current value stands above the
outdated one; how often questions without an answer get none, and how well their best relevance tells them apart
(AUROC). Foreign questions carry the names of the book's own speakers.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from quality import data, measures

import commonplace
from commonplace.recall.pack import write_line
from commonplace.values import tokens

BUDGET = 1_000
CHUNK = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one question got."""

    kind: str
    """own, unanswerable or foreign."""
    category: str
    evidence: frozenset[str]
    got: tuple[str, ...]
    cheap: tuple[str, ...]
    """Those of them that stand within the first 1,000 tokens."""
    sure: float
    """Relevance of the best memory."""
    old: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
    seconds: float = 0.0


def draft(unit: data.Unit, manner: str) -> commonplace.Draft:
    """Return a unit as callers of three kinds remember it."""
    if manner == "bare":
        return commonplace.Draft(content=unit.text, id=unit.id)
    if manner == "readme":
        return commonplace.Draft(content=unit.text, source=unit.speaker, id=unit.id)
    return commonplace.Draft(
        content=unit.text, kind="message" if unit.session else "fact", scope=commonplace.Scope(session=unit.session),
        source=unit.speaker, said_at=unit.said_at, id=unit.id,
    )  # fmt: skip


def ask(book: commonplace.Book, text: str, asked_at: datetime | None) -> tuple[list[str], list[str], float, float]:
    """Return the ids that a recall returns, those within the budget, the best relevance and the seconds it took."""
    started = time.process_time()
    found = book.recall(text, asked_at=asked_at)
    spent = time.process_time() - started
    cheap, left = [], BUDGET - 20  # the heading
    for hit in found.hits:
        left -= tokens.count(write_line(hit.memory) + "\n")
        if left < 0:
            break
        cheap.append(hit.memory.id)
    hits = found.hits or book.recall(text, asked_at=asked_at, threshold=0, k=1).hits
    return [hit.memory.id for hit in found.hits], cheap, hits[0].parts.relevance if hits else 0.0, spent


def run_case(book: commonplace.Book, case: data.Case, manner: str) -> Iterator[Asked]:
    """Fill a space with a case and ask its questions."""
    for start in range(0, len(case.units), CHUNK):
        book.remember([draft(unit, manner) for unit in case.units[start : start + CHUNK]])
    last = max(unit.said_at for unit in case.units) if manner == "full" else None
    sessions = {unit.id: unit.session for unit in case.units}
    foreign = _rename(case) if case.set == "locomo" else case.foreign
    for kind, questions in (("", case.questions), ("foreign", foreign)):
        for question in questions:
            got, cheap, sure, seconds = ask(book, question.text, last)
            counted = [[id for id in some if sessions.get(id) not in question.ignored] for some in (got, cheap)]
            yield Asked(
                kind=kind or ("own" if question.answerable else "unanswerable"), category=question.category,
                evidence=frozenset() if kind else question.evidence, got=tuple(counted[0]), cheap=tuple(counted[1]),
                sure=sure, old=question.old, new=question.new, seconds=seconds,
            )  # fmt: skip


def _rename(case: data.Case) -> list[data.Question]:
    """Give foreign questions the names of this book's speakers."""
    here = sorted({unit.speaker for unit in case.units if unit.speaker})
    renamed = []
    for question in case.foreign:
        names = [name for name in STRANGERS if re.search(rf"\b{name}\b", question.text) and name not in here]
        text = question.text
        for name, own in zip(names, random.Random(question.id).sample(here, len(here)), strict=False):
            text = re.sub(rf"\b{name}\b", own, text)
        renamed.append(replace(question, text=text))
    return renamed


STRANGERS: set[str] = set()
"""The names of all speakers of LoCoMo."""


def load_realmem(path: Path) -> list[list[data.Unit]]:
    """Return the turns of each user, in the order of time."""
    return [
        [unit for session in user["sessions"] for unit in _read_session(str(number), session)]
        for number, user in enumerate(json.loads(path.read_text("utf-8")))
    ]


def _read_session(user: str, session: dict[str, Any]) -> list[data.Unit]:
    moment = datetime.fromisoformat(session["date"]).replace(tzinfo=timezone.utc)
    return [
        data.Unit(id=f"{user}:{session['id']}:{place}", text=text, said_at=moment, session=str(session["id"]),
                  speaker={"u": "user", "a": "assistant"}[role])
        for place, (role, text) in enumerate(session["turns"]) if text.strip()
    ]  # fmt: skip


def run_realmem(path: Path, folder: Path, reader: str | None, manner: str, books: int | None) -> Iterator[Asked]:
    """Ask each user's follow-up turns of a book that holds the sessions before; evidence are the right sessions."""
    for number, user in enumerate(json.loads(path.read_text("utf-8"))[:books]):
        with commonplace.open(folder / f"realmem-{number}.db", reader=reader) as book:
            queries: dict[str, list[dict[str, Any]]] = {}
            for query in user["queries"]:
                queries.setdefault(str(query["session"]), []).append(query)
            where: dict[str, str] = {}
            for session in user["sessions"]:
                moment = datetime.fromisoformat(session["date"]).replace(tzinfo=timezone.utc)
                for query in queries.get(str(session["id"]), []):
                    wanted = frozenset(map(str, query["gold_sessions"]))
                    if where and wanted & set(where.values()):
                        got, cheap, sure, seconds = ask(book, query["text"], moment if manner == "full" else None)
                        yield Asked(
                            kind="own", category=query["category"], evidence=wanted,
                            got=tuple(where[id] for id in got), cheap=tuple(where[id] for id in cheap), sure=sure,
                            seconds=seconds,
                        )  # fmt: skip
                units = _read_session(str(number), session)
                book.remember([draft(unit, manner) for unit in units])
                where.update((unit.id, str(session["id"])) for unit in units)


def report(name: str, rows: Sequence[Asked]) -> str:
    own = [row for row in rows if row.kind == "own"]
    lines = [f"## {name}: {len(own)} questions with an answer, {len(rows) - len(own)} without"]

    def share(values: Sequence[float | bool]) -> str:
        return f"{100 * sum(values) / len(values):.1f}" if values else "-"

    sessions = name == "realmem"
    lines.append(f"any@1 {share([row.got[:1] != () and row.got[0] in row.evidence for row in own])}, "
                 f"any@5 {share([bool(row.evidence & set(row.got[:5])) for row in own])}, "
                 f"any@10 {share([bool(row.evidence & set(row.got)) for row in own])}, "
                 f"all@10 {share([row.evidence <= set(row.got) for row in own])}")  # fmt: skip
    if not sessions:
        parts = [len(row.evidence & set(row.cheap)) / len(row.evidence) for row in own]
        lines.append(f"any within 1,000 tokens {share([bool(row.evidence & set(row.cheap)) for row in own])}, "
                     f"part {share(parts)}")  # fmt: skip
    returned = sum(len(row.got) for row in own)
    hits = sum(sum(id in row.evidence for id in row.got) for row in own)
    precise = 100 * hits / max(returned, 1)
    lines.append(f"lines returned {returned / max(len(own), 1):.2f}, of which evidence {precise:.1f}, "
                 f"silent {share([not row.got for row in own])}")  # fmt: skip
    changed = [row for row in own if row.old and row.new]
    if changed:
        lines.append(f"current above outdated {share([_above(row) for row in changed])} of {len(changed)}")
    for kind in ("unanswerable", "foreign"):
        some = [row for row in rows if row.kind == kind]
        if some:
            area = measures.auroc([row.sure for row in own], [row.sure for row in some])
            lines.append(f"{kind}: {len(some)}, answered {share([bool(row.got) for row in some])}, AUROC {area:.3f}")
    cost = sorted(row.seconds for row in rows)
    lines.append(f"CPU ms p50 {1e3 * cost[len(cost) // 2]:.0f}, p95 {1e3 * cost[int(len(cost) * 0.95)]:.0f}")
    for category in sorted({row.category for row in own}):
        some = [row for row in own if row.category == category]
        lines.append(f"  {category}: {len(some)}, any {share([bool(row.evidence & set(row.got)) for row in some])}, "
                     f"all {share([row.evidence <= set(row.got) for row in some])}")  # fmt: skip
    return "\n".join(lines)


def _above(row: Asked) -> bool:
    places = {id: place for place, id in enumerate(row.got)}
    new = min((places[id] for id in row.new if id in places), default=None)
    return new is not None and new < min((places[id] for id in row.old if id in places), default=len(places))


def main() -> None:
    """Ask every set and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=())
    parser.add_argument("--manner", default="full", choices=("full", "readme", "bare"))
    parser.add_argument("--reader", default="default")
    parser.add_argument("--books", type=int, help="only the first so many books of each set")
    options = parser.parse_args()
    reader = None if options.reader == "none" else options.reader
    files = [file for path in options.data for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    STRANGERS.update(_find_speakers(files))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = [file for file in files if file.stem in ("locomo", "beam100k", "longmemeval")]
        wanted = [f for f in wanted if not options.sets or any(each.startswith(f.stem) for each in options.sets)]
        cases = data.load(wanted) if wanted else []
        for set_ in dict.fromkeys(case.set for case in cases):
            if options.sets and set_ not in options.sets:
                continue
            with commonplace.open(folder / f"{set_}.db", reader=reader) as book:
                some = [case for case in cases if case.set == set_][: options.books]
                rows = [row for case in some for row in run_case(book.in_space(case.name), case, options.manner)]
            print(report(set_, rows) + "\n", flush=True)
        for file in files:
            if file.stem == "realmem" and (not options.sets or "realmem" in options.sets):
                rows = [*run_realmem(file, folder, reader, options.manner, options.books)]
                print(report("realmem", rows) + "\n", flush=True)


def _find_speakers(files: Sequence[Path]) -> set[str]:
    found = [file for file in files if file.stem == "locomo"]
    return {unit["speaker"] for file in found for book in json.loads(file.read_text("utf-8")) for unit in book["units"]}


if __name__ == "__main__":
    main()
