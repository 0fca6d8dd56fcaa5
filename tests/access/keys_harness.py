"""Helpers for the tests of keys: a door, calls, and processes that send many at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from commonplace.access.keys import Role
from commonplace.book import Book
from commonplace.memories.core import Core
from commonplace.server.auth import Call, KeyGate, Operation
from commonplace.server.door import Door

T = TypeVar("T")
NAMESPACE = "shelf"
ON_SQLITE = pytest.mark.parametrize("where", ["sqlite"], indirect=True)
"""For what never reaches a statement that the engines could take differently."""
ROOT = Path(__file__).resolve().parents[2]


def door_of(core: Core, *, closed: bool = False) -> Door:
    """The door of a server on an open book."""
    return Door(core, KeyGate(core.store, "default", closed=closed), threads=4)


def call_of(token: str | None, operation: Operation, *, space: str | None = None, namespace: str | None = None) -> Call:
    """A request as a route reads it."""
    roles: dict[Operation, Role] = {"read": "read", "recall": "read", "write": "write", "admin": "admin"}
    return Call(secret=token, space=space, role=roles[operation], operation=operation, namespace=namespace)


def put(door: Door, token: str | None, key: str, value: object = 1, *, space: str | None = None) -> None:
    """Write one entry through the door."""
    call = call_of(token, "write", space=space, namespace=NAMESPACE)
    door.run_here(call, lambda book: book.kv(NAMESPACE).set(key, value))  # type: ignore[arg-type]  # JSON


def remember(door: Door, token: str, text: str) -> str:
    """Remember one text through the door."""
    return door.run_here(call_of(token, "write"), lambda book: book.remember(text)).id


def recall(door: Door, token: str | None, verb: Callable[[Book], T] | None = None) -> object:
    """Recall through the door, or do something else that counts as a recall."""
    return door.run_here(call_of(token, "recall"), verb or (lambda book: book.kv(NAMESPACE).get("a")))


class Worker:
    """A process that takes commands as lines of JSON and answers in lines of JSON."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.access.keys_worker"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def say(self, **order: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "a worker ended; what it said is in the captured stderr"
        return json.loads(line)

    def ask(self, **order: object) -> Any:
        self.say(**order)
        return self.hear()

    def close(self) -> None:
        """Hang up, which ends it, and wait."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Crew:
    """Several such processes."""

    def __init__(self, number: int) -> None:
        self.workers = [Worker() for _ in range(number)]

    def together(self, **order: object) -> list[Any]:
        """Let all of them do the same at the same time, each with its own number."""
        for worker in self.workers:
            worker.ask(do="open", where=order["where"])
        for number, worker in enumerate(self.workers):
            worker.say(me=number, **order)
        answers = [worker.hear() for worker in self.workers]
        for worker in self.workers:
            worker.ask(do="close")
        return answers

    def close(self) -> None:
        for worker in self.workers:
            worker.close()
