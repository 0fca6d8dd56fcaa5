"""The texts, vectors and questions for every candidate, generated once from a seed and stored on disk."""

from __future__ import annotations

import json
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

SPACES = 100
VOCABULARY = 40_000
CLUSTERS = 2_000
RARE = 50
"""A question is asked in words that at most one text in so many holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing to remember, with its vector in both forms that the candidates take."""

    number: int
    text: str
    space: str
    vector: np.ndarray
    floats: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: its words, its vector, and the space that it is asked in."""

    text: str
    words: tuple[str, ...]
    space: str
    vector: np.ndarray
    floats: list[float]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Everything of one run, as files under `folder`; a worker reads only the part that it needs."""

    folder: Path

    def rows(self, start: int, stop: int) -> Iterator[Row]:
        """Rows `start` to `stop`, in order; vectors come from a memory map."""
        import numpy as np

        vectors = np.load(self.folder / "vectors.npy", mmap_mode="r")
        with (self.folder / "texts.jsonl").open(encoding="utf-8") as lines:
            for number, line in enumerate(islice(lines, start, stop), start):
                yield _row(number, json.loads(line), np.array(vectors[number]))

    def questions(self) -> list[Question]:
        """All questions; there are few of them."""
        import numpy as np

        vectors = np.load(self.folder / "asked.npy")
        asked = json.loads((self.folder / "asked.json").read_text(encoding="utf-8"))
        return [
            Question(
                text=" ".join(words),
                words=tuple(words),
                space=space_of(number),
                vector=vector,
                floats=vector.tolist(),
            )
            for number, (words, vector) in enumerate(zip(asked, vectors, strict=True))
        ]


def space_of(number: int) -> str:
    """The space that a row or question belongs to: a hundred of them, equally full."""
    return f"s{number % SPACES:02d}"


def _row(number: int, text: str, vector: np.ndarray) -> Row:
    return Row(number=number, text=text, space=space_of(number), vector=vector, floats=vector.tolist())


def make(
    folder: Path, *, rows: int, questions: int, dimension: int, seed: int, given: Sequence[str] | None = None
) -> Corpus:
    """Write a corpus of `rows` texts and vectors and `questions` questions about them."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    texts = _distinct(given, rows) if given else _texts(rng, rows)
    vectors = _vectors(rng, rows, dimension)
    with (folder / "texts.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(text) + "\n" for text in texts)
    np.save(folder / "vectors.npy", vectors)
    about = rng.integers(0, rows, questions)
    near = vectors[about] + rng.standard_normal((questions, dimension)).astype(np.float32) * (0.5 / dimension**0.5)
    np.save(folder / "asked.npy", _unit(near))
    counts = frequencies(texts)
    lines = [" ".join(asked(texts[i], counts, rows)) for i in about]
    worded = [line.split() for line in _distinct(lines, questions)]
    (folder / "asked.json").write_text(json.dumps(worded), encoding="utf-8")
    return Corpus(folder)


def read_texts(path: Path) -> list[str]:
    """Texts from JSON (a list) or JSON Lines: strings, or objects with a text, content or memory field."""
    raw = path.read_text(encoding="utf-8")
    items = json.loads(raw) if raw.lstrip().startswith("[") else [json.loads(x) for x in raw.splitlines() if x.strip()]
    texts = [_text_of(item) for item in items]
    if not texts:
        raise SystemExit(f"{path} holds no texts")
    return texts


def _text_of(item: Any) -> str:
    if isinstance(item, str):
        return item
    for field in ("text", "content", "memory"):
        if isinstance(item.get(field), str):
            return str(item[field])
    raise SystemExit(f"an item without text, content or memory: {str(item)[:80]}")


def _distinct(given: Sequence[str], rows: int) -> list[str]:
    """Return as many distinct texts as wanted: a look-up by text must find one vector."""
    seen: Counter[str] = Counter()
    texts = []
    for text in islice(cycle(given), rows):
        seen[text] += 1
        texts.append(f"{text} {seen[text]}" if seen[text] > 1 else text)
    return texts


def _texts(rng: np.random.Generator, rows: int) -> list[str]:
    import numpy as np

    words = _words(rng)
    lengths = rng.integers(20, 41, rows)
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    ranks = rng.choice(VOCABULARY, size=int(lengths.sum()), p=weights / weights.sum())
    ends = np.cumsum(lengths)
    return [
        " ".join(words[r] for r in ranks[end - length : end])
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]


def _words(rng: np.random.Generator) -> list[str]:
    """Words by falling frequency: real ones (from Python's own modules), then made-up ones, like names."""
    known: Counter[str] = Counter()
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        known.update(re.findall(r"\b[a-z]{2,14}\b", path.read_text(encoding="utf-8", errors="ignore").lower()))
    words = [word for word, _ in known.most_common(VOCABULARY)]
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvw" for vowel in "aeiou"]
    while len(words) < VOCABULARY:
        made = "".join(rng.choice(syllables, rng.integers(2, 5)))
        if made not in known:
            known[made] += 1
            words.append(made)
    return words


def frequencies(texts: Sequence[str]) -> dict[str, int]:
    """Return the number of texts that contain each word."""
    counts: dict[str, int] = {}
    for text in texts:
        for word in set(_plain(text)):
            counts[word] = counts.get(word, 0) + 1
    return counts


def _plain(text: str) -> list[str]:
    return [word for word in "".join(c if c.isalnum() else " " for c in text.lower()).split() if len(word) > 2]


def asked(text: str, counts: dict[str, int], texts: int) -> list[str]:
    """Three content words of a text: not in every text, but in others too."""
    words = list(dict.fromkeys(_plain(text)))
    content = [word for word in words if 1 < counts[word] <= max(2, texts // RARE)]
    return (content or words or ["nothing"])[:3]


def _vectors(rng: np.random.Generator, rows: int, dimension: int) -> np.ndarray:
    """Unit vectors in clusters, so that a question has near and far neighbours as real ones have."""
    import numpy as np

    centres = rng.standard_normal((CLUSTERS, dimension), dtype=np.float32)
    shared = rng.standard_normal((min(48, dimension), dimension), dtype=np.float32)
    vectors = centres[rng.integers(0, CLUSTERS, rows)]
    for start in range(0, rows, 20_000):
        part = vectors[start : start + 20_000]
        part += rng.standard_normal((len(part), len(shared)), dtype=np.float32) @ shared * (0.6 / len(shared) ** 0.5)
        part += 0.3 * rng.standard_normal(part.shape, dtype=np.float32)
    return _unit(vectors)


def _unit(vectors: np.ndarray) -> np.ndarray:
    import numpy as np

    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)  # type: ignore[no-any-return]
