"""The servers that bench/server.py compares: how to start, fill, query and write to each."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import chromadb
import psutil
from corpus import Question, Row
from fleet import environment
from load import Operation

import commonplace
from commonplace import Draft

K = 10
PIECE = 5_000
HOST = "127.0.0.1"
WHOLE = "all"
_PATIENCE = 120.0

Tell = Callable[[str], None]


def post(host: str, path: str, body: object) -> bytes:
    """A request as it goes over the wire."""
    sent = json.dumps(body, separators=(",", ":")).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n"
    )
    return head.encode() + sent


class Served(ABC):
    """A server in separate processes, on a store under `folder`."""

    title: str
    notes: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """How it is started."""

    @abstractmethod
    def fill(self, rows: Callable[[], Iterable[Row]], tell: Tell) -> None:
        """Put the rows in twice: into one space, and each into its own of a hundred."""

    @abstractmethod
    def operation(self, name: str, question: Question) -> Operation:
        """The requests that one of OPERATIONS takes."""

    @abstractmethod
    def addition(self, row: Row) -> Operation:
        """The request that remembers one new row in the space of all."""

    @abstractmethod
    def found(self, answer: Any) -> int:
        """How many memories an answer to a question holds."""

    @abstractmethod
    def held(self) -> int:
        """How many memories the space of all holds now."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def authority(self) -> str:
        return f"{HOST}:{self.port}"

    def start(self, alive: str) -> None:
        """Start it and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = _free_port()
        with (self.folder / "log").open("ab") as chatter:
            self._process = subprocess.Popen(
                self.command(), stdout=chatter, stderr=chatter, env=environment(), cwd=self.folder
            )
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self._process.poll() is None:
            try:
                self.ask("GET", alive)
            except OSError:
                time.sleep(0.1)
                continue
            return
        raise SystemExit(f"{self.title} did not start; {self.folder / 'log'} may say why")

    def pids(self) -> tuple[int, ...]:
        """All its processes."""
        assert self._process is not None
        first = psutil.Process(self._process.pid)
        return (first.pid, *(child.pid for child in first.children(recursive=True)))

    def resident_mb(self) -> float:
        """Resident memory of all its processes; what they share counts once for each."""
        return sum(psutil.Process(pid).memory_info().rss for pid in self.pids()) / 1e6  # type: ignore[no-any-return]

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """One request, for what is not measured."""
        sent = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url + path, sent, headers, method=method)  # noqa: S310  # our own
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:  # noqa: S310  # as above
            return json.loads(answer.read())

    def stop(self) -> None:
        """Stop it, and make sure that it has ended."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(40)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return int(sock.getsockname()[1])


class Ours(Served):
    """commonplace, with its own embedder: it gets the question as text and embeds it."""

    title = "commonplace"
    notes = (
        "is asked in text: it embeds the question, searches vectors and words, weighs and packs an answer, always",
        "SQLite, synchronous=FULL",
    )

    def __init__(self, folder: Path, *, workers: int = 2, threads: int = 4) -> None:
        super().__init__(folder)
        self.book = folder / "book.db"
        self.workers, self.threads = workers, threads

    def command(self) -> list[str]:
        served = ["serve", str(self.book), "--port", str(self.port)]
        return [
            sys.executable, "-m", "commonplace", *served,
            "--workers", str(self.workers), "--threads", str(self.threads),
        ]  # fmt: skip

    def fill(self, rows: Callable[[], Iterable[Row]], tell: Tell) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with commonplace.open(self.book, space=WHOLE) as book:
            for done, piece in pieces(rows(), PIECE):
                book.remember([_draft(row) for row in piece])
                tell(f"{self.title}: {done:,} in one space")
            for space, some in _by_space(rows()):
                book.in_space(space).remember([_draft(row) for row in some])

    def operation(self, name: str, question: Question) -> Operation:
        space = question.space if name.startswith("space") else WHOLE
        return (post(self.authority, f"/v1/spaces/{space}/recall", {"query": question.text, "k": K}),)

    def addition(self, row: Row) -> Operation:
        return (post(self.authority, f"/v1/spaces/{WHOLE}/memories", {"content": row.text}),)

    def found(self, answer: Any) -> int:
        return len(answer["hits"])

    def held(self) -> int:
        with commonplace.open(self.book, space=WHOLE) as book:
            return book.stats().memories


