"""Words from around a memory: a turn of a conversation answers with what was asked just before it in mind."""

from __future__ import annotations

import numpy as np

from commonplace.recall.types import Candidates, Floats, Ints

REACH = 2
"""Memories before and after one, in the same session, that lend it their words."""

_APART = 3
"""Sequence numbers by which neighbours may be apart for each step: sessions are written side by side."""

# What it is worth when all of the question's words stand there rather than in the memory itself.
BEFORE = (11.5, 8.1)
AFTER = (6.0, 3.8)
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


def _surroundings(sessions: Ints, seqs: Ints, held: Floats) -> list[tuple[Floats, float]]:
    """Give what each neighbour of each candidate holds, and what that is worth."""
    before = [_neighbours(sessions, seqs, step) for step in range(1, REACH + 1)]
    after = [_neighbours(sessions, seqs, -step) for step in range(1, REACH + 1)]
    # One more row, of nothing, stands for a neighbour who is not there.
    padded = np.vstack([held, np.zeros((1, held.shape[1]), held.dtype)])
    near = [(padded[places], worth) for places, worth in zip([*before, *after], (*BEFORE, *AFTER), strict=True)]
    return [*near, (_in_session(sessions, held), SESSION)]


def _neighbours(sessions: Ints, seqs: Ints, step: int) -> Ints:
    """Give the place of the candidate so many steps before (or after) each in its session; -1 for none."""
    order = np.lexsort((seqs, sessions))
    moved = np.roll(order, step)
    there = (sessions[order] == sessions[moved]) & (sessions[order] != 0)
    gap = (seqs[order] - seqs[moved]) * np.sign(step)
    there &= (gap > 0) & (gap <= _APART * abs(step))
    places = np.full(len(seqs), -1, np.int64)
    places[order] = np.where(there, moved, -1)
    return places


def _in_session(sessions: Ints, held: Floats) -> Floats:
    """Give how far any candidate of each one's session holds each word; nothing outside of sessions."""
    _, place = np.unique(sessions, return_inverse=True)
    most = np.zeros((int(place.max()) + 1, held.shape[1]), held.dtype)
    np.maximum.at(most, place, held)
    together: Floats = most[place]
    together[sessions == 0] = 0
    return together
