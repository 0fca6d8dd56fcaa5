"""The measured systems: commonplace through its public API, and simple baselines on the same units."""

from __future__ import annotations

import importlib.util
import itertools
import math
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import Stemmer  # type: ignore[import-not-found]

import commonplace
from commonplace.models import embedders
from commonplace.recall import rerank
from commonplace.values import tokens
from quality.data import Case, Unit
from quality.measures import BUDGETS

DEEP = 100
"""How far down a ranking is looked at."""
CHUNK = 2_000
Array = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a system to one question."""

    ids: list[str]
    """The best first, without a cut-off."""
    score: float
    """The best one's."""
    within: dict[int, list[str]]
    """The units that fit into each token budget."""
    uncut: list[str]
    """The first ten that a caller gets who sets nothing but the cut-off, to none."""
    kept: list[str]
    """The first ten that the default cut-off leaves; all ten where there is no cut-off."""
    tokens: int
    """Of the answer that a caller gets who sets nothing."""
    wall: float
    cpu: float


class System(Protocol):
    """Holds one book at a time."""

    def fill(self, case: Case) -> None:
        """Forget the last book and take this one."""

    def ask(self, text: str) -> Answer:
        """Put a question to the book."""

    def close(self) -> None:
        """Leave nothing behind."""


class Reading:
    """A reranker and its time; what the first recall of a question read, the others of it need not read again."""

    def __init__(self, reranker: str | None = None, budget: float = 0.5) -> None:
        self.reranker = reranker
        self.budget = budget
        self.known: dict[str, float] | None = None
        if reranker is not None:
            self.read = rerank.read_scores
            rerank.read_scores = self.scores

    def forget(self) -> None:
        self.known = None

    def scores(self, reranker: Any, query: str, texts: Sequence[str], budget: float, clock: Any) -> Array:
        if self.known is None:
            found = self.read(reranker, query, texts, budget, clock)
            self.known = dict(zip(texts, found.tolist(), strict=False))
            return found
        return np.array([self.known[text] for text in itertools.takewhile(self.known.__contains__, texts)], np.float32)


class Commonplace:
    """commonplace with default settings: each case is a space of one book."""

    def __init__(
        self, embedder: str | None = None, budgets: Sequence[int] = BUDGETS, reading: Reading | None = None
    ) -> None:
        self.budgets = budgets
        self.folder = Path(tempfile.mkdtemp(prefix="quality-"))
        self.reading = reading or Reading()
        self.book = commonplace.open(
            self.folder / "book.db",
            embedder=embedder,
            reranker=self.reading.reranker,
            settings=commonplace.Settings(rerank_budget=self.reading.budget),
        )
        self.here = self.book

    def fill(self, case: Case) -> None:
        self.here = self.book.in_space(f"{case.set} {case.name}")
        for start in range(0, len(case.units), CHUNK):
            self.write(case.units[start : start + CHUNK])

    def write(self, units: Sequence[Unit]) -> None:
        self.here.remember([draft(unit) for unit in units])

    def shown(self, answer: commonplace.Recall) -> list[str]:
        """The units that an answer shows."""
        return [hit.memory.id for hit in answer.hits]

    def ask(self, text: str) -> Answer:
        self.reading.forget()
        wall, cpu = time.perf_counter(), time.process_time()
        usual = self.here.recall(text)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        everything = self.here.recall(text, k=DEEP, max_tokens=None, threshold=0)
        return Answer(
            ids=self.shown(everything),
            score=everything.hits[0].score if everything.hits else -math.inf,
            within={
                budget: self.shown(self.here.recall(text, k=DEEP, max_tokens=budget, threshold=0))
                for budget in self.budgets
            },
            uncut=self.shown(self.here.recall(text, max_tokens=None, threshold=0)),
            kept=self.shown(self.here.recall(text, max_tokens=None)),
            tokens=usual.tokens,
            wall=wall,
            cpu=cpu,
        )

    def close(self) -> None:
        self.book.close()
        shutil.rmtree(self.folder)


