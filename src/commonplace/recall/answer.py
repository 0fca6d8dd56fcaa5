"""A recall from end to end: search the store, decide whether the book answers the question, and rank the hits.

The best memory decides for the whole question: irrelevant memories are never returned to fill a quota.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import simsimd

from commonplace.errors import InvalidInput
from commonplace.memories import strength
from commonplace.memories.core import Core, embed_query
from commonplace.models.background import Background
from commonplace.recall import evidence, pack
from commonplace.recall.evidence import CERTAIN, Judgement
from commonplace.recall.repeats import ALIKE, find_distinct
from commonplace.recall.request import ParsedQuestion, RecallRequest, find_names, make_probe, read_question
from commonplace.recall.rerank import rerank
from commonplace.store.base import Candidates, Choice, Found, Tx, Where
from commonplace.store.row import FeedbackRow, MemoryRow, hash_speaker
from commonplace.store.tables import links, memories
from commonplace.store.view import weigh_terms
from commonplace.store.where import compile_where, is_plain
from commonplace.values import Coverage, Hit, Link, Memory, Recall, Score, checks, times
from commonplace.values.arrays import Floats, Ints

THRESHOLD = 0.25
"""Relevance below which nothing is recalled, unless the caller says otherwise."""
HANDFUL = 50
"""Memories among which little can be mistaken for an answer."""
HANDFUL_THRESHOLD = 0.15
"""The threshold among a handful of memories: two in a hundred unrelated questions reach it."""
KNOWN = 0.8
"""Relevance from which the best memory is surely relevant."""
HELD = 0.7
"""Share of the question's words that must be found for the whole question to be known."""

# Log-odds that the book answers the question, fitted on questions of its own and of other books (docs/quality.md).
BIAS = -3.0
BEST = 0.7
"""Weight of the best memory's evidence: below 1, because one of many candidates always looks good."""
AFFINITY = 4.8
"""Added if the best memory holds each of the question's words, or one that means the same."""
NAMED = 2.5
"""Added if the question names somebody who has spoken here."""
LEAD = 1.5
"""Weight of the lead: the log-odds by which that person's words fit the question better than anybody else's."""
FARTHEST = 4.0
"""The largest lead that counts."""
FEW = 20.0
"""Memories up to which the evidence hardly changes: among few, nothing looks good by chance."""

