"""The time of a brief in a book of many memories: python bench/brief.py [memories] [engine URL]."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import commonplace
from commonplace.testing import HashEmbedder
from commonplace.values import KINDS, Draft, Scope

WORDS = "export billing cluster deploy python release review team budget garden train letter meeting client".split()
USERS = ("ann", "bob", "cem", None)


def drafts(count: int) -> list[Draft]:
    """Return memories of every kind and of several users; half are messages, some are due."""
    choice = random.Random(7)
    now = datetime.now(timezone.utc)
    return [
        Draft(
            content=" ".join(choice.choices(WORDS, k=choice.randint(8, 40))) + f" {number}",
            kind=choice.choice((*KINDS, *["message"] * 6)),  # type: ignore[arg-type]  # all are kinds
            scope=Scope(user=choice.choice(USERS)),
            metadata={"due": (now + timedelta(days=choice.randint(-400, 40))).date().isoformat()}
            if number % 9 == 0
            else {},
            said_at=now - timedelta(minutes=count - number),
        )
        for number in range(count)
    ]


def main(count: int, place: str) -> None:
    """Fill a book and print the CPU time of a brief for everybody and for one user."""
    with commonplace.open(place, embedder=HashEmbedder(), reader=None) as book:
        made = drafts(count)
        for start in range(0, count, 1000):
            book.remember(made[start : start + 1000])
        for user in (None, "ann"):
            taken = []
            for _ in range(101):
                began = time.process_time()
                found = book.brief(user=user)
                taken.append((time.process_time() - began) * 1000)
            first, *rest = taken
            middle, late = statistics.median(rest), statistics.quantiles(rest, n=20)[-1]
            print(
                f"user {user}: {len(found.memories)} memories, {found.tokens} tokens; first {first:.1f} ms,"
                f" p50 {middle:.1f} ms, p95 {late:.1f} ms of CPU at {count:,} memories"
            )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, (sys.argv[2:] or [str(Path(folder) / "book.db")])[0])
