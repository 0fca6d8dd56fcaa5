"""Measure the cut-off without a reader: the evidence it keeps, the foreign questions it answers; refit its constants.

    python bench/calibrate.py DATA… [--sets locomo,beam100k] [--fit]

Questions are put to books of every size through the public API: those of the sets that bench/quality.py measures, each
also with questions of other sets (far), parts of their books (small), and a few hand-made ones (tiny). Printed are, for
each threshold, the share of other books' questions that get anything and the share of own questions that keep all the
evidence which they would get without a cut-off. `--fit` fits three constants of `recall.settlement` on all sets, and on
all but one, and shows how the one fares.
"""

from __future__ import annotations

import argparse
import math
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
from commonplace.recall import evidence, request, settlement

THRESHOLDS = (0.15, 0.2, settlement.THRESHOLD, 0.3, 0.4)
SIZES = (3, 10, 30, 100)
EACH = 40
"""Small books of each size, of each set."""
Array = npt.NDArray[Any]


CURRENT = (settlement.BIAS, settlement.BEST, settlement.AFFINITY, settlement.NAMED, settlement.LEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The values from which the cut-off decided about a question."""

    best: float = -evidence.CERTAIN
    affinity: float = 0.0
    named: bool = False
    lead: float = 0.0
    searched: int = 1

    @property
    def many(self) -> float:
        return self.searched / (self.searched + settlement.FEW)

    def features(self) -> list[float]:
        return [self.many * each for each in (1.0, self.best, self.affinity, float(self.named), self.lead)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question put to a book."""

    set: str
    kind: str
    """own, near (another book of the set), far (another set) or never (about what was never said here)"""
    seen: Seen
    behind: list[float]
    """By how much evidence each piece of the gold among the first ten is behind the best memory."""

    def odds(self, constants: Sequence[float]) -> float:
        """Log-odds of the best memory."""
        return (1 - self.seen.many) * self.seen.best + float(np.dot(constants, self.seen.features()))

    def passes(self, threshold: float, constants: Sequence[float]) -> bool:
        return self.odds(constants) >= _logit(threshold)

    def keeps(self, threshold: float, constants: Sequence[float]) -> bool:
        slope = 1 - self.seen.many * (1 - constants[1])
        least = self.odds(constants) - slope * max(self.behind, default=0.0)
        return self.passes(threshold, constants) and least >= _logit(request.COMPANY)


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


class Asker:
    """Fills books, asks them, and records the values from which the cut-off decides."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="calibrate-"))
        self.book = commonplace.open(self.folder / "book.db", reader=None)
        self.seen = Seen()
        self.usual = settlement.Settlement.settle
        settlement.Settlement.settle = self._looking()  # type: ignore[method-assign]  # put back by close

    def _looking(self) -> Any:
        def look(one: settlement.Settlement, evidence: Array, *, affinity: float, lead: float) -> Array:
            ahead = min(max(lead, -settlement.FARTHEST), settlement.FARTHEST)
            self.seen = Seen(
                best=float(evidence.max()),
                affinity=affinity,
                named=one.named,
                lead=ahead,
                searched=one.searched,
            )
            return self.usual(one, evidence, affinity=affinity, lead=lead)

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
                if hits:
                    slope = 1 - self.seen.many * (1 - settlement.BEST)
                    odds = [_logit(min(max(hit.parts.relevance, 1e-9), 1 - 1e-7)) for hit in hits]
                    behind = [
                        (max(odds) - each) / slope
                        for each, hit in zip(odds, hits, strict=True)
                        if hit.memory.id in question.evidence
                    ]
                    yield Asked(set=case.set, kind=kind, seen=self.seen, behind=behind)

    def close(self) -> None:
        settlement.Settlement.settle = self.usual  # type: ignore[method-assign]
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


def report(asked: Sequence[Asked], constants: Sequence[float] = CURRENT) -> None:
    """Print a line for each set and threshold: foreign questions answered (near, far, never), own evidence kept."""
    for set_ in dict.fromkeys(each.set for each in asked):
        members = [each for each in asked if each.set == set_]
        print(f"{set_:20}", "   ".join(_at(members, threshold, constants) for threshold in THRESHOLDS))


def _at(asked: Sequence[Asked], threshold: float, constants: Sequence[float]) -> str:
    shares = [
        [each.passes(threshold, constants) for each in asked if each.kind == kind] for kind in ("near", "far", "never")
    ]
    shares.append([each.keeps(threshold, constants) for each in asked if each.kind == "own" and each.behind])
    return "/".join(f"{100 * np.mean(each):.0f}" if each else "–" for each in shares)


def fit(asked: Sequence[Asked]) -> tuple[float, ...]:
    """Fit bias, best and affinity by damped Newton steps; each set and kind weighs the same.

    The weights of names and leads stay: only conversations of named people could change them.
    """
    asked = [each for each in asked if each.kind != "never"]
    features = np.array([each.seen.features() for each in asked])
    rows, offset = features[:, :3], features[:, 3:] @ np.array(CURRENT[3:])
    offset += np.array([(1 - each.seen.many) * each.seen.best for each in asked])
    labels = np.array([each.kind == "own" for each in asked], float)
    groups = [(each.set, each.kind) for each in asked]
    weights = np.array([300 / groups.count(group) for group in groups])
    fitted = np.zeros(rows.shape[1])
    for _ in range(60):
        expected = 1 / (1 + np.exp(-np.clip(rows @ fitted + offset, -30, 30)))
        slope = rows.T @ (weights * (expected - labels)) + fitted
        curve = (rows * (weights * expected * (1 - expected))[:, None]).T @ rows + np.eye(len(fitted))
        fitted = fitted - 0.7 * np.linalg.solve(curve, slope)
    return (*fitted.tolist(), *CURRENT[3:])


def main() -> None:
    """Ask, report, and fit if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=())
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    chance = random.Random(7)
    cases = [case for case in data.load(options.data) if case.set != "conflicts"]
    answerable = [(case.set, each) for case in cases for each in case.questions if each.answerable]
    cases = [case for case in cases if not options.sets or case.set in options.sets]
    asker = Asker()
    asked: list[Asked] = []
    try:
        for case in cases:
            others = [question for set_, question in answerable if set_.split()[0] != case.set.split()[0]]
            far = chance.sample(others, min(20 if len(case.questions) > 1 else 1, len(others)))
            asked += asker.ask(case, far)
        for case in (*smaller(cases, chance), *tiny.cases()):
            asked += asker.ask(case, ())
    finally:
        asker.close()
    print("near / far / never answered / own evidence kept, at", *(f"{each:g}" for each in THRESHOLDS))
    report(asked)
    if options.fit:
        print("\nbias, best, affinity; and the sets that were left out")
        print("all:", np.round(fit(asked)[:3], 2))
        for left_out in dict.fromkeys(map(_family, asked)):
            constants = fit([each for each in asked if _family(each) != left_out])
            print(f"without {left_out}:", np.round(constants[:3], 2))
            report([each for each in asked if _family(each) == left_out], constants)


def _family(asked: Asked) -> str:
    return asked.set.split()[0]


if __name__ == "__main__":
    main()
