"""Tiny ONNX models, written without the package `onnx`: each token's output is its row of a table.

ONNX files are protocol buffers; the numbers below are the fields of onnx.proto.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_FLOAT, _INT64 = 1, 7
_INT, _INTS = 2, 7


def model(table: npt.NDArray[np.float32], inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> bytes:
    """The model `Gather(table, first input)`: (texts, tokens) to (texts, tokens, dimension)."""
    node = _text(1, "table") + _text(1, inputs[0]) + _text(2, "hidden") + _text(4, "Gather")
    graph = _bytes(1, node) + _text(2, "tiny") + _bytes(5, _tensor("table", table))
    for name in inputs:
        graph += _bytes(11, _value(name, _INT64, ("texts", "tokens")))
    graph += _bytes(12, _value("hidden", _FLOAT, ("texts", "tokens", "dimension")))
    opset = _text(1, "") + _number(2, 13)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, opset)


def cross_encoder(table: npt.NDArray[np.float32]) -> bytes:
    """The model whose logit is the sum of the table's numbers over the tokens of the second segment."""
    nodes = (
        _text(1, "table") + _text(1, "input_ids") + _text(2, "worth") + _text(4, "Gather"),
        _text(1, "kinds") + _text(1, "token_type_ids") + _text(2, "counts") + _text(4, "Gather"),
        _text(1, "worth") + _text(1, "counts") + _text(2, "counted") + _text(4, "Mul"),
        _text(1, "counted") + _text(2, "logits") + _text(4, "ReduceSum") + _bytes(5, _axis(1)) + _bytes(5, _flag(0)),
    )
    graph = b"".join(_bytes(1, node) for node in nodes) + _text(2, "tiny")
    graph += _bytes(5, _tensor("table", table.reshape(-1, 1)))
    graph += _bytes(5, _tensor("kinds", np.array([[0], [1]], np.float32)))
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        graph += _bytes(11, _value(name, _INT64, ("texts", "tokens")))
    graph += _bytes(12, _value("logits", _FLOAT, ("texts", "one")))
    return _number(1, 6) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 11))


def _axis(axis: int) -> bytes:
    return _text(1, "axes") + _number(8, axis) + _number(20, _INTS)


def _flag(value: int) -> bytes:
    return _text(1, "keepdims") + _number(3, value) + _number(20, _INT)


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