class Reconciling(Commonplace):
    """commonplace with reconciliation: a repetition counts as the repeated memory, too."""

    def fill(self, case: Case) -> None:
        self.stands: dict[str, list[str]] = {}
        super().fill(case)

    def write(self, units: Sequence[Unit]) -> None:
        made = self.here.remember([draft(unit) for unit in units], reconcile=True)
        for unit, memory in zip(units, made, strict=True):
            self.stands.setdefault(memory.id, []).append(unit.id)

    def shown(self, answer: commonplace.Recall) -> list[str]:
        return [unit for hit in answer.hits for unit in self.stands[hit.memory.id]]


def draft(unit: Unit) -> commonplace.Draft:
    """A unit as a user of the product remembers it."""
    return commonplace.Draft(
        content=unit.text,
        kind="message" if unit.session else "fact",
        scope=commonplace.Scope(session=unit.session),
        source=unit.speaker,
        said_at=unit.said_at,
        id=unit.id,
    )


class Ranker:
    """A baseline: scores every unit of a book; text is packed as the product packs it."""

    def __init__(self, embedder: str | None = None, budgets: Sequence[int] = BUDGETS) -> None:
        self.units: Sequence[Unit] = ()
        self.texts: list[str] = []
        self.budgets = budgets

    def fill(self, case: Case) -> None:
        self.units = case.units
        # These systems have no field for the speaker, so the text names it.
        self.texts = [f"{unit.speaker}: {unit.text}" if unit.speaker else unit.text for unit in case.units]
        self.learn()

    def learn(self) -> None:
        """Index `texts`."""

    def best(self, text: str) -> list[tuple[int, float]]:
        """The places of the best units with their scores, the best first."""
        scores = self.scores(text)
        order = np.argsort(-scores, kind="stable")[:DEEP]
        return [(int(place), float(scores[place])) for place in order]

    def scores(self, text: str) -> Array:
        """A score for each unit."""
        raise NotImplementedError

    def ask(self, text: str) -> Answer:
        wall, cpu = time.perf_counter(), time.process_time()
        best = self.best(text)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        places = [place for place, _ in best]
        ids = [self.units[place].id for place in places]
        return Answer(
            ids=ids,
            score=best[0][1] if best else -math.inf,
            within={budget: list(self._packed(places, budget)) for budget in self.budgets},
            uncut=ids[:10],
            kept=ids[:10],
            tokens=sum(_cost(self.units[place].said_at.date().isoformat(), self.texts[place]) for place in places[:10]),
            wall=wall,
            cpu=cpu,
        )

    def _packed(self, places: Sequence[int], budget: int) -> Iterator[str]:
        """Return the units that fit: one line each with its date, the best first, skipping too long ones."""
        left = budget
        for place in places:
            if left < 5:
                return
            cost = _cost(self.units[place].said_at.date().isoformat(), self.texts[place])
            if cost <= left:
                left -= cost
                yield self.units[place].id

    def close(self) -> None:
        """Nothing is left behind."""


@lru_cache(maxsize=50_000)
def _cost(date: str, text: str) -> int:
    return tokens.count(f"- [{date}] {text}\n")


class Words(Ranker):
    """BM25 with its usual constants over stems."""

    k1, b = 1.5, 0.75

    def learn(self) -> None:
        self.postings: dict[str, list[tuple[int, int]]] = {}
        lengths = np.zeros(len(self.texts))
        for place, text in enumerate(self.texts):
            words = stems(text)
            lengths[place] = len(words)
            for word, count in Counter(words).items():
                self.postings.setdefault(word, []).append((place, count))
        self.damping = self.k1 * (1 - self.b + self.b * lengths / max(lengths.mean(), 1))

    def scores(self, text: str) -> Array:
        scores = np.zeros(len(self.texts))
        for word in stems(text):
            if held := self.postings.get(word):
                places, counts = np.array(held).T
                rarity = math.log1p((len(self.texts) - len(held) + 0.5) / (len(held) + 0.5))
                scores[places] += rarity * counts * (self.k1 + 1) / (counts + self.damping[places])
        return scores


class Meaning(Ranker):
    """Cosine of the same embedder's vectors."""

    def __init__(self, embedder: str | None = None, budgets: Sequence[int] = BUDGETS) -> None:
        super().__init__(embedder, budgets)
        self.embedder = embedders.load_embedder(embedder)

    def learn(self) -> None:
        self.rows = self.embedder.embed(self.texts)

    def scores(self, text: str) -> Array:
        return self.rows @ self.embedder.embed_query(text)


