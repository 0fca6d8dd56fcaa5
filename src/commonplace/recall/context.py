"""Words from around a memory: a turn of a conversation answers with what was asked just before it in mind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from commonplace.store.candidates import REACH, Candidates
from commonplace.values.arrays import Floats, Ints

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
    # Session by session, each in the order in which it was written: neighbours stand side by side.
    order = np.lexsort((candidates.seqs, candidates.sessions))
    own = held[order]
    gathered, lent_ = own, np.zeros(n, np.float32)
    for near, worth in _surroundings(candidates.sessions[order], candidates.seqs[order], own):
        gained = np.maximum(gathered, near)
        lent_ += np.float32(worth) * ((gained - gathered) @ weight)
        gathered = gained
    evidence[order] = lent_
    return evidence


def _surroundings(sessions: Ints, seqs: Ints, held: Floats) -> Iterator[tuple[Floats, float]]:
    """Give what each neighbour of each candidate holds, and what that is worth."""
    for step, worth in enumerate(BEFORE[:REACH], 1):
        yield _before(sessions, seqs, held, step), worth
    for step, worth in enumerate(AFTER[:REACH], 1):
        yield _before(sessions[::-1], -seqs[::-1], held[::-1], step)[::-1], worth
    yield _in_session(sessions, held), SESSION


def _before(sessions: Ints, seqs: Ints, held: Floats, step: int) -> Floats:
    """Give what the candidate so many steps before each one in its session holds; nothing where there is none."""
    there = (sessions[step:] == sessions[:-step]) & (sessions[step:] != 0)
    there &= seqs[step:] - seqs[:-step] <= _APART * step
    near = np.zeros_like(held)
    np.copyto(near[step:], held[:-step], where=there[:, np.newaxis])
    return near


def _in_session(sessions: Ints, held: Floats) -> Floats:
    """Give how far any candidate of each one's session holds each word; nothing outside of sessions."""
    starts = np.flatnonzero(np.r_[True, sessions[1:] != sessions[:-1]])
    most = np.maximum.reduceat(held, starts, axis=0)
    most[sessions[starts] == 0] = 0
    return np.repeat(most, np.diff(np.r_[starts, len(sessions)]), axis=0)
