"""Check, and fit anew, the constants of recall on development data.

    python bench/calibrate.py DATA [--embedder SPEC] [--fit]

DATA is a folder with locomo.json, longmemeval.json and beam100k.json. Everything goes through the library's own
functions, with an exact in-memory index in the store's place. What is measured is the first judgement, of words and
meaning alone: bench/quality.py measures the whole of recall. Printed are the quality of the ranking beside BM25
alone, vectors alone and their reciprocal ranks; then, at the default threshold and for books of every size, how
many answerable questions keep the evidence that they would get without a threshold, and how many questions of
other books (near: of the same set; far: of another set) get anything at all.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from commonplace import embed
from commonplace.embed import Embedder
from commonplace.recall import analyze, rank, verdict, words
from commonplace.recall.background import Background, measure
from commonplace.recall.types import Candidates

DEPTH = 100
SIZES = (1, 5, 20, 100)
Array = npt.NDArray[Any]
Kind = Literal["own", "near", "far"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and the places of the texts that answer it."""

    text: str
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """The texts of an index that belong to one book, its own questions, and questions that it cannot answer."""

    set: str
    index: Index
    places: Array
    own: list[Question]
    near: list[str] = field(default_factory=list)
    far: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question put to a book: what was found, and which of it answers."""

    group: str
    kind: Kind
    terms: tuple[int, ...]
    found: Candidates
    answers: Array
    evidence: int


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
        """Give the best by cosine and the best by words among `places`; a seq is a position in that list."""
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
            searched=len(places),
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
        searched=everything.searched,
    )


# Reading the data


def load(folder: Path, embedder: Embedder) -> list[Book]:
    """Read the three sets; each book also gets questions of its own set's other books, and of other sets."""
    books = [
        *_conversations(folder / "locomo.json", embedder),
        *_conversations(folder / "beam100k.json", embedder),
        *_haystacks(folder / "longmemeval.json", embedder),
    ]
    chance = random.Random(7)
    for book in books:
        others = [question.text for other in books if other.set != book.set for question in other.own]
        book.far.extend(chance.sample(others, 3 if book.set == "longmemeval" else 60))
    return books


def _conversations(path: Path, embedder: Embedder) -> list[Book]:
    books = []
    for told in json.loads(path.read_text()):
        units = told["units"]
        spoken = path.name == "locomo.json"
        texts = [f"{unit['speaker']}: {unit['text']}" if spoken else unit["text"] for unit in units]
        places = {str(unit["id"]): place for place, unit in enumerate(units)}
        own = [
            Question(text=question["question"], evidence=evidence)
            for question in told["questions"]
            if question["answerable"] and question["label"] != "suspect"
            if (evidence := frozenset(places[str(e)] for e in question["evidence"] if str(e) in places))
        ]
        index = Index(texts, embedder)
        books.append(Book(set=path.stem, index=index, places=np.arange(len(texts)), own=own))
    chance = random.Random(7)
    for book in books:
        others = [question.text for other in books if other is not book for question in other.own]
        book.near.extend(chance.sample(others, 60))
    return books


def _haystacks(path: Path, embedder: Embedder) -> list[Book]:
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
) -> Book:
    held = {session for session, _ in question["haystack"]}
    chosen = [place for session, _ in question["haystack"] for place in places[session]]
    where = {place: at for at, place in enumerate(chosen)}
    cited = (unit.rsplit(":", 1) for unit in question["evidence"])
    evidence = frozenset(where[places[session][int(turn)]] for session, turn in cited if session in held)
    near = [other["question"] for other in others if not held & _sessions(other)]
    own = [Question(text=question["question"], evidence=evidence)] if evidence else []
    return Book(set="longmemeval", index=index, places=np.array(chosen), own=own, near=near[:4])


def _sessions(question: dict[str, Any]) -> set[str]:
    return {*question["evidence_sessions"], *question["exclude"]}


# Asking


