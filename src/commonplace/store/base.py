"""The seam: what a storage engine must offer. Everything else is plain SQL, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from commonplace.errors import EmbedderMismatch
from commonplace.recall.types import Candidates, Floats, Ints, Probe
from commonplace.values import Check

T = TypeVar("T")
Value = str | int | float | bytes | None
Row: TypeAlias = tuple[Any, ...]
"""A row as the engine gives it; the schema says what each column holds, and `decode` gives it a type."""
Params = Mapping[str, Value]


class Tx(Protocol):
    """One open transaction: statements see each other's effects and one snapshot."""

    def run(self, sql: str, params: Params = ...) -> list[Row]:
        """Run one statement and return all of its rows."""

    @property
    def many(self) -> Callable[[str, Iterable[Params]], object]:
        """Run one statement for each set of parameters."""

    def take(self, count: int) -> int:
        """Reserve `count` sequence numbers and return the first; order follows commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A condition on `memory` as SQL text with its parameters; never without the space."""

    sql: str
    params: Params


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The rows that `choose` picked, with their vectors, in the order of their candidates."""

    candidates: Candidates
    positions: Ints
    """Index into `candidates` of each row."""
    rows: list[Row]
    uses: dict[str, Row]
    vectors: Floats


def ensure_generation(found: int, expected: int) -> None:
    """Refuse to mix vectors: another process may have re-embedded the book since it was opened."""
    if found != expected:
        raise EmbedderMismatch("the book was re-embedded meanwhile: close it and open it again")


Choose = Callable[[Candidates], npt.NDArray[np.intp]]


class Store(Protocol):
    """A durable home for many spaces. Safe to share between threads."""

    @property
    def engine(self) -> str:
        """The engine and its version, for people."""

    def write(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one transaction; when this returns, its effects are on disk, or none of them are."""

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` on one consistent snapshot that includes every acknowledged write."""

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose, *, narrow: bool, as_of: int | None
    ) -> Found:
        """Ask both indexes of a space, let `choose` pick, and fetch the picked rows from the same snapshot.

        `where` is checked exactly on each row; `narrow` says that it is worth searching only its rows.
        """

    def scrub(self, space: int) -> None:
        """Remove what is kept beside the rows of memories that were just forgotten: logs, derived files."""

    def size(self) -> int:
        """Bytes on disk."""

    def backup(self, path: Path) -> None:
        """Copy the whole store to a new file while it is in use."""

    def check(self, *, deep: bool) -> Check:
        """Verify the store's own structures; `deep` also compares every index with the rows."""

    def close(self) -> None:
        """Release everything; closing twice is harmless."""
