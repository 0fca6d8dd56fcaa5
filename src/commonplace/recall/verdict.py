"""The verdict on what was read: which memories are returned, if any, and what the book knows of the answer.

The reader's probabilities are calibrated, so the verdict needs no threshold of its own: it returns the set that is
expected to score best, where missing a relevant memory and returning an irrelevant one are both mistakes, and returns
nothing if that is likeliest to be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from commonplace.models.reader import Opinion
from commonplace.recall.evidence import CERTAIN, Judgement, probability
from commonplace.recall.request import RecallRequest
from commonplace.recall.sheet import LONG
from commonplace.store.base import Found
from commonplace.values import Coverage
from commonplace.values.arrays import Floats, Ints

CARE = 1.1
"""How much worse it is to miss a relevant memory than to return an irrelevant one: the beta of an F-score."""
SILENCE = 0.25
"""Worth of a rightly empty answer, where a perfect one is worth 1."""
TOLD_CARE, TOLD_SILENCE = 0.5, 1.0
"""The same two, if the query is a turn that asks nothing: few memories help with it, and many share its mood."""
_MANY_WORDS = 12
"""Words from which a query without a question mark tells something; twice as many make any query a long turn."""
KNOWN = 0.75
"""Probability that there is an answer, from which the book knows it."""

SEARCH = 0.1
"""Weight of each of the search's log-odds beside the reader's: words that are rare and exact, such as numbers and
names, tell the search more than the reader."""
CROWDED_SEARCH = 0.4
"""What is added to that weight among very many memories."""
LONG_SEARCH = 0.5
"""What is added to it for a long text, of which the reader sees only a part."""
_MOST = 3.0
"""The most that the search may add or take."""
CROWDED_CARE = 3.0
"""By how much of itself CARE grows among very many memories: the more there are, the less sure is each reading."""
_MANY = 400
"""Memories at which a book is half as crowded as it can be."""
MOMENT = 0.75
"""Weight of the time that a question names: the council knows of it, too."""
_WHOLE = 0.999
"""Share of the question's words above which a memory holds them all."""
_APART = 3.0
_REPLACED = 0.2
"""Probability of being outdated from which it matters what a memory was replaced by."""
_LIMIT = 1e-6
"""Probabilities are at least so far from 0 and 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The rows that a recall returns, before time and strength order them."""

    judgement: Judgement
    best: list[tuple[int, int]]
    """The rows to return, each with its place among the candidates."""
    coverage: Coverage


def judge_read(
    opinion: Opinion,
    places: Ints,
    kinds: Floats,
    moments: Floats,
    found: Found[Judgement],
    judgement: Judgement,
    request: RecallRequest,
) -> Verdict:
    """Return the verdict on the rows at `places`, some of which the reader read to the end.

    `kinds` and `moments` are the log-odds of their kind and time, if the question names one.
    """
    read = places[opinion.places]
    if request.selection.superseded:  # outdated memories are asked for
        opinion = replace(opinion, relevant=np.maximum(opinion.relevant, opinion.timeless))
    split = [found.rows[place].text.casefold().split() for place in read.tolist()]
    crowd = found.candidates.searched / (found.candidates.searched + _MANY)
    long = np.array([len(found.rows[place].text) > LONG for place in read.tolist()], np.float32)
    opinion = hear_search(
        spare_parallels(opinion, split),
        judgement.evidence[found.positions[read]],
        weight=SEARCH + CROWDED_SEARCH * crowd + LONG_SEARCH * long,
    )
    odds = tell_apart(_log_odds(opinion.relevant), judgement.words[found.positions[read]], split)
    odds = odds + kinds[opinion.places] + MOMENT * moments[opinion.places]
    opinion = replace(opinion, relevant=probability(odds))
    said = np.full_like(judgement.evidence, np.nan)
    said[found.positions[read]] = odds
    # Candidates that were not read stay behind those that were, in their order.
    unread = judgement.evidence - judgement.evidence.max() + odds.min() - 1
    evidence = np.where(np.isnan(said), unread, said).astype(np.float32)
    relevance = probability(np.maximum(evidence, -CERTAIN))
    judged = replace(judgement, evidence=evidence, relevance=relevance, reread=said)
    chosen = read[_choose_for(request.query, opinion, crowd=crowd, of_a_kind=bool(kinds.any()))]
    coverage: Coverage = "unknown"
    if len(chosen):
        coverage = "known" if opinion.answered >= KNOWN else "partly known"
    if request.threshold is not None:
        order = np.argsort(-evidence[found.positions], kind="stable")
        chosen = order[relevance[found.positions[order]] >= request.threshold]
        coverage = coverage if len(chosen) else "unknown"
    return Verdict(
        judgement=judged,
        best=[(place, int(found.positions[place])) for place in chosen.tolist()],
        coverage=coverage,
    )


