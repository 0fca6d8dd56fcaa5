"""Groups for training: each question with the candidates that recall itself would show the reader, and their labels.

    python training/groups.py WORK FILE…      writes WORK/groups.pkl

Every book is remembered in several manners, since callers differ: with speaker, session and date, as the README shows
(text and source), and as bare text.
"""

from __future__ import annotations

import json
import pickle
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

import commonplace
from commonplace.models.reader import Passage
from commonplace.models.wordpiece import WordPiece
from commonplace.recall.answer import look_up
from commonplace.recall.request import make_request
from commonplace.recall.sheet import make_sheet
from commonplace.values import Scope

FULL, README, BARE, PILED = "full", "readme", "bare", "piled"
DATED = (FULL, PILED)
"""Manners in which speaker, session and date are given."""
NOTHING, RELEVANT, STALE = 0, 1, 2
PILE = 5
"""Books of one file that are piled up to a large one."""
ALONE = ("overview", "turn", "smalltalk")
"""Types of questions that only make sense in their own book."""
MOST = 28
"""Candidates of a group; training samples from them."""


@dataclass
class Group:
    """One question asked of one book."""

    file: str
    book: str
    id: str
    type: str
    manner: str
    question: str
    entries: list[str]
    """Ids of the candidates, the best first."""
    passages: list[Passage]
    numbers: np.ndarray
    labels: np.ndarray
    missed: int = 0
    """Relevant entries that are not among the candidates."""
    tokens: tuple[list[int], list[list[list[int]]]] = field(default=([], []), repr=False)


class Shelf:
    """A book of the training data as an open commonplace book."""

    def __init__(self, path: Path, book: dict[str, Any], manner: str) -> None:
        self.book = commonplace.open(path, reader=None)
        self.manner = manner
        self.entries: dict[str, str] = {}
        for entry in book["entries"]:
            session = entry["session"] or None
            kept = self.book.remember(
                entry["text"],
                kind="message" if session and manner in DATED else "note",
                source=(entry["speaker"] or None) if manner != BARE else None,
                said_at=datetime.fromisoformat(entry["at"]) if manner in DATED else None,
                scope=Scope(session=session) if session and manner in DATED else None,
            )
            self.entries[kept.id] = entry["id"]

    def ask(self, text: str, at: str, *, most: int = MOST) -> tuple[list[str], list[Passage], np.ndarray]:
        """Return the candidates' entry ids, passages and numbers."""
        core, space = self.book.core, self.book._place.find()
        asked = datetime.fromisoformat(at) if self.manner in DATED else None
        request = make_request(core.settings, text, threshold=0.0, asked_at=asked)
        search = look_up(core, space, request)
        sheet = make_sheet(
            search.question, search.found, search.judgement, terms=search.terms, asked_at=request.asked_at, most=most
        )
        ids = [self.entries[search.found.rows[place].id] for place in sheet.places.tolist()]
        return ids, sheet.passages, sheet.numbers


def make_groups(
    paths: Sequence[Path], *, manners: Sequence[str] = (FULL, README, BARE), foreign: int = 2, seed: int = 0
) -> Iterator[Group]:
    """Yield a group for each question in its manner, and foreign questions, to which no entry is relevant."""
    chance = random.Random(seed)
    books = [(path.stem, book) for path in paths for book in json.loads(path.read_text("utf-8"))["books"]]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for number, (file, book) in enumerate(books):
            for manner in manners:
                shelf = Shelf(Path(folder, f"{number}-{manner}.db"), book, manner)
                for question in book["questions"]:
                    yield _group(shelf, file, book, question)
                if manner == FULL:
                    for question in _find_foreign(chance, books, number, foreign):
                        yield _group(shelf, file, book, question)
                shelf.book.close()
        for path in paths:
            some = json.loads(path.read_text("utf-8"))["books"]
            for pile in pile_books(some, path.stem):
                shelf = Shelf(Path(folder, f"{pile['id']}-piled.db"), pile, PILED)
                yield from (_group(shelf, path.stem, pile, question) for question in pile["questions"])
                shelf.book.close()


