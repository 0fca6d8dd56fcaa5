"""What a search takes and returns: arrays, so that ranking is plain arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from commonplace.values.arrays import Floats, Ints

REACH = 2
"""Memories before and after a candidate, in the same session, that are candidates too."""

Part = Literal["user", "agent", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question put to both indexes of a space."""

    vector: Floats | None
    """Unit query vector; None searches by words alone."""
    terms: tuple[int, ...]
    """Hashes of the query's distinct informative words (see `analyze`)."""
    depth: int
    """How many candidates to take from each index."""
    now: int
    """Memories whose time to live ended before this moment (microseconds) are not candidates."""
    kinds: tuple[int, ...] = ()
    """Numbers of the kinds to search; none searches all."""
    within: tuple[tuple[Part, tuple[int, ...]], ...] = ()
    """Parts of the scope and the hashes of the names to search in each."""
    labels: tuple[int, ...] = ()
    """Hashes of the tags that a memory must all have."""
    generation: int = 0
    """Which re-embedding of the book the vector belongs to."""
    superseded: bool = False
    """Whether memories that a newer one replaced are candidates too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The union of the best by vector and the best by words, with the evidence for each."""

    seqs: Ints
    cosines: Floats
    """Exact cosine of each candidate and the query; zeros when the probe had no vector."""
    counts: npt.NDArray[np.uint8]
    """How often candidate i holds query term j (capped at 255): shape (n, terms)."""
    lengths: Floats
    """Number of informative words in each candidate."""
    frequencies: Ints
    """In how many memories of the space each query term occurs."""
    population: int
    """How many memories the space holds."""
    searched: int
    """How many of them the search was about, after everything that narrowed it."""
    sessions: Ints | None = None
    """Hash of each candidate's session, 0 for none. Where there are sessions, the candidates' neighbours in them
    (see REACH) are candidates too. None when the engine does not tell."""
