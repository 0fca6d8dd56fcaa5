"""A recall from end to end, but for the store's part: what to ask, whom to pick, what to answer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import simsimd

from commonplace.errors import InvalidInput
from commonplace.memories import strength as weigh
from commonplace.memories.core import Core, embed_query
from commonplace.models.background import Background
from commonplace.models.embedders.base import Embedder, WordMatcher
from commonplace.recall import closely, links, pack, question, rank, second_reading, verdict
from commonplace.recall.distinct import ALIKE, distinct
from commonplace.recall.links import Related
from commonplace.recall.request import Request
from commonplace.recall.settle import Settlement
from commonplace.store import trace
from commonplace.store.base import Choice, Found
from commonplace.store.candidates import Candidates, Part, Probe
from commonplace.store.row import FeedbackRow, MemoryRow
from commonplace.store.tables import memories
from commonplace.store.where import Selection, compile_where, is_plain
from commonplace.text import speakers
from commonplace.text import terms as analyze
from commonplace.values import KINDS, Hit, Order, Recall, Score, checks, times
from commonplace.values.arrays import Floats, Ints

_SPARE = 2
"""Fetch this many times k, so that duplicates and rows that a filter refuses leave enough."""
_CLOSER = 100
"""Candidates that are looked at closely, with their texts."""
_CLOSEST = 40
"""Of these, the ones whose words are compared one by one."""
_MOST_ADDED = 8.0
"""Evidence that a close look can hardly add: what is further below the cut-off is not fetched."""
_FEW_WORDS = 3
_UNRATED = FeedbackRow("")


Judged: TypeAlias = Found[rank.Judgement]
Relate: TypeAlias = Callable[[Sequence[str], Sequence[str]], Related]
"""Looks up the links of messages and of decisions, each by their ids."""

_OUTDATED = 0.9
"""What a message is worth of which something is no longer so: less than any that still holds."""
_QUESTION = re.compile(r"\s*(?:[^.!?\n]|[.](?=\S))*\?[\s?!]*")
"""One sentence that ends with a question mark."""
_DECIDED = ("decision", "pattern", "preference")


def recall(core: Core, space: int, request: Request) -> Recall:
    """Answer a request from one space."""
    identity, store, selection = core.identity(), core.store, request.selection
    asked = _asked(core, space, request)
    vector = request.vector
    if vector is not None:
        vector = checks.vector(vector, identity.dimension)
    elif not asked.about.strip():
        raise InvalidInput("the query is empty: ask a question, or use list() to see what is there")
    else:
        vector = embed_query(core.embedder, asked.about)
    probed = probe(request, asked.subject, vector, identity.generation, depth=core.settings.candidates)
    where = compile_where(store.dialect, space, selection, now=request.now)
    chooser = partial(choose, request=request, asked=asked, probe=probed, background=identity.background)
    found = store.search(space, probed, where, chooser, narrow=not is_plain(selection), as_of=selection.as_of)
    judgement = closer(asked, found, core.embedder)
    if core.reranker is not None:
        judgement = second_reading.reread(
            request.query, found, judgement, core.reranker, budget=core.settings.rerank_budget
        )
    return assemble(request, found, judgement, partial(_look_up, core, space, selection))


def _look_up(core: Core, space: int, selection: Selection, said: Sequence[str], decided: Sequence[str]) -> Related:
    where = compile_where(core.store.dialect, space, replace(selection, superseded=True), now=times.now())
    return core.store.read(lambda tx: links.related(tx, space, said, decided, where), space)


def _asked(core: Core, space: int, request: Request) -> Asked:
    query, past = request.query, request.selection.as_of
    read = question.read(query, times.from_micros(request.now if past is None else past))
    named: frozenset[str] = frozenset()
    if read.names:
        calls = roll_call(read.names)
        named = present(read.names, core.store.frequencies(space, calls, core.identity().generation))
    about = question.without(query, named)
    return Asked(question=read, named=named, about=about, subject=question.subject(about))


def choose(
    candidates: Candidates, *, request: Request, asked: Asked, probe: Probe, background: Background
) -> Choice[rank.Judgement]:
    """Judge the candidates, and pick those that are worth fetching."""
    judgement = rank.judge(candidates, background, probe.terms)
    order = np.argsort(-judgement.evidence, kind="stable")[: max(_SPARE * request.k, _CLOSER)]
    settlement = Settlement(searched=candidates.searched, named=bool(asked.named))
    least = settlement.least(request.company) - _MOST_ADDED
    return Choice(positions=order[judgement.evidence[order] >= least], judgement=judgement)


def roll_call(names: Sequence[str]) -> tuple[int, ...]:
    """Give the terms that stand in a memory which somebody of each name has spoken."""
    return tuple(map(trace.speaker_hash, names))


def present(names: Sequence[str], heard: Ints) -> frozenset[str]:
    """Those of the names that answered a roll call, by how often each was heard."""
    return frozenset(name for name, times in zip(names, heard.tolist(), strict=True) if times)


def probe(request: Request, subject: str, vector: Floats | None, generation: int, *, depth: int) -> Probe:
    """The question as both indexes understand it; `subject` is what it asks for, less who is to have said it."""
    selection = request.selection
    past = selection.as_of is not None
    return Probe(
        vector=vector,
        terms=analyze.query_terms(subject),
        depth=max(depth, 2 * request.k),
        generation=generation,
        # Of the past, the rows alone know what had ended by then.
        now=0 if past else request.now,
        superseded=past or selection.superseded,
        kinds=tuple(KINDS.index(kind) for kind in selection.kinds),
        labels=tuple(trace.tag_hash(tag) for tag in selection.tags),
        within=_hashed(selection),
    )


def _hashed(selection: Selection) -> tuple[tuple[Part, tuple[int, ...]], ...]:
    within = selection.within
    if within is None:
        return ()
    parts: tuple[tuple[Part, tuple[str, ...] | None], ...] = (
        ("user", within.users),
        ("agent", within.agents),
        ("session", within.sessions),
    )
    shared = (0,) if within.shared else ()
    return tuple(
        (part, (*shared, *(trace.name_hash(name) for name in names))) for part, names in parts if names is not None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked for, and of whom."""

    question: question.Question
    named: frozenset[str]
    """Words of speakers' names that the question holds."""
    about: str
    """The question less who is to have said it: what is compared by meaning."""
    subject: str
    """Of that, what it asks for, less how it asks: what is compared by words."""


