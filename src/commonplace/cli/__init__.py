"""The command line: `commonplace COMMAND …`. Results go to stdout, remarks and errors to stderr."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence
from functools import cache

from commonplace import __version__
from commonplace.cli import learn, mcp, memories, persons, removal, serve, state, transfer
from commonplace.cli.arguments import Parser, Run, book_options
from commonplace.cli.console import Console, Result, UsageError
from commonplace.errors import CommonplaceError

__all__ = ["main"]

_DESCRIPTION = """\
A persistent, shared, searchable memory for agents. It says so when it does not know something.

The book is one file: --book PATH, else COMMONPLACE_BOOK, else ./commonplace.db."""

_EXAMPLES = """\
examples:
  commonplace remember "We chose FastAPI over Flask because of async support" --kind decision
  commonplace recall "why did we choose FastAPI?"
  commonplace learn standup.txt --session standup
  commonplace list --kind decision --json
  commonplace demo

`commonplace COMMAND --help` shows a command's options and examples."""

_FAILED, _MISUSED, _INTERRUPTED, _PIPE_CLOSED = 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 refused or failed, 2 misused, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    # Known before the words are parsed, since the parser itself may have something to complain about.
    console = Console(json="--json" in itertools.takewhile(lambda word: word != "--", words))
    try:
        return _run(words, console)
    except UsageError as error:
        console.error(error.code, str(error), hint=error.hint)
        return _MISUSED
    except CommonplaceError as error:
        console.error(error.code, str(error))
    except BrokenPipeError:
        _discard_stdout()
        return _PIPE_CLOSED
    except OSError as error:
        reason = error.strerror or str(error)
        console.error("file_error", reason if error.filename is None else f"{error.filename}: {reason}")
    except KeyboardInterrupt:
        console.error("interrupted", "interrupted")
        return _INTERRUPTED
    except Exception as error:
        if os.environ.get("COMMONPLACE_DEBUG"):
            raise
        console.error("bug", f"unexpected {type(error).__name__}: {error}; COMMONPLACE_DEBUG=1 shows the traceback")
    return _FAILED


def _run(words: list[str], console: Console) -> int:
    try:
        args = build_parser().parse_args(words)
    except SystemExit as done:  # --help and --version have printed their text
        return int(done.code or 0)
    run: Run = args.run
    result = run(args, console)
    status = console.show(result) if isinstance(result, Result) else result or 0
    sys.stdout.flush()
    return status


@cache
def build_parser() -> Parser:
    """Return the parser of every command; `args.run` is the function to call."""
    root = Parser(prog="commonplace", description=_DESCRIPTION, epilog=_EXAMPLES, parents=[book_options()])
    root.add_argument("--version", action="version", version=f"commonplace {__version__}")
    root.set_defaults(
        book=None,
        space=None,
        embedder=None,
        reader=None,
        reranker=None,
        json=False,
        run=lambda args, console: root.print_help(),
    )
    commands = root.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for declared in (
        memories.COMMANDS,
        removal.COMMANDS,
        persons.COMMANDS,
        learn.COMMANDS,
        state.KV,
        state.CANVAS,
        state.TRANSCRIPT,
        transfer.COMMANDS,
        serve.SERVE,
        mcp.COMMANDS,
        memories.DEMO,
        serve.POSTGRES,
        transfer.MODELS,
        serve.KEYS,
    ):
        declared.add_to(commands)
    return root


def _discard_stdout() -> None:
    """Drop buffered output for a reader that has gone, so that exiting raises nothing more."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), descriptor)
