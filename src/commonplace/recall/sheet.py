"""The sheet that the reader is shown: the question, the best candidates as passages, and some numbers about each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from commonplace.models.reader import MOST_SKIMMED, NUMBERS, Passage
from commonplace.recall.evidence import CERTAIN, Judgement, score_moments, score_speakers
from commonplace.recall.request import ParsedQuestion
from commonplace.store.base import Found
from commonplace.store.row import MemoryRow
from commonplace.text import terms as analyze
from commonplace.text.lexicon import ASSISTANTS
from commonplace.values import times
from commonplace.values.arrays import Floats, Ints

_SEATS = 5
"""Candidates that are read although others have more evidence, because they are of a day or a kind that was named."""
LONG = 360
"""Characters of a text of which only the part nearest to the question is read."""
_NEAR = 3
"""Sequence numbers by which a turn and the one before it may be apart: sessions are written side by side."""
_HOUR = 3_600_000_000
_MOMENT = np.float32(4)
"""Log-odds of a moment that count as 1 among the numbers."""
_PART = re.compile(r"[^.!?\n]*[.!?\n]+\s*|[^.!?\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The candidates as the reader is shown them; every list has one value a candidate, the best first."""

    places: Ints
    """Index of each candidate among the rows that were found."""
    passages: list[Passage]
    numbers: Floats
    """NUMBERS of each candidate, in about the range from -1 to 1."""
    moments: Floats
    """The log-odds against candidates that were not said when the question asks for, beside those that were."""


def make_sheet(
    question: ParsedQuestion,
    found: Found[Judgement],
    judgement: Judgement,
    *,
    terms: Sequence[int],
    asked_at: int,
    added: int = 0,
    most: int = MOST_SKIMMED,
) -> Sheet:
    """Choose the best candidates and write them down for the reader.

    The last `added` rows were added for the days or the kind that the question names: some of them have a seat.
    """
    evidence = judgement.evidence[found.positions]
    # Engines differ in the last digits: what is as good as equal goes by age, so that both show the same ones.
    seqs = np.array([row.seq for row in found.rows], np.int64)
    order = _drop_copies(np.lexsort((seqs, -np.round(evidence, 3))), found.rows)
    seats = np.flatnonzero(order >= len(found.rows) - added)[:_SEATS]
    places = order[np.union1d(np.arange(min(most - len(seats), len(order))), seats)]
    before = _find_before(found.rows)
    rows = [found.rows[place] for place in places.tolist()]
    passages = [_write_passage(row, before.get(row.id), frozenset(terms)) for row in rows]
    numbers = _count(question, rows, found, judgement, places, asked_at)
    moments = _MOMENT * numbers[:, NUMBERS.index("moment")]
    past = question.dates.are_past(times.from_micros(asked_at).date())
    return Sheet(
        places=places,
        passages=passages,
        numbers=numbers,
        moments=moments - moments.max(initial=-CERTAIN) if past else np.zeros_like(moments),
    )


def _drop_copies(order: Ints, rows: Sequence[MemoryRow]) -> Ints:
    """Return the order without what one speaker said again in the same words: a copy is no correction.

    Of a message and a memory that was learned from it, the memory stays.
    """
    kept: list[int] = []
    seen: dict[tuple[str | None, str], int] = {}
    for place in order.tolist():
        row = rows[place]
        at = seen.setdefault((row.source, row.text.casefold().rstrip(" .!")), len(kept))
        if at == len(kept):
            kept.append(place)
        elif row.kind != "message" and rows[kept[at]].kind == "message":
            kept[at] = place
    return np.array(kept, np.int64)


def _find_before(rows: Sequence[MemoryRow]) -> dict[str, MemoryRow]:
    """Return, by the id of each turn, the turn before it in its session, if it was fetched too."""
    spoken = sorted((row for row in rows if row.scope_session), key=lambda row: (row.scope_session or "", row.seq))
    return {
        row.id: last
        for last, row in pairwise(spoken)
        if row.scope_session == last.scope_session and row.seq - last.seq <= _NEAR
    }


def _write_passage(row: MemoryRow, before: MemoryRow | None, terms: frozenset[int]) -> Passage:
    text = row.text if len(row.text) <= LONG else _cut(row.text, terms)
    return Passage(text=_with_speaker(row, text), before="" if before is None else _with_speaker(before, before.text))


def _with_speaker(row: MemoryRow, text: str) -> str:
    return f"{row.source}: {text}" if row.source else text


def _cut(text: str, terms: frozenset[int]) -> str:
    """Return the part of a long text that holds most of the question's words, from one sentence before it on."""
    parts = _PART.findall(text)
    held = [len(terms & analyze.terms(part).keys()) for part in parts]
    best = max(range(len(parts)), key=lambda place: (held[place], -place), default=0)
    start = best - 1 if best and len(parts[best - 1]) < LONG / 2 else best
    return "".join(parts[start:])[:LONG] if held and held[best] else text[:LONG]


def _count(
    question: ParsedQuestion,
    rows: Sequence[MemoryRow],
    found: Found[Judgement],
    judgement: Judgement,
    places: Ints,
    asked_at: int,
) -> Floats:
    """Return the NUMBERS of each candidate."""
    positions = found.positions[places]
    said_at = np.array([row.said_at for row in rows], np.int64)
    voices = [analyze.speaker_words(row.source, row.text) for row in rows]
    spoken = score_speakers(question, voices)
    many = max(len(rows) - 1, 1)
    newest = np.argsort(np.lexsort((positions, said_at))) / many
    columns = {
        "evidence": np.clip(judgement.evidence[positions] / 10, -3, 3),
        "meaning": judgement.meaning[positions] / 5,
        "share": judgement.share[positions],
        "words": judgement.words[positions],
        "rank": np.arange(len(rows)) / MOST_SKIMMED,
        # By the hour, so that a question that is asked again a second later is judged alike.
        "age": np.log1p(np.maximum(asked_at - said_at, 0) // _HOUR / 24) / 8,
        "newest": newest,
        "assistant": np.array([bool(voice & ASSISTANTS) for voice in voices]),
        "named": np.sign(spoken),
        "asking": np.array([analyze.is_question(row.text) for row in rows]),
        "nodding": np.array([analyze.is_nod(row.text) for row in rows]),
        "message": np.array([row.kind == "message" for row in rows]),
        "moment": score_moments(question, said_at) / _MOMENT,
        "dated": np.full(len(rows), bool(question.dates)),
        "crowd": np.full(len(rows), np.log1p(found.candidates.searched) / 10),
        "long": np.array([len(row.text) > LONG for row in rows]),
    }
    return np.stack([np.asarray(columns[name], np.float32) for name in NUMBERS], axis=1)
