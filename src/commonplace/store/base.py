"""The seam: what a storage engine must offer. Everything else is plain SQL, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from commonplace.errors import EmbedderMismatch
from commonplace.filters import Scalar
from commonplace.store.candidates import Candidates, Probe
from commonplace.store.row import FeedbackRow, MemoryRow
from commonplace.values import Check
from commonplace.values.arrays import Floats, Ints

T = TypeVar("T")
J = TypeVar("J")
Value = str | int | float | bytes | None
Row: TypeAlias = tuple[Any, ...]
"""A row as the engine gives it; the schema says what each column holds, and `decode` gives it a type."""
Params = Mapping[str, Value]
Listed: TypeAlias = Literal["text", "number", "integer"]
"""What a JSON list in a parameter holds."""
Bind: TypeAlias = Callable[[Scalar], str]


class Dialect(Protocol):
    """The few spots where the engines' SQL differs; everything else is written once.

    `bind` gives a value a parameter and returns its name in SQL: values are never spliced in.
    """

    @property
    def by_key(self) -> str:
        """Suffix of a table whose rows are wanted by the sequence numbers that are listed, not by the space."""

    @property
    def new_space(self) -> str:
        """A number that no space has."""

    def among(self, column: str, param: str, kind: Listed) -> str:
        """Whether a column's value is in the JSON list that a parameter holds."""

    def inside(self, column: str, param: str) -> str:
        """Whether a column's text holds the parameter's."""

    def place(self, bind: Bind, path: tuple[str, ...]) -> str:
        """Where in a memory's metadata a path leads; the other methods take what this returns."""

    def present(self, place: str) -> str:
        """Whether anything stands at a place, a JSON null too."""

    def compared(self, bind: Bind, place: str, sign: str, value: Scalar) -> str:
        """Whether a value of the same JSON type stands at a place and compares so. Never NULL."""

    def listed(self, bind: Bind, place: str, values: tuple[Scalar, ...]) -> str:
        """Whether one of the values stands at a place. Never NULL."""

    def contains(self, bind: Bind, place: str, value: Scalar) -> str:
        """Whether a list stands at a place and holds the value. Never NULL."""


class Indexed(NamedTuple):
    """What the search index takes of one version of a memory."""

    seq: int
    head: bytes
    closed: bool
    """Whether a newer memory has replaced it from the start."""
    vector: bytes | None
    """Unit vector as little-endian float16."""
    terms: bytes
    """Hashed words and tags with their counts (see trace)."""


class Index(Protocol):
    """What search keeps beside the rows; written in the transaction that writes the rows."""

    def add(self, space: int, added: Sequence[Indexed]) -> None:
        """Take in new versions."""

    def end(self, space: int, was: int, *, by: int) -> None:
        """Version `was` is current no longer: version `by` follows it."""

    def read(self, space: int, seq: int) -> tuple[bytes | None, bytes]:
        """The vector and the words of a version."""

    def remove(self, space: int, versions: Sequence[tuple[int, bool]]) -> None:
        """Drop versions, each with whether it was current."""

    def clear(self, space: int) -> None:
        """Drop everything of a space."""

    def keep_reembedded(self, rows: Sequence[tuple[int, int, bytes | None, bytes]]) -> None:
        """Keep new vectors and words beside the old ones: sequence number, space, vector, terms."""

    def put_reembedded(self) -> None:
        """Put what was kept in the place of the old."""


class Tx(Protocol):
    """One open transaction: statements see each other's effects and one snapshot."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def index(self) -> Index: ...

    def run(self, sql: str, params: Params = ...) -> list[Row]:
        """Run one statement and return all of its rows."""

    @property
    def many(self) -> Callable[[str, Iterable[Params]], object]:
        """Run one statement for each set of parameters."""

    def take(self, space: int, count: int) -> int:
        """Reserve `count` sequence numbers for a space and return the first; in a space, order follows commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A condition on `memory` as SQL text with its parameters; never without the space."""

    sql: str
    params: Params


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Generic[J]):
    """The candidates worth fetching, and the judgement that they were picked by."""

    positions: npt.NDArray[np.intp]
    """Index into the candidates of each pick, the best first."""
    judgement: J


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[J]):
    """The rows of a search that `choose` picked, with their vectors, in the order of their candidates."""

    candidates: Candidates
    judgement: J
    """Of all candidates, as `choose` returned it."""
    positions: Ints
    """Index into `candidates` of each row."""
    rows: list[MemoryRow]
    uses: dict[str, FeedbackRow]
    vectors: Floats


def ensure_generation(found: int, expected: int) -> None:
    """Refuse to mix vectors: another process may have re-embedded the book since it was opened."""
    if found != expected:
        raise EmbedderMismatch("the book was re-embedded meanwhile: close it and open it again")


Choose: TypeAlias = Callable[[Candidates], Choice[J]]


class Store(Protocol):
    """A durable home for many spaces. Safe to share between threads."""

    @property
    def engine(self) -> str:
        """The engine and its version, for people."""

    @property
    def dialect(self) -> Dialect:
        """How the engine spells what differs."""

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        """Run `work` in one transaction; when this returns, its effects are on disk, or none of them are.

        `space` is the one that it touches: writers of one space take turns, writers of others need not wait for
        them. None is for work on the book as a whole, which no other writer may disturb.
        """

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        """Run `work` on one consistent snapshot of a space, or of the whole book, with every acknowledged write."""

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose[J], *, narrow: bool, as_of: int | None
    ) -> Found[J]:
        """Ask both indexes of a space, let `choose` pick, and fetch the picked rows from the same snapshot.

        `where` is checked exactly on each row; `narrow` says that it is worth searching only its rows.
        """

    def frequencies(self, space: int, terms: Sequence[int], generation: int) -> Ints:
        """In how many of the memories that recall sees each of these terms stands."""

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