class Fused(Ranker):
    """Reciprocal ranks of the two, added."""

    def __init__(self, embedder: str | None = None, budgets: Sequence[int] = BUDGETS) -> None:
        super().__init__(embedder, budgets)
        self.parts: tuple[Ranker, ...] = (Words(), Meaning(embedder))

    def learn(self) -> None:
        for part in self.parts:
            part.texts = self.texts
            part.learn()

    def scores(self, text: str) -> Array:
        ranks = [np.argsort(np.argsort(-part.scores(text), kind="stable")) for part in self.parts]
        return np.sum([1 / (60 + rank) for rank in ranks], axis=0)


class Chroma(Meaning):
    """chromadb in this process, with the same embedder's vectors."""

    def learn(self) -> None:
        import chromadb
        from chromadb.config import Settings

        if not hasattr(self, "client"):
            self.client = chromadb.EphemeralClient(settings=Settings(anonymized_telemetry=False))
        with suppress(chromadb.errors.NotFoundError):
            self.client.delete_collection("units")
        self.units_held = self.client.create_collection(
            "units", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        rows = self.embedder.embed(self.texts)
        for start in range(0, len(rows), CHUNK):
            some = slice(start, start + CHUNK)
            ids = list(map(str, range(len(rows))[some]))
            self.units_held.add(ids=ids, embeddings=rows[some], documents=self.texts[some])

    def best(self, text: str) -> list[tuple[int, float]]:
        found = self.units_held.query(
            query_embeddings=[self.embedder.embed_query(text)], n_results=min(DEEP, len(self.texts))
        )
        return [(int(id), -distance) for id, distance in zip(found["ids"][0], found["distances"][0], strict=True)]


class Mem0(Meaning):
    """mem0ai with infer=False, each unit added by itself, with the same embedder's vectors."""

    def learn(self) -> None:
        from peers import mem0

        if not hasattr(self, "folder"):
            self.folder = Path(tempfile.mkdtemp(prefix="quality-mem0-"))
            store = {"collection_name": "units", "embedding_model_dims": self.embedder.dimension}
            self.memory = mem0.Memory.from_config(  # type: ignore[attr-defined]
                {
                    "vector_store": {"provider": "qdrant", "config": {**store, "path": str(self.folder / "qdrant")}},
                    "history_db_path": str(self.folder / "history.db"),
                }
            )
            self.memory.embedding_model = Embedding(self.embedder)
            self.number = 0
        self.number += 1
        for place, text in enumerate(self.texts):
            self.memory.add(text, user_id=str(self.number), metadata={"place": place}, infer=False)

    def best(self, text: str) -> list[tuple[int, float]]:
        found = self.memory.search(text, filters={"user_id": str(self.number)}, top_k=DEEP, threshold=0.0)
        return [(int(hit["metadata"]["place"]), float(hit["score"])) for hit in found["results"]]

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Embedding:
    """Replaces mem0's embedder."""

    def __init__(self, embedder: Any) -> None:
        self.embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embedder.embed([text])[0].tolist()  # type: ignore[no-any-return]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return self.embedder.embed(list(texts)).tolist()  # type: ignore[no-any-return]


_stemmer = Stemmer.Stemmer("english")


def stems(text: str) -> list[str]:
    """Return the stems of a text's words."""
    words = "".join(char.lower() if char.isalnum() else " " for char in text).split()
    return list(_stemmer.stemWords(words))


SYSTEMS: dict[str, tuple[type[Any], str | None]] = {
    "commonplace": (Commonplace, None),
    "reconciling": (Reconciling, None),
    "BM25": (Words, None),
    "vectors": (Meaning, None),
    "RRF": (Fused, None),
    "chromadb": (Chroma, "chromadb"),
    "mem0ai": (Mem0, "mem0"),
}
"""The systems, and the package that each needs."""


def present(name: str) -> bool:
    """Whether a system can be measured here."""
    package = SYSTEMS[name][1]
    return package is None or importlib.util.find_spec(package) is not None


def make(name: str, embedder: str | None, budgets: Sequence[int], reading: Reading) -> System:
    """A system with nothing in it; only the product reads twice."""
    if name in ("commonplace", "reconciling"):
        return SYSTEMS[name][0](embedder, budgets, reading)  # type: ignore[no-any-return]
    system: System = SYSTEMS[name][0](embedder, budgets)
    return system
