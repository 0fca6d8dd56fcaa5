"""Copy a large book from a file to PostgreSQL and back, and show that the exports are the same to the byte.

    python bench/copying.py                    # 100,000 memories with history, entries, files and messages
    python bench/copying.py --memories 5000

The book is made in a file, copied to a PostgreSQL that is started for it, and copied from there to a second
file. For each space of each of the three, everything is exported, vectors too, and hashed line by line.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import commonplace
from commonplace import Draft
from commonplace.location import copy
from commonplace.store.postgres.local import LocalPostgres
from commonplace.testing import HashEmbedder
from commonplace.transfer.copy import Copied

SPACES = ("default", "research", "operations")
BATCH = 1_000
WORDS = "harbour ferry ledger billing deploy review cache index token merge branch signal window garden copper".split()
EMBEDDER = HashEmbedder()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000, metavar="N", help="in all spaces together (100,000)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="commonplace-copying-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the server may run as another user
        with LocalPostgres(directory / "postgres") as server:
            return run(directory, server.url, args.memories)


def run(directory: Path, url: str, memories: int) -> int:
    """Make, copy, copy back, compare."""
    places = {"file": str(directory / "first.db"), "PostgreSQL": url, "second file": str(directory / "second.db")}
    timed("made the book", lambda: fill(places["file"], memories), memories)
    there = timed("file to PostgreSQL", lambda: copy(places["file"], places["PostgreSQL"]), memories)
    again = timed("the same once more", lambda: copy(places["file"], places["PostgreSQL"]), memories)
    back = timed("PostgreSQL to file", lambda: copy(places["PostgreSQL"], places["second file"]), memories)
    account(there, again, back)
    same = True
    for space in SPACES:
        hashes = {name: exported(where, space) for name, where in places.items()}
        same = same and len({digest for _, digest in hashes.values()}) == 1
        for name, (lines, digest) in hashes.items():
            print(f"{space:12s} {name:12s} {lines:9,} lines  {digest[:32]}")
    print("identical exports" if same else "THE EXPORTS DIFFER")
    return 0 if same and there.ok and back.ok else 1


def timed(what: str, work: Callable[[], Copied | None], memories: int) -> Copied:
    started = time.perf_counter()
    result = work()
    took = time.perf_counter() - started
    print(f"{what:20s} {took:7.1f} s  {memories / took:8,.0f} memories/s", flush=True)
    return result if result is not None else Copied(parts=())


def account(there: Copied, again: Copied, back: Copied) -> None:
    """Print what was copied, by kind, and check that a second copy moves nothing."""
    kinds: dict[str, int] = {}
    for part in there.parts:
        kinds[part.part] = kinds.get(part.part, 0) + part.copied
    print("copied:", ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()))
    print(f"a second copy wrote {sum(part.copied for part in again.parts):,}; verified: {there.ok and back.ok}")


def fill(where: str, memories: int) -> None:
    """Write memories (a tenth revised, some superseded and tagged), entries, files and messages."""
    for share, space in enumerate(SPACES):
        with commonplace.open(where, space=space, embedder=EMBEDDER) as book:
            numbers = range(share, memories, len(SPACES))
            for start in range(0, len(numbers), BATCH):
                book.remember([draft(number) for number in numbers[start : start + BATCH]])
            for number in numbers[::10]:
                book.revise(f"m{number}", f"{text(number)}, corrected", reason="a better source")
            for number in numbers[5::50]:
                book.remember(f"{text(number)}, no longer so", supersedes=[f"m{number}"])
            book.feedback(f"m{numbers[0]}", "used")
            companions(book, len(numbers) // 20)


def companions(book: commonplace.Book, count: int) -> None:
    state, chat, canvas = book.kv("state"), book.transcript("session"), book.canvas("notes")
    for number in range(count):
        state.set(f"key {number % 500}", {"number": number})
    state.delete("key 1")
    for number in range(min(count, 200)):
        canvas.write(f"page-{number % 20}.md", f"# Page\n\nrevision {number}\n", author="writer")
    for number in range(count):
        chat.append(f"message {number}", role="user", name="sam", metadata={"n": number})


def draft(number: int) -> Draft:
    tags = ["even"] if number % 2 == 0 else []
    return Draft(content=text(number), id=f"m{number}", tags=tags, metadata={"number": number, "half": number / 2})


def text(number: int) -> str:
    return " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 12)) + f" {number}"


def exported(where: str, space: str) -> tuple[int, str]:
    """Return the number of lines of an export, and a hash over all but the header, which contains the time."""
    digest, lines = hashlib.sha256(), 0
    with commonplace.open(where, space=space, embedder=EMBEDDER) as book:
        for record in book.export(vectors=True):
            if record["type"] != "header":
                digest.update(json.dumps(record, sort_keys=True).encode())
                lines += 1
    return lines, digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
