"""Vectors in memory: int8 codes to scan, float16 to decide.

A scan of the codes costs a quarter of one over float32 and errs by about a thousandth of a cosine; the
candidates that it finds are then scored again with the vectors as they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
import simsimd

from commonplace.values.arrays import Floats, Ints

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
            buffer = np.empty((max(total, len(buffer) * 3 // 2, 64), *buffer.shape[1:]), buffer.dtype)
            buffer[: self.count] = self.array
        buffer[self.count : total] = rows
        return Column(buffer, total)


def column(dtype: np.dtype[Scalar], width: int | None = None, *, room: int = 0) -> Column[Scalar]:
    """An empty column with room for some rows, each `width` wide if that is given."""
    return Column(np.empty((room,) if width is None else (room, width), dtype))


@dataclass(frozen=True, slots=True)
class Vectors:
    """One state of a space's vectors, by document number; a document without a vector has zeros."""

    codes: Column[np.int8]
    halves: Column[np.float16]

    @classmethod
    def empty(cls, dimension: int, *, room: int) -> Vectors:
        codes, halves = np.dtype(np.int8), np.dtype(np.float16)
        return cls(column(codes, dimension, room=room), column(halves, dimension, room=room))

    def extended(self, blobs: Sequence[bytes | None]) -> Vectors:
        dimension = self.halves.buffer.shape[1]
        zeros = bytes(2 * dimension)
        flat = np.frombuffer(b"".join([blob or zeros for blob in blobs]), "<f2")
        rows = flat.reshape(len(blobs), dimension)
        return Vectors(self.codes.extended(_codes(dimension)[rows.view(np.uint16)]), self.halves.extended(rows))

    def scan(self, query: Floats, among: Ints | None) -> Floats:
        """Approximate cosine of the query with every document, or with those `among`."""
        codes = self.codes.array if among is None else self.codes.array[among]
        if not len(codes):
            return np.empty(0, np.float32)
        coded = _codes(len(query))[query.astype(np.float16).view(np.uint16)]
        dots = np.asarray(simsimd.dot(coded, codes))
        return dots.reshape(-1).astype(np.float32)

    def cosines(self, documents: Ints, query: Floats | None) -> Floats:
        """Cosine of the query with these documents, from the vectors as they are stored."""
        if query is None:
            return np.zeros(len(documents), np.float32)
        # Not by BLAS: its threads wait for one another wherever something else wants the cores.
        found: Floats = np.einsum("ij,j->i", self.rows(documents), query)
        return found

    def rows(self, documents: Ints) -> Floats:
        return self.halves.array[documents].astype(np.float32)

    @property
    def nbytes(self) -> int:
        return self.codes.buffer.nbytes + self.halves.buffer.nbytes


@lru_cache
def _codes(dimension: int) -> npt.NDArray[np.int8]:
    """The int8 code of every float16, by its bits: one scale for all, so that dots of codes rank like cosines.

    A table, because numpy converts float16 one number at a time: reading 100,000 vectors takes 30 ms this way
    and 700 ms by arithmetic.
    """
    # Components of a unit vector spread by 1/sqrt(d); eight times that is beyond all but freak outliers.
    limit = min(1.0, 8 / dimension**0.5)
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    bounded = np.clip(np.nan_to_num(every, nan=0.0), -limit, limit)
    codes: npt.NDArray[np.int8] = np.rint(bounded * (127 / limit)).astype(np.int8)
    return codes