def _choose_for(query: str, opinion: Opinion, *, crowd: float, of_a_kind: bool) -> Ints:
    """Return the places of the memories to return for a question, or for a turn that may ask nothing."""
    words = query.count(" ") + 1
    if "?" not in query and words > _MANY_WORDS:
        return choose(opinion, care=TOLD_CARE, silence=TOLD_SILENCE)
    # Among many memories, and where a question asks for all of a kind, a miss counts more. Not so for a long turn: it
    # shares its phrases with many memories that have nothing to do with it.
    crowded = CROWDED_CARE * crowd * (words <= 2 * _MANY_WORDS)
    return choose(opinion, care=CARE * (1 + crowded + 2 * of_a_kind))


def hear_search(opinion: Opinion, evidence: Floats, weight: Floats) -> Opinion:
    """Return the opinion after the search had its say, relative to what it says of the likely answer."""
    if not len(evidence):
        return opinion
    usual = float((evidence * opinion.relevant).sum() / max(float(opinion.relevant.sum()), _LIMIT))
    odds = _log_odds(opinion.relevant) + np.clip(weight * (evidence - usual), -_MOST, _MOST)
    return replace(opinion, relevant=probability(odds))


def spare_parallels(opinion: Opinion, split: Sequence[Sequence[str]]) -> Opinion:
    """Return the opinion after statements of one form about different things got back what being older cost them.

    "Ana's ferry leaves from pier four" is not outdated by "Bo's ferry leaves from pier nine".
    """
    relevant = opinion.relevant.copy()
    for place in np.flatnonzero(opinion.outdated > _REPLACED).tolist():
        rivals = [n for n in range(len(split)) if opinion.relevant[n] > opinion.relevant[place]]
        if any(_are_parallel(split[place], split[n]) for n in rivals):
            relevant[place] = max(relevant[place], opinion.timeless[place])
    return replace(opinion, relevant=relevant)


def _are_parallel(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two texts of one form differ in two words or more that are not numbers: a change differs in one."""
    differ = [(a, b) for a, b in zip(one, other, strict=False) if a != b]
    words = [pair for pair in differ if not any(letter.isdigit() for letter in "".join(pair))]
    return _have_one_form(one, other) and len(words) > 1


def tell_apart(odds: Floats, words: Floats, split: Sequence[Sequence[str]]) -> Floats:
    """Return the log-odds after memories of one form were told apart by the question's words.

    "Printer 3 is on floor 3" and "Printer 4 is on floor 4" look like a statement and its correction. If one holds all
    of the question's words and the other does not, they are about different things, and the first is the one asked for.
    """
    whole = np.flatnonzero(words > _WHOLE).tolist()
    if not whole or len(whole) == len(words):
        return odds
    told: Floats = odds.copy()
    for place in whole:
        like = [n for n in range(len(split)) if words[n] <= _WHOLE and _have_one_form(split[place], split[n])]
        if like:
            told[place] = max(told[place], float(odds[like].max()))
            told[like] = np.minimum(told[like], told[place] - _APART)
    return told


def _have_one_form(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two texts have as many words, of which a third or more are the same ones at the same places."""
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return len(one) == len(other) and 3 * same >= len(one)


def _log_odds(shares: Floats) -> Floats:
    limited = np.clip(shares, _LIMIT, 1 - _LIMIT)
    odds: Floats = np.log(limited / (1 - limited)).astype(np.float32)
    return odds


def choose(opinion: Opinion, *, care: float = CARE, silence: float = SILENCE) -> Ints:
    """Return the places of the memories to return, the likeliest first; none if silence is likelier to be right."""
    order = np.argsort(-opinion.relevant, kind="stable")
    if not len(order):
        return order
    likely = opinion.relevant[order].astype(np.float64)
    if float(_expect(likely, opinion.answered, CARE).max()) < silence * (1 - opinion.answered):
        return order[:0]
    return order[: int(np.argmax(_expect(likely, opinion.answered, care))) + 1]


def _expect(likely: npt.NDArray[np.float64], answered: float, care: float) -> npt.NDArray[np.float64]:
    """Return the expected F-score of the first one, two, three …, by the ratio of expectations."""
    weight = care * care
    total = max(float(likely.sum()), answered)
    expected: npt.NDArray[np.float64] = (
        (1 + weight) * np.cumsum(likely) / (np.arange(1, len(likely) + 1) + weight * total)
    )
    return expected
