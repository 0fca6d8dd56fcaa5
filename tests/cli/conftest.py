"""The command line, run in this process in a separate directory."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from commonplace.cli import main
from tests.cli.cli_harness import Cli, Done


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
