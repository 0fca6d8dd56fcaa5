"""A recall from end to end: search the store, let the reader decide what answers the question, and rank the hits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timezone
from functools import partial

import numpy as np
import simsimd

from commonplace.errors import InvalidInput
from commonplace.filters import All, Any, Field, Test
from commonplace.memories import strength
from commonplace.memories.core import Core, embed_query
from commonplace.models.background import Background
from commonplace.recall import evidence, pack
from commonplace.recall.evidence import CERTAIN, Judgement
from commonplace.recall.repeats import ALIKE, find_distinct
from commonplace.recall.request import ParsedQuestion, RecallRequest, find_names, make_probe, read_question
from commonplace.recall.rerank import rerank
from commonplace.recall.settlement import Settlement, settle
from commonplace.recall.sheet import make_sheet
from commonplace.recall.verdict import Verdict, judge_read
from commonplace.store.base import Candidates, Choice, Found, Tx, Where
from commonplace.store.row import FeedbackRow, MemoryRow, hash_speaker
from commonplace.store.tables import links, memories
from commonplace.store.where import Selection, compile_where, is_plain
from commonplace.text import terms as analyze
from commonplace.text.smalltalk import strip_small_talk
from commonplace.values import Hit, Kind, Link, Memory, Recall, Score, checks, times
from commonplace.values.arrays import Floats

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
_LOOKED_AT = 40
"""Candidates of which it is looked up whether they still hold: more than the reader reads."""
_MUTED = "[…]"
"""Stands where a part of a message was left out because it no longer holds."""
_MORE = 20
"""Memories that are added because they are of the days or the kinds that a question names."""
_MOST_SPANS = 3
_KIND = 2.0
"""Log-odds for a memory of the kind that a question asks for."""
_LATE = 4
"""Days after a span in which people still talk about it."""
_DAY = 86_400_000_000
_ASKED_KINDS: Mapping[Kind, re.Pattern[str]] = {
    "decision": re.compile(r"\b(?:decide|decided|deciding|decisions?|agreed|settled on)\b", re.IGNORECASE),
    "failure": re.compile(r"\b(?:avoid|fail(?:ed|ure|ures)?|went wrong|not work|mistakes?)\b", re.IGNORECASE),
    "preference": re.compile(r"\b(?:prefer|prefers|preferences?|likes? and dislikes?)\b", re.IGNORECASE),
}
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
    muted: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    """Messages of which a part no longer holds, each with where those parts begin and end."""
    covered_by: Mapping[str, str] = field(default_factory=dict)
    """Messages that say little more than a memory that was learned from them, which is the value."""
    learned: frozenset[tuple[str, str]] = frozenset()
    """Messages that say much more, each with a memory that was learned from it."""
    reversed: Sequence[tuple[str, Memory]] = ()
    """Memories that were superseded, each with the id of the one that took its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The candidates for a question, judged by words, meaning, speaker and date."""

    question: ParsedQuestion
    terms: tuple[int, ...]
    found: Found[Judgement]
    judgement: Judgement
    added: int
    """How many of the rows, the last ones, were added for the days or the kinds that the question names."""


def recall(core: Core, space: int, request: RecallRequest) -> Recall:
    """Answer a request from one space; small talk is answered by silence, without a search."""
    said = strip_small_talk(request.query)
    if not said and request.threshold is None and request.vector is None and request.query.strip():
        return Recall(
            query=request.query, text="", hits=(), avoid=(), coverage="unknown", receipt=strength.make_receipt([])
        )
    asked = replace(request, query=said or request.query)
    search = look_up(core, space, asked)
    # Before the verdict: the reader must not take for an answer what no longer holds.
    related = _relate(core, space, request, search)
    search = _mute(search, related)
    return _assemble(request, search.found, _judge(core, search, asked), related)


def _judge(core: Core, search: Search, request: RecallRequest) -> Verdict:
    """Let the reader judge the best candidates; without one, what the search found decides."""
    found, judgement = search.found, search.judgement
    # With a vector of the caller's own, the query's text may say nothing.
    if core.reader is not None and request.vector is None and found.rows:
        sheet = make_sheet(
            search.question, found, judgement, terms=search.terms, asked_at=request.asked_at, added=search.added
        )
        opinion = core.reader().read(request.query, sheet.passages, sheet.numbers, budget=core.settings.read_budget)
        kinds = _score_kinds(request, [found.rows[place] for place in sheet.places.tolist()])
        return judge_read(opinion, sheet.places, kinds, sheet.moments, found, judgement, request)
    if core.reranker is not None:
        judgement = rerank(request.query, found, judgement, core.reranker, budget=core.settings.rerank_budget)
    asking = [
        at
        for row, at in zip(found.rows, found.positions.tolist(), strict=True)
        if row.kind == "message" and _QUESTION.fullmatch(row.text)
    ]
    return settle(found, judgement, request, asking)


def look_up(core: Core, space: int, request: RecallRequest) -> Search:
    """Search the space for candidates, and judge them."""
    identity, store, selection = core.identity(), core.store, request.selection
    names = find_names(request.query)
    # Names in the question are speakers' if somebody of that name has spoken here.
    heard = store.frequencies(space, [*map(hash_speaker, names)], identity.generation).tolist() if names else []
    question = read_question(
        request.query,
        named=frozenset(name for name, count in zip(names, heard, strict=True) if count),
        asked_at=times.from_micros(request.asked_at),
    )
    vector = _query_vector(core, request, question)
    probe = make_probe(
        request, question.subject, vector, generation=identity.generation, depth=core.settings.candidates
    )
    where = compile_where(store.syntax, space, selection, now=request.now)
    choose = partial(
        _choose,
        request=request,
        terms=probe.terms,
        named=bool(question.named),
        background=identity.background,
        every=request.vector is None and core.reader is not None,
    )
    found = store.search(space, probe, where, choose, narrow=not is_plain(selection), as_of=selection.as_of)
    first = len(found.rows)
    if found.candidates.searched > len(found.rows):
        for narrower in _find_narrower(request, question):
            where = compile_where(store.syntax, space, narrower, now=request.now)
            more = store.search(space, replace(probe, depth=_MORE), where, choose, narrow=True, as_of=selection.as_of)
            found = _join(found, more, most=_MORE)
    return Search(
        question=question,
        terms=probe.terms,
        found=found,
        judgement=_judge_rows(core, question, found),
        added=len(found.rows) - first,
    )


def _find_narrower(request: RecallRequest, question: ParsedQuestion) -> Iterator[Selection]:
    """Yield what else to search for: the days that the question names, and the kinds that it asks for."""
    selection = request.selection
    spans = question.dates.spans(times.from_micros(request.asked_at).date())[:_MOST_SPANS]
    if spans:
        said = Field("said_at")
        days = [
            All((Test(said, "$gte", (_midnight(first),)), Test(said, "$lt", (_midnight(last) + _LATE * _DAY,))))
            for first, last in spans
        ]
        yield replace(selection, filter=All((selection.filter, Any(tuple(days)))))
    if not selection.kinds and (kinds := _find_kinds(request)):
        yield replace(selection, kinds=kinds)


def _find_kinds(request: RecallRequest) -> tuple[Kind, ...]:
    """Return the kinds of memory that a question names."""
    return tuple(kind for kind, asked in _ASKED_KINDS.items() if asked.search(request.query))


def _score_kinds(request: RecallRequest, rows: Sequence[MemoryRow]) -> Floats:
    """Return the log-odds for rows of a kind that the question names."""
    kinds = _find_kinds(request)
    return np.array([_KIND * (row.kind in kinds) for row in rows], np.float32)


def _midnight(day: date) -> int:
    return times.to_micros(datetime(day.year, day.month, day.day, tzinfo=timezone.utc))


def _join(first: Found[Judgement], second: Found[Judgement], *, most: int) -> Found[Judgement]:
    """Return the first search with the best rows of the second that it lacks."""
    known = {row.id for row in first.rows}
    best = np.argsort(-second.judgement.evidence[second.positions], kind="stable")[:most].tolist()
    new = [place for place in best if second.rows[place].id not in known]
    at = second.positions[new]
    one, other = first.candidates, second.candidates
    sessions = None
    if one.sessions is not None and other.sessions is not None:
        sessions = np.concatenate([one.sessions, other.sessions[at]])
    return Found(
        candidates=replace(
            one,
            seqs=np.concatenate([one.seqs, other.seqs[at]]),
            cosines=np.concatenate([one.cosines, other.cosines[at]]),
            counts=np.concatenate([one.counts, other.counts[at]]),
            lengths=np.concatenate([one.lengths, other.lengths[at]]),
            sessions=sessions,
        ),
        judgement=first.judgement.join(second.judgement, at),
        positions=np.concatenate([first.positions, len(one.seqs) + np.arange(len(new))]),
        rows=[*first.rows, *(second.rows[place] for place in new)],
        uses={**second.uses, **first.uses},
        vectors=np.concatenate([first.vectors, second.vectors[new]]),
    )


def _relate(core: Core, space: int, request: RecallRequest, search: Search) -> Related:
    """Look up what is outdated or reversed among the best candidates, unless the past was asked for."""
    selection, found = request.selection, search.found
    if selection.superseded or selection.as_of is not None:
        return Related()
    order = np.argsort(-search.judgement.evidence[found.positions], kind="stable")
    first = len(found.rows) - search.added
    near = {*order[: max(_SPARE * request.k, _LOOKED_AT)].tolist(), *range(first, len(found.rows))}
    rows = [found.rows[place] for place in sorted(near)]
    said = [row.id for row in rows if row.kind == "message"]
    decided = [row.id for row in rows if row.kind in _DECIDED]
    if not said and not decided:
        return Related()
    seen = compile_where(core.store.syntax, space, replace(selection, superseded=True), now=request.now)
    return core.store.read(partial(find_related, space=space, said=said, decided=decided, where=seen), space)


def _mute(search: Search, related: Related) -> Search:
    """Return the search without what no longer holds: parts of messages, and messages that these alone made fit."""
    found, asked = search.found, {*search.terms}
    if not (related.superseded or related.muted):
        return search
    rows, kept = [], []
    for place, row in enumerate(found.rows):
        rest, muted = _cut(row.text, () if row.action == "revised" else related.muted.get(row.id, ()))
        held, lost = (analyze.terms(text).keys() for text in (rest, muted))
        useless = muted and (len(held) < _FEW_WORDS or (lost & asked and not held & asked))
        if row.id not in related.superseded and not useless:
            kept.append(place)
            rows.append(row._replace(text=rest) if muted else row)
    odds = search.judgement.evidence.copy()
    odds[np.delete(found.positions, kept)] = -CERTAIN
    first = len(found.rows) - search.added
    return replace(
        search,
        found=replace(found, positions=found.positions[kept], rows=rows, vectors=found.vectors[kept]),
        judgement=replace(search.judgement, evidence=odds, relevance=evidence.probability(odds)),
        added=sum(place >= first for place in kept),
    )


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """Return a text with a mark in place of some parts, and these parts."""
    kept, cut, at = "", [], 0
    for start, end in sorted(spans):
        if start >= at:
            kept += text[at:start] + _MUTED
            cut.append(text[start:end])
        at = max(at, end)
    return kept + text[at:], " ".join(cut)


def _query_vector(core: Core, request: RecallRequest, question: ParsedQuestion) -> Floats:
    if request.vector is not None:
        return checks.vector(request.vector, core.identity().dimension)
    if not question.about.strip():
        raise InvalidInput("the query is empty: ask a question, or use list() to see what is there")
    return embed_query(core.embedder, question.about)


def _choose(
    candidates: Candidates,
    *,
    request: RecallRequest,
    terms: tuple[int, ...],
    named: bool,
    background: Background,
    every: bool,
) -> Choice[Judgement]:
    """Judge the candidates, and pick the best, or only those of them that may pass without being read."""
    judgement = evidence.judge(candidates, background, terms)
    order = np.argsort(-judgement.evidence, kind="stable")[: max(_SPARE * request.k, _CLOSER)]
    if not every:
        least = Settlement(searched=candidates.searched, named=named).least(request.company) - _MOST_ADDED
        order = order[judgement.evidence[order] >= least]
    return Choice(positions=order, judgement=judgement)


def _judge_rows(core: Core, question: ParsedQuestion, found: Found[Judgement]) -> Judgement:
    """Judge the fetched rows closely; candidates that were not fetched become irrelevant."""
    odds = np.full_like(found.judgement.evidence, -CERTAIN)
    if found.rows:
        look = evidence.look_closely(question, found, core.embedder)
        settlement = Settlement(searched=found.candidates.searched, named=bool(question.named))
        settled = settlement.settle(look.evidence, affinity=look.affinity, lead=look.lead)
        odds[found.positions] = np.clip(settled, -CERTAIN, CERTAIN)
    return replace(found.judgement, evidence=odds, relevance=evidence.probability(odds))


def find_related(tx: Tx, space: int, said: Sequence[str], decided: Sequence[str], where: Where) -> Related:
    """Look up the links of messages and of decisions. `where` limits which reversed decisions are returned."""
    learned = links.find_to(tx, space, said, "learned from") if said else []
    rows = memories.find_current(tx, space, list({link.id for link in learned})) if learned else []
    stands = {row.id: row.valid_to is None for row in rows}
    outdated = [link for link in learned if stands.get(link.id) is False]
    holding = [link for link in learned if stands.get(link.id)]
    muted: dict[str, set[tuple[int, int]]] = {}
    for link in outdated:
        # What is also part of a memory that still holds stays.
        if (span := _span(link)) and not any(each.other == link.other and _overlap(each, span) for each in holding):
            muted.setdefault(link.other, set()).add(span)
    before = {link.other: link.id for link in links.find_from(tx, space, decided, "supersedes")} if decided else {}
    former = memories.select(tx, where, list(before)) if before else []
    # No warning of a memory in quarantine, nor of a superseded failure, which no longer holds.
    doubtful = memories.find_quarantined(tx, space, [row.id for row in former]) if former else set()
    return Related(
        outdated=frozenset(link.other for link in outdated),
        superseded=frozenset(link.other for link in outdated if _share(link) > _LITTLE_ELSE),
        muted={id: sorted(spans) for id, spans in muted.items()},
        covered_by={link.other: link.id for link in holding if _share(link) > _LITTLE_ELSE},
        learned=frozenset((link.other, link.id) for link in learned if _share(link) <= _LITTLE_ELSE),
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


def _span(link: Link) -> tuple[int, int] | None:
    """Return where in the message the memory's words begin and end, if the link knows."""
    start, end = link.detail.get("start"), link.detail.get("end")
    return (start, end) if isinstance(start, int) and isinstance(end, int) and 0 <= start < end else None


