"""The model of statements in torch: an encoder, and what is read off it for talks and for pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from coarse import coarsen
from encoder import EPSILON, WIDTH, Layer
from torch import Tensor, nn

from commonplace.models.statements import DETAILS, RELATIONS, Row

TALK_DEPTH, PAIR_DEPTH, REACH = 6, 12, 64
"""Layers of what reads talks and of what reads pairs, and the width of what tells which sentence another needs."""
POSITIONS = 256
HIDDEN = 0.1
"""Share of the words of a talk that are hidden in training."""
_MASK, _FIRST_WORD = 103, 999
_CHUNK = 1_000
"""Tokens that are read at once."""


class Encoder(nn.Module):
    """Reads rows of tokens; a token sees those whose turn is not later than its own."""

    def __init__(self, base: Mapping[str, np.ndarray], depth: int) -> None:
        super().__init__()
        self.words = nn.Embedding(*base["embeddings.word_embeddings.weight"].shape)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.types = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(depth))
        self._fill(base)
        self.words.weight.requires_grad_(False)

    def forward(self, ids: Tensor, types: Tensor, turns: Tensor) -> Tensor:
        """Return the state of each token; `turns` is that of each, and -1 for padding."""
        rows, width = ids.shape
        seats = (turns >= 0).flatten().nonzero()[:, 0]
        x = self.words(ids) + self.positions(torch.arange(width)) + self.types(types)
        x = self.norm(x.flatten(0, 1)[seats])
        hidden = (turns[:, None, :] > turns[:, :, None]) | (turns < 0)[:, None, :]
        bias = torch.zeros(hidden.shape).masked_fill(hidden, -1e4)[:, None]
        for layer in self.layers:
            x = layer(x, seats, bias)
        return x.new_zeros(rows * width, WIDTH).index_copy(0, seats, x).view(rows, width, WIDTH)

    def _fill(self, base: Mapping[str, np.ndarray]) -> None:
        def fill(target: Tensor, *names: str) -> None:
            with torch.no_grad():
                found = torch.from_numpy(np.concatenate([base[name] for name in names]))
                target.copy_(found[: len(target)])

        with torch.no_grad():
            self.words.weight.copy_(torch.from_numpy(coarsen(base["embeddings.word_embeddings.weight"])))
        fill(self.positions.weight, "embeddings.position_embeddings.weight")
        fill(self.types.weight, "embeddings.token_type_embeddings.weight")
        for kind in ("weight", "bias"):
            fill(getattr(self.norm, kind), f"embeddings.LayerNorm.{kind}")
            for number, layer in enumerate(self.layers):
                name = f"encoder.layer.{number}"
                asked = [f"{name}.attention.self.{part}.{kind}" for part in ("query", "key", "value")]
                fill(getattr(layer.qkv, kind), *asked)
                fill(getattr(layer.out, kind), f"{name}.attention.output.dense.{kind}")
                fill(getattr(layer.norm1, kind), f"{name}.attention.output.LayerNorm.{kind}")
                fill(getattr(layer.up, kind), f"{name}.intermediate.dense.{kind}")
                fill(getattr(layer.down, kind), f"{name}.output.dense.{kind}")
                fill(getattr(layer.norm2, kind), f"{name}.output.LayerNorm.{kind}")


class TalkModel(nn.Module):
    """Tells of each sentence of a talk whether it is kept, its details, and which earlier ones it needs."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.told = nn.Linear(WIDTH, 1 + sum(map(len, DETAILS)))
        self.asks, self.offers = nn.Linear(WIDTH, REACH), nn.Linear(WIDTH, REACH)

    def forward(self, rows: Sequence[Row]) -> tuple[Tensor, list[Tensor]]:
        """Return the logits of all sentences, and for each row which of its sentences needs which, as log-odds."""
        found: dict[int, Tensor] = {}
        for places in chunks([len(row.tokens) for row in rows]):
            some = [rows[place] for place in places]
            width = max(len(row.tokens) for row in some)
            ids, turns = torch.zeros(len(some), width, dtype=torch.long), torch.full((len(some), width), -1)
            for number, row in enumerate(some):
                ids[number, : len(row.tokens)] = torch.tensor(row.tokens)
                turns[number, : len(row.turns)] = torch.tensor(row.turns)
            if self.training:
                # What is hidden now and then cannot be learned by heart.
                ids[(torch.rand(ids.shape) < HIDDEN) & (ids >= _FIRST_WORD)] = _MASK
            states = self.encoder(ids, torch.zeros_like(ids), turns)
            for place, row, state in zip(places, some, states, strict=True):
                found[place] = torch.stack([state[start:end].mean(0) for start, end in row.spans])
        vectors = [found[place] for place in range(len(rows))]
        both = nn.functional.dropout(torch.cat(vectors), 0.1, self.training)
        asks, offers = (part.split([len(each) for each in vectors]) for part in (self.asks(both), self.offers(both)))
        return self.told(both), [ask @ offer.T for ask, offer in zip(asks, offers, strict=True)]


class PairModel(nn.Module):
    """Tells how two statements relate."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.relation = nn.Linear(2 * WIDTH, len(RELATIONS))

    def forward(self, rows: Sequence[Sequence[list[int]]]) -> Tensor:
        """Return the logits of the relations."""
        found: dict[int, Tensor] = {}
        for places in chunks([sum(map(len, row)) + 3 for row in rows]):
            some = [rows[place] for place in places]
            width = max(sum(map(len, row)) for row in some) + 3
            ids, types = torch.zeros(2, len(some), width, dtype=torch.long)
            turns = torch.full((len(some), width), -1)
            for number, (later, earlier) in enumerate(some):
                tokens = [101, *later, 102, *earlier, 102]
                ids[number, : len(tokens)] = torch.tensor(tokens)
                types[number, len(later) + 2 : len(tokens)] = 1
                turns[number, : len(tokens)] = 0
            states = self.encoder(ids, types, turns)
            seen = (turns >= 0).float()[:, :, None]
            mean = (states * seen).sum(1) / seen.sum(1)
            found.update(zip(places, torch.cat([states[:, 0], mean], 1), strict=True))
        vectors = torch.stack([found[place] for place in range(len(rows))])
        logits: Tensor = self.relation(nn.functional.dropout(vectors, 0.1, self.training))
        return logits


def chunks(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yield places of rows, similar sizes together."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * sizes[order[end]] <= _CHUNK:
            end += 1
        yield order[start:end]
        start = end
