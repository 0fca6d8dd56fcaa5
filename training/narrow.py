"""Round the int8 weights of a reader to seven bits: `python training/narrow.py FROM TO`.

Processors without VNNI add up products of int8 in pairs in 16 bits, which overflows with eight bits. With seven they
read the same everywhere, and faster than by the exact way around it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

MOST = 64
CLIPPED = np.linspace(0.8, 1.0, 9)
"""Shares of a column's largest weight that are tried as the largest one that is kept."""


def narrow(model: onnx.ModelProto) -> None:
    """Round all int8 weights of a model, each column with the scale of the least squared error."""
    stored = {each.name: each for each in model.graph.initializer}
    for name in [name for name in stored if name.endswith("_quantized")]:
        base = name.removesuffix("_quantized")
        scale = numpy_helper.to_array(stored[f"{base}_scale"])
        weights, scale = round_columns(numpy_helper.to_array(stored[name]).astype(np.float32) * scale)
        stored[name].CopyFrom(numpy_helper.from_array(weights, name))
        stored[f"{base}_scale"].CopyFrom(numpy_helper.from_array(scale, f"{base}_scale"))


def round_columns(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights as small integers, and the scale of each column."""
    largest = np.abs(weights).max(0)
    tries = []
    for share in CLIPPED:
        scale = np.maximum(largest * share / MOST, 1e-12)
        rounded = np.clip(np.round(weights / scale), -MOST, MOST)
        tries.append((((rounded * scale - weights) ** 2).sum(0), scale, rounded))
    best = np.argmin([error for error, _, _ in tries], axis=0)
    columns = np.arange(weights.shape[1])
    scale = np.stack([scale for _, scale, _ in tries])[best, columns]
    rounded = np.stack([rounded for _, _, rounded in tries])[best, :, columns].T
    return rounded.astype(np.int8), scale.astype(np.float32)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    for part in ("skim.onnx", "read.onnx"):
        read = onnx.load(source / part)
        narrow(read)
        onnx.save(read, target / part)