def closer(asked: Asked, found: Judged, embedder: Embedder) -> rank.Judgement:
    """The judgement after a close look at the rows that were fetched."""
    judgement = found.judgement
    if not found.rows:
        return rank.closer(judgement, found.positions, np.empty(0, np.float32))
    told = [_told(row) for row in found.rows]
    spoken = closely.speakers(asked.question, asked.named, told)
    evidence = judgement.evidence[found.positions] + spoken
    evidence += closely.moments(asked.question, told) + closely.ages(told, judgement.words[found.positions])
    # Engines differ in the last digits: what is as good as equal goes by age, so that all look at the same ones.
    seqs = np.array([each.seq for each in told], np.int64)
    best = np.lexsort((seqs, -np.round(evidence, 3)))[:_CLOSEST]
    texts = [found.rows[i].text for i in best.tolist()]
    evidence += closely.shapeless(asked.question)
    evidence[best] += closely.shape(asked.question, texts)
    at = found.positions[best]
    affinity = closely.expected(judgement.share[at], judgement.meaning[at])
    if isinstance(embedder, WordMatcher):
        affinity = embedder.affinity(question.informative(asked.subject), texts)
        evidence[best] += closely.likeness(affinity, judgement.share[at], judgement.meaning[at])
    settlement = Settlement(searched=found.candidates.searched, named=bool(asked.named))
    settled = settlement.settle(
        evidence,
        affinity=float(affinity[np.argmax(evidence[best])]),
        lead=closely.lead(evidence - spoken, spoken, told),
    )
    return rank.closer(judgement, found.positions, settled)


def _told(row: MemoryRow) -> closely.Told:
    source, text, said_at, seq = row.source, row.text, row.said_at, row.seq
    return closely.Told(text, speakers.speaker(source, text), said_at, seq)


def assemble(request: Request, found: Judged, judgement: rank.Judgement, relate: Relate) -> Recall:
    """The answer from the rows that were fetched: weighed, without repeats, within the budget.

    `relate` looks up what is linked with the best of them.
    """
    best = _best(found, judgement, request)
    plain = not request.selection.superseded and request.selection.as_of is None
    related = Related() if not plain else _related([found.rows[i] for i, _ in best], relate)
    factors = {i: _factors(found.rows[i], float(judgement.evidence[at]), found.uses, request) for i, at in best}
    scores = {
        i: math.prod(factors[i], start=float(judgement.relevance[at]))
        * (_OUTDATED if found.rows[i].id in related.outdated else 1.0)
        for i, at in best
    }
    ranked = sorted(scores, key=lambda i: (-scores[i], found.rows[i].id))
    shown, avoid = _apart(found, _without_repeats(found, _untold(found, ranked, related)), request)
    hits = [
        Hit(
            memory=memories.decode(found.rows[i]),
            score=scores[i],
            parts=_parts(judgement, int(found.positions[i]), factors[i]),
        )
        for i in (*shown, *avoid)
    ]
    shown_hits, warnings = hits[: len(shown)], [*hits[len(shown) :], *_reversed(hits[: len(shown)], related)]
    packed = pack.pack(shown_hits, warnings[: request.k], max_tokens=request.max_tokens, order=request.order)
    return Recall(
        query=request.query,
        text=packed.text,
        hits=_ordered(packed.hits, request.order),
        avoid=packed.avoid,
        coverage=verdict.coverage(found.candidates, judgement, _threshold(found, request), _asking(found)),
        receipt=weigh.make_receipt([hit.memory.id for hit in (*packed.hits, *packed.avoid)]),
    )


def _related(rows: Sequence[MemoryRow], relate: Relate) -> Related:
    said = [row.id for row in rows if row.kind == "message"]
    decided = [row.id for row in rows if row.kind in _DECIDED]
    return relate(said, decided) if said or decided else Related()


