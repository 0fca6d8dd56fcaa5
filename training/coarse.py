"""A table of words with four bits a number."""

from __future__ import annotations

import numpy as np

BLOCK = 32
"""Numbers of a row that share a scale."""


def halve(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a table, from 1 to 15, and a scale for each BLOCK of them."""
    blocks = table.reshape(len(table), -1, BLOCK)
    scales = np.abs(blocks).max(axis=-1, keepdims=True) / 7
    numbers = np.clip(np.round(blocks / np.maximum(scales, 1e-12)), -7, 7).astype(np.int16) + 8
    return numbers, scales.astype(np.float16)


def coarsen(table: np.ndarray) -> np.ndarray:
    """Return a table as it is read from four bits a number: what is trained on it learns to live with that."""
    numbers, scales = halve(table)
    coarse: np.ndarray = ((numbers - 8) * scales.astype(np.float32)).reshape(table.shape).astype(np.float32)
    return coarse
