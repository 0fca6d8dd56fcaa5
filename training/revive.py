"""Turn the reader that ships with the package back into a torch model, so that its training can go on.

    python training/revive.py WORK FOLDER OUT     needs WORK/base.npz, whose word embeddings training leaves alone

Each weight is its int8 value times the scale of its column.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from council import Council
from encoder import SKIM, Encoder, from_base
from onnx import numpy_helper
from torch import nn
from train import Reader


def revive(base: Path, folder: Path) -> Reader:
    """Return the model whose encoder is that of a folder, with the base model's word embeddings."""
    encoder, score = from_base(base)
    skim = _weights(folder / "skim.onnx")
    for _ in range(4):  # words, their scales, types and positions are the base model's
        next(skim)
    _fill(skim, encoder.norm, turned=False)
    _fill_layers(skim, encoder, 0, SKIM)
    _fill(skim, encoder.skim)
    read = _weights(folder / "read.onnx")
    _fill_layers(read, encoder, SKIM, len(encoder.layers))
    _fill(read, encoder.pool)
    model = Reader(encoder, score)
    _fill_council(_weights(folder / "council.onnx"), model.council)
    return model


def _weights(path: Path) -> Iterator[np.ndarray]:
    """Yield the weights of a file in the order in which export.py wrote them; numbers of a node's own are left out."""
    stored = {each.name: numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}
    numbers = {int(name[1:].split("_")[0]) for name in stored if name[0] == "w"}
    for number in sorted(numbers):
        value = stored.get(f"w{number}")
        if value is None:
            quantised = stored[f"w{number}_quantized"].astype(np.float32)
            yield (quantised - stored[f"w{number}_zero_point"].astype(np.float32)) * stored[f"w{number}_scale"]
        elif value.dtype in (np.uint8, np.float16, np.float32) and value.size > 1:
            yield value


def _fill_layers(weights: Iterator[np.ndarray], encoder: Encoder, start: int, end: int) -> None:
    for layer in encoder.layers[start:end]:
        _fill(weights, layer.qkv)
        _fill(weights, layer.out)
        _fill(weights, layer.norm1, turned=False)
        _fill(weights, layer.up)
        _fill(weights, layer.down)
        _fill(weights, layer.norm2, turned=False)


def _fill_council(weights: Iterator[np.ndarray], council: Council) -> None:
    _fill(weights, council.norm, turned=False)
    _fill(weights, council.read)
    _fill(weights, council.numbers)
    with torch.no_grad():
        council.chair.copy_(torch.from_numpy(next(weights)[0, 0]))
    for layer in council.layers:
        _fill(weights, layer.norm1, turned=False)
        _fill(weights, layer.qkv)
        _fill(weights, layer.out)
        _fill(weights, layer.norm2, turned=False)
        _fill(weights, layer.up)
        _fill(weights, layer.down)
    _fill(weights, council.last, turned=False)
    _fill(weights, council.verdict)
    _fill(weights, council.alone)
    _fill(weights, council.answered)


def _fill(weights: Iterator[np.ndarray], module: nn.Module, *, turned: bool = True) -> None:
    with torch.no_grad():
        value = next(weights)
        module.weight.copy_(torch.from_numpy(np.ascontiguousarray(value.T if turned else value)))
        if module.bias.numel() > 1:  # a single number cannot be told from those of the nodes: it is trained again
            module.bias.copy_(torch.from_numpy(next(weights)))


if __name__ == "__main__":
    from revive import revive  # so that what is saved belongs to the module, not to this program

    work, folder, out = map(Path, sys.argv[1:])
    torch.save(revive(work / "base.npz", folder), out)
