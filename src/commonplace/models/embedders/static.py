"""Static embeddings: one row of a matrix for each token; the vector of a text is the mean of its tokens' rows.

A model is a folder with `model.json`, `vocab.txt`, `rows.npy` (int8, one row a token) and `scales.npy` (float32, the
factor of each row).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import simsimd

from commonplace.models.embedders.base import Vectors
from commonplace.models.folder import ModelFolder
from commonplace.models.wordpiece import WordPiece

DEFAULT: Final = Path(__file__).parent / "weights" / "potion-base-8M"
"""The model that comes with commonplace."""

_BATCH_TOKENS: Final = 16_384  # 16 MB of float32 at 256 dimensions
_MOST_CHUNKS: Final = 100_000
_LONGEST_CHUNK: Final = 40
_MOST_TEXTS: Final = 32_768
_LONGEST_TEXT: Final = 3_000
_LONGEST_KEPT: Final = 600
"""Characters of a text whose tokens are kept: the caches stay within some tens of megabytes."""
_SMALLEST_LENGTH: Final = np.float32(1e-12)


class StaticEmbedder:
    """Embeds texts with a static model. Read-only once built, so threads may share it."""

    def __init__(self, path: str | os.PathLike[str] = DEFAULT) -> None:
        folder = ModelFolder(Path(path))
        self.name: Final = folder.word("name")
        self.version: Final = folder.word("version")
        self.dimension: Final = folder.number("dimension")
        self._max_tokens = folder.number("max_tokens")
        vocabulary = folder.vocabulary()
        if "[UNK]" not in vocabulary:
            raise folder.damaged("vocab.txt", "it has no token [UNK]")
        size = len(vocabulary)
        self._rows = folder.array("rows.npy", np.int8, (size, self.dimension))
        self._scales = np.array(folder.array("scales.npy", np.float32, (size,)), dtype=np.float32)
        if not np.isfinite(self._scales).all():
            raise folder.damaged("scales.npy", "it holds a number that is not finite")
        self._tokenizer = WordPiece(vocabulary)
        self._chunks: dict[str, tuple[int, ...]] = {}
        self._lengths = np.zeros(size, np.float32)  # of the rows, filled when needed
        self._distinct_cached = lru_cache(maxsize=_MOST_TEXTS)(self._distinct)

    def __repr__(self) -> str:
        return f"StaticEmbedder(name={self.name!r}, version={self.version!r}, dimension={self.dimension})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text: of length 1, or zeros for a text without a known token."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        start, held = 0, 0
        batch: list[list[int]] = []
        for text in texts:
            ids = self._tokenizer.encode(text, self._max_tokens)
            if batch and held + len(ids) > _BATCH_TOKENS:
                self._pool(batch, out[start:])
                start, held, batch = start + len(batch), 0, []
            batch.append(ids)
            held += len(ids)
        self._pool(batch, out[start:])
        return out

    def embed_query(self, text: str) -> Vectors:
        """Return the row of one question: the same as a passage's, computed faster."""
        ids = self._tokenizer.encode(text, self._max_tokens)
        vector: Vectors = self._scales[ids] @ self._rows[ids].astype(np.float32)
        vector /= max(np.sqrt(vector @ vector), _SMALLEST_LENGTH)
        return vector

    def affinity(self, words: Sequence[str], texts: Sequence[str]) -> Vectors:
        """Return for each text the cosine of each word with the closest word in it, averaged by the words' weights."""
        wanted = list(dict.fromkeys(chain.from_iterable(self._tokens(list(words)))))
        held = [
            self._distinct_cached(text) if len(text) <= _LONGEST_KEPT else self._distinct(text[:_LONGEST_TEXT])
            for text in texts
        ]
        counts = np.fromiter(map(len, held), np.intp, len(held))
        filled = np.flatnonzero(counts)
        out = np.zeros(len(texts), np.float32)
        if not wanted or not len(filled):
            return out
        weights, closeness = self._closeness(np.array(wanted, np.int32), np.concatenate(held))
        best = np.maximum.reduceat(closeness, (np.cumsum(counts) - counts)[filled], axis=1)
        out[filled] = weights @ best / max(weights.sum(), _SMALLEST_LENGTH)  # unknown words weigh nothing
        return out

    def _distinct(self, text: str) -> npt.NDArray[np.int32]:
        """Return the tokens of a text, each once."""
        return np.array([*set(chain.from_iterable(self._tokens(text.split())))], np.int32)

    def _tokens(self, chunks: list[str]) -> list[tuple[int, ...]]:
        """Return the tokens of each chunk between spaces; chunks repeat, so most are cached."""
        found = list(map(self._chunks.get, chunks[: self._max_tokens]))
        if None in found:
            known = zip(found, chunks, strict=False)
            return [self._encode_chunk(chunk) if ids is None else ids for ids, chunk in known]
        return found  # type: ignore[return-value]  # none of them is None

    def _encode_chunk(self, chunk: str) -> tuple[int, ...]:
        ids = tuple(self._tokenizer.encode(chunk, self._max_tokens))
        if len(chunk) <= _LONGEST_CHUNK:
            if len(self._chunks) >= _MOST_CHUNKS:
                self._chunks.clear()
            self._chunks[chunk] = ids
        return ids

    def _closeness(self, wanted: npt.NDArray[np.int32], ids: npt.NDArray[np.int32]) -> tuple[Vectors, Vectors]:
        """Return the weight of each wanted token, and its cosine with each of the ids."""
        place = np.zeros(len(self._rows), np.int32)
        place[ids] = 1
        # Each token once, however many texts hold it.
        distinct = np.flatnonzero(place)
        place[distinct] = np.arange(len(distinct), dtype=np.int32)
        lengths = self._row_lengths(wanted)
        # Not with BLAS: its threads wait for one another when other work uses the cores.
        dots = simsimd.cdist(self._rows[wanted], self._rows[distinct], metric="dot")
        cosines = np.asarray(dots, np.float32) / lengths[:, np.newaxis]
        cosines /= self._row_lengths(distinct)
        weights: Vectors = lengths * self._scales[wanted]
        return weights, cosines[:, place[ids]]

    def _row_lengths(self, ids: npt.NDArray[np.integer[Any]]) -> Vectors:
        lengths: Vectors = self._lengths[ids]
        if not lengths.all():
            rows = self._rows[ids].astype(np.float32)
            lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), _SMALLEST_LENGTH)
            self._lengths[ids] = lengths
        return lengths

    def _pool(self, batch: list[list[int]], out: Vectors) -> None:
        """Write each text's sum of rows, brought to length 1, into `out`; the mean has the same direction."""
        counts = np.fromiter(map(len, batch), dtype=np.intp, count=len(batch))
        ids = np.fromiter(chain.from_iterable(batch), dtype=np.intp, count=int(counts.sum()))
        if not len(ids):
            return
        filled = np.flatnonzero(counts)
        tokens = self._rows[ids].astype(np.float32)
        tokens *= self._scales[ids, np.newaxis]
        starts = (np.cumsum(counts) - counts)[filled]
        sums: Vectors = np.add.reduceat(tokens, starts, axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        out[filled] = sums / np.maximum(lengths, _SMALLEST_LENGTH)[:, np.newaxis]
