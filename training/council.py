"""The council in torch: attention over what was read of all candidates; commonplace.models.reader has it in numpy."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from commonplace.models.reader import NUMBERS

WIDTH, SEAT, HEADS, INNER, DEPTH = 384, 128, 4, 256, 2


class Bench(nn.Module):
    """One layer of the council."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(SEAT), nn.LayerNorm(SEAT)
        self.qkv, self.out = nn.Linear(SEAT, 3 * SEAT), nn.Linear(SEAT, SEAT)
        self.up, self.down = nn.Linear(SEAT, INNER), nn.Linear(INNER, SEAT)

    def forward(self, x: Tensor, mask: Tensor, rate: float) -> Tensor:
        groups, seats, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(groups, seats, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + F.dropout(self.out(mixed.transpose(1, 2).reshape(groups, seats, SEAT)), rate, self.training)
        return x + F.dropout(self.down(F.relu(self.up(self.norm2(x)))), rate, self.training)


class Council(nn.Module):
    """Judges the candidates of a question together: nothing, relevant or stale for each, and answered for all."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.read, self.numbers = nn.Linear(WIDTH, SEAT), nn.Linear(len(NUMBERS), SEAT)
        self.chair = nn.Parameter(torch.zeros(SEAT))
        self.layers = nn.ModuleList(Bench() for _ in range(DEPTH))
        self.last = nn.LayerNorm(SEAT)
        self.verdict, self.answered = nn.Linear(SEAT, 3), nn.Linear(SEAT, 1)
        self.alone = nn.Linear(WIDTH, 3)
        nn.init.zeros_(self.verdict.weight)
        nn.init.zeros_(self.verdict.bias)

    def forward(self, vectors: Tensor, numbers: Tensor, mask: Tensor, rate: float = 0.0) -> tuple[Tensor, Tensor]:
        """Return logits of shape (groups, seats, 3) and (groups,); `mask` is true for seats that are taken."""
        x = self.read(F.dropout(self.norm(vectors), rate, self.training)) + self.numbers(numbers)
        x = torch.cat([self.chair.expand(len(x), 1, -1), x], 1)
        taken = F.pad(mask, (1, 0), value=True)
        for layer in self.layers:
            x = layer(x, taken, rate)
        x = self.last(x)
        return self.alone(vectors) + self.verdict(x[:, 1:]), self.answered(x[:, 0])[:, 0]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the weights by the names that `commonplace.models.reader` knows."""
        return {name: value.detach().float().numpy() for name, value in self.state_dict().items()}