class Chroma(Served):
    """`chroma run`, with the vectors given: it embeds nothing."""

    title = "chroma"
    notes = (
        "gets each question's vector with the request, so that it embeds nothing",
        "words are $contains filters, unranked; ranked search by words is for its hosted service only",
    )
    _ROOT = "/api/v2/tenants/default_tenant/databases/default_database/collections"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.apart = False
        """Whether a space is a collection of its own, not a filter: whichever is the quicker."""
        self.together = False
        """Whether words and vector over the whole are one request, not two whose answers are fused."""
        self._ids: dict[str, str] = {}

    def command(self) -> list[str]:
        chroma = str(Path(sys.executable).with_name("chroma"))
        return [chroma, "run", "--path", str(self.folder / "data"), "--host", HOST, "--port", str(self.port)]

    def start(self, alive: str) -> None:
        super().start(alive)
        self._ids = {found["name"]: found["id"] for found in self.ask("GET", f"{self._ROOT}?limit=1000")}

    def fill(self, rows: Callable[[], Iterable[Row]], tell: Tell) -> None:
        client = chromadb.HttpClient(host=HOST, port=self.port)
        self._fill_one(client, WHOLE, rows(), tell)
        for space, some in _by_space(rows()):
            self._fill_one(client, space, some, lambda _: None)
        self._ids = {found["name"]: found["id"] for found in self.ask("GET", f"{self._ROOT}?limit=1000")}

    def _fill_one(self, client: Any, name: str, rows: Iterable[Row], tell: Tell) -> None:
        made = client.create_collection(name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
        for done, piece in pieces(rows, PIECE):
            made.add(
                ids=[str(row.number) for row in piece],
                embeddings=[row.vector for row in piece],
                documents=[row.text for row in piece],
                metadatas=[{"space": row.space} for row in piece],
            )
            tell(f"{self.title}: {done:,} in one collection")

    def operation(self, name: str, question: Question) -> Operation:
        asked: dict[str, object] = {
            "query_embeddings": [question.floats],
            "n_results": K,
            "include": ["documents", "metadatas", "distances"],
        }
        where = WHOLE
        if name.startswith("space"):
            if self.apart:
                where = question.space
            else:
                asked["where"] = {"space": question.space}
        if not name.endswith("words"):
            return (self._post(where, "query", asked),)
        if name == "whole words" and not self.together:
            worded = {"where_document": _words(question), "limit": K, "include": ["documents", "metadatas"]}
            return (self._post(where, "get", worded), self._post(where, "query", asked))
        return (self._post(where, "query", {**asked, "where_document": _words(question)}),)

    def addition(self, row: Row) -> Operation:
        body = {
            "ids": [uuid.uuid4().hex],
            "embeddings": [row.floats],
            "documents": [row.text],
            "metadatas": [{"space": row.space}],
        }
        return (self._post(WHOLE, "add", body),)

    def found(self, answer: Any) -> int:
        return len(answer["ids"][0])

    def held(self) -> int:
        return int(self.ask("GET", f"{self._ROOT}/{self._ids[WHOLE]}/count"))

    def _post(self, collection: str, verb: str, body: object) -> bytes:
        return post(self.authority, f"{self._ROOT}/{self._ids[collection]}/{verb}", body)


def _words(question: Question) -> dict[str, Any]:
    contains = [{"$contains": word} for word in question.words]
    return {"$or": contains} if len(contains) > 1 else contains[0]


def _draft(row: Row) -> Draft:
    return Draft(content=row.text, id=str(row.number), vector=row.vector)


def pieces(rows: Iterable[Row], size: int) -> Iterable[tuple[int, list[Row]]]:
    """The rows in lists of `size`, each with how many there were so far."""
    piece: list[Row] = []
    done = 0
    for row in rows:
        piece.append(row)
        if len(piece) == size:
            done += size
            yield done, piece
            piece = []
    if piece:
        yield done + len(piece), piece


def _by_space(rows: Iterable[Row]) -> Sequence[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.space, []).append(row)
    return sorted(found.items())
