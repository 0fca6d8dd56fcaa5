"""The contract of a storage engine, and the values that a search takes and returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from commonplace.filters import Scalar
from commonplace.store.row import FeedbackRow, MemoryRow
from commonplace.values import Check, Part
from commonplace.values.arrays import Floats, Ints

T = TypeVar("T")
J = TypeVar("J")
Value = str | int | float | bytes | None
Row: TypeAlias = tuple[Any, ...]
"""A row as the engine returns it; no code outside the store sees one."""
Params = Mapping[str, Value]
ListKind: TypeAlias = Literal["text", "number", "integer"]
"""Type of the elements of a JSON list in a parameter."""
Bind: TypeAlias = Callable[[Scalar], str]

REACH = 2
"""Memories before and after a candidate, in the same session, that become candidates too."""


class Syntax(Protocol):
    """The few places where the engines' SQL differs.

    `bind` stores a value as a parameter and returns the parameter's name: values never become part of the SQL text.
    """

    @property
    def by_key(self) -> str:
        """Table suffix for reading rows by a list of sequence numbers instead of by space."""

    @property
    def new_space(self) -> str:
        """Expression for an unused space number."""

    def among(self, column: str, param: str, kind: ListKind) -> str:
        """Return a test whether the JSON list in a parameter holds the column's value."""

    def inside(self, column: str, param: str) -> str:
        """Return a test whether a text column contains the parameter."""

    def text_at(self, column: str, name: str) -> str:
        """Return the expression for a text at the top of a JSON column, as an index can hold it: nothing is bound."""

    def place(self, bind: Bind, path: tuple[str, ...]) -> str:
        """Return the expression for a path in a memory's metadata; the methods below take it."""

    def present(self, place: str) -> str:
        """Return a test whether a value is there, including JSON null."""

    def compare(self, bind: Bind, place: str, sign: str, value: Scalar) -> str:
        """Return a test whether a value of the same JSON type compares so. Never NULL."""

    def equals_any(self, bind: Bind, place: str, values: tuple[Scalar, ...]) -> str:
        """Return a test whether one of the values is there. Never NULL."""

    def contains(self, bind: Bind, place: str, value: Scalar) -> str:
        """Return a test whether a list is there that holds the value. Never NULL."""


class Indexed(NamedTuple):
    """A new version of a memory for the search index."""

    seq: int
    head: bytes
    closed: bool
    """Whether a newer memory has already replaced it."""
    vector: bytes | None
    """Unit vector as little-endian float16."""
    terms: bytes
    """Hashed words and tags with their counts (see `row.pack_terms`)."""


class Reembedded(NamedTuple):
    """The new vector and words of a version."""

    seq: int
    space: int
    vector: bytes | None
    terms: bytes


class SearchIndex(Protocol):
    """The search index beside the rows, written in the same transaction."""

    def add(self, space: int, added: Sequence[Indexed]) -> None:
        """Add new versions."""

    def end(self, space: int, was: int, *, by: int) -> None:
        """Record that version `by` has replaced version `was`."""

    def read(self, space: int, seq: int) -> tuple[bytes | None, bytes]:
        """Return the vector and the words of a version."""

    def remove(self, space: int, versions: Sequence[tuple[int, bool]]) -> None:
        """Remove versions, each with whether it was current."""

    def clear(self, space: int) -> None:
        """Remove everything of a space."""

    def keep_reembedded(self, rows: Sequence[Reembedded]) -> None:
        """Store new vectors and words beside the old ones."""

    def put_reembedded(self) -> None:
        """Replace the old vectors and words by the new ones."""


