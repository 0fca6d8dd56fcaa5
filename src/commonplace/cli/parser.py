"""The whole command line as one parser."""

from __future__ import annotations

from argparse import Namespace
from functools import cache

from commonplace import __version__
from commonplace.cli import (
    commands_asking,
    commands_canvas,
    commands_care,
    commands_copy,
    commands_demo,
    commands_jobs,
    commands_keys,
    commands_kv,
    commands_learning,
    commands_models,
    commands_portable,
    commands_postgres,
    commands_removing,
    commands_serve,
    commands_transcript,
    commands_writing,
)
from commonplace.cli.arguments import Command, Parser, book_options
from commonplace.cli.output import Console

__all__ = ["Command", "build"]

_DESCRIPTION = """\
A memory for agents: persistent, shared, searchable, and honest about what it does not know.

The book is one file: --book PATH, else COMMONPLACE_BOOK, else ./commonplace.db."""

_EXAMPLES = """\
examples:
  commonplace remember "We chose FastAPI over Flask because of async support" --kind decision
  commonplace recall "why did we choose FastAPI?"
  commonplace learn standup.txt --session standup
  commonplace list --kind decision --json
  commonplace demo

`commonplace COMMAND --help` shows a command's options and examples."""


def _help(root: Parser) -> Command:
    """What happens without a command: whoever types the name alone wants to know what there is."""

    def show(args: Namespace, console: Console) -> int:
        root.print_help()
        return 0

    return show


@cache
def build() -> Parser:
    """The parser of every command, made once; `args.run` is what to call."""
    root = Parser(prog="commonplace", description=_DESCRIPTION, epilog=_EXAMPLES, parents=[book_options()])
    root.add_argument("--version", action="version", version=f"commonplace {__version__}")
    root.set_defaults(book=None, space=None, embedder=None, reranker=None, json=False, run=_help(root))
    commands = root.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    commands_writing.register(commands)
    commands_asking.register(commands)
    commands_removing.register(commands)
    commands_learning.register(commands)
    commands_jobs.register(commands)
    commands_kv.register(commands)
    commands_canvas.register(commands)
    commands_transcript.register(commands)
    commands_portable.register(commands)
    commands_copy.register(commands)
    commands_care.register(commands)
    commands_serve.register(commands)
    commands_demo.register(commands)
    commands_postgres.register(commands)
    commands_models.register(commands)
    commands_keys.register(commands)
    return root