_SPARE = 2
"""Fetch this many times k, so that duplicates and rows that a filter refuses leave enough."""
_CLOSER = 100
"""Candidates that are looked at closely, with their texts."""
_MOST_ADDED = 8.0
"""Evidence that a close look hardly ever adds: candidates further below the cut-off are not fetched."""
_OUTDATED = 0.9
"""Factor for a message of which something no longer holds, so that it ranks behind one that still does."""
_LITTLE_ELSE = 0.6
"""Share of a message that was learned, from which it says little else."""
_FEW_WORDS = 3
_QUESTION = re.compile(r"\s*(?:[^.!?\n]|[.](?=\S))*\?[\s?!]*")
"""One sentence that ends with a question mark."""
_DECIDED = ("decision", "pattern", "preference")
_UNRATED = FeedbackRow("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The outdated, repeated and reversed memories among some, by their links."""

    outdated: frozenset[str] = frozenset()
    """Messages from which a memory was learned that is now superseded."""
    superseded: frozenset[str] = frozenset()
    """Messages that say little more than what is superseded."""
    covered_by: Mapping[str, str] = field(default_factory=dict)
    """Messages that say little more than a memory that was learned from them, which is the value."""
    reversed: Sequence[tuple[str, Memory]] = ()
    """Memories that were superseded, each with the id of the one that took its place."""


def recall(core: Core, space: int, request: RecallRequest) -> Recall:
    """Answer a request from one space."""
    identity, store, selection = core.identity(), core.store, request.selection
    names = find_names(request.query)
    # Names in the question are speakers' if somebody of that name has spoken here.
    heard = store.frequencies(space, [*map(hash_speaker, names)], identity.generation).tolist() if names else []
    question = read_question(
        request.query,
        named=frozenset(name for name, count in zip(names, heard, strict=True) if count),
        asked_at=times.from_micros(request.now if selection.as_of is None else selection.as_of),
    )
    vector = _query_vector(core, request, question)
    probe = make_probe(
        request, question.subject, vector, generation=identity.generation, depth=core.settings.candidates
    )
    where = compile_where(store.syntax, space, selection, now=request.now)
    choose = partial(
        _choose, request=request, terms=probe.terms, named=bool(question.named), background=identity.background
    )
    found = store.search(space, probe, where, choose, narrow=not is_plain(selection), as_of=selection.as_of)
    judgement = _judge_rows(core, question, found)
    if core.reranker is not None:
        judgement = rerank(request.query, found, judgement, core.reranker, budget=core.settings.rerank_budget)
    best = _find_best(found, judgement, request)
    rows = [] if selection.superseded or selection.as_of is not None else [found.rows[i] for i, _ in best]
    said = [row.id for row in rows if row.kind == "message"]
    decided = [row.id for row in rows if row.kind in _DECIDED]
    related = Related()
    if said or decided:
        seen = compile_where(store.syntax, space, replace(selection, superseded=True), now=request.now)
        related = store.read(partial(find_related, space=space, said=said, decided=decided, where=seen), space)
    return _assemble(request, found, judgement, best, related)


def _query_vector(core: Core, request: RecallRequest, question: ParsedQuestion) -> Floats:
    if request.vector is not None:
        return checks.vector(request.vector, core.identity().dimension)
    if not question.about.strip():
        raise InvalidInput("the query is empty: ask a question, or use list() to see what is there")
    return embed_query(core.embedder, question.about)


def _choose(
    candidates: Candidates, *, request: RecallRequest, terms: tuple[int, ...], named: bool, background: Background
) -> Choice[Judgement]:
    """Judge the candidates, and pick those that are worth fetching."""
    judgement = evidence.judge(candidates, background, terms)
    order = np.argsort(-judgement.evidence, kind="stable")[: max(_SPARE * request.k, _CLOSER)]
    least = Settlement(searched=candidates.searched, named=named).least(request.company) - _MOST_ADDED
    return Choice(positions=order[judgement.evidence[order] >= least], judgement=judgement)


def _judge_rows(core: Core, question: ParsedQuestion, found: Found[Judgement]) -> Judgement:
    """Judge the fetched rows closely; candidates that were not fetched become irrelevant."""
    odds = np.full_like(found.judgement.evidence, -CERTAIN)
    if found.rows:
        look = evidence.look_closely(question, found, core.embedder)
        settlement = Settlement(searched=found.candidates.searched, named=bool(question.named))
        settled = settlement.settle(look.evidence, affinity=look.affinity, lead=look.lead)
        odds[found.positions] = np.clip(settled, -CERTAIN, CERTAIN)
    return replace(found.judgement, evidence=odds, relevance=evidence.probability(odds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Turns the evidence for each memory into the log-odds that it answers the question; the order stays."""

    searched: int
    """Memories that the search was about."""
    named: bool
    """Whether the question names somebody who has spoken here."""

    def settle(self, evidence: Floats, *, affinity: float, lead: float = 0.0) -> Floats:
        """Return the log-odds, lowered by the chance that the question is about something else.

        `affinity` is that of the best memory; `lead` is that of the person whom the question names.
        """
        settled: Floats = (np.float32(self._slope) * evidence + self._standing(affinity, lead)).astype(np.float32)
        return settled

    def least(self, relevance: float) -> float:
        """Return the evidence below which no memory can reach this relevance, whatever its words."""
        if relevance <= 0:
            return -math.inf
        odds = math.log(relevance / (1 - relevance)) if relevance < 1 else math.inf
        return (odds - self._standing(1.0, FARTHEST if self.named else 0.0)) / self._slope

    @property
    def _many(self) -> float:
        return self.searched / (self.searched + FEW)

    @property
    def _slope(self) -> float:
        return 1 - self._many * (1 - BEST)

    def _standing(self, affinity: float, lead: float) -> float:
        ahead = min(max(lead, -FARTHEST), FARTHEST)
        return self._many * (BIAS + AFFINITY * affinity + NAMED * self.named + LEAD * ahead)


def usual_threshold(searched: int) -> float:
    """Return the default threshold for a search among this many memories."""
    return HANDFUL_THRESHOLD if searched <= HANDFUL else THRESHOLD


def find_coverage(
    candidates: Candidates, judgement: Judgement, threshold: float, asking: Sequence[int] = ()
) -> Coverage:
    """Return `known` if a memory is surely relevant and most words are found, `unknown` if no memory passes.

    A lower threshold shows more, but does not make the book know more. Candidates at the places `asking` are only
    questions: they do not make it `known`.
    """
    passed = judgement.relevance >= max(threshold, usual_threshold(candidates.searched))
    if not passed.any():
        return "unknown"
    passed[list(asking)] = False
    if not passed.any() or float(judgement.relevance[passed].max()) < KNOWN:
        return "partly known"
    if not candidates.counts.shape[1]:
        return "known"
    rarity = weigh_terms(candidates.frequencies, candidates.population)
    held = (candidates.counts[passed] > 0).any(axis=0)
    return "known" if float(rarity[held].sum() / rarity.sum()) >= HELD else "partly known"


def _find_best(found: Found[Judgement], judgement: Judgement, request: RecallRequest) -> list[tuple[int, int]]:
    """Return the rows that may be shown, each with its place among the candidates: none if the best is too weak."""
    if not (judgement.relevance[found.positions] >= _threshold(found, request)).any():
        return []
    order = np.argsort(-judgement.evidence[found.positions], kind="stable")[: max(_SPARE * request.k, 20)]
    places: Ints = found.positions[order]
    least = judgement.evidence[places[0]] - request.apart
    return [
        (i, at)
        for i, at in zip(order.tolist(), places.tolist(), strict=True)
        if judgement.relevance[at] >= request.company and judgement.evidence[at] >= least
    ]


def _threshold(found: Found[Judgement], request: RecallRequest) -> float:
    return usual_threshold(found.candidates.searched) if request.threshold is None else request.threshold


def find_related(tx: Tx, space: int, said: Sequence[str], decided: Sequence[str], where: Where) -> Related:
    """Look up the links of messages and of decisions. `where` limits which reversed decisions are returned."""
    learned = links.find_to(tx, space, said, "learned from") if said else []
    rows = memories.find_current(tx, space, list({link.id for link in learned})) if learned else []
    stands = {row.id: row.valid_to is None for row in rows}
    outdated = [link for link in learned if stands.get(link.id) is False]
    before = {link.other: link.id for link in links.find_from(tx, space, decided, "supersedes")} if decided else {}
    former = memories.select(tx, where, list(before)) if before else []
    # No warning of a memory in quarantine, nor of a superseded failure, which no longer holds.
    doubtful = memories.find_quarantined(tx, space, [row.id for row in former]) if former else set()
    return Related(
        outdated=frozenset(link.other for link in outdated),
        superseded=frozenset(link.other for link in outdated if _share(link) > _LITTLE_ELSE),
        covered_by={link.other: link.id for link in learned if stands.get(link.id) and _share(link) > _LITTLE_ELSE},
        reversed=[
            (before[row.id], memories.decode(row))
            for row in former
            if row.id not in doubtful and row.valid_to is not None and row.kind != "failure"
        ],
    )


def _share(link: Link) -> float:
    """Return the share of the message that the memory was learned from."""
    share = link.detail.get("share")
    return share if isinstance(share, float) else 0.0


def _assemble(
    request: RecallRequest,
    found: Found[Judgement],
    judgement: Judgement,
    best: Sequence[tuple[int, int]],
    related: Related,
) -> Recall:
    """Weigh the best rows, drop repeats, and pack the rest into the token budget."""
    hits, failures = _make_hits(request, found, judgement, best, related)
    shown = {hit.memory.id: hit for hit in hits}
    former = [replace(shown[id], memory=memory) for id, memory in related.reversed if id in shown]
    avoid = [*failures, *former][: request.k]
    packed = pack.pack(hits, avoid, max_tokens=request.max_tokens, order=request.order)
    asking = [
        at
        for row, at in zip(found.rows, found.positions.tolist(), strict=True)
        if row.kind == "message" and _QUESTION.fullmatch(row.text)
    ]
    return Recall(
        query=request.query,
        text=packed.text,
        hits=pack.put_in_order(packed.hits, request.order),
        avoid=packed.avoid,
        coverage=find_coverage(found.candidates, judgement, _threshold(found, request), asking),
        receipt=strength.make_receipt([hit.memory.id for hit in (*packed.hits, *packed.avoid)]),
    )


def _make_hits(
    request: RecallRequest,
    found: Found[Judgement],
    judgement: Judgement,
    best: Sequence[tuple[int, int]],
    related: Related,
) -> tuple[list[Hit], list[Hit]]:
    """Return the hits and the failures, each the best first and without repeats."""
    rows = found.rows
    parts = {i: _weigh(rows[i], at, judgement, found.uses.get(rows[i].id, _UNRATED), request) for i, at in best}
    scores = {i: part.relevance * part.certainty * part.recency * part.strength for i, part in parts.items()}
    scores.update((i, _OUTDATED * score) for i, score in [*scores.items()] if rows[i].id in related.outdated)
    ranked = sorted(scores, key=lambda i: (-scores[i], rows[i].id))
    ids = {rows[i].id for i in ranked}
    fresh = [
        i for i in ranked if rows[i].id not in related.superseded and related.covered_by.get(rows[i].id) not in ids
    ]
    kept = _drop_repeats(fresh, found)
    # Failures are warnings; they are among the hits only when they were asked for.
    failed = [] if "failure" in request.selection.kinds else [i for i in kept if rows[i].kind == "failure"]
    hits, failures = (
        [Hit(memory=memories.decode(rows[i]), score=scores[i], parts=parts[i]) for i in some[: request.k]]
        for some in ([i for i in kept if i not in failed], failed)
    )
    return hits, failures


def _weigh(row: MemoryRow, at: int, judgement: Judgement, use: FeedbackRow, request: RecallRequest) -> Score:
    reread = judgement.reread
    return Score(
        meaning=float(judgement.meaning[at]),
        words=float(judgement.words[at]),
        relevance=float(judgement.relevance[at]),
        certainty=evidence.certainty(float(judgement.evidence[at])),
        recency=strength.recency((request.now - row.said_at) / 1e6, request.half_lives[row.kind]),
        strength=strength.strength(
            row.importance, used=use.used, ignored=use.ignored, wrong=use.wrong, confirmed=use.confirmed
        ),
        reread=None if reread is None or np.isnan(reread[at]) else float(reread[at]),
    )


def _drop_repeats(ranked: list[int], found: Found[Judgement]) -> list[int]:
    """Return the ranked rows without those that say again what a better one says."""
    texts = [found.rows[i].text for i in ranked]
    vectors = found.vectors[ranked]
    # Texts are compared word by word only where two could be the same; mostly none could.
    suspects = sorted(_find_suspects(texts, vectors))
    if not suspects:
        return ranked
    kept = find_distinct([texts[place] for place in suspects], vectors[suspects])
    dropped = set(suspects) - {suspects[place] for place in kept}
    return [row for place, row in enumerate(ranked) if place not in dropped]


def _find_suspects(texts: list[str], vectors: Floats) -> set[int]:
    """Return the places of texts that may repeat another: equal but for case, or close and of mostly the same words."""
    if len(texts) < 2:
        return set()
    plain = [text.casefold() for text in texts]
    repeated = Counter(plain)
    found = {place for place, text in enumerate(plain) if repeated[text] > 1}
    # Not by BLAS, as in the search: its threads wait for one another.
    cosines = np.asarray(simsimd.cdist(vectors, vectors, metric="dot"))
    for one, other in np.argwhere(np.triu(cosines > ALIKE, 1)).tolist():
        first, second = set(plain[one].split()), set(plain[other].split())
        fewer = min(len(first), len(second))
        # Scripts without spaces have few words: those are left to the comparison itself.
        if fewer < _FEW_WORDS or 2 * len(first & second) > fewer:
            found.update((one, other))
    return found
