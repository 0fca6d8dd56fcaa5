"""Train the reader: the encoder and the council together, on groups of candidates.

    python training/train.py WORK --epochs 3 --out WORK/model.pt

Each step takes some questions, each with a sample of its candidates: all that are relevant or stale, the hardest
others, and some at random. A question may lose all its relevant candidates, and then has no answer.

The encoder computes in bfloat16; its weights are kept and changed in float32. Word embeddings stay as they were.
"""

from __future__ import annotations

import argparse
import math
import pickle
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from council import Council
from encoder import WIDTH, Encoder, from_base
from groups import BARE, FULL, NOTHING, PILED, README, RELEVANT, Group
from torch import Tensor, nn
from torch.nn import functional as F

SPECIAL = (101, 102, 0)
REMOVED = 0.15
"""Share of the answerable questions that lose their answer."""
BLIND = 0.1
"""Share of the groups whose search numbers are hidden, so that the verdict does not rest on one embedder."""
SEARCHED = 5
"""Numbers that come from the search: the first so many."""
MANNERS = ((FULL, 0.55), (PILED, 0.2), (README, 0.125), (BARE, 0.125))
_CHUNK = 1_000
"""Tokens that are read at once."""


class Reader(nn.Module):
    """The encoder and the council."""

    def __init__(self, encoder: Encoder, score: nn.Linear) -> None:
        super().__init__()
        self.encoder, self.council = encoder, Council()
        with torch.no_grad():  # begin with the base model's verdict, on the scale of probabilities
            self.council.alone.weight.zero_()
            self.council.alone.bias.zero_()
            self.council.alone.weight[RELEVANT] = 0.3 * score.weight[0]
            self.council.alone.bias[RELEVANT] = 0.3 * score.bias[0] + 1.0


class Working:
    """A bfloat16 copy of an encoder, which computes the gradients of its float32 weights."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = Encoder()
        self.encoder.load_state_dict(encoder.state_dict())
        self.encoder.bfloat16().train()
        for table in (self.encoder.words, self.encoder.positions, self.encoder.types):
            table.weight.requires_grad_(False)
        own = dict(encoder.named_parameters())
        self.pairs = [(own[name], copy) for name, copy in self.encoder.named_parameters() if copy.requires_grad]
        self.weights = [weight for weight, _ in self.pairs]

    def hand_over(self) -> None:
        """Give the gradients to the float32 weights."""
        for weight, copy in self.pairs:
            weight.grad = None if copy.grad is None else copy.grad.float()
            copy.grad = None

    def update(self) -> None:
        """Take over the float32 weights."""
        with torch.no_grad():
            for weight, copy in self.pairs:
                copy.copy_(weight)


def encode(encoder: Encoder, rows: Sequence[list[list[int]]]) -> tuple[Tensor, Tensor]:
    """Return, for each row, the log-odds that it is worth reading and its vector; similar lengths share a batch."""
    sizes = [sum(map(len, row)) + len(row) + 1 for row in rows]
    order = sorted(range(len(rows)), key=sizes.__getitem__)
    found: list[tuple[Tensor, Tensor]] = []
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * sizes[order[end]] <= _CHUNK:
            end += 1
        found.append(encoder(*pad([rows[place] for place in order[start:end]])))
        start = end
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    skimmed, vectors = (torch.cat(parts)[back].float() for parts in zip(*found, strict=True))
    return skimmed, vectors


def pad(rows: Sequence[list[list[int]]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, types and mask of rows of segments."""
    width = max(sum(map(len, row)) + len(row) + 1 for row in rows)
    ids, types, mask = (np.zeros((len(rows), width), np.int64) for _ in range(3))
    for number, row in enumerate(rows):
        tokens, kinds = [SPECIAL[0]], [0]
        for kind, segment in enumerate(row):
            tokens += [*segment, SPECIAL[1]]
            kinds += [min(kind, 1)] * (len(segment) + 1)
        ids[number, : len(tokens)], types[number, : len(tokens)] = tokens, kinds
        mask[number, : len(tokens)] = 1
    return torch.from_numpy(ids), torch.from_numpy(types), torch.from_numpy(mask)


def sample(group: Group, chance: random.Random) -> list[int]:
    """Return the places of the candidates that a step uses, in their order."""
    marked = [place for place, label in enumerate(group.labels) if label != NOTHING]
    kept = marked[:8]
    if marked and not (group.labels == 2).any() and chance.random() < REMOVED:
        kept = []
    others = [place for place in range(len(group.labels)) if place not in marked]
    hard = others[: chance.randrange(3, 7)]
    rest = [place for place in others if place not in hard]
    return sorted({*kept, *hard, *chance.sample(rest, min(chance.randrange(1, 4), len(rest)))})


