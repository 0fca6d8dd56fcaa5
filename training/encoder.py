"""The encoder in torch: BERT without dropout, made from some of the base model's layers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

WIDTH, HEADS, INNER, EPSILON = 384, 12, 1536, 1e-12
ODD = (1, 3, 5, 7, 9, 11)
"""The base model's layers that the halved one begins with."""


class Layer(nn.Module):
    """One layer: attention, then a feed-forward part, each added to its input and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, EPSILON)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, EPSILON)

    def forward(self, x: Tensor, bias: Tensor, rate: float = 0.0) -> Tensor:
        rows, length, _ = x.shape
        q, k, v = (
            each.view(rows, length, HEADS, WIDTH // HEADS).transpose(1, 2) for each in self.qkv(x).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(rows, length, WIDTH)
        x = self.norm1(x + F.dropout(self.out(mixed), rate, self.training))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), rate, self.training))


class Encoder(nn.Module):
    """Reads rows of tokens and returns a vector of each: the first token's, pooled."""

    def __init__(self, depth: int, vocabulary: int = 30522, positions: int = 512) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(positions, WIDTH)
        self.types = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(depth))
        self.pool = nn.Linear(WIDTH, WIDTH)

    def hidden(self, ids: Tensor, types: Tensor, mask: Tensor, rate: float = 0.0) -> Tensor:
        places = torch.arange(ids.shape[1])
        x = self.norm(self.words(ids) + self.positions(places) + self.types(types))
        x = F.dropout(x, rate, self.training)
        bias = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(mask == 0, -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias, rate)
        return x

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor, rate: float = 0.0) -> Tensor:
        return torch.tanh(self.pool(self.hidden(ids, types, mask, rate)[:, 0]))


def from_base(path: Path, layers: Sequence[int]) -> tuple[Encoder, nn.Linear]:
    """Return an encoder of some of the base model's layers, and the base model's verdict on its vector."""
    base = {name: torch.from_numpy(value) for name, value in np.load(path).items()}
    encoder, score = Encoder(len(layers)), nn.Linear(WIDTH, 1)
    _fill(encoder.words, base["bert.embeddings.word_embeddings.weight"])
    _fill(encoder.positions, base["bert.embeddings.position_embeddings.weight"])
    _fill(encoder.types, base["bert.embeddings.token_type_embeddings.weight"])
    _copy(encoder.norm, base, "bert.embeddings.LayerNorm")
    for layer, number in zip(encoder.layers, layers, strict=True):
        name = f"bert.encoder.layer.{number}"
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        for kind in ("weight", "bias"):
            joined = torch.cat([base[f"{part}.{kind}"] for part in parts])
            _fill(layer.qkv, joined, kind)
        _copy(layer.out, base, f"{name}.attention.output.dense")
        _copy(layer.norm1, base, f"{name}.attention.output.LayerNorm")
        _copy(layer.up, base, f"{name}.intermediate.dense")
        _copy(layer.down, base, f"{name}.output.dense")
        _copy(layer.norm2, base, f"{name}.output.LayerNorm")
    _copy(encoder.pool, base, "bert.pooler.dense")
    _copy(score, base, "classifier")
    return encoder, score


def _copy(module: nn.Module, base: dict[str, Tensor], name: str) -> None:
    for kind in ("weight", "bias"):
        _fill(module, base[f"{name}.{kind}"], kind)


def _fill(module: nn.Module, value: Tensor, kind: str = "weight") -> None:
    with torch.no_grad():
        getattr(module, kind).copy_(value)
