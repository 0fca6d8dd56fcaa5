"""Train the council on what the int8 encoder reads, which is what it will see: `python training/train_council.py WORK`.

The vectors of all groups are made once (WORK/vectors.pkl); the council then trains on them in minutes. Groups of
WORK/dev.pkl, if there are any, are only scored, once an epoch.
"""

from __future__ import annotations

import argparse
import pickle
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from council import Council
from evaluate import measure
from groups import FULL, RELEVANT, STALE, Group
from torch.nn import functional as F
from train import BLIND, REMOVED, SEARCHED

from commonplace.models.embedders.onnx import Bert, batches
from commonplace.models.folder import ModelFolder
from commonplace.models.reader import NUMBERS
from commonplace.models.reader import Council as Plain

Dev = tuple[list[Group], list[np.ndarray]]
READ = 20
OTHER_MANNERS = 0.2
"""Share of the groups in which a book was remembered without sessions and dates."""
NEWEST = NUMBERS.index("newest")
RANK = NUMBERS.index("rank")
AGE = NUMBERS.index("age")
REORDERED = 0.5
"""Share of the groups in which nothing is outdated whose times are exchanged: that one is newer is no reason alone."""


def read_groups(groups: Sequence[Group], folder: Path) -> list[np.ndarray]:
    """Return the encoder's vectors of the first candidates of each group."""
    encoder = Bert(ModelFolder(folder), threads=2)
    rows = [[group.tokens[0], *each] for group in groups for each in group.tokens[1][:READ]]
    out = np.empty((len(rows), 384), np.float16)
    started = time.monotonic()
    for number, places in enumerate(batches([sum(map(len, row)) + len(row) for row in rows])):
        out[places], _ = encoder.run([rows[place] for place in places])
        if number % 1000 == 999:
            print(f"{number + 1} batches, {time.monotonic() - started:.0f} s", flush=True)
    ends = np.cumsum([len(group.tokens[1][:READ]) for group in groups])
    return np.split(out, ends[:-1])


def collate(
    groups: Sequence[Group], vectors: Sequence[np.ndarray], chance: random.Random
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return vectors, numbers and labels of some groups, with the accidents of training."""
    read = torch.zeros(len(groups), READ, 384)
    numbers = torch.zeros(len(groups), READ, len(NUMBERS))
    labels = torch.full((len(groups), READ), -1)
    for row, (group, vector) in enumerate(zip(groups, vectors, strict=True)):
        marks = group.labels[:READ]
        keep = np.ones(len(marks), bool)
        if chance.random() < REMOVED and (marks == RELEVANT).any() and not (marks == STALE).any():
            keep = marks != RELEVANT
        if chance.random() < 0.3:
            keep &= (marks != 0) | (np.array([chance.random() for _ in marks]) < chance.random())
        places = np.flatnonzero(keep)
        shown = group.numbers[places].copy()
        if chance.random() < REORDERED and not (marks == STALE).any():
            shown[:, [NEWEST, AGE]] = shown[chance.sample(range(len(places)), len(places))][:, [NEWEST, AGE]]
        if len(places):
            shown[:, NEWEST] = np.argsort(np.argsort(shown[:, NEWEST])) / max(len(places) - 1, 1)
            shown[:, RANK] = np.arange(len(places)) / READ
        if chance.random() < BLIND:
            shown[:, :SEARCHED] = 0
        read[row, : len(places)] = torch.from_numpy(vector[places].astype(np.float32))
        numbers[row, : len(places)] = torch.from_numpy(shown)
        labels[row, : len(places)] = torch.from_numpy(marks[places])
    return read, numbers, labels


def train(groups: Sequence[Group], vectors: Sequence[np.ndarray], options: argparse.Namespace, dev: Dev) -> Council:
    """Return a council that was trained on groups and their vectors."""
    torch.manual_seed(options.seed)
    chance = random.Random(options.seed)
    council = Council()
    steps = options.epochs * (len(groups) // options.batch)
    optimiser = torch.optim.AdamW(council.parameters(), lr=options.rate, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, total_steps=steps + 1, pct_start=0.1)
    order = list(range(len(groups)))
    for epoch in range(options.epochs):
        council.train()
        chance.shuffle(order)
        total = 0.0
        for start in range(0, len(order) - options.batch + 1, options.batch):
            some = order[start : start + options.batch]
            read, numbers, labels = collate([groups[n] for n in some], [vectors[n] for n in some], chance)
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
        print(score(council, *dev) if dev[0] else "", flush=True)
    return council


def score(council: Council, groups: Sequence[Group], vectors: Sequence[np.ndarray]) -> str:
    """Return the figures on groups that were not trained on."""
    plain = Plain(council.arrays())
    said = [plain.weigh(v.astype(np.float32), g.numbers[:READ]) for g, v in zip(groups, vectors, strict=True)]
    loss = np.mean([-np.log(np.select([g.labels[:READ] == 1, g.labels[:READ] == 2],
                                      [o.relevant, o.outdated], 1 - o.relevant - o.outdated) + 1e-6).mean()
                    for g, o in zip(groups, said, strict=True)])  # fmt: skip
    shown = [f"dev {loss:.4f}"]
    for silence in (1.0, 0.8, 0.6):
        found = measure(groups, said, silence=silence)
        shown.append(f"[{silence}: f1 {found['all']['f1']:.3f} above {found['all']['above']:.3f} silent "
                     f"{found['none']['silent']:.3f} para {found['paraphrase']['any5']:.3f}]")  # fmt: skip
    return " ".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="with the encoder's model.onnx")
    parser.add_argument("--out", type=Path, required=True)
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
        groups: list[Group] = pickle.loads((options.work / "groups.pkl").read_bytes())
        groups = [g for g in groups if len(g.labels) and (g.manner == FULL or chance.random() < OTHER_MANNERS)]
        cache.write_bytes(pickle.dumps((groups, read_groups(groups, options.folder))))
    groups, vectors = pickle.loads(cache.read_bytes())
    dev: Dev = ([], [])
    if (options.work / "dev.pkl").exists():
        asked = [g for g in pickle.loads((options.work / "dev.pkl").read_bytes()) if len(g.labels)]
        asked = [g for g in asked if g.manner == FULL and g.type != "foreign"]
        dev = asked, read_groups(asked, options.folder)
    council = train(groups, vectors, options, dev)
    torch.save(council, options.out)


if __name__ == "__main__":
    main()
