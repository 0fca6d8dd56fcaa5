"""Evidence for each candidate, in log-odds that the memory is relevant to the question.

`judge` weighs all candidates by words, by meaning, and by the words of their neighbours in a session. `look_closely`
adds, for those whose rows were fetched, who said it, when, and how much the text looks like an answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from commonplace.models.background import Background
from commonplace.models.embedders.base import Embedder, WordMatcher
from commonplace.recall.request import Dates, ParsedQuestion, informative_words
from commonplace.store.base import REACH, Candidates, Found
from commonplace.store.view import K1, PIVOT, damping, weigh_terms
from commonplace.text import terms as analyze
from commonplace.text.lexicon import ASSISTANTS, USERS
from commonplace.values import times
from commonplace.values.arrays import Floats, Ints

# Log-odds, fitted together to put the evidence first (docs/quality.md).
BIAS = -3.4
MEANING = 0.60
"""For each deviation of the cosine above that of unrelated text."""
WORDS = 11.8
"""For all the question's words held, by BM25's share."""
CROWD = -0.44
"""For each e-fold of memories searched: among more memories, the best unrelated one looks better."""
UNHEARD = -4.6
"""For a question of words that a large space does not hold."""
LARGE = 200.0
"""Memories from which a space is more large than small."""
BLIND = 4.0
"""The meaning that is assumed of a memory with one of the words, when there is no vector to compare."""
BEFORE = (10.5, 7.8)
"""For all the question's words in the memory before, and in the one before that, rather than in the memory itself."""
AFTER = (7.0, 4.1)
SESSION = 3.6
"""For all the question's words elsewhere in the session."""

ASKED = 2.0
"""For what the named person said; as much against what another said."""
ASKING = -0.37
"""For a turn that is itself a question."""
NODDING = -9.0
"""For a turn that only acknowledges, which answers nothing, whatever its neighbours say."""
SAME_MONTH = 1.7
"""For the month that the question names, over a month next to it."""
NEXT_MONTH = 2.0
"""For a month next to it, over any other."""
SAME_DAY = 4.1
BESIDE = 0.5
"""Share of the evidence for the memory that fits a relative date best that counts against all others."""
TIME = 1.45
NUMBER = 0.7
NAME = 1.2
"""For a text of which a tenth or more are names, when a name is asked for."""
EARLIER = -2.0
"""For the oldest of the memories with all of the question's words: later ones are more likely still true."""
AFFINITY = 4.9
EXPECTED = (0.2, 0.89, 0.024)
"""The affinity of an unrelated text, and how much share and meaning add to it."""

