"""Commands and options declared as data, and the parser that is built from them."""

from __future__ import annotations

import argparse
import textwrap
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from commonplace.cli import books, inputs
from commonplace.cli.console import Console, Result, UsageError
from commonplace.values import KINDS, Scope

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.store.base import Store

Run: TypeAlias = Callable[[Namespace, Console], "Result | int | None"]
"""Runs a command; returns its result or exit status."""
T = TypeVar("T")
RunOn: TypeAlias = Callable[[T, Namespace], Result]
Subparsers: TypeAlias = "argparse._SubParsersAction[Parser]"


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError and takes options before, between and after the arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        # A script that abbreviates an option breaks when a longer one is added.
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)
        self._intermixed = False

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"`{self.prog} --help` shows how to use it")

    def parse_known_args(  # type: ignore[override]  # one signature for typeshed's overloads
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        # Plain argparse refuses `revise ID --kind fact TEXT`: it settles an optional TEXT before it sees one.
        # The intermixed parsing calls this method again, and cannot serve a parser that has sub-commands.
        if self._intermixed or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._intermixed = False


class Option:
    """One argument: "--file PATH" is an option, "text TEXT" a positional, "--deep" a flag.

    An option "--tag TAG*" may be repeated; a positional may end with the `nargs` of argparse, ?, * or +.
    Further settings are those of add_argument.
    """

    def __init__(self, spec: str, help: str, **settings: Any) -> None:
        self._name, _, metavar = spec.partition(" ")
        if metavar:
            settings["metavar"] = metavar.rstrip("?*+")
            if metavar[-1] in "?*+":
                settings.update({"action": "append"} if spec.startswith("-") else {"nargs": metavar[-1]})
        elif "choices" not in settings:
            settings["action"] = "store_true"
        self._settings = {"help": help, **settings}

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the argument to a parser or a group."""
        parser.add_argument(self._name, **self._settings)


class Section:
    """Options under a title of their own in the help; one that every command has may be declared anew."""

    def __init__(self, title: str, *options: Option) -> None:
        self._title, self._options = title, options

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the options to a parser, in a group."""
        group = parser.add_argument_group(self._title, conflict_handler="resolve")
        for option in self._options:
            option.add_to(group)


SPACE = Option("--space S", "space inside the book; no command crosses spaces (COMMONPLACE_SPACE)")


def book_options(space: Option = SPACE) -> Parser:
    """Return the options of every command; suppressed defaults let them stand before and after its name."""
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    Section(
        "the book",
        Option("--book PATH", "file or URL of the book (COMMONPLACE_BOOK, else commonplace.db)"),
        space,
        Option(
            "--embedder SPEC",
            "default, none, bge-small, onnx:DIR, openai:MODEL, sentence-transformers:NAME (COMMONPLACE_EMBEDDER)",
        ),
        Option("--reader SPEC", "default, none, onnx:DIR; for recall and learning (COMMONPLACE_READER)"),
        Option("--reranker SPEC", "none, ms-marco-minilm, onnx:DIR; for recall (COMMONPLACE_RERANKER)"),
        Option("--json", "print JSON"),
    ).add_to(shared)
    return shared


class Commands:
    """The commands of a module, or the verbs of the command `name`, in the order of their declaration.

    The docstring of a command's function is its help: a sentence, a blank line, and examples.
    """

    def __init__(self, name: str = "", doc: str = "") -> None:
        self._name, self._doc = name, doc
        self._declarations: list[tuple[str, Run, str, Parser, tuple[Option | Section, ...]]] = []

    def add(self, name: str, *options: Option | Section, space: Option = SPACE) -> Callable[[Run], Run]:
        """Declare a command; use it as a decorator."""

        def declare(run: Run) -> Run:
            self._declarations.append((name, run, run.__doc__ or "", book_options(space), options))
            return run

        return declare

    def on_book(self, name: str, *options: Option | Section) -> Callable[[RunOn[Book]], RunOn[Book]]:
        """Declare a command that calls verbs of an existing book; use it as a decorator."""
        return self._on(books.open_existing, name, options)

    def on_store(self, name: str, *options: Option | Section) -> Callable[[RunOn[Store]], RunOn[Store]]:
        """Declare a command that works on the store of an existing book; use it as a decorator."""
        return self._on(books.open_store, name, options)

    def _on(
        self, open_it: Callable[[Namespace], AbstractContextManager[T]], name: str, options: Sequence[Option | Section]
    ) -> Callable[[RunOn[T]], RunOn[T]]:
        def declare(function: RunOn[T]) -> RunOn[T]:
            def run(args: Namespace, console: Console) -> Result:
                with open_it(args) as opened:
                    return function(opened, args)

            run.__doc__ = function.__doc__
            self.add(name, *options)(run)
            return function

        return declare

    def names(self, verb: str, doc: str, list_names: Callable[[Book, Namespace], list[str]], *options: Option) -> None:
        """Declare a command that prints names, one a line."""

        def run(book: Book, args: Namespace) -> Result:
            names = list_names(book, args)
            return Result(names, "\n".join(names))

        run.__doc__ = doc
        self.on_book(verb, *options)(run)

    def add_to(self, subparsers: Subparsers) -> None:
        """Add the commands to a parser's sub-commands."""
        if self._name:
            group = _add_parser(subparsers, self._name, self._doc, book_options())
            subparsers = group.add_subparsers(dest="verb", metavar="VERB", required=True, title="verbs")
        for name, run, doc, shared, options in self._declarations:
            parser = _add_parser(subparsers, name, doc, shared)
            parser.set_defaults(run=run)
            for option in options:
                option.add_to(parser)


def _add_parser(subparsers: Subparsers, name: str, doc: str, shared: Parser) -> Parser:
    description, _, examples = doc.strip().partition("\n\n")
    epilog = "examples:\n" + textwrap.indent(textwrap.dedent(examples), "  ") if examples else None
    help = description[:1].lower() + description[1:].removesuffix(".")
    return subparsers.add_parser(name, help=help, description=description, epilog=epilog, parents=[shared])


_PARTS = ("user", "agent", "session")
KIND_FILTER = Option("--kind KIND*", "only of this kind; may be repeated", choices=KINDS, dest="kinds")
TAG_FILTER = Option("--tag TAG*", "only with this tag; if repeated, with all of them", dest="tags")

MEMORY_ID = Option("id ID", "the memory's id")
TTL = Option("--ttl TIME", "expires after: 90 (seconds), 15m, 12h, 7d, 2w", type=inputs.duration)
SAID_AT = Option("--said-at TIME", "when it was said, in ISO 8601 (now)", type=inputs.when)
BODY = Section(
    "the memory",
    Option("--kind KIND", ", ".join(KINDS), choices=KINDS),
    Option("--tag TAG*", "a tag; may be repeated", dest="tags"),
    Option("--meta NAME=VALUE*", "metadata; VALUE is JSON, otherwise text; may be repeated", type=inputs.pair),
    Option("--importance X", "from 0 to 1 (0.5)", type=float),
    Option("--source SOURCE", "where it was said or found"),
    SAID_AT,
    TTL,
    Option("--reason WHY", "reason, shown in the history"),
)
WITHIN = Section(
    "within",
    *(Option(f"--{part} {part.upper()}*", f"only of this {part}, or shared; may be repeated") for part in _PARTS),
    Option("--not-shared", "leave out memories without an owner"),
)
SELECTION = Section(
    "selection",
    KIND_FILTER,
    TAG_FILTER,
    Option("--filter JSON", 'that a filter allows, for example {"importance": {"$gte": 0.5}}', type=inputs.json_object),
)
SUPERSEDED = Option("--superseded", "include superseded memories")
EXTRACTOR = Option(
    "--extractor SPEC", "how memories are found: reader or openai:MODEL (COMMONPLACE_EXTRACTOR, else reader)"
)


def scope_section(title: str) -> Section:
    """Return options for one user, agent and session."""
    return Section(title, *(Option(f"--{part} {part.upper()}", f"the {part}") for part in _PARTS))


def scope(args: Namespace) -> Scope:
    """Return the scope named by the options of a scope section."""
    return Scope(user=args.user, agent=args.agent, session=args.session)


def pick(args: Namespace, *names: str) -> dict[str, Any]:
    """Return the options that were given, by name."""
    return {name: value for name in names if (value := getattr(args, name)) is not None}


def if_version(what: str) -> Option:
    """Return --if-version, for compare-and-set."""
    return Option("--if-version N", f"only if {what} is at this version (0: absent)", type=int)
