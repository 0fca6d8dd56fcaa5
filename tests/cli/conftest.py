"""A command line in a directory of its own, run in process."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commonplace.cli import main


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)


Cli = Callable[..., Done]


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in an empty directory: `cli("list", "--json")`; `stdin=` is piped in."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_") or name == "COLUMNS"]:
        monkeypatch.delenv(name)

    def run(*words: str, stdin: str | io.StringIO = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin) if isinstance(stdin, str) else stdin)
        status = main(words)
        said = capsys.readouterr()
        return Done(status=status, out=said.out, err=said.err)

    return run
