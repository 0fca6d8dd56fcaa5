"""Train the council on what the int8 encoder reads, which is what it will see: `python training/train_council.py WORK`.

The passages of all groups are skimmed and read once, as a recall does (WORK/vectors.pkl); the council then trains on
them in minutes. Groups of WORK/dev/groups.pkl, if there are any, are only scored, once an epoch.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import export
import numpy as np
import torch
from council import Council
from evaluate import measure
from groups import FULL, PILED, RELEVANT, STALE, Group
from torch.nn import functional as F
from train import BLIND, REMOVED, SEARCHED

from commonplace.models.reader import MOST_READ, MOST_SKIMMED, NUMBERS, Reader, find_promising

NEWEST, RANK, AGE = NUMBERS.index("newest"), NUMBERS.index("rank"), NUMBERS.index("age")
OTHER_MANNERS = 0.2
"""Share of the groups in which a book was remembered without sessions and dates."""
REORDERED = 0.5
"""Share of the groups in which nothing is outdated whose times are exchanged: that one is newer is no reason alone."""


@dataclass
class Heard:
    """What the council is told of one question: the passages that were read to the end."""

    type: str
    labels: np.ndarray
    numbers: np.ndarray
    vectors: np.ndarray
    missed: int
    """Relevant entries that are not among them."""


class Listener:
    """Reads groups as a recall does, up to the council."""

    def __init__(self, folder: Path) -> None:
        self.reader = Reader(folder)

    def __call__(self, group: Group) -> Heard:
        rows = [[group.tokens[0], *each] for each in group.tokens[1][:MOST_SKIMMED]]
        skimmed = self.reader._skim_rows(rows)
        chosen = find_promising(skimmed, group.numbers)
        vectors = self.reader._read_rows([skimmed[place] for place in chosen.tolist()])
        labels = group.labels[chosen]
        missed = group.missed + int((group.labels == RELEVANT).sum() - (labels == RELEVANT).sum())
        return Heard(group.type, labels, group.numbers[chosen], vectors.astype(np.float16), missed)


_listener: list[Listener] = []


def _begin(folder: Path) -> None:
    _listener.append(Listener(folder))


def _hear(group: Group) -> Heard:
    return _listener[0](group)


def hear(groups: Sequence[Group], folder: Path) -> list[Heard]:
    """Read all groups, on two cores."""
    with multiprocessing.get_context("spawn").Pool(2, _begin, (folder,)) as pool:
        return pool.map(_hear, groups, chunksize=50)


def collate(heard: Sequence[Heard], chance: random.Random) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return vectors, numbers and labels of some groups, with the accidents of training."""
    read = torch.zeros(len(heard), MOST_READ, 384)
    numbers = torch.zeros(len(heard), MOST_READ, len(NUMBERS))
    labels = torch.full((len(heard), MOST_READ), -1)
    for row, each in enumerate(heard):
        marks = each.labels
        keep = np.ones(len(marks), bool)
        if chance.random() < REMOVED and (marks == RELEVANT).any() and not (marks == STALE).any():
            keep = marks != RELEVANT
        if chance.random() < 0.3:
            keep &= (marks != 0) | (np.array([chance.random() for _ in marks]) < chance.random())
        places = np.flatnonzero(keep)
        shown = each.numbers[places].copy()
        if chance.random() < REORDERED and not (marks == STALE).any():
            shown[:, [NEWEST, AGE]] = shown[chance.sample(range(len(places)), len(places))][:, [NEWEST, AGE]]
        if len(places):
            shown[:, NEWEST] = np.argsort(np.argsort(shown[:, NEWEST], kind="stable")) / max(len(places) - 1, 1)
            shown[:, RANK] = np.arange(len(places)) / MOST_SKIMMED
        if chance.random() < BLIND:
            shown[:, :SEARCHED] = 0
        read[row, : len(places)] = torch.from_numpy(each.vectors[places].astype(np.float32))
        numbers[row, : len(places)] = torch.from_numpy(shown)
        labels[row, : len(places)] = torch.from_numpy(marks[places])
    return read, numbers, labels


def train(heard: Sequence[Heard], options: argparse.Namespace, dev: Sequence[Heard]) -> Council:
    """Return a council that was trained on what was read."""
    torch.manual_seed(options.seed)
    chance = random.Random(options.seed)
    council = Council()
    steps = options.epochs * (len(heard) // options.batch)
    optimiser = torch.optim.AdamW(council.parameters(), lr=options.rate, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, total_steps=steps + 1, pct_start=0.1)
    order = list(range(len(heard)))
    for epoch in range(options.epochs):
        council.train()
        chance.shuffle(order)
        total = 0.0
        for start in range(0, len(order) - options.batch + 1, options.batch):
            read, numbers, labels = collate([heard[n] for n in order[start : start + options.batch]], chance)
            verdicts, answered = council(read, numbers, labels >= 0, options.dropout)
            joint = F.cross_entropy(verdicts.flatten(0, 1), labels.flatten(), ignore_index=-1)
            any_ = F.binary_cross_entropy_with_logits(answered, (labels == RELEVANT).any(1).float())
            loss = joint + 0.2 * any_
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(council.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += joint.item()
        print(f"epoch {epoch + 1}: {total * options.batch / len(order):.4f}", end=" ")
        print(measure(council, dev) if dev else "", flush=True)
    return council


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="with the encoder; the council is written there")
    parser.add_argument("--groups", type=Path)
    parser.add_argument("--most", type=int, default=11_000, help="groups to train on: reading them takes the longest")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.15)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(2)
    cache = options.work / "vectors.pkl"
    if not cache.exists():
        chance = random.Random(0)
        groups: list[Group] = pickle.loads(Path(options.groups or options.work / "groups.pkl").read_bytes())
        dated = (FULL, PILED)
        groups = [g for g in groups if len(g.labels) and (g.manner in dated or chance.random() < OTHER_MANNERS)]
        groups = chance.sample(groups, min(options.most, len(groups)))
        cache.write_bytes(pickle.dumps(hear(groups, options.folder)))
    dev: list[Heard] = []
    if (options.work / "dev" / "groups.pkl").exists():
        asked = [g for g in pickle.loads((options.work / "dev" / "groups.pkl").read_bytes()) if len(g.labels)]
        dev = hear([g for g in asked if g.manner == FULL and g.type != "foreign"], options.folder)
    export.write_council(train(pickle.loads(cache.read_bytes()), options, dev), options.folder)


if __name__ == "__main__":
    main()