def step(
    encoder: Encoder, council: Council, groups: Sequence[Group], chance: random.Random, rate: float
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of some groups."""
    places = [sample(group, chance) for group in groups]
    rows = [
        [group.tokens[0], *group.tokens[1][place]] for group, some in zip(groups, places, strict=True) for place in some
    ]
    skimmed, vectors = encode(encoder, rows)
    seats = max(map(len, places))
    read = torch.zeros(len(groups), seats, WIDTH)
    numbers = torch.zeros(len(groups), seats, groups[0].numbers.shape[1])
    labels = torch.full((len(groups), seats), -1)
    start = 0
    for number, (group, some) in enumerate(zip(groups, places, strict=True)):
        read[number, : len(some)] = vectors[start : start + len(some)]
        shown = group.numbers[some].copy()
        shown[:, 6] = np.argsort(np.argsort(shown[:, 6])) / max(len(some) - 1, 1)
        shown[:, 4] = np.arange(len(some)) / 20
        if chance.random() < BLIND:
            shown[:, :SEARCHED] = 0
        numbers[number, : len(some)] = torch.from_numpy(shown)
        labels[number, : len(some)] = torch.from_numpy(group.labels[some])
        start += len(some)
    verdicts, answered = council(read, numbers, labels >= 0, rate)
    marks = labels[labels >= 0]
    joint = F.cross_entropy(verdicts.flatten(0, 1), labels.flatten(), ignore_index=-1)
    alone = F.cross_entropy(council.alone(vectors), marks)
    skim = F.binary_cross_entropy_with_logits(skimmed, (marks != NOTHING).float())
    any_ = F.binary_cross_entropy_with_logits(answered, (labels == RELEVANT).any(1).float())
    parts = {"joint": joint.item(), "alone": alone.item(), "answered": any_.item(), "skim": skim.item()}
    return joint + 0.5 * alone + 0.15 * any_ + 0.3 * skim, parts


def epoch(groups: Sequence[Group], chance: random.Random) -> list[Group]:
    """Return each question once, in one of the manners of remembering, in random order."""
    by_question: dict[tuple[str, str], dict[str, Group]] = {}
    for group in groups:
        by_question.setdefault((group.file, group.id), {})[group.manner] = group
    names, shares = zip(*MANNERS, strict=True)
    chosen = []
    for manners in by_question.values():
        name = chance.choices(names, shares)[0]
        chosen.append(manners.get(name) or manners.get(FULL) or next(iter(manners.values())))
    chosen = [group for group in chosen if len(group.labels)]
    chance.shuffle(chosen)
    return chosen


def main() -> None:
    options = _options()
    torch.manual_seed(options.seed)
    torch.set_num_threads(2)
    chance = random.Random(options.seed)
    groups: list[Group] = pickle.loads(Path(options.groups or options.work / "groups.pkl").read_bytes())
    groups = [group for group in groups if group.file not in options.without.split(",")]
    if options.start:
        model = torch.load(options.start, weights_only=False)
    else:
        model = Reader(*from_base(options.work / "base.npz"))
    model.train()
    working = Working(model.encoder)
    again = [group for group in groups if group.file in options.again.split(",")]
    plan = [group for _ in range(options.epochs) for group in epoch(groups, chance)] + epoch(again, chance)
    chance.shuffle(plan)
    steps = math.ceil(len(plan) / options.batch)
    optimiser = torch.optim.AdamW(
        [
            {"params": working.weights, "lr": options.rate},
            {"params": [*model.council.parameters()], "lr": 8 * options.rate},
        ],
        weight_decay=0.01,
        fused=True,
    )
    warm = 100
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda n: min((n + 1) / warm, options.last + (1 - options.last) * max(steps - n, 0) / steps)
    )
    started, seen = time.monotonic(), {}
    for number in range(min(steps, options.stop)):
        some = plan[number * options.batch : (number + 1) * options.batch]
        loss, parts = step(working.encoder, model.council, some, chance, options.dropout)
        loss.backward()
        working.hand_over()
        nn.utils.clip_grad_norm_([*working.weights, *model.council.parameters()], 1.0)
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
        working.update()
        seen = {name: 0.98 * seen.get(name, value) + 0.02 * value for name, value in parts.items()}
        last = number == min(steps, options.stop) - 1
        if number % 50 == 49 or last:
            spent = time.monotonic() - started
            shown = " ".join(f"{name} {value:.3f}" for name, value in seen.items())
            print(f"step {number + 1} of {steps}, {spent / 60:.1f} min, {shown}", flush=True)
            if number % 250 == 249 or last:
                torch.save(model, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--groups", type=Path)
    parser.add_argument("--start", type=Path, help="go on from this model")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--without", default="", help="files that are left out, such as a,b")
    parser.add_argument("--again", default="", help="files whose questions are asked once more")
    parser.add_argument("--stop", type=int, default=1_000_000, help="end after so many steps")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--last", type=float, default=0.0, help="share of the rate at the last step")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
