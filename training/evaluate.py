"""Figures on questions that a council was not trained on: a quick look while training.

What counts is measured through the public API (bench/everyday.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from groups import RELEVANT, STALE

from commonplace.models.reader import MOST_SKIMMED, NUMBERS, Opinion
from commonplace.recall.verdict import choose

if TYPE_CHECKING:
    from council import Council
    from train_council import Heard


def judge(council: Council, heard: Heard) -> Opinion:
    """Return the council's opinion on what was read."""
    numbers = heard.numbers.copy()
    newest = NUMBERS.index("newest")
    numbers[:, NUMBERS.index("rank")] = np.arange(len(numbers)) / MOST_SKIMMED
    numbers[:, newest] = np.argsort(np.argsort(numbers[:, newest], kind="stable")) / max(len(numbers) - 1, 1)
    read = torch.from_numpy(heard.vectors.astype(np.float32))[None]
    with torch.no_grad():
        verdicts, answered = council(
            read, torch.from_numpy(numbers)[None], torch.ones(1, len(numbers), dtype=torch.bool)
        )
    shares = verdicts[0].softmax(-1).numpy()
    return Opinion(
        places=np.arange(len(shares)), answered=float(answered.sigmoid()), relevant=shares[:, 1], outdated=shares[:, 2],
        timeless=shares[:, 1],
    )  # fmt: skip


def measure(council: Council, dev: Sequence[Heard]) -> str:
    """Return the loss, the mean F1, the share of rightly empty answers, and how often a current entry is above."""
    council.eval()
    losses, scores, silent, above = [], [], [], []
    for heard in dev:
        opinion = judge(council, heard)
        nothing = 1 - opinion.relevant - opinion.outdated
        shares = np.choose(heard.labels, [nothing, opinion.relevant, opinion.outdated])
        losses.append(-np.log(shares + 1e-6).mean())
        labels = heard.labels[choose(opinion)]
        total = int((heard.labels == RELEVANT).sum()) + heard.missed
        if total:
            scores.append(2 * (labels == RELEVANT).sum() / (len(labels) + total))
        else:
            scores.append(float(not len(labels)))
            silent.append(not len(labels))
        if (heard.labels == STALE).any():
            first, old = (np.flatnonzero(labels == kind) for kind in (RELEVANT, STALE))
            above.append(len(first) > 0 and (not len(old) or first[0] < old[0]))
    return (f"dev {np.mean(losses):.4f} F1 {np.mean(scores):.3f} silent {np.mean(silent):.3f} "
            f"current {np.mean(above):.3f}")  # fmt: skip