def pile_books(books: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return large books that are each made of several, so that a question has many near misses.

    A question is kept if it names somebody or something that no other book of the pile names.
    """
    piles = []
    for start in range(0, len(books), PILE):
        some = books[start : start + PILE]
        names = [find_names(book) for book in some]
        entries, questions = [], []
        for place, book in enumerate(some):
            others = set[str]().union(*names[:place], *names[place + 1 :])
            own = names[place] - others
            mark = f"{book['id']}:"
            entries += [
                {**entry, "id": mark + entry["id"], "session": entry["session"] and mark + entry["session"]}
                for entry in book["entries"]
            ]
            questions += [
                {**question, "book": book["id"], "relevant": [mark + id for id in question["relevant"]],
                 "stale": [mark + id for id in question["stale"]]}
                for question in book["questions"]
                if question["type"] not in ALONE and own & set(re.findall(r"\w+", question["text"]))
            ]  # fmt: skip
        entries.sort(key=lambda entry: str(entry["at"]))
        if len(some) > 1:
            piles.append({"id": f"{name}-{start}", "entries": entries, "questions": questions})
    return piles


def find_names(book: dict[str, Any]) -> set[str]:
    """Return the words of a book that are written with a capital inside a sentence, and its speakers."""
    texts = " ".join(entry["text"] for entry in book["entries"])
    speakers = " ".join(entry["speaker"] or "" for entry in book["entries"])
    return {*re.findall(r"(?<=[a-z,] )[A-Z]\w+", texts), *re.findall(r"\w+", speakers)} - {"Assistant", "I"}


def _group(shelf: Shelf, file: str, book: dict[str, Any], question: dict[str, Any]) -> Group:
    ids, passages, numbers = shelf.ask(question["text"], question["at"])
    relevant, stale = set(question["relevant"]), set(question["stale"])
    labels = [RELEVANT if id in relevant else STALE if id in stale else NOTHING for id in ids]
    name = question.get("book", book["id"])  # in a pile, that of its own book
    return Group(
        file=file, book=book["id"], id=f"{name}/{question['id']}", type=question["type"], manner=shelf.manner,
        question=question["text"], entries=ids, passages=passages, numbers=numbers,
        labels=np.array(labels, np.int64), missed=len(relevant - set(ids)),
    )  # fmt: skip


def _find_foreign(
    chance: random.Random, books: Sequence[tuple[str, dict[str, Any]]], number: int, share: int
) -> Iterator[dict[str, Any]]:
    """Yield questions of other books with the names of this book's people, so that only their subject is foreign."""
    _, here = books[number]
    people = find_people(here)
    for _ in range(len(here["questions"]) // 10 * share):
        _, there = books[chance.randrange(len(books))]
        if there is here or there["domain"] == here["domain"]:
            continue
        question = chance.choice(there["questions"])
        text = question["text"]
        if people:
            for name in find_people(there):
                text = re.sub(rf"\b{re.escape(name)}\b", chance.choice(people), text)
        yield {**question, "id": f"{there['id']}-{question['id']}", "text": text, "type": "foreign",
               "at": here["entries"][-1]["at"], "relevant": [], "stale": []}  # fmt: skip


def find_people(book: dict[str, Any]) -> list[str]:
    """Return the names of a book's speakers, or, in notes, words that look like names."""
    speakers = {entry["speaker"].split()[0] for entry in book["entries"] if entry["speaker"]}
    speakers -= {"Assistant", "Coder", "Planner", "Reviewer", "User", "Agent", "Critic"}
    if speakers:
        return sorted(speakers)
    seen = re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", " ".join(entry["text"] for entry in book["entries"]))
    return sorted({name for name in seen if seen.count(name) > 2})


def split_groups(groups: Sequence[Group], vocabulary: Path) -> None:
    """Add the tokens to groups."""
    from commonplace.models.reader import split_passage, split_question

    lines = vocabulary.read_text("utf-8").splitlines()
    split = WordPiece({word: place for place, word in enumerate(lines)}).encode
    for group in groups:
        passages = [split_passage(split, passage) for passage in group.passages]
        group.tokens = split_question(split, group.question), passages


if __name__ == "__main__":
    from groups import make_groups, split_groups  # so that what is pickled belongs to the module, not to this program

    work = Path(sys.argv[1])
    made = list(make_groups([Path(name) for name in sys.argv[2:]]))
    split_groups(made, work / "vocab.txt")
    (work / "groups.pkl").write_bytes(pickle.dumps(made))
    asked = [group for group in made if group.manner == FULL and group.labels.any()]
    print(f"{len(made)} groups; of the relevant entries, {sum(g.missed for g in asked)} are not among the candidates")
