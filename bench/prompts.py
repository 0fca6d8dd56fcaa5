"""Write what recall returns for real turns of chats, for a person to grade: figures hide what one look shows.

    python bench/prompts.py DATA --count 200 > sheet.md

DATA is a folder with locomo.json, realmem.json and longmemeval.json. Turns are drawn at random, a third from each set;
each is asked of a book that holds everything that was said in earlier sessions. The last turns before it are shown as
context for the reader of the sheet; the book is not told them.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from defaults import draft, load_realmem
from quality import data

import commonplace

SEED = 11
CONTEXT = 2
"""Turns that are shown before the turn."""
LONGEST = 400


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a chat, what was said just before it, and everything that was said in earlier sessions."""

    set: str
    text: str
    said_at: datetime
    context: Sequence[data.Unit]
    earlier: Sequence[data.Unit]


def draw(name: str, chats: Sequence[Sequence[data.Unit]], count: int, chance: random.Random) -> Iterator[Turn]:
    """Yield turns of people from the second half of each chat."""
    for _ in range(count):
        units = chance.choice(chats)
        spoken = [n for n in range(len(units) // 2, len(units)) if units[n].speaker != "assistant"]
        place = chance.choice(spoken)
        turn = units[place]
        earlier = [unit for unit in units[:place] if unit.session != turn.session]
        near = [unit for unit in units[max(place - CONTEXT, 0) : place] if unit.session == turn.session]
        yield Turn(name, turn.text, turn.said_at, near, earlier)


def show(number: int, turn: Turn, folder: Path) -> str:
    """Ask a turn and return its part of the sheet."""
    with commonplace.open(folder / f"{number}.db") as book:
        book.remember([draft(unit, "full") for unit in turn.earlier])
        found = book.recall(turn.text, asked_at=turn.said_at + timedelta(minutes=1))
    lines = [f"## {number} ({turn.set}, {turn.said_at:%Y-%m-%d})"]
    lines += [f"before: {unit.speaker}: {_shorten(unit.text)}" for unit in turn.context]
    lines += [f"**turn:** {_shorten(turn.text)}", f"coverage: {found.coverage}"]
    lines += [f"- {hit.parts.relevance:.2f} [{hit.memory.said_at:%Y-%m-%d}] {hit.memory.source}: "
              f"{_shorten(hit.memory.text)}" for hit in (*found.hits, *found.avoid)] or ["- (nothing)"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else plain[:LONGEST] + " …"


def main() -> None:
    """Draw turns, ask them, and print the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    chance = random.Random(SEED)
    cases = data.load([options.data / name for name in ("locomo.json", "longmemeval.json")])
    chats: dict[str, Sequence[Sequence[data.Unit]]] = {
        name: [case.units for case in cases if case.set == name] for name in ("locomo", "longmemeval mix")
    }
    chats["realmem"] = load_realmem(options.data / "realmem.json")
    turns = [turn for name, some in chats.items() for turn in draw(name, some, -(-options.count // 3), chance)]
    with tempfile.TemporaryDirectory() as folder:
        for number, turn in enumerate(turns[: options.count], 1):
            print(show(number, turn, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
