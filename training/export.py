"""Write the reader's parts as ONNX files, node by node, so that no exporter's version matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from coarse import BLOCK, halve
from council import HEADS as VOICES
from council import SEAT, Council
from encoder import EPSILON, HEADS, SKIM, WIDTH, Encoder, Layer
from onnx import TensorProto, helper, numpy_helper
from reading import Encoder as StatementEncoder
from reading import PairModel, TalkModel

OPSET = 20
LONGEST = 192
"""Tokens of the longest row: a question, a passage and the turn before it."""
HIDDEN = ["rows", "tokens", WIDTH]
_TOKENS = ["rows", "tokens"]


class Graph:
    """Collects nodes and weights; each method adds one step and returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def step(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=f"{kind}_{name}", **attributes))
        return name

    def half_bytes(self, table: np.ndarray, ids: str) -> str:
        """Return the rows at `ids` of a table that is kept with four bits a number, and a scale for each BLOCK."""
        numbers, scales = halve(table)
        low, high = np.split(numbers.reshape(len(table), -1).astype(np.uint8), 2, axis=1)
        packed = self.step("Gather", self.constant(low | high << 4), ids)
        parts = [
            self.step("BitwiseAnd", packed, self.constant(np.array(15, np.uint8))),
            self.step("BitShift", packed, self.constant(np.array(4, np.uint8)), direction="RIGHT"),
        ]
        whole = self.step("Cast", self.step("Concat", *parts, axis=-1), to=TensorProto.FLOAT)
        whole = self.step("Sub", whole, self.constant(np.array(8, np.float32)))
        whole = self.step("Reshape", whole, self.ints(0, 0, table.shape[1] // BLOCK, BLOCK))
        scale = self.step("Gather", self.constant(scales.astype(np.float16)), ids)
        whole = self.step("Mul", whole, self.step("Cast", scale, to=TensorProto.FLOAT))
        return self.step("Reshape", whole, self.ints(0, 0, table.shape[1]))

    def linear(self, x: str, module: object) -> str:
        product = self.step("MatMul", x, self.constant(_numpy(module.weight).T))
        return self.step("Add", product, self.constant(_numpy(module.bias)))

    def norm(self, x: str, module: object, epsilon: float = EPSILON) -> str:
        weight, bias = self.constant(_numpy(module.weight)), self.constant(_numpy(module.bias))
        return self.step("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)

    def attend(self, x: str, module: object, heads: int, width: int, bias: str = "", only_first: bool = False) -> str:
        """Add self-attention of `heads`; with `only_first`, only of the first of all places."""
        joined = self.step("Reshape", self.linear(x, module), self.ints(0, 0, 3 * heads, width // heads))
        joined = self.step("Transpose", joined, perm=[0, 2, 1, 3])
        name = f"n{len(self.nodes)}"
        q, k, v = parts = [f"{name}_{part}" for part in "qkv"]
        self.nodes.append(
            helper.make_node("Split", [joined, self.ints(heads, heads, heads)], parts, name=f"Split_{name}", axis=1)
        )
        if only_first:
            q = self.step("Slice", q, self.ints(0), self.ints(1), self.ints(2))
        scale = self.constant(np.array((width // heads) ** -0.5, np.float32))
        fit = self.step("MatMul", self.step("Mul", q, scale), self.step("Transpose", k, perm=[0, 1, 3, 2]))
        share = self.step("Softmax", self.step("Add", fit, bias) if bias else fit, axis=-1)
        mixed = self.step("Transpose", self.step("MatMul", share, v), perm=[0, 2, 1, 3])
        return self.step("Reshape", mixed, self.ints(0, 0, width))

    def layer(self, x: str, layer: Layer, bias: str, only_first: bool = False) -> str:
        mixed = self.attend(x, layer.qkv, HEADS, WIDTH, bias, only_first)
        if only_first:
            x = self.first(x)
        x = self.norm(self.step("Add", x, self.linear(mixed, layer.out)), layer.norm1)
        inner = self.step("Gelu", self.linear(x, layer.up))
        return self.norm(self.step("Add", x, self.linear(inner, layer.down)), layer.norm2)

    def first(self, x: str) -> str:
        """Return the first of the places on the second axis, which stays."""
        return self.step("Slice", x, self.ints(0), self.ints(1), self.ints(1))

    def bias(self, mask: str) -> str:
        """Return what attention adds, so that it does not see padding."""
        seen = self.step("Sub", self.step("Cast", mask, to=TensorProto.FLOAT), self.constant(np.array(1, np.float32)))
        return self.step("Unsqueeze", self.step("Mul", seen, self.constant(np.array(1e4, np.float32))), self.ints(1, 2))

    def model(
        self, inputs: Mapping[str, tuple[int, Sequence[object]]], outputs: Mapping[str, tuple[str, Sequence[object]]]
    ) -> onnx.ModelProto:
        """Return the model; outputs are results and their shapes by the names that they get."""
        for name, (result, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [result], [name], name=name))
        given = [helper.make_tensor_value_info(name, kind, list(shape)) for name, (kind, shape) in inputs.items()]
        made = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, (_, shape) in outputs.items()
        ]
        graph = helper.make_graph(self.nodes, "reader", given, made, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(model)
        return model


def _numpy(tensor: object) -> np.ndarray:
    value: np.ndarray = tensor.detach().float().numpy()
    return value


def build_skim(encoder: Encoder) -> onnx.ModelProto:
    """Return the first half: tokens in; out come what was read of each token, and the odds that more is worth it."""
    graph = Graph()
    words = graph.half_bytes(_numpy(encoder.words.weight), "input_ids")
    types = graph.step("Gather", graph.constant(_numpy(encoder.types.weight)), "token_type_ids")
    length = graph.step("Shape", "input_ids", start=1, end=2)
    table = graph.constant(_numpy(encoder.positions.weight)[:LONGEST])
    places = graph.step("Slice", table, graph.ints(0), length, graph.ints(0))
    x = graph.norm(graph.step("Add", graph.step("Add", words, types), places), encoder.norm)
    bias = graph.bias("attention_mask")
    for layer in encoder.layers[:SKIM]:
        x = graph.layer(x, layer, bias)
    worth = graph.step("Squeeze", graph.linear(graph.first(x), encoder.skim), graph.ints(1, 2))
    tokens = (TensorProto.INT64, ["rows", "tokens"])
    inputs = dict.fromkeys(("input_ids", "token_type_ids", "attention_mask"), tokens)
    return graph.model(inputs, {"worth": (worth, ["rows"]), "hidden": (x, HIDDEN)})


def build_read(encoder: Encoder) -> onnx.ModelProto:
    """Return the second half: what was read of each token in, one vector of each row out."""
    graph = Graph()
    x, bias = "hidden", graph.bias("attention_mask")
    for layer in encoder.layers[SKIM:-1]:
        x = graph.layer(x, layer, bias)
    x = graph.layer(x, encoder.layers[-1], bias, only_first=True)
    read = graph.step("Tanh", graph.linear(graph.step("Squeeze", x, graph.ints(1)), encoder.pool))
    inputs = {"hidden": (TensorProto.FLOAT, HIDDEN), "attention_mask": (TensorProto.INT64, ["rows", "tokens"])}
    return graph.model(inputs, {"read": (read, ["rows", WIDTH])})


def build_council(council: Council) -> onnx.ModelProto:
    """Return the council: the vectors of all passages, and their numbers in several versions, in; verdicts out."""
    graph = Graph()
    epsilon = 1e-5
    seats = graph.linear(graph.norm("read", council.norm, epsilon), council.read)
    x = graph.step("Add", graph.linear("numbers", council.numbers), seats)
    versions = graph.step("Shape", "numbers", start=0, end=1)
    shape = graph.step("Concat", versions, graph.ints(1, SEAT), axis=0)
    chair = graph.step("Expand", graph.constant(_numpy(council.chair)[np.newaxis, np.newaxis]), shape)
    x = graph.step("Concat", chair, x, axis=1)
    for layer in council.layers:
        mixed = graph.attend(graph.norm(x, layer.norm1, epsilon), layer.qkv, VOICES, SEAT)
        x = graph.step("Add", x, graph.linear(mixed, layer.out))
        inner = graph.step("Relu", graph.linear(graph.norm(x, layer.norm2, epsilon), layer.up))
        x = graph.step("Add", x, graph.linear(inner, layer.down))
    x = graph.norm(x, council.last, epsilon)
    candidates = graph.step("Slice", x, graph.ints(1), graph.ints(2**31), graph.ints(1))
    verdicts = graph.step("Add", graph.linear(candidates, council.verdict), graph.linear("read", council.alone))
    answered = graph.step("Squeeze", graph.linear(graph.first(x), council.answered), graph.ints(1, 2))
    inputs = {
        "read": (TensorProto.FLOAT, ["passages", WIDTH]),
        "numbers": (TensorProto.FLOAT, ["versions", "passages", council.numbers.weight.shape[1]]),
    }
    shares = graph.step("Softmax", verdicts, axis=-1)
    outputs = {
        "shares": (shares, ["versions", "passages", 3]),
        "answered": (graph.step("Sigmoid", answered), ["versions"]),
    }
    return graph.model(inputs, outputs)


def write_encoder(encoder: Encoder, folder: Path) -> None:
    """Write both halves of the encoder with int8 weights."""
    _quantise(build_skim(encoder), folder, "skim")
    _quantise(build_read(encoder), folder, "read")


def _quantise(model: onnx.ModelProto, folder: Path, name: str) -> None:
    """Write a model with int8 weights of seven bits, one scale a column.

    Processors without VNNI add up the products of two of them in 16 bits: with eight bits, some sums overflow there.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / f"{name}.f32.onnx"
    onnx.save(model, plain)
    quantize_dynamic(
        plain, folder / f"{name}.onnx", weight_type=QuantType.QInt8, per_channel=True, reduce_range=True,
        op_types_to_quantize=["MatMul"],
    )  # fmt: skip
    plain.unlink()


def build_talk(model: TalkModel) -> onnx.ModelProto:
    """Return what reads talks: a token sees those whose turn is not later than its own."""
    graph = Graph()
    types = graph.constant(_numpy(model.encoder.types.weight)[0])
    x = _embed(graph, model.encoder, types)
    turns = (graph.step("Unsqueeze", "turns", graph.ints(place)) for place in (1, 2))
    hidden = graph.step("Cast", graph.step("Greater", *turns), to=TensorProto.FLOAT)
    bias = graph.step("Mul", hidden, graph.constant(np.array(-1e4, np.float32)))
    x = _read(graph, model.encoder, x, graph.step("Unsqueeze", bias, graph.ints(1)))
    heads = {"told": model.told, "asks": model.asks, "offers": model.offers}
    outputs = {name: (graph.linear(x, head), ["rows", "tokens", head.out_features]) for name, head in heads.items()}
    inputs = dict.fromkeys(("input_ids", "turns"), (TensorProto.INT64, _TOKENS))
    return graph.model(inputs, outputs)


def build_pairs(model: PairModel, temperature: float) -> onnx.ModelProto:
    """Return what reads pairs; a temperature above 1 makes it less sure."""
    graph = Graph()
    types = graph.step("Gather", graph.constant(_numpy(model.encoder.types.weight)), "token_type_ids")
    x = _read(graph, model.encoder, _embed(graph, model.encoder, types), graph.bias("attention_mask"))
    seen = graph.step("Cast", graph.step("Unsqueeze", "attention_mask", graph.ints(2)), to=TensorProto.FLOAT)
    total = graph.step("ReduceSum", graph.step("Mul", x, seen), graph.ints(1), keepdims=0)
    mean = graph.step("Div", total, graph.step("ReduceSum", seen, graph.ints(1), keepdims=0))
    first = graph.step("Squeeze", graph.first(x), graph.ints(1))
    logits = graph.linear(graph.step("Concat", first, mean, axis=-1), model.relation)
    cooled = graph.step("Div", logits, graph.constant(np.array(temperature, np.float32)))
    inputs = dict.fromkeys(("input_ids", "token_type_ids", "attention_mask"), (TensorProto.INT64, _TOKENS))
    shares = graph.step("Softmax", cooled, axis=-1)
    return graph.model(inputs, {"relations": (shares, ["rows", model.relation.out_features])})


def _embed(graph: Graph, encoder: StatementEncoder, types: str) -> str:
    """Add up words, positions and types."""
    words = graph.half_bytes(_numpy(encoder.words.weight), "input_ids")
    length = graph.step("Shape", "input_ids", start=1, end=2)
    places = graph.step("Slice", graph.constant(_numpy(encoder.positions.weight)), graph.ints(0), length, graph.ints(0))
    return graph.norm(graph.step("Add", graph.step("Add", words, places), types), encoder.norm)


def _read(graph: Graph, encoder: StatementEncoder, x: str, bias: str) -> str:
    for layer in encoder.layers:
        x = graph.layer(x, layer, bias)
    return x


def write_talk(model: TalkModel, folder: Path) -> None:
    """Write what reads talks, with int8 weights."""
    _quantise(build_talk(model), folder, "keep")


def write_pairs(model: PairModel, temperature: float, folder: Path) -> None:
    """Write what reads pairs, with int8 weights."""
    _quantise(build_pairs(model, temperature), folder, "relate")


def write_council(council: Council, folder: Path) -> None:
    """Write the council in float32: it is small."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(build_council(council), folder / "council.onnx")