def ask(books: Sequence[Book]) -> list[Asked]:
    """Put every question to its whole book."""
    asked = []
    for book in books:
        asked += [_asked(book.set, "own", book, book.places, q.text, q.evidence) for q in book.own]
        asked += [_asked(book.set, "near", book, book.places, text) for text in book.near]
        asked += [_asked(book.set, "far", book, book.places, text) for text in book.far]
    return asked


def ask_smaller(books: Sequence[Book]) -> list[Asked]:
    """Put questions to random small parts of their books, with the evidence left in."""
    chance = random.Random(7)
    asked = []
    for name in dict.fromkeys(book.set for book in books):
        own = [(book, question) for book in books if book.set == name for question in book.own]
        near = [(book, text) for book in books if book.set == name for text in book.near]
        far = [(book, text) for book in books if book.set == name for text in book.far]
        for size in SIZES:
            group = f"{name}, {size}"
            for book, question in chance.sample(own, min(len(own), 200)):
                places, evidence = _part(book, size, question.evidence, chance)
                asked.append(_asked(group, "own", book, places, question.text, evidence))
            for kind, foreign in (("near", near), ("far", far)):
                for book, text in chance.sample(foreign, min(len(foreign), 200)):
                    places, _ = _part(book, size, frozenset(), chance)
                    asked.append(_asked(group, "near" if kind == "near" else "far", book, places, text))
    return asked


def ask_tiny(embedder: Embedder) -> list[Asked]:
    """Put questions to the small books below."""
    asked = []
    for texts, own, foreign in TINY:
        index = Index(texts, embedder)
        book = Book(set="tiny", index=index, places=np.arange(len(texts)), own=[])
        asked += [_asked("tiny", "own", book, book.places, text, frozenset({place})) for text, place in own]
        asked += [_asked("tiny", "far", book, book.places, text) for text in foreign]
    return asked


def _part(book: Book, size: int, evidence: frozenset[int], chance: random.Random) -> tuple[Array, frozenset[int]]:
    kept = chance.sample(sorted(evidence), min(len(evidence), max(1, size - 1)))
    rest = [at for at in range(len(book.places)) if at not in evidence]
    chosen = sorted([*kept, *chance.sample(rest, min(len(rest), size - len(kept)))])
    return book.places[chosen], frozenset(at for at, place in enumerate(chosen) if place in set(kept))


def _asked(
    group: str, kind: Kind, book: Book, places: Array, text: str, evidence: frozenset[int] = frozenset()
) -> Asked:
    found = book.index.candidates(text, places)
    answers = np.isin(found.seqs, list(evidence))
    terms = analyze.query_terms(text)
    return Asked(group=group, kind=kind, terms=terms, found=found, answers=answers, evidence=len(evidence))


# Measuring

Scorer = Callable[[Asked], Array]
_DISCOUNT = 1.0 / np.log2(np.arange(2, 12))


def quality(asked: Iterable[Asked], scorer: Scorer) -> str:
    """Give any@10, all@10 and NDCG@10 in percent."""
    found = []
    for each in asked:
        gains = each.answers[_top(scorer(each))].astype(float)
        ideal = _DISCOUNT[: min(each.evidence, 10)].sum()
        gained = (gains * _DISCOUNT[: len(gains)]).sum() / ideal
        found.append((gains.sum() > 0, gains.sum() == each.evidence, gained))
    return "/".join(f"{100 * value:.1f}" for value in np.mean(found, axis=0))


def _top(scores: Array) -> Array:
    return np.argsort(-scores, kind="stable")[:10]


def scorers(background: Background) -> dict[str, Scorer]:
    """Give the rankings to compare."""

    def ranks(values: Array) -> Array:
        return np.argsort(np.argsort(-values, kind="stable"), kind="stable")

    return {
        "BM25": lambda each: words.score(each.found).bm25,
        "vectors": lambda each: each.found.cosines,
        "RRF": lambda each: 1 / (60 + ranks(words.score(each.found).bm25)) + 1 / (60 + ranks(each.found.cosines)),
        "fusion": lambda each: rank.judge(each.found, background, each.terms).relevance,
        "words alone": lambda each: _blind(each, background),
    }


