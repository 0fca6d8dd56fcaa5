"""A tiny ONNX model, written without the package `onnx`: each token's output is its row of a table.

ONNX files are protocol buffers; the numbers below are the fields of onnx.proto.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_FLOAT, _INT64 = 1, 7


def model(table: npt.NDArray[np.float32], inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> bytes:
    """The model `Gather(table, first input)`: (texts, tokens) to (texts, tokens, dimension)."""
    node = _text(1, "table") + _text(1, inputs[0]) + _text(2, "hidden") + _text(4, "Gather")
    graph = _bytes(1, node) + _text(2, "tiny") + _bytes(5, _tensor("table", table))
    for name in inputs:
        graph += _bytes(11, _value(name, _INT64, ("texts", "tokens")))
    graph += _bytes(12, _value("hidden", _FLOAT, ("texts", "tokens", "dimension")))
    opset = _text(1, "") + _number(2, 13)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, opset)


def _tensor(name: str, array: npt.NDArray[np.float32]) -> bytes:
    dims = b"".join(_number(1, size) for size in array.shape)
    return dims + _number(2, _FLOAT) + _text(8, name) + _bytes(9, array.astype("<f4").tobytes())


def _value(name: str, kind: int, axes: tuple[str, ...]) -> bytes:
    shape = b"".join(_bytes(1, _text(2, axis)) for axis in axes)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