def _overlap(link: Link, span: tuple[int, int]) -> bool:
    other = _span(link)
    return other is not None and other[0] < span[1] and span[0] < other[1]


def _assemble(request: RecallRequest, found: Found[Judgement], verdict: Verdict, related: Related) -> Recall:
    """Weigh the best rows, drop repeats, and pack the rest into the token budget."""
    hits, failures = _make_hits(request, found, verdict.judgement, verdict.best, related)
    shown = {hit.memory.id: hit for hit in hits}
    former = [replace(shown[id], memory=memory) for id, memory in related.reversed if id in shown]
    avoid = [*failures, *former][: request.k]
    packed = pack.pack(hits, avoid, max_tokens=request.max_tokens, order=request.order)
    return Recall(
        query=request.query,
        text=packed.text,
        hits=pack.put_in_order(packed.hits, request.order),
        avoid=packed.avoid,
        coverage=verdict.coverage,
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
    kept = _drop_repeats(_drop_covered(ranked, rows, related), found)
    # Failures are warnings; they are among the hits only when they were asked for.
    failed = [] if "failure" in request.selection.kinds else [i for i in kept if rows[i].kind == "failure"]
    hits, failures = (
        [Hit(memory=memories.decode(rows[i]), score=scores[i], parts=parts[i]) for i in some[: request.k]]
        for some in ([i for i in kept if i not in failed], failed)
    )
    return hits, failures


def _drop_covered(ranked: list[int], rows: Sequence[MemoryRow], related: Related) -> list[int]:
    """Return the ranked rows, never with both a message and what was learned from it."""
    ids = {rows[i].id for i in ranked}
    place = {rows[i].id: n for n, i in enumerate(ranked)}
    pairs = ((place[message], place[memory]) for message, memory in related.learned if {message, memory} <= ids)
    behind = {max(pair) for pair in pairs}
    return [i for n, i in enumerate(ranked) if n not in behind and related.covered_by.get(rows[i].id) not in ids]


def _weigh(row: MemoryRow, at: int, judgement: Judgement, use: FeedbackRow, request: RecallRequest) -> Score:
    reread = judgement.reread
    half_life = strength.stretch(request.half_lives[row.kind], used=use.used, confirmed=use.confirmed)
    return Score(
        meaning=float(judgement.meaning[at]),
        words=float(judgement.words[at]),
        relevance=float(judgement.relevance[at]),
        certainty=evidence.certainty(float(judgement.evidence[at])),
        recency=strength.recency((request.now - row.said_at) / 1e6, half_life),
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
