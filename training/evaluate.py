"""Score a model on groups that it was not trained on: `python training/evaluate.py MODEL GROUPS [--manner full]`.

A quick look while training; what counts is measured through the public API (bench/everyday.py).
"""

from __future__ import annotations

import argparse
import pickle
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from groups import FULL, RELEVANT, STALE, Group
from train import Reader, encode

from commonplace.models.reader import Council as Plain
from commonplace.models.reader import Opinion
from commonplace.recall.verdict import choose

READ = 20


def opinions(model: Reader, groups: Sequence[Group]) -> list[Opinion]:
    """Return the model's opinion on the first candidates of each group."""
    model.eval()
    plain = Plain(model.council.arrays())
    found = []
    with torch.no_grad():
        for group in groups:
            rows = [[group.tokens[0], *each] for each in group.tokens[1][:READ]]
            vectors = encode(model.encoder, rows, 0.0, chunk=32).numpy()
            found.append(plain.weigh(vectors, group.numbers[:READ]))
    return found


def measure(groups: Sequence[Group], said: Sequence[Opinion], **options: float) -> dict[str, dict[str, float]]:
    """Return the figures by type of question."""
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    for group, opinion in zip(groups, said, strict=True):
        order = choose(opinion, **options)
        labels = group.labels[:READ][order] if len(order) else np.zeros(0, int)
        total = int((group.labels == RELEVANT).sum()) + group.missed
        hits = int((labels == RELEVANT).sum())
        f1 = (
            (2 * hits / (len(labels) + total) if total else float(not len(labels))) if len(labels) or not total else 0.0
        )
        row = {"f1": f1, "n": 1.0, "returned": float(len(labels))}
        if total:
            row |= {"any1": float((labels[:1] == RELEVANT).any()), "any5": float((labels[:5] == RELEVANT).any())}
            row |= {"recall": hits / total}
        else:
            row |= {"silent": float(not len(labels))}
        if (group.labels == STALE).any():
            first = np.flatnonzero(labels == RELEVANT)
            old = np.flatnonzero(labels == STALE)
            row["above"] = float(len(first) > 0 and (not len(old) or first[0] < old[0]))
        for name in (group.type, "all"):
            rows[name].append(row)
    return {
        name: {
            key: float(np.mean([row[key] for row in some if key in row]))
            for key in ("f1", "any1", "any5", "recall", "silent", "above", "returned")
            if any(key in row for row in some)
        }
        | {"n": len(some)}
        for name, some in sorted(rows.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("groups", type=Path)
    parser.add_argument("--manner", default=FULL)
    options = parser.parse_args()
    groups = [g for g in pickle.loads(options.groups.read_bytes()) if g.manner == options.manner and len(g.labels)]
    model = torch.load(options.model, weights_only=False)
    said = opinions(model, groups)
    own = [(group, each) for group, each in zip(groups, said, strict=True) if group.type != "foreign"]
    for name, figures in measure(*zip(*own, strict=True)).items():
        print(f"{name:11}", " ".join(f"{key} {value:.3f}" for key, value in figures.items()))
    foreign = [each.answered for group, each in zip(groups, said, strict=True) if group.type == "foreign"]
    answerable = [each.answered for group, each in own if (group.labels == RELEVANT).any()]
    if foreign:
        print("foreign questions: AUROC", round(float(np.mean([[a > f for f in foreign] for a in answerable])), 3))


if __name__ == "__main__":
    main()
