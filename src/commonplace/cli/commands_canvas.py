"""canvas: text files that agents write together."""

from __future__ import annotations

import sys
from argparse import Namespace

from commonplace.cli import arguments, inputs, opened
from commonplace.cli.arguments import Commands, Parser
from commonplace.cli.errors import Usage
from commonplace.cli.output import Console, moment, plural
from commonplace.cli.table import Column, columns, table
from commonplace.values import File

_EXAMPLES = """\
  commonplace canvas write design notes.md --file notes.md --author ann
  commonplace canvas read design notes.md
  commonplace canvas diff design notes.md 1 2
  commonplace canvas apply design fix.patch --author bob
  commonplace canvas files design
"""
_FILES = (Column(name="REVISION", right=True), Column(name="PATH", least=20))
_REVISIONS = (
    Column(name="REVISION", right=True),
    Column(name="AT"),
    Column(name="AUTHOR", least=8),
    Column(name="CONTENT", least=20),
)


def register(commands: Commands) -> None:
    """Add `canvas` and its verbs."""
    verbs = arguments.add_group(
        commands, "canvas", help="text files that agents write together, every revision kept", examples=_EXAMPLES
    )
    arguments.add(verbs, "list", _list, help="list the canvases")
    _canvas(arguments.add(verbs, "files", _files, help="list the files of a canvas"))
    read = _path(arguments.add(verbs, "read", _read, help="show a file, or one of its revisions"))
    read.add_argument("--revision", type=int, metavar="N", help="this revision of it (the newest)")
    _register_write(verbs)
    diff = _path(arguments.add(verbs, "diff", _diff, help="show what changed between two revisions"))
    diff.add_argument("old", type=int, metavar="OLD", help="the older revision")
    diff.add_argument("new", type=int, nargs="?", metavar="NEW", help="the newer revision (the newest)")
    _path(arguments.add(verbs, "revisions", _revisions, help="list the revisions of a file"))
    _register_apply(verbs)
    _writing(_path(arguments.add(verbs, "delete", _delete, help="delete a file; its revisions stay readable")))


def _register_write(verbs: Commands) -> None:
    made = _path(arguments.add(verbs, "write", _write, help="write a file as its next revision"))
    made.add_argument("text", nargs="?", metavar="TEXT", help="its whole text; - or nothing reads stdin")
    made.add_argument("--file", metavar="PATH", help="take the text from this file")
    _writing(made)


def _register_apply(verbs: Commands) -> None:
    made = _canvas(arguments.add(verbs, "apply", _apply, help="apply a unified diff, all of it or nothing"))
    made.add_argument("patch", nargs="?", default="-", metavar="PATCH", help="the file with the diff (stdin)")
    _writing(made)


def _canvas(made: Parser) -> Parser:
    made.add_argument("canvas", metavar="CANVAS", help="the canvas")
    return made


def _path(made: Parser) -> Parser:
    _canvas(made).add_argument("path", metavar="PATH", help="the file on the canvas")
    return made


def _writing(made: Parser) -> None:
    made.add_argument("--author", metavar="NAME", help="who writes")
    arguments.if_version_option(made, "the file")


def _list(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        names = book.canvases()
    console.result(names, "\n".join(names))
    return 0


def _files(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        files = book.canvas(args.canvas).files()
    rows = [(str(revision), path) for path, revision in files.items()]
    console.result(files, table(_FILES, rows, limit=columns()) if rows else "No files.")
    return 0


def _read(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        file = book.canvas(args.canvas).file(args.path, args.revision)
    if console.json:
        console.data(file)
    else:
        console.text(file.content)
    return 0


def _write(args: Namespace, console: Console) -> int:
    text = _whole_text(args)
    with opened.writable(args, console) as book:
        file = book.canvas(args.canvas).write(args.path, text, author=args.author, if_version=args.if_version)
    return _written([file], file, console)


def _whole_text(args: Namespace) -> str:
    """A file keeps its last line end: unlike a memory, it is read back as a file."""
    if args.file is not None:
        if args.text is not None:
            raise Usage("give the text once: as TEXT or with --file")
        return inputs.file_text(args.file)
    if args.text is None and sys.stdin.isatty():
        raise Usage("give the text as an argument, with --file, or - to read it from stdin")
    return inputs.file_text(inputs.STDIN) if args.text in (None, inputs.STDIN) else str(args.text)


def _diff(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        text = book.canvas(args.canvas).diff(args.path, args.old, args.new)
    console.result({"diff": text}, text)
    return 0


def _revisions(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        files = book.canvas(args.canvas).revisions(args.path)
    rows = [(str(file.revision), moment(file.at), file.author or "", _glance(file)) for file in files]
    console.result(files, table(_REVISIONS, rows, limit=columns()))
    return 0


def _glance(file: File) -> str:
    if file.deleted:
        return "(deleted)"
    return f"{plural(len(file.content.splitlines()), 'line')}: {file.content[:200]}"


def _apply(args: Namespace, console: Console) -> int:
    patch = inputs.file_text(args.patch)
    with opened.writable(args, console) as book:
        files = book.canvas(args.canvas).apply(patch, author=args.author, if_version=args.if_version)
    return _written(files, files, console)


def _delete(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        file = book.canvas(args.canvas).delete(args.path, author=args.author, if_version=args.if_version)
    return _written([file], file, console)


def _written(files: list[File], value: object, console: Console) -> int:
    lines = [f"{file.path} is {'deleted' if file.deleted else f'at revision {file.revision}'}" for file in files]
    console.result(value, "\n".join(lines))
    return 0
