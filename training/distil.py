"""Halve the base model: train six of its twelve layers to do what all twelve do, token by token.

    python training/distil.py WORK --minutes 10 --out WORK/half.pt

The texts are the questions and candidates of WORK/groups.pkl, without their labels. Layer n of the student learns the
output of layer 2n + 1 of the base model.
"""

from __future__ import annotations

import argparse
import pickle
import random
import time
from pathlib import Path

import torch
from encoder import ODD, Encoder, from_base
from groups import Group
from torch import Tensor, nn
from torch.nn import functional as F
from train import pad

BATCH = 32


def states(encoder: Encoder, ids: Tensor, types: Tensor, mask: Tensor) -> list[Tensor]:
    """Return the output of every layer."""
    x = encoder.norm(encoder.words(ids) + encoder.positions(torch.arange(ids.shape[1])) + encoder.types(types))
    bias = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(mask == 0, -1e4)[:, None, None, :]
    found = []
    for layer in encoder.layers:
        x = layer(x, bias)
        found.append(x)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--rate", type=float, default=3e-4)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(2)
    chance = random.Random(0)
    groups: list[Group] = pickle.loads((options.work / "groups.pkl").read_bytes())
    teacher, score = from_base(options.work / "base.npz", range(12))
    student, _ = from_base(options.work / "base.npz", ODD)
    teacher.eval()
    for frozen in (student.words, student.positions, student.types):
        frozen.weight.requires_grad_(False)
    optimiser = torch.optim.AdamW([p for p in student.parameters() if p.requires_grad], lr=options.rate, weight_decay=0)
    steps, started, seen = options.steps, time.monotonic(), 0.0
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda n: min((n + 1) / 40, (steps - n) / steps))
    for number in range(steps):
        rows = []
        while len(rows) < 4 * BATCH:
            group = chance.choice(groups)
            rows += [[group.tokens[0], *each] for each in chance.sample(group.tokens[1], min(4, len(group.tokens[1])))]
        rows.sort(key=lambda row: sum(map(len, row)) + len(row))
        start = chance.randrange(4) * BATCH
        ids, types, mask = pad(rows[start : start + BATCH])
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad():
                wanted = states(teacher, ids, types, mask)
            made = states(student, ids, types, mask)
        there = mask[:, :, None].float()
        loss = torch.zeros(())
        for layer, target in zip(made, (wanted[n] for n in ODD), strict=True):
            aim = F.layer_norm(target.float(), target.shape[-1:])
            got = F.layer_norm(layer.float(), layer.shape[-1:])
            loss = loss + (((got - aim) ** 2) * there).sum() / (there.sum() * 384)
        said, meant = (score(torch.tanh(each.pool(last[:, 0].float()))) for each, last in
                       ((student, made[-1]), (teacher, wanted[-1])))  # fmt: skip
        verdict = F.mse_loss(said, meant.detach())
        total = loss + 0.02 * verdict
        optimiser.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        seen = 0.97 * seen + 0.03 * verdict.item() if number else verdict.item()
        if number % 50 == 49:
            spent = (time.monotonic() - started) / 60
            print(
                f"step {number + 1} of {steps}, {spent:.1f} min, states {loss.item():.3f}, logits {seen:.3f}",
                flush=True,
            )
    torch.save(student.state_dict(), options.out)


if __name__ == "__main__":
    main()
