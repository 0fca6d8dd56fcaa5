"""Options that several commands share, and the parser that understands them in any place."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

from commonplace.cli import inputs
from commonplace.cli.console import Console, Usage
from commonplace.values import KINDS

Command: TypeAlias = Callable[[argparse.Namespace, Console], int | None]
"""Runs a command and returns its exit status; None is 0."""
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class Parser(argparse.ArgumentParser):
    """An argument parser that raises Usage and takes options before, between and after the arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        # A script that abbreviates an option breaks when a longer one is added.
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)
        self._mixing = False

    def error(self, message: str) -> NoReturn:
        raise Usage(message, hint=f"`{self.prog} --help` shows how to use it")

    def parse_known_args(  # type: ignore[override]  # one signature for typeshed's overloads
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        # Plain argparse refuses `revise ID --kind fact TEXT`: it settles an optional TEXT before it sees one.
        # The intermixed parsing calls this method again, and cannot serve a parser that has sub-commands.
        if self._mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False


def book_options(*, patterns: str | None = None) -> Parser:
    """Return the options of every command; suppressed defaults let them stand before and after its name.

    `patterns` is the help of a --space that may be repeated and names patterns of spaces.
    """
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    group = shared.add_argument_group("the book")
    group.add_argument("--book", metavar="PATH", help="file or URL of the book (COMMONPLACE_BOOK, else commonplace.db)")
    if patterns is None:
        group.add_argument(
            "--space", metavar="S", help="space inside the book; no command crosses spaces (COMMONPLACE_SPACE)"
        )
    else:
        group.add_argument("--space", action="append", metavar="PATTERN", help=patterns)
    group.add_argument(
        "--embedder",
        metavar="SPEC",
        help="default, none, bge-small, onnx:DIR, openai:MODEL, sentence-transformers:NAME (COMMONPLACE_EMBEDDER)",
    )
    group.add_argument(
        "--reranker", metavar="SPEC", help="none, ms-marco-minilm, onnx:DIR; for recall (COMMONPLACE_RERANKER)"
    )
    group.add_argument("--json", action="store_true", help="print JSON")
    return shared


def add(
    commands: Commands, name: str, run: Command, *, help: str, examples: str = "", patterns: str | None = None
) -> Parser:
    """Add a command with its help and examples, and say what runs it."""
    made = _made(commands, name, help, examples, book_options(patterns=patterns))
    made.set_defaults(run=run)
    return made


def add_group(commands: Commands, name: str, *, help: str, examples: str = "") -> Commands:
    """Add a command that has verbs of its own."""
    made = _made(commands, name, help, examples, book_options())
    return made.add_subparsers(dest="verb", metavar="VERB", required=True, title="verbs")


def _made(commands: Commands, name: str, help: str, examples: str, shared: Parser) -> Parser:
    description = help[0].upper() + help[1:] + "."
    epilog = f"examples:\n{examples}" if examples else None
    return commands.add_parser(name, help=help, description=description, epilog=epilog, parents=[shared])


def body_options(made: Parser) -> None:
    """Add the options for what a memory has besides its text; options that are not given stay unset."""
    group = made.add_argument_group("the memory")
    group.add_argument("--kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    group.add_argument("--tag", action="append", metavar="TAG", help="a tag; may be repeated")
    group.add_argument(
        "--meta",
        action="append",
        type=inputs.pair,
        metavar="NAME=VALUE",
        help="metadata; VALUE is JSON, otherwise text; may be repeated",
    )
    group.add_argument("--importance", type=float, metavar="X", help="from 0 to 1 (0.5)")
    group.add_argument("--source", metavar="SOURCE", help="where it was said or found")
    group.add_argument("--said-at", type=inputs.when, metavar="TIME", help="when it was said, in ISO 8601 (now)")
    group.add_argument(
        "--ttl", type=inputs.duration, metavar="TIME", help="expires after: 90 (seconds), 15m, 12h, 7d, 2w"
    )
    group.add_argument("--reason", metavar="WHY", help="reason, shown in the history")


def scope_options(made: Parser, title: str) -> None:
    """Add options for one user, agent and session."""
    group = made.add_argument_group(title)
    for part in ("user", "agent", "session"):
        group.add_argument(f"--{part}", metavar=part.upper(), help=f"the {part}")


def within_options(made: Parser) -> None:
    """Add options for where to look: any number of users, agents and sessions."""
    group = made.add_argument_group("within")
    for part in ("user", "agent", "session"):
        group.add_argument(
            f"--{part}", action="append", metavar=part.upper(), help=f"only of this {part}, or shared; may be repeated"
        )
    group.add_argument("--not-shared", action="store_true", help="leave out memories without an owner")


def selection_options(made: Parser) -> None:
    """Add options that select memories by kind, tag and filter."""
    group = made.add_argument_group("selection")
    group.add_argument(
        "--kind", action="append", choices=KINDS, metavar="KIND", help="only of this kind; may be repeated"
    )
    group.add_argument(
        "--tag", action="append", metavar="TAG", help="only with this tag; if repeated, with all of them"
    )
    group.add_argument(
        "--filter",
        type=inputs.json_object,
        metavar="JSON",
        help='that a filter allows, for example {"importance": {"$gte": 0.5}}',
    )


def superseded_option(made: Parser) -> None:
    """Add --superseded."""
    made.add_argument("--superseded", action="store_true", help="include superseded memories")


def if_version_option(made: Parser, what: str) -> None:
    """Add --if-version, for compare-and-set."""
    made.add_argument("--if-version", type=int, metavar="N", help=f"only if {what} is at this version (0: absent)")


def extractor_option(parser: argparse.ArgumentParser) -> None:
    """Add --extractor."""
    parser.add_argument(
        "--extractor",
        metavar="SPEC",
        help="how memories are found: rules or openai:MODEL (COMMONPLACE_EXTRACTOR, else rules)",
    )
