"""Train the reader: the encoder and the council together, on groups of candidates.

    python training/train.py WORK --half WORK/half.pt --epochs 3 --out WORK/model.pt

Each step takes some questions, each with a sample of its candidates: all that are relevant or stale, the hardest
others, and some at random. A question may lose all its relevant candidates, and then has no answer.
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
from encoder import ODD, WIDTH, Encoder, from_base
from groups import BARE, FULL, NOTHING, README, RELEVANT, Group
from torch import Tensor, nn
from torch.nn import functional as F

SPECIAL = (101, 102, 0)
MOST = 14
REMOVED = 0.15
"""Share of the answerable questions that lose their answer."""
BLIND = 0.1
"""Share of the groups whose search numbers are hidden, so that the verdict does not rest on one embedder."""
SEARCHED = 5
"""Numbers that come from the search: the first so many."""
MANNERS = ((FULL, 0.7), (README, 0.15), (BARE, 0.15))


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


def encode(encoder: Encoder, rows: Sequence[list[list[int]]], rate: float, chunk: int = 16) -> Tensor:
    """Return a vector a row; rows of similar length share a batch."""
    order = sorted(range(len(rows)), key=lambda place: sum(map(len, rows[place])) + len(rows[place]))
    found: list[Tensor] = []
    for start in range(0, len(order), chunk):
        ids, types, mask = pad([rows[place] for place in order[start : start + chunk]])
        with torch.autocast("cpu", torch.bfloat16):
            found.append(encoder(ids, types, mask, rate).float())
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(found)[back]


def pad(rows: Sequence[list[list[int]]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, types and mask of rows of segments."""
    width = max(sum(map(len, row)) + len(row) + 1 for row in rows)
    ids, types, mask = (torch.zeros(len(rows), width, dtype=torch.long) for _ in range(3))
    for number, row in enumerate(rows):
        tokens, kinds = [SPECIAL[0]], [0]
        for kind, segment in enumerate(row):
            tokens += [*segment, SPECIAL[1]]
            kinds += [min(kind, 1)] * (len(segment) + 1)
        ids[number, : len(tokens)], types[number, : len(tokens)] = torch.tensor(tokens), torch.tensor(kinds)
        mask[number, : len(tokens)] = 1
    return ids, types, mask


def sample(group: Group, chance: random.Random) -> list[int]:
    """Return the places of the candidates that a step uses, in their order."""
    marked = [place for place, label in enumerate(group.labels) if label != NOTHING]
    if marked and not (group.labels == 2).any() and chance.random() < REMOVED:
        kept: list[int] = []
        gone = set(marked)
    else:
        kept = marked[:10]
        gone = set(marked)
    others = [place for place in range(len(group.labels)) if place not in gone]
    hard = others[: chance.randrange(4, 9)]
    rest = [place for place in others if place not in hard]
    size = chance.randrange(8, MOST + 1)
    more = max(size - len(kept) - len(hard), 0)
    return sorted({*kept, *hard, *chance.sample(rest, min(more, len(rest)))})


def step(model: Reader, groups: Sequence[Group], chance: random.Random, rate: float) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of some groups."""
    places = [sample(group, chance) for group in groups]
    rows = [
        [group.tokens[0], *group.tokens[1][place]] for group, some in zip(groups, places, strict=True) for place in some
    ]
    vectors = encode(model.encoder, rows, rate)
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
    verdicts, answered = model.council(read, numbers, labels >= 0, rate)
    joint = F.cross_entropy(verdicts.flatten(0, 1), labels.flatten(), ignore_index=-1)
    alone = F.cross_entropy(model.council.alone(vectors), labels[labels >= 0])
    any_ = F.binary_cross_entropy_with_logits(answered, (labels == RELEVANT).any(1).float())
    parts = {"joint": joint.item(), "alone": alone.item(), "answered": any_.item()}
    return joint + 0.5 * alone + 0.15 * any_, parts


def epoch(groups: Sequence[Group], chance: random.Random) -> list[Group]:
    """Return each question once, in one of the manners of remembering, in random order."""
    by_question: dict[tuple[str, str], dict[str, Group]] = {}
    for group in groups:
        by_question.setdefault((group.book, group.id), {})[group.manner] = group
    names, shares = zip(*MANNERS, strict=True)
    chosen = []
    for manners in by_question.values():
        name = chance.choices(names, shares)[0]
        chosen.append(manners.get(name) or next(iter(manners.values())))
    chosen = [group for group in chosen if len(group.labels)]
    chance.shuffle(chosen)
    return chosen


def main() -> None:
    options = _options()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    chance = random.Random(options.seed)
    groups: list[Group] = pickle.loads(Path(options.groups or options.work / "groups.pkl").read_bytes())
    groups = [group for group in groups if group.file not in options.without.split(",")]
    if options.start:
        model = torch.load(options.start, weights_only=False)
    else:
        encoder, score = from_base(options.work / "base.npz", ODD)
        encoder.load_state_dict(torch.load(options.half))
        model = Reader(encoder, score)
    model.train()
    plan = [group for _ in range(options.epochs) for group in epoch(groups, chance)]
    plan = plan[: int(len(plan) * options.share)]
    steps = math.ceil(len(plan) / options.batch)
    slow = [*model.encoder.parameters()]
    fast = [*model.council.parameters()]
    optimiser = torch.optim.AdamW(
        [{"params": slow, "lr": options.rate}, {"params": fast, "lr": 8 * options.rate}], weight_decay=0.01
    )
    warm = max(steps // 20, 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda n: min((n + 1) / warm, max(steps - n, 0) / max(steps - warm, 1))
    )
    started, seen = time.monotonic(), {}
    for number in range(min(steps, options.stop)):
        some = plan[number * options.batch : (number + 1) * options.batch]
        loss, parts = step(model, some, chance, options.dropout)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        seen = {name: 0.98 * seen.get(name, value) + 0.02 * value for name, value in parts.items()}
        last = number == min(steps, options.stop) - 1
        if number % 100 == 99 or last:
            spent = time.monotonic() - started
            shown = " ".join(f"{name} {value:.3f}" for name, value in seen.items())
            print(f"step {number + 1} of {steps}, {spent / 60:.1f} min, {shown}", flush=True)
            if number % 500 == 499 or last:
                torch.save(model, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--groups", type=Path)
    parser.add_argument("--start", type=Path, help="go on from this model")
    parser.add_argument("--half", type=Path, help="the halved base model (distil.py)")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--share", type=float, default=1.0, help="share of the plan, for a trial")
    parser.add_argument("--stop", type=int, default=1_000_000, help="end after so many steps")
    parser.add_argument("--without", default="", help="files that are left out, such as a,b")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