CERTAIN = 60.0
"""Log-odds beyond which nothing changes, so that no cosine can overflow."""
_CERTAINTY = 0.0057
"""Weight of one of log-odds among certain memories: a thirtieth of a memory's whole decay."""
_NEAR = 3
"""Sequence numbers by which neighbours may be apart for each step: sessions are written side by side."""
_CLOSEST = 40
"""Candidates whose words are compared one by one."""
_BEGINNING = 1_000
"""Characters of a text that are looked at."""
_KEPT = 4096
"""Texts whose look is cached: the same memories are candidates time after time."""
_TIMES = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|just|this (?:week|month|year|morning|spring|summer"
    r"|fall|winter)|week(?:end)?s?|month|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may \d"
    r"|june|july|august|september|october|november|december|\d{4})",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The evidence for each candidate and its relevance; every array has one value a candidate."""

    meaning: Floats
    """Deviations by which the cosine exceeds that of unrelated text; 0 without a vector."""
    share: Floats
    """BM25 as a share of the most that any text could get for this question, 0 to 1."""
    words: Floats
    """Share of the weight of the question's words that the candidate holds, 0 to 1."""
    evidence: Floats
    """Log-odds of `relevance`: what hits are ordered by, since certainties all look alike as probabilities."""
    relevance: Floats
    """Calibrated probability that the memory is relevant to the question."""
    reread: Floats | None = None
    """Log-odds by the reader or a reranker for each candidate that it read, NaN for the others; None without one."""

    def join(self, other: Judgement, places: Ints) -> Judgement:
        """Return this judgement with some of another's candidates behind its own."""
        names = ("meaning", "share", "words", "evidence", "relevance")
        joined = {name: np.concatenate([getattr(self, name), getattr(other, name)[places]]) for name in names}
        return Judgement(**joined)


class Wording(NamedTuple):
    """How much of the question's words each candidate holds."""

    share: Floats
    """BM25 as a share of the most that any text could get for this question, 0 to 1."""
    coverage: Floats
    """Share of the weight of the question's words that the candidate holds, 0 to 1."""
    held: Floats
    """How far each candidate holds each word, 0 to 1."""


def judge(candidates: Candidates, background: Background, terms: Sequence[int] = ()) -> Judgement:
    """Judge every candidate by its words, its meaning, and its neighbours' words.

    `terms` are the question's, in the order of the candidates' counts: with them, words that are common
    everywhere count less.
    """
    common = analyze.are_common(terms) if len(terms) == candidates.counts.shape[1] else None
    rarity = weigh_terms(candidates.frequencies, candidates.population, common)
    wording = score_words(candidates, rarity)
    # Some embedders find long texts alike: a cosine is compared with that of unrelated text of the same length.
    longer = np.log(np.maximum(candidates.lengths, PIVOT) / PIVOT)
    unrelated = background.mean + background.growth * longer
    meaning: Floats = ((candidates.cosines - unrelated) / background.deviation).astype(np.float32)
    evidence = _prior(candidates, rarity) + WORDS * wording.share + lend_words(candidates, wording.held, rarity)
    if candidates.cosines.any():
        evidence += MEANING * meaning
    else:
        evidence = np.where(wording.share > 0, evidence + MEANING * BLIND, -CERTAIN)
        meaning = np.zeros_like(meaning)
    evidence = np.clip(evidence, -CERTAIN, CERTAIN).astype(np.float32)
    return Judgement(
        meaning=meaning,
        share=wording.share,
        words=wording.coverage,
        evidence=evidence,
        relevance=probability(evidence),
    )


def probability(evidence: Floats) -> Floats:
    """Turn log-odds into probabilities."""
    return (1.0 / (1.0 + np.exp(-evidence))).astype(np.float32)


def certainty(evidence: float) -> float:
    """Return the factor for the log-odds behind a relevance, since certainties look alike as probabilities."""
    return math.exp(_CERTAINTY * (evidence - CERTAIN))


def _prior(candidates: Candidates, rarity: Floats) -> float:
    """Return the log-odds that hold before any candidate is looked at."""
    prior = BIAS + CROWD * float(np.log(max(candidates.searched, 1)))
    if not len(rarity):
        return prior
    unheard = float(rarity[candidates.frequencies == 0].sum() / rarity.sum())
    return prior + UNHEARD * unheard * candidates.population / (candidates.population + LARGE)


def score_words(candidates: Candidates, rarity: Floats) -> Wording:
    """Score every candidate by words, from the numbers of its own space alone; `rarity` weighs each word."""
    if not len(rarity):
        nothing = np.zeros(len(candidates.seqs), np.float32)
        return Wording(share=nothing, coverage=nothing, held=nothing[:, np.newaxis][:, :0])
    total, most = rarity.sum(), np.float32(K1 + 1.0)
    counts = candidates.counts.astype(np.float32)
    saturated = counts * most / (counts + damping(candidates.lengths)[:, np.newaxis])
    return Wording(
        share=saturated @ rarity / (total * most), coverage=(counts > 0) @ rarity / total, held=saturated / most
    )


def lend_words(candidates: Candidates, held: Floats, rarity: Floats) -> Floats:
    """Return the evidence of words that a memory lacks and its neighbours in the session hold, the nearest first."""
    evidence = np.zeros(len(held), np.float32)
    if candidates.sessions is None or not len(rarity) or not candidates.sessions.any():
        return evidence
    weight = rarity / rarity.sum()
    # Session by session, each in the order in which it was written: neighbours stand side by side.
    order = np.lexsort((candidates.seqs, candidates.sessions))
    gathered, lent = held[order], np.zeros(len(held), np.float32)
    for near, worth in _neighbours(candidates.sessions[order], candidates.seqs[order], held[order]):
        gained = np.maximum(gathered, near)
        lent += np.float32(worth) * ((gained - gathered) @ weight)
        gathered = gained
    evidence[order] = lent
    return evidence


def _neighbours(sessions: Ints, seqs: Ints, held: Floats) -> Iterator[tuple[Floats, float]]:
    """Yield what each neighbour of each candidate holds, and what that is worth."""
    for step, worth in enumerate(BEFORE[:REACH], 1):
        yield _hold_before(sessions, seqs, held, step), worth
    for step, worth in enumerate(AFTER[:REACH], 1):
        yield _hold_before(sessions[::-1], -seqs[::-1], held[::-1], step)[::-1], worth
    # Anywhere in the session; nothing outside of sessions.
    starts = np.flatnonzero(np.r_[True, sessions[1:] != sessions[:-1]])
    most = np.maximum.reduceat(held, starts, axis=0)
    most[sessions[starts] == 0] = 0
    yield np.repeat(most, np.diff(np.r_[starts, len(sessions)]), axis=0), SESSION


def _hold_before(sessions: Ints, seqs: Ints, held: Floats, step: int) -> Floats:
    """Return what the candidate so many steps before each one in its session holds; zeros where there is none."""
    there = (sessions[step:] == sessions[:-step]) & (sessions[step:] != 0)
    there &= seqs[step:] - seqs[:-step] <= _NEAR * step
    near = np.zeros_like(held)
    np.copyto(near[step:], held[:-step], where=there[:, np.newaxis])
    return near


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The evidence for each fetched row after a close look."""

    evidence: Floats
    affinity: float
    """Share of the question's words that the best memory has, or one that means the same."""
    lead: float
    """Log-odds by which the named speaker's words fit better than another's."""


def look_closely(question: ParsedQuestion, found: Found[Judgement], embedder: Embedder) -> Look:
    """Look at the rows that were fetched: who said each, when, and does it look like an answer?"""
    judgement, rows = found.judgement, found.rows
    seqs = np.array([row.seq for row in rows], np.int64)
    said_at = np.array([row.said_at for row in rows], np.int64)
    spoken = score_speakers(question, [analyze.speaker_words(row.source, row.text) for row in rows])
    evidence = judgement.evidence[found.positions] + spoken
    evidence += score_moments(question, said_at) + score_ages(said_at, seqs, judgement.words[found.positions])
    # Engines differ in the last digits: what is as good as equal goes by age, so that all look at the same ones.
    best = np.lexsort((seqs, -np.round(evidence, 3)))[:_CLOSEST]
    texts = [rows[i].text for i in best.tolist()]
    evidence -= TIME * question.wants_time + NUMBER * question.wants_number + NAME * question.wants_name
    evidence[best] += score_shapes(question, texts)
    share, meaning = judgement.share[found.positions[best]], judgement.meaning[found.positions[best]]
    affinity = expect_affinity(share, meaning)
    if isinstance(embedder, WordMatcher):
        expected, affinity = affinity, embedder.affinity(informative_words(question.subject), texts)
        evidence[best] += np.float32(AFFINITY) * (affinity - expected)
    return Look(
        evidence=evidence,
        affinity=float(affinity[np.argmax(evidence[best])]),
        lead=find_lead(evidence - spoken, spoken, [row.text for row in rows]),
    )


def expect_affinity(share: Floats, meaning: Floats) -> Floats:
    """Return the affinity that shared words and the whole meaning lead to expect."""
    affinity: Floats = EXPECTED[0] + EXPECTED[1] * share + EXPECTED[2] * meaning
    return affinity


def score_speakers(question: ParsedQuestion, voices: Sequence[frozenset[str]]) -> Floats:
    """Return the log-odds of who said each memory: for the one who is asked about, against everybody else.

    If a person whom the question names has spoken here, the question is about this book. That the users of a program
    have spoken tells nothing.
    """
    people = {voice for voice in voices if voice & question.named}
    if people:
        match = ASKED if len(people) == 1 else 0.0
        return np.array([match if voice in people else -ASKED if voice else 0.0 for voice in voices], np.float32)
    if question.role is None:
        return np.zeros(len(voices), np.float32)
    other = ASSISTANTS if question.role == "user" else USERS
    return np.array([-2 * ASKED if voice & other else 0.0 for voice in voices], np.float32)


def find_lead(evidence: Floats, spoken: Floats, texts: Sequence[str]) -> float:
    """Return by how much the words of the person whom a question names fit it better than those of any other.

    It is negative if another person's words fit better. `evidence` is without the evidence of who spoke. Texts that ask
    a question do not count.
    """
    theirs = [e for e, s, text in zip(evidence, spoken, texts, strict=True) if s < 0 and "?" not in text]
    if not theirs or not (spoken > 0).any():
        return 0.0
    return float(evidence[spoken > 0].max() - max(theirs))


def score_moments(question: ParsedQuestion, said_at: Ints) -> Floats:
    """Return the log-odds of when each memory was said, in microseconds since 1970."""
    if not question.dates or not len(said_at):
        return np.zeros(len(said_at), np.float32)
    days = [times.from_micros(each).date() for each in said_at.tolist()]
    fits = np.array([question.dates.fit(said) for said in days], np.float32)
    named = np.array([_score_date(question.dates, said) for said in days], np.float32)
    # That something was said last week tells which memory is meant, and little about whether any is.
    moments: Floats = named + np.float32(SAME_DAY) * (fits - np.float32(BESIDE) * fits.max())
    return moments


def _score_date(dates: Dates, said: date) -> float:
    """Return what it is worth that a memory was said near a date that the question names."""
    off = dates.months_off(said)
    worth = SAME_DAY * dates.nearness(said)
    if off == 0:
        return worth
    return worth - SAME_MONTH if off == 1 else worth - SAME_MONTH - NEXT_MONTH


def score_ages(said_at: Ints, seqs: Ints, words: Floats) -> Floats:
    """Return the log-odds against what others came after, so far as each holds the question's words."""
    order = np.lexsort((seqs, said_at))[::-1]
    later = np.empty(len(said_at), np.float32)
    later[order] = np.arange(len(said_at), dtype=np.float32) / max(len(said_at), 1)
    ages: Floats = np.float32(EARLIER) * later * words**4
    return ages


def score_shapes(question: ParsedQuestion, texts: Sequence[str]) -> Floats:
    """Return the log-odds of how each text looks, beyond those of one that looks like no answer to the question."""
    return np.array([_shape(question, text) for text in texts], np.float32)


def _shape(question: ParsedQuestion, text: str) -> float:
    worth = ASKING if analyze.is_question(text) else NODDING if analyze.is_nod(text) else 0.0
    beginning = text[:_BEGINNING]
    if question.wants_time and _tells_a_time(beginning):
        worth += TIME
    if question.wants_number and _DIGIT.search(beginning):
        worth += NUMBER
    if question.wants_name:
        worth += NAME * _share_of_names(beginning)
    return worth


@lru_cache(maxsize=_KEPT)
def _tells_a_time(beginning: str) -> bool:
    return _TIMES.search(beginning) is not None


@lru_cache(maxsize=_KEPT)
def _share_of_names(beginning: str) -> float:
    """Return 1 for a text of which a tenth or more are names, less for fewer."""
    return min(10 * len(_CAPITAL.findall(beginning)) / (beginning.count(" ") + 1), 1.0)
