"""Measure how well a bank chooses the memos that help with a task, without a model, on labelled data.

    python bench/tasks.py tests/data/tasks/dev.jsonl [--json]

Each line of the data is a family: memos that belong together, distractors, and queries with the ids that help. Every
query is asked of two banks: its family's own, and one that holds all families. Printed are precision, recall and F1
over all memos of all queries, and how often nothing came back where nothing helps. Beside it in the same process: the
memos that a model would be asked about, what `Book.recall` finds as it is, the nearest one, two or three by the shipped
embedder's cosine, and, where autogen-ext and chromadb are installed, AutoGen's bank with that embedder and no model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import commonplace
from commonplace.integrations.tasks import MemoryBank
from commonplace.models.embedders.static import StaticEmbedder

Finder = Callable[[str], Iterable[str]]
"""From a task to the ids of the memos that are said to help."""
Maker = Callable[[Sequence[dict[str, Any]], Path, ExitStack], Finder]


@dataclass(slots=True)
class Tally:
    """Counts of right, wrong and missed memos."""

    hits: int = 0
    wrong: int = 0
    missed: int = 0
    silent: int = 0
    nothing: int = 0

    def count(self, found: set[str], expected: set[str]) -> None:
        self.hits += len(found & expected)
        self.wrong += len(found - expected)
        self.missed += len(expected - found)
        self.nothing += not expected
        self.silent += not expected and not found

    def figures(self) -> dict[str, float]:
        precision = self.hits / max(self.hits + self.wrong, 1)
        recall = self.hits / max(self.hits + self.missed, 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        silent = self.silent / max(self.nothing, 1)
        return {"precision": precision, "recall": recall, "f1": f1, "silent": silent}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    families = [json.loads(line) for line in options.data.read_text("utf-8").splitlines() if line.strip()]
    makers: dict[str, Maker] = {"MemoryBank, no model": ours, "what a model is asked about": shown}
    makers["Book.recall"] = recalled
    makers |= {f"nearest {k} by cosine": nearest(k) for k in (1, 2, 3)}
    if find_spec("autogen_ext") is not None and find_spec("chromadb") is not None:
        makers["AutoGen's bank, no model"] = autogens
    results = {name: measured(families, maker) for name, maker in makers.items()}
    if options.json:
        print(json.dumps(results))
        return
    print(f"{'':28} {'bank':7} precision  recall      F1  silent where nothing helps")
    for name, banks in results.items():
        for bank, figures in banks.items():
            print(f"{name:28} {bank:7} " + " ".join(f"{figures[each]:8.3f}" for each in figures))


def measured(families: Sequence[dict[str, Any]], maker: Maker) -> dict[str, dict[str, float]]:
    """The figures of one way to find memos, in each family's bank and in one for all."""
    own, together = Tally(), Tally()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        everybody = maker([memo for family in families for memo in _memos(family)], Path(folder), stack)
        for family in families:
            alone = maker(_memos(family), Path(folder), stack)
            for query in family["queries"]:
                own.count(set(alone(query["task"])), set(query["expects"]))
                together.count(set(everybody(query["task"])), set(query["expects"]))
    return {"own": own.figures(), "all": together.figures()}


def ours(memos: Sequence[dict[str, Any]], folder: Path, stack: ExitStack) -> Finder:
    bank, names = _bank(memos, folder, stack)
    return lambda task: [names[memo.id] for memo in bank.get_relevant_memos(task)]


def shown(memos: Sequence[dict[str, Any]], folder: Path, stack: ExitStack) -> Finder:
    """The memos of the one question to a model: its recall is the most that any model can reach."""
    bank, names = _bank(memos, folder, stack)
    return lambda task: [names[memo.id] for memo in bank.get_relevant_memos(task, generous=True)]


def recalled(memos: Sequence[dict[str, Any]], folder: Path, stack: ExitStack) -> Finder:
    book = _book(folder, stack)
    book.remember([commonplace.Draft(content=_text(memo), id=memo["id"]) for memo in memos])
    return lambda task: [hit.memory.id for hit in book.recall(task, max_tokens=None)]


def nearest(k: int) -> Maker:
    def make(memos: Sequence[dict[str, Any]], folder: Path, stack: ExitStack) -> Finder:
        embedder = StaticEmbedder()
        rows = embedder.embed([_text(memo) for memo in memos])
        return lambda task: [memos[at]["id"] for at in (-(rows @ embedder.embed_query(task))).argsort()[:k].tolist()]

    return make


def autogens(memos: Sequence[dict[str, Any]], folder: Path, stack: ExitStack) -> Finder:
    """AutoGen's bank as it is without its model: each text is its own topic, and nothing is validated."""
    from autogen_ext.experimental.task_centric_memory._memory_bank import MemoryBank as Bank
    from task_chroma import shipped_embedding

    with shipped_embedding():
        bank: Any = Bank(reset=True, config={"path": str(folder / str(uuid.uuid4()))})
    for memo in memos:
        bank.add_memo(memo["insight"], [_text(memo)], memo["id"])
    return lambda task: [memo.task for memo in bank.get_relevant_memos([task])]


def _book(folder: Path, stack: ExitStack) -> commonplace.Book:
    settings = commonplace.Settings(durability="normal")  # nothing here is timed or kept
    return stack.enter_context(commonplace.open(folder / f"{uuid.uuid4()}.db", settings=settings))


def _bank(memos: Sequence[dict[str, Any]], folder: Path, stack: ExitStack) -> tuple[MemoryBank, dict[str, str]]:
    bank = MemoryBank(book=_book(folder, stack))
    return bank, {bank.add_memo(memo["insight"], task_str=memo["task"]).id: memo["id"] for memo in memos}


def _memos(family: dict[str, Any]) -> list[dict[str, Any]]:
    return [*family["memos"], *family["distractors"]]


def _text(memo: dict[str, Any]) -> str:
    return f"{memo['task']}\n{memo['insight']}" if memo["task"] else str(memo["insight"])


if __name__ == "__main__":
    main()
