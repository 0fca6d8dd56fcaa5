"""The cut-off: what it keeps of a book's own evidence, and whom else it answers; and its constants fitted anew.

    python bench/calibrate.py DATA… [--sets locomo,beam100k] [--fit]

Questions are put to books of every size through the public API: those of the sets that bench/quality.py measures, each
also with questions of other sets (far), parts of their books (small), and a few hand-made ones (tiny). Printed are, for
each threshold, the share of other books' questions that get anything and the share of own questions that keep all the
evidence which they would get without a cut-off. `--fit` fits the constants of `recall.settle` on all sets, and on all
but one.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from quality import data, systems, tiny

import commonplace
from commonplace.recall import rank, settle

THRESHOLDS = (0.15, 0.2, rank.THRESHOLD, 0.3, 0.4)
SIZES = (3, 10, 30, 100)
EACH = 40
"""Small books of each size, of each set."""
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question put to a book."""

    set: str
    kind: str
    """own, near (another book of the set), far (another set) or never (about what was never said here)"""
    best: float
    """Relevance of the best memory."""
    evidence: list[float]
    """Relevance of each piece of the evidence among the first ten."""
    seen: tuple[float, float, float, float, int]
    """What the settlement saw: the best evidence, its affinity, whether a speaker was named, the lead, memories."""

    def kept(self, threshold: float) -> bool:
        return self.best >= threshold and all(each >= rank.COMPANY for each in self.evidence)


class Asker:
    """Fills books and asks them, looking over the settlement's shoulder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="calibrate-"))
        self.book = commonplace.open(self.folder / "book.db")
        self.seen: tuple[float, float, float, float, int] = (-rank.CERTAIN, 0.0, 0.0, 0.0, 1)
        self.usual = settle.Settlement.settle
        settle.Settlement.settle = self._looking()  # type: ignore[method-assign]  # put back by close

    def _looking(self) -> Any:
        def look(settlement: settle.Settlement, evidence: Array, *, affinity: float, lead: float) -> Array:
            ahead = min(max(lead, -settle.FARTHEST), settle.FARTHEST)
            self.seen = (float(evidence.max()), affinity, float(settlement.named), ahead, settlement.searched)
            return self.usual(settlement, evidence, affinity=affinity, lead=lead)

        return look

    def ask(self, case: data.Case, far: Sequence[data.Question]) -> Iterator[Asked]:
        here = self.book.in_space(f"{case.set} {case.name}")
        for start in range(0, len(case.units), systems.CHUNK):
            here.remember([systems.draft(unit) for unit in case.units[start : start + systems.CHUNK]])
        own = [question for question in case.questions if question.answerable]
        never = [question for question in case.questions if not question.answerable]
        for kind, questions in (("own", own), ("near", case.foreign), ("far", far), ("never", never)):
            for question in questions:
                hits = here.recall(question.text, threshold=0, max_tokens=None).hits
                held = [hit.parts.relevance for hit in hits if hit.memory.id in question.evidence]
                if hits and (held or kind != "own"):
                    best = max(hit.parts.relevance for hit in hits)
                    yield Asked(set=case.set, kind=kind, best=best, evidence=held, seen=self.seen)

    def close(self) -> None:
        settle.Settlement.settle = self.usual  # type: ignore[method-assign]
        self.book.close()
        shutil.rmtree(self.folder)


def smaller(cases: Sequence[data.Case], chance: random.Random) -> Iterator[data.Case]:
    """Parts of books: one question's evidence among a few other turns."""
    for set_ in dict.fromkeys(case.set for case in cases):
        some = [case for case in cases if case.set == set_ and case.foreign]
        pool = [(case, question) for case in some for question in case.questions if question.answerable]
        for size in SIZES:
            for number, (case, question) in enumerate(chance.sample(pool, min(EACH, len(pool)))):
                others = [unit.id for unit in case.units if unit.id not in question.evidence]
                room = max(size - len(question.evidence), 0)
                held = question.evidence | set(chance.sample(others, min(room, len(others))))
                yield replace(
                    case,
                    set=f"small {size}",
                    name=f"{case.name} {number}",
                    units=[unit for unit in case.units if unit.id in held],
                    questions=[question],
                    foreign=chance.sample(case.foreign, min(2, len(case.foreign))),
                )


def report(asked: Sequence[Asked]) -> None:
    """Print a line for each set: passed of near / far questions, and kept of own, at each threshold."""
    print("near / far questions that get anything, own evidence kept, at", *(f"{each:g}" for each in THRESHOLDS))
    for set_ in dict.fromkeys(each.set for each in asked):
        members = [each for each in asked if each.set == set_]
        print(f"{set_:20}", "   ".join(_at(members, threshold) for threshold in THRESHOLDS))


def _at(asked: Sequence[Asked], threshold: float) -> str:
    passed = {kind: [each.best >= threshold for each in asked if each.kind == kind] for kind in ("near", "far")}
    kept = [each.kept(threshold) for each in asked if each.kind == "own"]
    return " / ".join(f"{100 * np.mean(each):.0f}" if each else "–" for each in (*passed.values(), kept))


def fit(asked: Sequence[Asked]) -> Array:
    """Fit bias, best, affinity, named and lead by damped Newton steps; each set and kind weighs the same."""
    seen = np.array([each.seen for each in asked], float)
    many = seen[:, 4] / (seen[:, 4] + settle.FEW)
    rows = many[:, None] * np.c_[np.ones(len(seen)), seen[:, :4]]
    offset, labels = (1 - many) * seen[:, 0], np.array([each.kind == "own" for each in asked], float)
    groups = [(each.set, each.kind) for each in asked]
    weights = np.array([300 / groups.count(group) for group in groups])
    fitted = np.zeros(rows.shape[1])
    for _ in range(60):
        expected = 1 / (1 + np.exp(-np.clip(rows @ fitted + offset, -30, 30)))
        slope = rows.T @ (weights * (expected - labels)) + fitted
        curve = (rows * (weights * expected * (1 - expected))[:, None]).T @ rows + np.eye(len(fitted))
        fitted = fitted - 0.7 * np.linalg.solve(curve, slope)
    return fitted


def main() -> None:
    """Ask, report; fit when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=())
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    chance = random.Random(7)
    cases = [case for case in data.load(options.data) if case.set != "conflicts"]
    questions = {case.set: case.questions for case in cases}
    cases = [case for case in cases if not options.sets or case.set in options.sets]
    asker, asked = Asker(), []
    try:
        for case in (*cases, *smaller(cases, chance), *tiny.cases()):
            others = [
                question
                for set_, each in questions.items()
                if set_.split()[0] != case.set.split()[0]
                for question in each
                if question.answerable
            ]
            far = chance.sample(others, min(20 if len(case.questions) > 1 else 1, len(others)))
            asked += asker.ask(case, far if case.set in questions else ())
    finally:
        asker.close()
    report(asked)
    if options.fit:
        print("bias, best, affinity, named, lead")
        for left_out in (None, *dict.fromkeys(each.set.split()[0] for each in asked)):
            kept = [each for each in asked if each.set.split()[0] != left_out]
            print(f"without {left_out}:" if left_out else "all:", fit(kept).round(2))


if __name__ == "__main__":
    main()
