"""Words from around a memory: a turn of a conversation answers with what was asked just before it in mind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from commonplace.recall.types import Candidates, Floats, Ints

REACH = 2
"""Memories before and after one, in the same session, that lend it their words."""

_APART = 3
"""Sequence numbers by which neighbours may be apart for each step: sessions are written side by side."""

# What it is worth when all of the question's words stand there rather than in the memory itself.
BEFORE = (10.5, 7.8)
AFTER = (7.0, 4.1)
SESSION = 3.6


def lent(candidates: Candidates, held: Floats, rarity: Floats) -> Floats:
    """Give the evidence of words that a memory lacks and its surroundings hold, the nearest first.

    `held` is how far each candidate holds each of the question's words, 0 to 1.
    """
    n, asked = held.shape
    evidence = np.zeros(n, np.float32)
    if candidates.sessions is None or not asked or not candidates.sessions.any():
        return evidence
    weight = rarity / rarity.sum()
    for near, worth in _surroundings(candidates.sessions, candidates.seqs, held):
        gained = np.maximum(held, near)
        evidence += np.float32(worth) * ((gained - held) @ weight)
        held = gained
    return evidence


def _surroundings(sessions: Ints, seqs: Ints, held: Floats) -> Iterator[tuple[Floats, float]]:
    """Give what each neighbour of each candidate holds, and what that is worth."""
    order = np.lexsort((seqs, sessions))
    # One more row, of nothing, stands for a neighbour who is not there.
    padded = np.vstack([held, np.zeros((1, held.shape[1]), held.dtype)])
    for step, worth in zip(_STEPS, (*BEFORE, *AFTER), strict=True):
        yield padded[_neighbours(sessions, seqs, order, step)], worth
    yield _in_session(sessions, order, held), SESSION


_STEPS = (*range(1, REACH + 1), *range(-1, -REACH - 1, -1))


def _neighbours(sessions: Ints, seqs: Ints, order: Ints, step: int) -> Ints:
    """Give the place of the candidate so many steps before (or after) each in its session; -1 for none."""
    moved = np.roll(order, step)
    gap = (seqs[order] - seqs[moved]) * np.sign(step)
    there = (sessions[order] == sessions[moved]) & (sessions[order] != 0) & (gap > 0) & (gap <= _APART * abs(step))
    places = np.empty(len(seqs), np.int64)
    places[order] = np.where(there, moved, -1)
    return places


def _in_session(sessions: Ints, order: Ints, held: Floats) -> Floats:
    """Give how far any candidate of each one's session holds each word; nothing outside of sessions."""
    sorted_ = sessions[order]
    starts = np.flatnonzero(np.r_[True, sorted_[1:] != sorted_[:-1]])
    most = np.maximum.reduceat(held[order], starts, axis=0)
    most[sorted_[starts] == 0] = 0
    together = np.empty_like(held)
    together[order] = np.repeat(most, np.diff(np.r_[starts, len(order)]), axis=0)
    return together