def _blind(each: Asked, background: Background) -> Array:
    found = each.found
    blind = Candidates(
        seqs=found.seqs,
        cosines=np.zeros_like(found.cosines),
        counts=found.counts,
        lengths=found.lengths,
        frequencies=found.frequencies,
        population=found.population,
        searched=found.searched,
    )
    return rank.judge(blind, background, each.terms).relevance


def decisive(each: Asked, scores: Array) -> int | None:
    """Give the candidate whose score decides: the best evidence among the first ten, or the best of all."""
    if each.kind != "own":
        return int(np.argmax(scores)) if len(scores) else None
    answering = [int(at) for at in _top(scores) if each.answers[at]]
    return answering[0] if answering else None


def kept(asked: Sequence[Asked], scorer: Scorer, threshold: float) -> dict[Kind, float]:
    """Give the share of questions whose deciding candidate passes, by kind, in percent."""
    passed: dict[Kind, list[bool]] = {}
    for each in asked:
        scores = scorer(each)
        at = decisive(each, scores)
        if at is not None:
            passed.setdefault(each.kind, []).append(bool(scores[at] >= threshold))
    return {kind: 100 * float(np.mean(values)) for kind, values in passed.items()}


def coverages(asked: Iterable[Asked], background: Background) -> dict[tuple[Kind, str], int]:
    """Count the verdicts by kind of question."""
    counted: dict[tuple[Kind, str], int] = {}
    for each in asked:
        judged = rank.judge(each.found, background, each.terms)
        said = verdict.coverage(each.found, judged, rank.THRESHOLD)
        counted[each.kind, said] = counted.get((each.kind, said), 0) + 1
    return counted


# Fitting


def fit(asked: Sequence[Asked], background: Background, leave_out: str | None = None) -> Array:
    """Fit the log-odds' constants to the deciding candidates; every group weighs the same."""
    rows, labels, shares = [], [], []
    sizes: dict[tuple[str, bool], int] = {}
    for each in asked:
        at = decisive(each, rank.judge(each.found, background, each.terms).relevance)
        if at is None or (leave_out and each.group.startswith(leave_out)):
            continue
        own = each.kind == "own"
        sizes[each.group, own] = sizes.get((each.group, own), 0) + 1
        rows.append(_features(each, background, at))
        labels.append(own)
        shares.append((each.group, own))
    weights = np.array([1.0 / sizes[share] for share in shares])
    return _logistic(np.array(rows), np.array(labels, float), weights)


def _features(each: Asked, background: Background, at: int) -> list[float]:
    common = analyze.common(each.terms)
    population = each.found.population
    unheard = 0.0
    if each.terms:
        rarity = words.weights(each.found.frequencies, population, common)
        unheard = float(rarity[each.found.frequencies == 0].sum() / rarity.sum())
    judged = rank.judge(each.found, background, each.terms)
    share = float(words.score(each.found, common).share[at])
    largeness = population / (population + rank.LARGE)
    return [1.0, float(judged.meaning[at]), share, float(np.log(population)), unheard * largeness]


def _logistic(rows: Array, labels: Array, weights: Array) -> Array:
    """Fit by damped Newton steps."""
    scale = np.maximum(rows.std(axis=0), 1e-9)
    scale[0] = 1.0
    rows, fitted = rows / scale, np.zeros(rows.shape[1])
    for _ in range(200):
        expected = 1.0 / (1.0 + np.exp(-rows @ fitted))
        slope = rows.T @ (weights * (expected - labels)) + 1e-4 * fitted
        curve = (rows * (weights * expected * (1 - expected))[:, None]).T @ rows + 1e-2 * np.eye(len(fitted))
        fitted = fitted - 0.5 * np.linalg.solve(curve, slope)
    return fitted / scale


# Reporting


