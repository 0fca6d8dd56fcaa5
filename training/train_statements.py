"""Train the model of statements: `keep` reads talks, `relate` reads pairs.

    python training/train_statements.py keep WORK --out MODEL
    python training/train_statements.py relate WORK --out MODEL

What reads talks begins as all-MiniLM-L6-v2, what reads pairs as ms-marco-MiniLM-L-12-v2, whose WORK/base.npz base.py
makes. `--without` leaves out whole files, which are the work of one author each, and measures on them.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from base_statements import get, read_base, read_weights
from drills import drill
from reading import PAIR_DEPTH, TALK_DEPTH, Encoder, PairModel, TalkModel
from statements import (
    NOT_REPLACED,
    Label,
    Related,
    Talk,
    read_book_pairs,
    read_fragments,
    read_pairs,
    read_snippets,
    shuffle_forever,
)
from torch import Tensor, nn
from torch.nn import functional as F

from commonplace.models.embedders.static import StaticEmbedder
from commonplace.models.statements import DETAILS, RELATIONS, Pair, Split, lay_out_pair
from commonplace.models.wordpiece import WordPiece

T = TypeVar("T")
HERE = Path(__file__).parent
TALKS, PAIRS, BOOK_PAIRS, DRILLS, CROSSED = 10, 24, 5, 5, 6
"""Rows of a step."""
_WEIGHTS = (0.6, 0.4, 0.4, 0.2)
"""Of the details in the loss."""
_ALIKE, _LIKELY = 0.7, 20
"""The cosine above which two statements may be about one matter, and how many of what sounds like another are drawn."""
_REPLACES = RELATIONS.index("replaces")
_EITHER_WAY = ("unrelated", "repeats", "disputes")
"""Relations that hold as well with the two statements changed over."""


class Data(NamedTuple):
    """What is trained on, by the names of the files."""

    talks: dict[str, list[Talk]]
    pairs: dict[str, list[Related]]
    books: dict[str, list[Related]]


def read_data(use: str, split: Split) -> Data:
    """Return the data of one of the uses."""
    snippets = HERE.parent / "tests" / "data" / "learning"
    talks, pairs, books = {}, {}, {}
    if use == "keep":
        talks = {path.stem: list(read_fragments(path, split)) for path in sorted((HERE / "keep").glob("*.json"))}
        for path in [snippets / "dev.jsonl", *sorted(snippets.glob("more*.jsonl"))]:
            talks[path.stem] = list(read_snippets(path, split))
    else:
        embedder = StaticEmbedder()
        pairs = {path.stem: list(read_pairs(path)) for path in sorted((HERE / "pairs").glob("*.json"))}
        books = {path.stem: list(read_book_pairs(path, embedder)) for path in sorted((HERE / "books").glob("*.json"))}
    return Data(talks, pairs, books)


def lose_talks(model: TalkModel, talks: Sequence[Talk]) -> Tensor:
    """Return the loss on some talks."""
    logits, reaches = model([talk.row for talk in talks])
    labels = [label for talk in talks for label in talk.labels]
    keep = torch.tensor([label.keep for label in labels])
    total = F.binary_cross_entropy_with_logits(logits[keep >= 0, 0], keep[keep >= 0].float())
    sizes = [1, *map(len, DETAILS)]
    for number, part in enumerate(logits.split(sizes, 1)[1:]):
        wanted = torch.tensor([label.details[number] for label in labels])
        if (wanted >= 0).any():
            total = total + _WEIGHTS[number] * F.cross_entropy(part, wanted, ignore_index=-1)
    said, needed = [], []
    for talk, reach in zip(talks, reaches, strict=True):
        for number, label in enumerate(talk.labels):
            if label.needs is not None and number:
                said.append(reach[number, :number])
                needed.append(torch.tensor([float(place in label.needs) for place in range(number)]))
    if said:
        total = total + F.binary_cross_entropy_with_logits(torch.cat(said), torch.cat(needed))
    return total


def lose_pairs(model: PairModel, split: Split, some: Sequence[Related], *, smooth: float, trusted: float) -> Tensor:
    """Return the loss on some pairs; of those of books that say "not replaced", of those that the model gives at most
    `trusted` for "replaced": no question asked about some entries that were outdated all the same."""
    logits = model([lay_out_pair(split, each.pair) for each in some])
    labels = torch.tensor([each.relation for each in some])
    known = labels >= 0
    total = F.cross_entropy(logits[known], labels[known], label_smoothing=smooth, reduction="sum")
    other = logits[~known].log_softmax(-1)
    apart = torch.cat([other[:, :_REPLACES], other[:, _REPLACES + 1 :]], 1).logsumexp(1)
    return (total - apart[apart.exp() >= 1 - trusted].sum()) / len(some)


def cross(pairs: Sequence[Related], embedder: StaticEmbedder, chance: random.Random) -> Iterator[Related]:
    """Yield, without end, statements with what replaces another one: every second time one that sounds like it."""
    changes = [each.pair for each in pairs if each.relation == _REPLACES]
    meant = embedder.embed([each.earlier for each in changes])
    near = embedder.embed([each.pair.earlier for each in pairs]) @ embedder.embed([each.later for each in changes]).T
    same = embedder.embed([each.pair.earlier for each in pairs]) @ meant.T
    near[same > _ALIKE] = -1
    likely = np.argsort(-near, axis=1)[:, :_LIKELY]
    while True:
        place = chance.randrange(len(pairs))
        found = chance.choice(likely[place].tolist()) if chance.random() < 0.5 else chance.randrange(len(changes))
        if same[place, found] <= _ALIKE:
            pair = Pair(pairs[place].pair.earlier, changes[found].later, chance.random() < 0.5)
            yield Related(pair, NOT_REPLACED)


def vary(related: Related, chance: random.Random) -> Related:
    """Return the pair, or the same pair changed over where the relation allows it."""
    if related.relation >= 0 and RELATIONS[related.relation] in _EITHER_WAY and chance.random() < 0.5:
        pair = related.pair
        return Related(pair._replace(earlier=pair.later, later=pair.earlier), related.relation)
    return related


def measure_talks(model: TalkModel, talks: Sequence[Talk]) -> dict[str, Any]:
    """Return what the model says of each sentence, and the labels."""
    model.eval()
    with torch.no_grad():
        logits, reaches = model([talk.row for talk in talks])
    model.train()
    return {
        "logits": logits.numpy(),
        "reaches": [reach.numpy() for reach in reaches],
        "labels": [label for talk in talks for label in talk.labels],
        "talks": talks,
    }


def describe_talks(found: Mapping[str, Any]) -> str:
    """Return the figures on talks."""
    labels: list[Label] = found["labels"]
    logits = found["logits"]
    keeps = np.array([label.keep for label in labels])
    likely = 1 / (1 + np.exp(-logits[:, 0]))
    said = []
    for limit in (0.3, 0.4, 0.5, 0.6, 0.7):
        kept = (likely >= limit) & (keeps >= 0)
        right = (kept & (keeps == 1)).sum()
        said.append(f"{limit}:P{right / max(kept.sum(), 1):.3f}/R{right / (keeps == 1).sum():.3f}")
    start = 1
    for number, (name, names) in enumerate(zip(("kind", "owner", "act", "time"), DETAILS, strict=True)):
        label = np.array([each.details[number] for each in labels])
        best = logits[:, start : start + len(names)].argmax(1)
        start += len(names)
        sure = (label >= 0) & (likely >= 0.5)
        right, kept = (np.mean(best[known] == label[known]) for known in (label >= 0, sure))
        said.append(f"{name} {right:.3f} (of those kept {kept:.3f})")
    named = needed = right = 0
    for talk, reach in zip(found["talks"], found["reaches"], strict=True):
        for number, label in enumerate(talk.labels):
            if label.needs is not None:
                picked = {place for place in range(number) if reach[number, place] >= 0}
                named, needed, right = named + len(picked), needed + len(label.needs), right + len(picked & label.needs)
    said.append(f"needs P{right / max(named, 1):.3f}/R{right / max(needed, 1):.3f}")
    return " ".join(said)


def predict_pairs(model: PairModel, split: Split, some: Sequence[Related]) -> np.ndarray:
    """Return the logits of some pairs."""
    model.eval()
    with torch.no_grad():
        logits: np.ndarray = model([lay_out_pair(split, each.pair) for each in some]).numpy()
    model.train()
    return logits


def describe_pairs(logits: np.ndarray, some: Sequence[Related]) -> str:
    """Return the figures on pairs."""
    shares = np.exp(logits - logits.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    true = np.array([each.relation for each in some])
    said = []
    if (true >= 0).all():
        said.append(f"right {np.mean(shares.argmax(1) == true):.3f}")
    replaced, score = true == _REPLACES, shares[:, _REPLACES]
    for wrong in (0.01, 0.015, 0.02, 0.03):
        limit = np.quantile(score[~replaced], 1 - wrong)
        said.append(f"found at {wrong}:{np.mean(score[replaced] > limit):.3f}(>{limit:.2f})")
    said += [
        f">{limit}:{np.mean(score[replaced] > limit):.3f}/{np.mean(score[~replaced] > limit):.4f}"
        for limit in (0.5, 0.8, 0.9)
    ]
    repeats = RELATIONS.index("repeats")
    if (true == repeats).any():
        best = shares.argmax(1) == repeats
        said.append(f"repeats {best[true == repeats].mean():.3f}/{best[true != repeats].mean():.4f}")
    return " ".join(said)


def hold_back(
    files: Mapping[str, Sequence[T]], names: Sequence[str], share: float
) -> tuple[list[T], dict[str, list[T]]]:
    """Return the rows to train on, and by file those at the end of some files that are left out."""
    ends = {name: round(len(rows) * (1 - share)) if name in names else len(rows) for name, rows in files.items()}
    kept = [row for name, rows in files.items() for row in rows[: ends[name]]]
    return kept, {name: list(rows[ends[name] :]) for name, rows in files.items() if name in names}


def mix(weights: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of several states of one training, which does better than each of them."""
    return {name: torch.stack([each[name] for each in weights]).mean(0) for name in weights[0]}


