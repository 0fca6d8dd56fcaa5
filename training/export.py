"""Write an encoder as an ONNX file with int8 weights, node by node, so that no exporter's version matters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from encoder import EPSILON, HEADS, WIDTH, Encoder
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Graph:
    """Collects nodes and weights; each method adds one step and returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def step(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=f"{kind}_{name}", **attributes))
        return name

    def linear(self, x: str, module: object) -> str:
        product = self.step("MatMul", x, self.constant(_numpy(module.weight).T))
        return self.step("Add", product, self.constant(_numpy(module.bias)))

    def norm(self, x: str, module: object) -> str:
        weight, bias = self.constant(_numpy(module.weight)), self.constant(_numpy(module.bias))
        return self.step("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)


def _numpy(tensor: object) -> np.ndarray:
    value: np.ndarray = tensor.detach().float().numpy()
    return value


def build(encoder: Encoder) -> onnx.ModelProto:
    """Return the model: ids, types and mask in, one vector of each row out."""
    graph = Graph()
    ints = {name: graph.constant(np.array(value, np.int64)) for name, value in (("one", [1]), ("zero", [0]))}
    words = graph.step("Gather", graph.constant(_numpy(encoder.words.weight)), "input_ids")
    types = graph.step("Gather", graph.constant(_numpy(encoder.types.weight)), "token_type_ids")
    length = graph.step("Shape", "input_ids", start=1, end=2)
    places = graph.step("Slice", graph.constant(_numpy(encoder.positions.weight)), ints["zero"], length, ints["zero"])
    x = graph.norm(graph.step("Add", graph.step("Add", words, types), places), encoder.norm)
    mask = graph.step("Cast", "attention_mask", to=TensorProto.FLOAT)
    unseen = graph.step("Sub", mask, graph.constant(np.array(1, np.float32)))
    bias = graph.step("Mul", unseen, graph.constant(np.array(1e4, np.float32)))
    bias = graph.step("Unsqueeze", bias, graph.constant(np.array([1, 2], np.int64)))
    split = graph.constant(np.array([0, 0, 3 * HEADS, WIDTH // HEADS], np.int64))
    joined = graph.constant(np.array([0, 0, WIDTH], np.int64))
    thirds = graph.constant(np.array([HEADS] * 3, np.int64))
    scale = graph.constant(np.array((WIDTH // HEADS) ** -0.5, np.float32))
    for number, layer in enumerate(encoder.layers):
        last = number == len(encoder.layers) - 1
        heads = graph.step("Transpose", graph.step("Reshape", graph.linear(x, layer.qkv), split), perm=[0, 2, 1, 3])
        name = f"n{len(graph.nodes)}"
        parts = [f"{name}_{part}" for part in "qkv"]
        graph.nodes.append(helper.make_node("Split", [heads, thirds], parts, name=f"Split_{name}", axis=1))
        q, k, v = parts
        if last:  # of the last layer only the first token is used
            q = graph.step("Slice", q, ints["zero"], ints["one"], graph.constant(np.array([2], np.int64)))
            x = graph.step("Slice", x, ints["zero"], ints["one"], ints["one"])
        fit = graph.step("MatMul", graph.step("Mul", q, scale), graph.step("Transpose", k, perm=[0, 1, 3, 2]))
        share = graph.step("Softmax", graph.step("Add", fit, bias), axis=-1)
        mixed = graph.step("Transpose", graph.step("MatMul", share, v), perm=[0, 2, 1, 3])
        mixed = graph.step("Reshape", mixed, joined)
        x = graph.norm(graph.step("Add", x, graph.linear(mixed, layer.out)), layer.norm1)
        inner = graph.step("Gelu", graph.linear(x, layer.up))
        x = graph.norm(graph.step("Add", x, graph.linear(inner, layer.down)), layer.norm2)
    pooled = graph.step("Tanh", graph.linear(graph.step("Squeeze", x, ints["one"]), encoder.pool))
    graph.nodes.append(helper.make_node("Identity", [pooled], ["read"], name="read"))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "tokens"])
        for name in ("input_ids", "token_type_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("read", TensorProto.FLOAT, ["rows", WIDTH])]
    made = helper.make_graph(graph.nodes, "reader", inputs, outputs, graph.weights)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def write(encoder: Encoder, path: Path) -> None:
    """Write the encoder with int8 weights, one scale a column."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    plain = path.with_suffix(".f32.onnx")
    onnx.save(build(encoder), plain)
    quantize_dynamic(
        plain, path, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul", "Gather"]
    )
