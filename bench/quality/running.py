"""Every question put to every system: one row a question, from which all tables are made."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from quality import dates, measures, systems
from quality.data import Case, Question

Kind = Literal["own", "unanswerable", "foreign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one system did on one question."""

    system: str
    set: str
    book: str
    kind: Kind
    question: str
    text: str
    category: str
    evidence: list[str]
    ids: list[str]
    """The first twenty."""
    score: float
    tokens: int
    returned: int
    """Memories that the default cut-off leaves."""
    wall: float
    cpu: float
    keeps: float | None = None
    """Whether the cut-off leaves the evidence that is among the first ten without it."""
    updated: float | None = None
    measured: dict[str, float] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def run(name: str, system: systems.System, cases: Sequence[Case], limit: float) -> Iterator[Row]:
    """Ask one system everything; a set that exceeds the limit is left unfinished, with a remark."""
    try:
        for set_ in dict.fromkeys(case.set for case in cases):
            yield from _set(name, system, [case for case in cases if case.set == set_], limit)
    finally:
        system.close()


def _set(name: str, system: systems.System, cases: Sequence[Case], limit: float) -> Iterator[Row]:
    started = time.monotonic()
    for done, case in enumerate(cases):
        if time.monotonic() - started > limit:
            _say(f"{name}, {case.set}: stopped at the limit after {done} of {len(cases)} books")
            return
        system.fill(case)
        for question in case.questions:
            kind: Kind = "own" if question.answerable else "unanswerable"
            yield _row(name, case, question, kind, system.ask(question.text))
        for question in case.foreign:
            yield _row(name, case, question, "foreign", system.ask(question.text))
    _say(f"{name}, {cases[0].set}: {time.monotonic() - started:.0f} s")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _row(name: str, case: Case, question: Question, kind: Kind, answer: systems.Answer) -> Row:
    where = {unit.id: unit.session for unit in case.units}
    ids = _counted(answer.ids, case, where, question)
    row = Row(
        system=name,
        set=case.set,
        book=case.name,
        kind=kind,
        question=question.id,
        text=question.text,
        category=question.category,
        evidence=sorted(question.evidence),
        ids=answer.ids[:20],
        score=answer.score,
        tokens=answer.tokens,
        returned=len(answer.kept),
        wall=answer.wall,
        cpu=answer.cpu,
    )
    if kind != "own":
        return row
    measured = measures.measure(question, ids, [where[id] for id in ids]) | dates.measure(question, case.units, ids)
    for budget, held in answer.within.items():
        found = question.evidence & set(_counted(held, case, where, question))
        measured |= measures.shares(len(found), len(question.evidence), f" in {budget:,} tokens")
    return Row(
        **{
            **asdict(row),
            "measured": measured,
            "updated": measures.updated(question, ids),
            "keeps": _keeps(question.evidence, answer.uncut, answer.kept),
        }
    )


def _counted(ids: Iterable[str], case: Case, where: dict[str, str | None], question: Question) -> list[str]:
    """Return the texts that count as evidence, including exact copies elsewhere in the book."""
    if not question.ignored:
        return list(ids)
    texts = {unit.id: unit.text for unit in case.units}
    evidence = {texts[id]: id for id in question.evidence if id in texts}
    same = (evidence.get(texts[id], id) for id in ids)
    return [id for id in dict.fromkeys(same) if where[id] not in question.ignored]


def _keeps(evidence: frozenset[str], uncut: Iterable[str], kept: Iterable[str]) -> float | None:
    held = evidence & set(uncut)
    return float(held <= set(kept)) if held else None