class Tx(Protocol):
    """An open transaction: statements see each other's effects and one snapshot."""

    @property
    def syntax(self) -> Syntax: ...

    @property
    def index(self) -> SearchIndex: ...

    def run(self, sql: str, params: Params = ...) -> list[Row]:
        """Run one statement and return all of its rows."""

    @property
    def many(self) -> Callable[[str, Iterable[Params]], object]:
        """Run one statement for each set of parameters."""

    def take(self, space: int, count: int) -> int:
        """Reserve `count` sequence numbers and return the first; within a space they follow the order of commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A condition on `memory` as SQL with its parameters; it always includes the space."""

    sql: str
    params: Params


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One query to both indexes of a space."""

    vector: Floats | None
    """Unit query vector; None searches by words alone."""
    terms: tuple[int, ...]
    """Hashes of the query's distinct informative words."""
    depth: int
    """Number of candidates to take from each index."""
    now: int
    """Memories that expired before this moment (microseconds) are not candidates."""
    kinds: tuple[int, ...] = ()
    """Numbers of the kinds to search; empty searches all."""
    within: tuple[tuple[Part, tuple[int, ...]], ...] = ()
    """Parts of the scope, each with the hashes of the names to search."""
    labels: tuple[int, ...] = ()
    """Hashes of tags, all of which a memory must have."""
    generation: int = 0
    """The re-embedding that the vector belongs to."""
    superseded: bool = False
    """Whether superseded memories are candidates too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The best by vector and the best by words, with the evidence for each."""

    seqs: Ints
    cosines: Floats
    """Exact cosine of each candidate and the query; zeros without a query vector."""
    counts: npt.NDArray[np.uint8]
    """How often candidate i holds query term j (at most 255): shape (n, terms)."""
    lengths: Floats
    """Number of informative words in each candidate."""
    frequencies: Ints
    """Number of memories in the space that hold each query term."""
    population: int
    """Number of memories in the space."""
    searched: int
    """Number of memories left after all conditions."""
    sessions: Ints | None = None
    """Hash of each candidate's session, 0 for none. The candidates' neighbours in their sessions (see REACH) are
    candidates too. None when the engine does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Generic[J]):
    """The candidates worth fetching, and the judgement by which they were picked."""

    positions: npt.NDArray[np.intp]
    """Index into the candidates of each pick, the best first."""
    judgement: J


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[J]):
    """The rows that `choose` picked, with their vectors, in the order of their candidates."""

    candidates: Candidates
    judgement: J
    """Of all candidates, as `choose` returned it."""
    positions: Ints
    """Index into `candidates` of each row."""
    rows: list[MemoryRow]
    uses: dict[str, FeedbackRow]
    vectors: Floats


Choose: TypeAlias = Callable[[Candidates], Choice[J]]


class BytesSeen(NamedTuple):
    """How often some texts occur in each file or relation of a store, and what could not be read."""

    found: Mapping[str, int]
    unseen: tuple[str, ...]


class Store(Protocol):
    """Durable storage for many spaces. Safe to share between threads."""

    @property
    def engine(self) -> str:
        """The engine's name and version."""

    @property
    def syntax(self) -> Syntax:
        """The engine's SQL syntax."""

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        """Run `work` in one transaction; on return, all of its effects are on disk, or none.

        Writers of the same space take turns; writers of other spaces need not wait. None locks the whole book.
        """

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        """Run `work` on a consistent snapshot of a space, or of the whole book, with every acknowledged write."""

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose[J], *, narrow: bool, as_of: int | None
    ) -> Found[J]:
        """Query both indexes of a space, let `choose` pick, and fetch the picked rows from the same snapshot.

        `where` is checked exactly on each row; `narrow` restricts the search itself to its rows.
        """

    def frequencies(self, space: int, terms: Sequence[int], generation: int) -> Ints:
        """Return the number of memories visible to recall that hold each term."""

    def scrub(self, space: int) -> None:
        """Remove traces of just forgotten memories from logs and derived files."""

    def scrub_log(self) -> None:
        """Remove traces of a value that was just replaced from logs."""

    def purge(self, space: int, *, thorough: bool) -> tuple[str, ...]:
        """Remove the bytes of erased rows, and return the places where some may be left; none if they are gone.

        Unless it is `thorough`, nothing is done that would keep writers waiting.
        """

    def find_bytes(self, wanted: Sequence[bytes]) -> BytesSeen:
        """Return how often these bytes occur in the files of the store, free space and logs included."""

    @property
    def copied_to(self) -> tuple[str, ...]:
        """Places outside files and tables that hold what was written for some time, and that only the server clears."""

    def size(self) -> int:
        """Return the bytes on disk."""

    def backup(self, path: Path) -> bool:
        """Copy the store's file to a new one while it is in use; False if the engine has no file."""

    def check(self, *, deep: bool) -> Check:
        """Verify the store's structures; `deep` also compares every index with the rows."""

    def close(self) -> None:
        """Release everything; closing twice is harmless."""


@dataclass(slots=True, eq=False)
class Task:
    """One caller's work, queued for the next commit."""

    work: Callable[[Tx], Any]
    done: bool = False
    abandoned: bool = False
    error: BaseException | None = None
    result: Any = None
