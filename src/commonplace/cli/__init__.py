"""The command line: `commonplace VERB …`. Every answer on stdout, every remark and error on stderr."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Sequence

from commonplace.cli import parser
from commonplace.cli.errors import Usage
from commonplace.cli.output import Console
from commonplace.errors import CommonplaceError

__all__ = ["main"]

_FAILED, _MISUSED, _INTERRUPTED, _PIPE_CLOSED = 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 refused or failed, 2 misused, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    # Known before the words are parsed, since the parser itself may have something to complain about.
    console = Console(json="--json" in itertools.takewhile(lambda word: word != "--", words))
    try:
        return _run(words, console)
    except Usage as error:
        console.error(error.code, str(error), hint=error.hint)
        return _MISUSED
    except CommonplaceError as error:
        console.error(error.code, str(error))
    except BrokenPipeError:
        _forget_stdout()
        return _PIPE_CLOSED
    except OSError as error:
        console.error("file_error", _described(error))
    except KeyboardInterrupt:
        console.error("interrupted", "interrupted")
        return _INTERRUPTED
    except Exception as error:
        if os.environ.get("COMMONPLACE_DEBUG"):
            raise
        text = f"unexpected {type(error).__name__}: {error}; COMMONPLACE_DEBUG=1 shows where"
        console.error("bug", text)
    return _FAILED


def _run(words: list[str], console: Console) -> int:
    try:
        args = parser.build().parse_args(words)
    except SystemExit as done:  # --help and --version have printed what was asked
        return int(done.code or 0)
    status = _command(args)(args, console)
    sys.stdout.flush()
    return status


def _command(args: argparse.Namespace) -> parser.Command:
    chosen: parser.Command = args.run
    return chosen


def _described(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def _forget_stdout() -> None:
    """Let what is still buffered for a reader that has gone vanish without another complaint."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), descriptor)