def _asking(found: Judged) -> list[int]:
    """The places among the candidates of messages that ask something and state nothing."""
    places = zip(found.rows, found.positions.tolist(), strict=True)
    return [at for row, at in places if row.kind == "message" and _QUESTION.fullmatch(row.text)]


def _untold(found: Judged, ranked: list[int], related: Related) -> list[int]:
    """The ranked rows less messages that say little more than what is superseded, or than a memory that is there."""
    ids = {i: found.rows[i].id for i in ranked}
    there = set(ids.values())
    return [i for i in ranked if ids[i] not in related.over and related.retold.get(ids[i]) not in there]


def _reversed(shown: Sequence[Hit], related: Related) -> Iterator[Hit]:
    """What was decided before the decisions that are shown, and is so no longer."""
    decided = {hit.memory.id: hit for hit in shown}
    for id, memory in related.reversed:
        if id in decided:
            yield replace(decided[id], memory=memory)


def _best(found: Judged, judgement: rank.Judgement, request: Request) -> list[tuple[int, int]]:
    """The rows that may be shown, each with its place among the candidates: none if the best is not good enough."""
    if not (judgement.relevance[found.positions] >= _threshold(found, request)).any():
        return []
    order = np.argsort(-judgement.evidence[found.positions], kind="stable")[: max(_SPARE * request.k, 20)]
    places = zip(order.tolist(), found.positions[order].tolist(), strict=True)
    least = judgement.evidence[found.positions[order[0]]] - request.apart
    return [
        (i, at) for i, at in places if judgement.relevance[at] >= request.company and judgement.evidence[at] >= least
    ]


def _threshold(found: Judged, request: Request) -> float:
    return rank.usual(found.candidates.searched) if request.threshold is None else request.threshold


def _factors(
    row: MemoryRow, evidence: float, uses: Mapping[str, FeedbackRow], request: Request
) -> tuple[float, float, float]:
    """Certainty, recency and strength of a row."""
    now, half_lives = request.now, request.half_lives
    use = uses.get(row.id, _UNRATED)
    return (
        rank.certainty(evidence),
        weigh.recency((now - row.said_at) / 1e6, half_lives[row.kind]),
        weigh.strength(row.importance, used=use.used, ignored=use.ignored, wrong=use.wrong, confirmed=use.confirmed),
    )


def _parts(judgement: rank.Judgement, position: int, factors: tuple[float, float, float]) -> Score:
    certainty, recency, strength = factors
    return Score(
        meaning=float(judgement.meaning[position]),
        words=float(judgement.words[position]),
        relevance=float(judgement.relevance[position]),
        certainty=certainty,
        recency=recency,
        strength=strength,
        reread=_reread(judgement, position),
    )


def _reread(judgement: rank.Judgement, position: int) -> float | None:
    if judgement.reread is None or np.isnan(judgement.reread[position]):
        return None
    return float(judgement.reread[position])


def _without_repeats(found: Judged, ranked: list[int]) -> list[int]:
    """The ranked rows less those that say again what a better one says."""
    texts = [found.rows[i].text for i in ranked]
    vectors = found.vectors[ranked]
    # Texts are compared word by word only where two could be the same; mostly none could.
    suspects = sorted(_alike(texts, vectors))
    if not suspects:
        return ranked
    kept = distinct([texts[place] for place in suspects], vectors[suspects])
    dropped = set(suspects) - {suspects[place] for place in kept}
    return [row for place, row in enumerate(ranked) if place not in dropped]


def _alike(texts: list[str], vectors: Floats) -> set[int]:
    """Places of texts that may say the same as another: equal but for case, or close and of mostly the same words."""
    if len(texts) < 2:
        return set()
    plain = [text.casefold() for text in texts]
    repeated = Counter(plain)
    found = {place for place, text in enumerate(plain) if repeated[text] > 1}
    # Not by BLAS, as in the search: its threads wait for one another.
    cosines = np.asarray(simsimd.cdist(vectors, vectors, metric="dot"))
    close = np.argwhere(np.triu(cosines > ALIKE, 1)).tolist()
    if close:
        words = [set(text.split()) for text in plain]
        for one, other in close:
            fewer = min(len(words[one]), len(words[other]))
            # Scripts without spaces have few words: those are left to the comparison itself.
            if fewer < _FEW_WORDS or 2 * len(words[one] & words[other]) > fewer:
                found.update((one, other))
    return found


def _apart(found: Judged, kept: list[int], request: Request) -> tuple[list[int], list[int]]:
    """Failures warn; they stand among the hits only when they were asked for."""
    if "failure" in request.selection.kinds:
        return kept[: request.k], []
    failures = [i for i in kept if found.rows[i].kind == "failure"]
    shown = [i for i in kept if i not in failures]
    return shown[: request.k], failures[: request.k]


def _ordered(hits: tuple[Hit, ...], order: Order) -> tuple[Hit, ...]:
    if order == "relevance":
        return hits
    return tuple(sorted(hits, key=lambda hit: hit.memory.said_at))