def main() -> None:
    options = _options()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    chance = random.Random(options.seed)
    weights, vocabulary = get(options.work)
    words = {word: place for place, word in enumerate(vocabulary.read_text("utf-8").splitlines())}
    split = WordPiece(words).encode
    data = read_data(options.use, split)
    if options.use == "keep":
        model: Any = TalkModel(Encoder(read_weights(weights), TALK_DEPTH))
    else:
        model = PairModel(Encoder(read_base(options.work / "base.npz"), PAIR_DEPTH))
    if options.start:
        model.load_state_dict(mix([torch.load(path) for path in options.start]))
    parts: list[tuple[list[Any], dict[str, list[Any]]]] = [
        hold_back(files, options.without, options.share) for files in data
    ]
    (talks, _), (pairs, _), (books, _) = parts
    held = [left for _, left in parts]
    print(f"{len(talks)} talks, {len(pairs)} pairs, {len(books)} pairs of books", flush=True)
    steps = round(options.epochs * (len(talks) / TALKS + len(pairs) / PAIRS))
    encoder = [each for each in model.encoder.parameters() if each.requires_grad]
    names = {id(each) for each in model.encoder.parameters()}
    heads = [each for each in model.parameters() if id(each) not in names]
    optimiser = torch.optim.AdamW(
        [{"params": encoder, "lr": options.rate}, {"params": heads, "lr": 10 * options.rate}], weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda n: min((n + 1) / (0.06 * steps + 1), max(steps - n, 1) / max(steps, 1))
    )
    streams = [
        (shuffle_forever(rows, chance), count)
        for rows, count in ((talks, TALKS), (pairs, PAIRS), (books, options.books))
        if rows and count
    ]
    if options.use == "relate":
        streams += [(drill(chance), options.drills), (cross(pairs, StaticEmbedder(), chance), options.crossed)]
    started, seen = time.monotonic(), 0.0
    model.train()
    if not steps:
        _measure(model, split, held)
    for number in range(steps):
        some = [next(rows) for rows, count in streams for _ in range(count)]
        if options.use == "keep":
            loss = lose_talks(model, some)
        else:
            some = [vary(each, chance) for each in some]
            loss = lose_pairs(model, split, some, smooth=options.smooth, trusted=options.trusted)
        loss.backward()
        nn.utils.clip_grad_norm_([each for each in model.parameters() if each.requires_grad], 1.0)
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
        seen = 0.97 * seen + 0.03 * loss.item() if number else loss.item()
        last = number == steps - 1
        if number % 50 == 49 or last:
            print(f"{number + 1}/{steps} {time.monotonic() - started:.0f}s {seen:.3f}", flush=True)
        if last or number % options.look == options.look - 1:
            torch.save(model.state_dict(), options.out)
            _measure(model, split, held)


def _measure(model: Any, split: Split, held: Sequence[Mapping[str, Any]]) -> None:
    talks, pairs, books = held
    for name, rows in talks.items():
        print(f"  {name} {describe_talks(measure_talks(model, rows))}", flush=True)
    for name, rows in [*pairs.items(), *books.items()]:
        print(f"  {name} {describe_pairs(predict_pairs(model, split, rows), rows)}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("use", choices=["keep", "relate"])
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the weights in float32")
    parser.add_argument("--start", type=Path, nargs="*", help="go on from the mean of earlier runs")
    parser.add_argument("--without", type=lambda names: names.split(","), default=[], help="files to measure on")
    parser.add_argument("--share", type=float, default=1.0, help="share of those files, at their end, that is left out")
    parser.add_argument("--epochs", type=float, default=5)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--smooth", type=float, default=0.05)
    parser.add_argument("--trusted", type=float, default=1.0)
    parser.add_argument("--books", type=int, default=BOOK_PAIRS)
    parser.add_argument("--drills", type=int, default=DRILLS)
    parser.add_argument("--crossed", type=int, default=CROSSED)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--look", type=int, default=10**9)
    return parser.parse_args()


if __name__ == "__main__":
    main()