def report(asked: Sequence[Asked], whole: set[str], background: Background) -> None:
    """Print the ranking's quality and the threshold's effect, one line a group."""
    groups: dict[str, list[Asked]] = {}
    for each in asked:
        groups.setdefault(each.group, []).append(each)
    for name in whole:
        own = [each for each in groups[name] if each.kind == "own"]
        for title, scorer in scorers(background).items():
            print(f"{name:24} {title:12} any/all/NDCG@10 {quality(own, scorer)}")
    for title in ("fusion", "words alone"):
        print(f"passed at {rank.THRESHOLD:g}, {title}: own/near/far")
        for name, members in groups.items():
            passed = kept(members, scorers(background)[title], rank.THRESHOLD)
            print(f"{name:24}", "/".join(f"{passed.get(kind, 0):.0f}" for kind in ("own", "near", "far")))
    for name in (*whole, "tiny"):
        print(f"{name:24}", coverages(groups[name], background))


def main() -> None:
    """Read, ask, report; fit when asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--embedder", default="default")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    embedder = embed.load(options.embedder)
    background = measure(embedder)
    print(background)
    books = load(options.data, embedder)
    asked = [*ask(books), *ask_smaller(books), *ask_tiny(embedder)]
    report(asked, {book.set for book in books}, background)
    if options.fit:
        print("bias, meaning, words, crowd, unheard")
        for left_out in (None, *sorted({book.set for book in books})):
            print(f"without {left_out}:", fit(asked, background, left_out).round(3))


# Small books as people first try them: memories, questions that they answer (with the place), and others.
TINY = (
    (
        ("We chose FastAPI over Flask because of async support",),
        (
            ("which web framework did we pick?", 0),
            ("why did we choose FastAPI?", 0),
            ("what did we decide about Flask?", 0),
            ("FastAPI", 0),
            ("do we use an async framework?", 0),
        ),
        (
            "what is the capital of Peru?",
            "when is my dentist appointment?",
            "how do I bake sourdough bread?",
            "who won the football match?",
            "what's the wifi password?",
        ),
    ),
    (
        ("The user prefers dark mode in every editor",),
        (
            ("what theme does the user like?", 0),
            ("dark or light mode?", 0),
            ("editor preferences", 0),
        ),
        ("what is the user's home address?", "which database do we use?", "best restaurants nearby"),
    ),
    (
        (
            "Alice is allergic to peanuts",
            "Bob moved to Berlin in March",
            "The staging server runs on port 8080",
            "Deploys are frozen on Fridays",
        ),
        (
            ("what is Alice allergic to?", 0),
            ("can Alice eat peanut butter?", 0),
            ("where does Bob live now?", 1),
            ("which port does staging use?", 2),
            ("can I deploy on Friday?", 3),
            ("food allergies", 0),
        ),
        (
            "what is the capital of Peru?",
            "how tall is Mount Everest?",
            "who painted the Mona Lisa?",
            "what is the price of a train ticket to Madrid?",
            "recommend me a science fiction novel",
        ),
    ),
    (
        (
            "My daughter Emma turns six on 12 June",
            "We keep the spare key under the blue flower pot",
            "Dad takes his heart medication at eight in the morning",
            "The plumber's number is 555-0134",
            "I hate cilantro",
            "Our cat Whiskers needs a vet check in autumn",
        ),
        (
            ("when is Emma's birthday?", 0),
            ("where is the spare key?", 1),
            ("what time does dad take his pills?", 2),
            ("how do I reach the plumber?", 3),
            ("which herbs do I dislike?", 4),
            ("when does the cat have to see the vet?", 5),
        ),
        (
            "how do I configure nginx?",
            "what is our quarterly revenue?",
            "which programming language is fastest?",
            "what is the tallest building in the world?",
        ),
    ),
    (
        (
            "PostgreSQL is the system of record; Redis is only a cache",
            "API rate limit is 100 requests per minute per key",
            "The auth service signs tokens with RS256",
            "Never run migrations during business hours: it locked the orders table in 2024",
            "Frontend uses TypeScript with strict null checks",
            "We use GitHub Actions for CI",
            "Errors go to Sentry, metrics to Prometheus",
            "user_id is a UUID, not an integer",
        ),
        (
            ("what database do we use?", 0),
            ("how many API calls can a client make?", 1),
            ("which algorithm signs the JWT?", 2),
            ("when should I run a database migration?", 3),
            ("what language is the frontend written in?", 4),
            ("where does our CI run?", 5),
            ("where do I look at metrics?", 6),
            ("what type is user_id?", 7),
            ("is Redis the source of truth?", 0),
        ),
        (
            "what should I cook for dinner tonight?",
            "who is the president of France?",
            "how old is the universe?",
            "when does the museum open?",
            "what did Caroline say about the support group?",
        ),
    ),
    (
        (
            "Sarah prefers TypeScript to Python",
            "Tom is on holiday until 3 September",
            "The client wants weekly reports as PDF",
            "Budget for the project is 40,000 euros",
            "Kick-off meeting moved to Tuesday 10:00",
        ),
        (
            ("which language does Sarah like?", 0),
            ("when is Tom back?", 1),
            ("in what format does the client want reports?", 2),
            ("how much money do we have for the project?", 3),
            ("when is the kick-off?", 4),
        ),
        ("what is the weather in Tokyo?", "how do vaccines work?", "what's a good name for a dog?"),
    ),
    (
        (
            "Mitochondria are the powerhouse of the cell",
            "The Treaty of Westphalia was signed in 1648",
            "Water boils at 100 degrees Celsius at sea level",
            "Jupiter is the largest planet of the solar system",
            "Shakespeare wrote Hamlet around 1600",
            "The speed of light is about 300,000 kilometres per second",
            "Photosynthesis takes place in chloroplasts",
            "Mount Kilimanjaro is in Tanzania",
            "Ada Lovelace is often called the first programmer",
            "Gold has the chemical symbol Au",
        ),
        (
            ("who wrote Hamlet?", 4),
            ("which planet is the biggest?", 3),
            ("when was the peace of Westphalia signed?", 1),
            ("how fast does light travel?", 5),
            ("where is Kilimanjaro?", 7),
            ("what is the symbol for gold?", 9),
            ("where does photosynthesis happen?", 6),
        ),
        (
            "how do I reset my password?",
            "what did we agree on in yesterday's meeting?",
            "which framework did we pick?",
            "when is the rent due?",
        ),
    ),
    (
        (
            "Ich trinke meinen Kaffee ohne Zucker",
            "Der Server steht in Frankfurt",
            "Das Passwort für das WLAN liegt in der Schublade",
        ),
        (("Wo steht der Server?", 1), ("Wie trinke ich meinen Kaffee?", 0), ("WLAN Passwort", 2)),
        ("Wann fährt der nächste Zug nach Hamburg?", "what is the capital of Peru?"),
    ),
    (
        ("会议改到星期三下午三点", "我喜欢喝绿茶", "服务器在上海"),
        (("会议是什么时候?", 0), ("我喜欢喝什么茶?", 1), ("服务器在哪里?", 2)),
        ("what is the capital of Peru?", "how do I bake bread?"),
    ),
    (
        (
            "Tried caching responses in memory: it leaked and crashed the worker",
            "Use retries with jitter for the payment gateway",
            "The invoice job runs at 02:00 UTC",
            "Marketing wants the launch on 1 October",
            "The landing page converts at 3.2 percent",
            "Our logo colour is #1a73e8",
            "Customer Acme pays by bank transfer within 30 days",
            "The mobile app supports Android 10 and newer",
            "Legal asked us to keep audit logs for seven years",
            "Onboarding takes new engineers about two weeks",
            "The office Wi-Fi is called Otter",
            "Printer on the second floor is out of toner",
        ),
        (
            ("why shouldn't we cache in memory?", 0),
            ("how should I call the payment gateway?", 1),
            ("when does the invoice job run?", 2),
            ("what is the launch date?", 3),
            ("what is our conversion rate?", 4),
            ("what colour is the logo?", 5),
            ("how does Acme pay?", 6),
            ("which Android versions are supported?", 7),
            ("how long do we keep audit logs?", 8),
            ("how long is onboarding?", 9),
            ("what's the wifi name?", 10),
            ("is the printer working?", 11),
        ),
        (
            "what is the capital of Peru?",
            "how many moons does Saturn have?",
            "what's a good recipe for lentil soup?",
            "who was the first man on the moon?",
            "what should I name my cat?",
        ),
    ),
)


if __name__ == "__main__":
    main()
