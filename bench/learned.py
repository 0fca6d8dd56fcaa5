"""Write memories that were learned from chats with the messages that they came from, for a person to grade.

    python bench/learned.py realmem.json longmemeval.json everyday.json locomo.json --count 300 > sheet.md

Sessions are drawn at random, as many memories from each file, and at most five from a session. The file's name says
its form. With each memory stand its message and the one before. `--weights` names a folder with other weights.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from itertools import groupby
from pathlib import Path
from typing import Any

from commonplace.learn import StatementExtractor
from commonplace.models.statements import StatementReader
from commonplace.values.extraction import Finding, Utterance

SEED = 17
MOST = 5
"""Memories of one session."""
LONGEST = 700

Session = list[Utterance]


def read_realmem(users: Any) -> Iterator[Session]:
    """Yield the sessions of RealMem."""
    for user in users:
        for session in user["sessions"]:
            yield [
                _say(text, None if who == "a" else user["user"], session["date"], who == "a")
                for who, text in session["turns"]
            ]


def read_longmemeval(sets: Any) -> Iterator[Session]:
    """Yield the sessions of LongMemEval."""
    for session in sets["sessions"].values():
        yield [_say(text, None, session["date"], who == "a") for who, text in session["turns"]]


def read_everyday(sets: Any) -> Iterator[Session]:
    """Yield the chats among the everyday books, session by session."""
    for book in sets["books"]:
        if book["form"] == "chat":
            for _, entries in groupby(book["entries"], key=lambda entry: entry["session"]):
                yield [_say(e["text"], e["speaker"], e["at"], e["role"] == "assistant") for e in entries]


def read_locomo(spaces: Any) -> Iterator[Session]:
    """Yield the sessions of LoCoMo."""
    for space in spaces:
        for _, units in groupby(space["units"], key=lambda unit: unit["session"]):
            yield [_say(unit["text"], unit["speaker"], unit["date"], False) for unit in units]


FORMS: dict[str, Callable[[Any], Iterator[Session]]] = {
    "realmem": read_realmem, "longmemeval": read_longmemeval, "everyday": read_everyday, "locomo": read_locomo,
}  # fmt: skip


def _say(text: str, speaker: str | None, at: str, assistant: bool) -> Utterance:
    said_at = datetime.fromisoformat(at).replace(tzinfo=timezone.utc)
    return Utterance(text=text, speaker=speaker, role="assistant" if assistant else "user", said_at=said_at)


def draw(
    path: Path, count: int, extractor: StatementExtractor, chance: random.Random
) -> Iterator[tuple[Session, int, Finding]]:
    """Yield memories of sessions drawn at random, with the number of the message of each."""
    form = next(form for form in FORMS if form in path.name)
    sessions = list(FORMS[form](json.loads(path.read_text("utf-8"))))
    turns = memories = 0
    for session in chance.sample(sessions, len(sessions)):
        found = [(at, each) for at, those in enumerate(extractor.extract(session)) for each in those]
        turns, memories = turns + len(session), memories + len(found)
        for at, finding in sorted(chance.sample(found, min(MOST, count, len(found))), key=lambda each: each[0]):
            yield session, at, finding
            count -= 1
        if count <= 0:
            break
    print(f"{path.name}: {memories} memories in {turns} messages that were read", file=sys.stderr)


def show(number: int, source: str, session: Session, at: int, finding: Finding) -> str:
    """Return the part of the sheet about one memory."""
    due = f", due {finding.due.date()}" if finding.due else ""
    lines = [f"## {number} ({source}, {session[at].said_at:%Y-%m-%d})"]
    if at:
        lines.append(f"before: {_shorten(session[at - 1], 0, 0)}")
    lines += [
        f"message: {_shorten(session[at], finding.start, finding.end)}",
        f"**{finding.text}**",
        f"{finding.kind}, {finding.act}, owner {finding.owner}{due}",
        "grade:",
    ]
    return "\n".join(lines) + "\n"


def _shorten(message: Utterance, start: int, end: int) -> str:
    """Return a message with the words between two places; of a long one, what is near them."""
    first = max((start + end - LONGEST) // 2, 0)
    text = " ".join(message.text[first : first + LONGEST].split())
    name = message.speaker or message.role
    return f"{name}: {'… ' * (first > 0)}{text}{' …' * (first + LONGEST < len(message.text))}"


def main() -> None:
    """Draw memories and print the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    extractor = StatementExtractor(StatementReader(options.weights) if options.weights else "default")
    chance, number = random.Random(options.seed), 0
    for path in options.files:
        for session, at, finding in draw(path, -(-options.count // len(options.files)), extractor, chance):
            number += 1
            print(show(number, path.stem, session, at, finding), flush=True)


if __name__ == "__main__":
    main()
