"""Vectors in memory: int8 codes to scan, float16 to decide.

A scan of the codes costs a quarter of one over float32 and errs by about a thousandth of a cosine; the
candidates that it finds are then scored again with the vectors as they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
import simsimd

from commonplace.recall.types import Floats, Ints

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Column(Generic[Scalar]):
    """A growing array whose earlier states stay valid: growth writes only beyond what they show.

    Only the newest state may be extended, by one thread at a time.
    """

    buffer: npt.NDArray[Scalar]
    count: int = 0

    @property
    def array(self) -> npt.NDArray[Scalar]:
        return self.buffer[: self.count]

    def extended(self, rows: npt.NDArray[Scalar]) -> Column[Scalar]:
        total = self.count + len(rows)
        buffer = self.buffer
        if total > len(buffer):
            # A first fill gets no slack, since most books are then only read; growth doubles.
            size = total if self.count == 0 else max(total, len(buffer) * 3 // 2, 256)
            buffer = np.empty((size, *buffer.shape[1:]), buffer.dtype)
            buffer[: self.count] = self.array
        buffer[self.count : total] = rows
        return Column(buffer, total)


def column(dtype: np.dtype[Scalar], width: int | None = None) -> Column[Scalar]:
    """An empty column, of rows `width` wide if that is given."""
    return Column(np.empty((0,) if width is None else (0, width), dtype))


@dataclass(frozen=True, slots=True)
class Vectors:
    """One state of a space's vectors, by document number; a document without a vector has zeros."""

    codes: Column[np.int8]
    halves: Column[np.float16]

    @classmethod
    def empty(cls, dimension: int) -> Vectors:
        return cls(column(np.dtype(np.int8), dimension), column(np.dtype(np.float16), dimension))

    def extended(self, blobs: Sequence[bytes | None]) -> Vectors:
        dimension = self.halves.buffer.shape[1]
        zeros = bytes(2 * dimension)
        flat = np.frombuffer(b"".join([blob or zeros for blob in blobs]), "<f2")
        rows = flat.reshape(len(blobs), dimension)
        return Vectors(self.codes.extended(_coded(rows)), self.halves.extended(rows))

    def scan(self, query: Floats, among: Ints | None) -> Floats:
        """Approximate cosine of the query with every document, or with those `among`."""
        codes = self.codes.array if among is None else self.codes.array[among]
        if not len(codes):
            return np.empty(0, np.float32)
        dots = np.asarray(simsimd.dot(_coded(query[None, :])[0], codes))
        return dots.reshape(-1).astype(np.float32)

    def cosines(self, documents: Ints, query: Floats | None) -> Floats:
        """Cosine of the query with these documents, from the vectors as they are stored."""
        if query is None:
            return np.zeros(len(documents), np.float32)
        return self.rows(documents) @ query

    def rows(self, documents: Ints) -> Floats:
        return self.halves.array[documents].astype(np.float32)

    @property
    def nbytes(self) -> int:
        return self.codes.buffer.nbytes + self.halves.buffer.nbytes


def _coded(rows: Floats | npt.NDArray[np.float16]) -> npt.NDArray[np.int8]:
    """Unit rows as int8 by one scale for all, so that dots of codes rank like cosines."""
    # Components of a unit vector spread by 1/sqrt(d); eight times that is beyond all but freak outliers.
    limit = min(1.0, 8 / rows.shape[1] ** 0.5)
    scaled = rows.astype(np.float32) * (127 / limit)
    codes: npt.NDArray[np.int8] = np.clip(np.rint(scaled, out=scaled), -127, 127).astype(np.int8)
    return codes
