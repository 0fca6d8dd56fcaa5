"""Processes that use the integrations of this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import commonplace

ROOT = Path(__file__).resolve().parents[2]


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process that runs a program; it can be told and asked things by its standard streams."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def ran(process: subprocess.Popen[str]) -> str:
    """Return the output of a process that succeeded."""
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    return out


def run_example(name: str, book: Path) -> str:
    """Return the output of an example, run on a book as a reader runs it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name), book.name],
        cwd=book.parent, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def finish(book: commonplace.Book) -> None:
    """Wait for the jobs of a book, which a thread of this process does."""
    while book.jobs():
        time.sleep(0.01)
