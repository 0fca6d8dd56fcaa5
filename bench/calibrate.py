"""Fit and check the constants of recall on development data: `python bench/calibrate.py DATA [--model FOLDER]`.

DATA is a folder with locomo.json, longmemeval.json and beam100k.json. Everything goes through the library's own
functions: `analyze` for terms, `words` and `rank` for the ranking, `background` for the embedder.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from commonplace.embed.base import Embedder
from commonplace.recall import analyze, rank, words
from commonplace.recall.background import Background, measure
from commonplace.recall.types import Candidates

DEPTH = 100
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and the places of the texts that answer it; none for a question of another book."""

    text: str
    evidence: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A book, its own questions, and questions that it cannot answer."""

    set: str
    index: Index
    places: Array
    own: list[Question]
    near: list[str] = field(default_factory=list)
    far: list[str] = field(default_factory=list)


class Index:
    """An exact in-memory stand-in for the store: the same candidates from the same numbers."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self.vectors = embedder.embed(texts)
        self.embedder = embedder
        self.lengths = np.zeros(len(texts), np.float32)
        self.postings: dict[int, list[tuple[int, int]]] = {}
        for place, text in enumerate(texts):
            found = analyze.terms(text)
            self.lengths[place] = sum(found.values())
            for term, count in found.items():
                self.postings.setdefault(term, []).append((place, min(count, 255)))

    def candidates(self, query: str, places: Array) -> Candidates:
        """Give the best by cosine and the best by words among `places`; a seq is a place in that list."""
        terms = analyze.query_terms(query)
        counts = np.zeros((len(self.lengths), len(terms)), np.uint8)
        for column, term in enumerate(terms):
            for place, count in self.postings.get(term, ()):
                counts[place, column] = count
        counts = counts[places]
        everything = Candidates(
            seqs=np.arange(len(places)),
            cosines=self.vectors[places] @ self.embedder.embed_query(query),
            counts=counts,
            lengths=self.lengths[places],
            frequencies=(counts > 0).sum(axis=0).astype(np.int64),
            population=len(places),
            mean_length=float(self.lengths[places].mean()),
        )
        return _best(everything)


def _best(everything: Candidates) -> Candidates:
    by_words = words.score(everything).bm25
    best = set(np.argsort(-everything.cosines, kind="stable")[:DEPTH].tolist())
    best |= {place for place in np.argsort(-by_words, kind="stable")[:DEPTH].tolist() if by_words[place] > 0}
    chosen = np.array(sorted(best))
    return Candidates(
        seqs=everything.seqs[chosen],
        cosines=everything.cosines[chosen],
        counts=everything.counts[chosen],
        lengths=everything.lengths[chosen],
        frequencies=everything.frequencies,
        population=everything.population,
        mean_length=everything.mean_length,
    )


def load(folder: Path, embedder: Embedder) -> list[Case]:
    """Read the three sets; each book also gets questions of its own set's other books, and of other sets."""
    cases = [
        *_conversations(folder / "locomo.json", embedder),
        *_conversations(folder / "beam100k.json", embedder),
    ]
    cases += _haystacks(folder / "longmemeval.json", embedder)
    asked = {name: [q.text for case in cases if case.set == name for q in case.own] for name in _sets(cases)}
    chance = random.Random(7)
    for case in cases:
        others = [text for name, texts in asked.items() if name != case.set for text in texts]
        case.far.extend(chance.sample(others, 3 if case.set == "longmemeval" else 60))
    return cases


def _conversations(path: Path, embedder: Embedder) -> list[Case]:
    cases = []
    for book in json.loads(path.read_text()):
        units = book["units"]
        spoken = path.name == "locomo.json"
        texts = [f"{unit['speaker']}: {unit['text']}" if spoken else unit["text"] for unit in units]
        places = {str(unit["id"]): place for place, unit in enumerate(units)}
        own = [
            Question(text=question["question"], evidence=evidence)
            for question in book["questions"]
            if question["answerable"] and question["label"] != "suspect"
            if (evidence := frozenset(places[str(e)] for e in question["evidence"] if str(e) in places))
        ]
        cases.append(Case(set=path.stem, index=Index(texts, embedder), places=np.arange(len(texts)), own=own))
    chance = random.Random(7)
    for case in cases:
        others = [question.text for other in cases if other is not case for question in other.own]
        case.near.extend(chance.sample(others, 60))
    return cases


def _haystacks(path: Path, embedder: Embedder) -> list[Case]:
    data = json.loads(path.read_text())
    places: dict[str, list[int]] = {}
    texts: list[str] = []
    for session, said in data["sessions"].items():
        places[session] = list(range(len(texts), len(texts) + len(said["turns"])))
        texts += [text for _, text in said["turns"]]
    index = Index(texts, embedder)
    answerable = [question for question in data["questions"] if question["answerable"]]
    chance = random.Random(7)
    return [_haystack(question, index, places, chance.sample(answerable, 12)) for question in answerable]


def _haystack(
    question: dict[str, Any], index: Index, places: dict[str, list[int]], others: Iterable[dict[str, Any]]
) -> Case:
    held = {session for session, _ in question["haystack"]}
    chosen = [place for session, _ in question["haystack"] for place in places[session]]
    where = {place: at for at, place in enumerate(chosen)}
    cited = (unit.rsplit(":", 1) for unit in question["evidence"])
    evidence = frozenset(where[places[session][int(turn)]] for session, turn in cited if session in held)
    near = [o["question"] for o in others if not held & {*o["evidence_sessions"], *o["exclude"]}]
    own = [Question(text=question["question"], evidence=evidence)] if evidence else []
    return Case(set="longmemeval", index=index, places=np.array(chosen), own=own, near=near[:4])


def _sets(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.set for case in cases))
