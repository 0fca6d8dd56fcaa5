"""The encoder in torch: BERT, made from the base model's weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

WIDTH, HEADS, INNER, EPSILON = 384, 12, 1536, 1e-12
DEPTH, SKIM = 12, 6
"""Layers in all, and those after which it is told which passages are worth reading to the end."""
DROPPED = 0.1
_SIZE = 16_000_000


class Dropout:
    """Dropout from a pool of random numbers: drawing new ones each time would take a tenth of the training."""

    def __init__(self) -> None:
        self.pool = torch.empty(0)

    def __call__(self, x: Tensor, training: bool) -> Tensor:
        if not training:
            return x
        if not len(self.pool):
            self.pool = (torch.rand(_SIZE) >= DROPPED).to(torch.bfloat16) / (1 - DROPPED)
        start = int(torch.randint(0, _SIZE - x.numel(), ()))
        return x * self.pool[start : start + x.numel()].view(x.shape).to(x.dtype)


drop = Dropout()


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

    def forward(self, x: Tensor, seats: Tensor, bias: Tensor) -> Tensor:
        rows, _, _, length = bias.shape
        # Only attention sees the padding; it is a quarter of all tokens.
        joined = x.new_zeros(rows * length, 3 * WIDTH).index_copy(0, seats, self.qkv(x))
        q, k, v = joined.view(rows, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        # Written out, because torch's fused attention is slow backwards on a CPU for so few tokens.
        share = ((q * (WIDTH // HEADS) ** -0.5) @ k.transpose(-1, -2) + bias).softmax(-1)
        mixed = (share @ v).transpose(1, 2).reshape(rows * length, WIDTH)[seats]
        x = self.norm1(x + drop(self.out(mixed), self.training))
        return self.norm2(x + drop(self.down(F.gelu(self.up(x))), self.training))


class Encoder(nn.Module):
    """Reads rows of tokens and returns, for each, whether it is worth reading to the end, and a vector."""

    def __init__(self, vocabulary: int = 30522, positions: int = 512) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(positions, WIDTH)
        self.types = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(DEPTH))
        self.skim = nn.Linear(WIDTH, 1)
        self.pool = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(ids.shape[1])
        seats = mask.flatten().nonzero()[:, 0]
        first = F.pad(mask.sum(1).cumsum(0), (1, -1))
        x = self.norm(self.words(ids) + self.positions(places) + self.types(types)).flatten(0, 1)[seats]
        bias = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(mask == 0, -1e4)[:, None, None, :]
        for layer in self.layers[:SKIM]:
            x = layer(x, seats, bias)
        skimmed = self.skim(x[first])[:, 0]
        for layer in self.layers[SKIM:]:
            x = layer(x, seats, bias)
        return skimmed, torch.tanh(self.pool(x[first]))


def from_base(path: Path) -> tuple[Encoder, nn.Linear]:
    """Return the base model as an encoder, and its verdict on the encoder's vector."""
    base = {name: torch.from_numpy(value) for name, value in np.load(path).items()}
    encoder, score = Encoder(), nn.Linear(WIDTH, 1)
    _fill(encoder.words, base["bert.embeddings.word_embeddings.weight"])
    _fill(encoder.positions, base["bert.embeddings.position_embeddings.weight"])
    _fill(encoder.types, base["bert.embeddings.token_type_embeddings.weight"])
    _copy(encoder.norm, base, "bert.embeddings.LayerNorm")
    for number, layer in enumerate(encoder.layers):
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
    nn.init.zeros_(encoder.skim.weight)
    nn.init.zeros_(encoder.skim.bias)
    _copy(encoder.pool, base, "bert.pooler.dense")
    _copy(score, base, "classifier")
    return encoder, score


def _copy(module: nn.Module, base: dict[str, Tensor], name: str) -> None:
    for kind in ("weight", "bias"):
        _fill(module, base[f"{name}.{kind}"], kind)


def _fill(module: nn.Module, value: Tensor, kind: str = "weight") -> None:
    with torch.no_grad():
        getattr(module, kind).copy_(value)
