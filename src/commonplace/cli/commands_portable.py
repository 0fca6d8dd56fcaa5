"""export, import, backup: a book out of its file and in again."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from commonplace.cli import arguments, opened
from commonplace.cli.arguments import Commands
from commonplace.cli.errors import Usage
from commonplace.cli.inputs import STDIN
from commonplace.cli.output import Console, plural, size
from commonplace.cli.progress import Progress
from commonplace.errors import InvalidInput, InvalidText
from commonplace.values import Json

_EXPORT = """\
  commonplace export team.jsonl
  commonplace export --space ops | gzip > ops.jsonl.gz
"""
_IMPORT = """\
  commonplace --book copy.db import team.jsonl
  zcat ops.jsonl.gz | commonplace --space ops import -
"""


def register(commands: Commands) -> None:
    """Add the commands that move books."""
    out = arguments.add(
        commands, "export", _export, help="write everything in the space as JSON Lines", examples=_EXPORT
    )
    out.add_argument("file", nargs="?", default="-", metavar="FILE", help="where to; - is stdout (-)")
    out.add_argument("--vectors", action="store_true", help="with the vectors, so that import embeds nothing")
    into = arguments.add(
        commands, "import", _import, help="take in what export wrote, all of it or nothing", examples=_IMPORT
    )
    into.add_argument("file", nargs="?", default="-", metavar="FILE", help="where from; - is stdin (-)")
    copy = arguments.add(
        commands, "backup", _backup, help="copy the whole book, every space, while it is in use",
        examples="  commonplace backup team-2026-05-04.db\n",
    )  # fmt: skip
    copy.add_argument("path", metavar="PATH", help="the new file; an existing one is never overwritten")


def _export(args: Namespace, console: Console) -> int:
    _ensure_not_the_book(args)
    with opened.existing(args) as book, _writing(args.file) as stream, Progress("exporting") as progress:
        for record in progress.over(book.export(vectors=args.vectors)):
            stream.write(json.dumps(record, ensure_ascii=_needs_escapes(stream)) + "\n")
    count = progress.done
    if args.file != STDIN:
        console.result({"records": count, "file": args.file}, f"wrote {plural(count, 'record')} to {args.file}")
    return 0


def _ensure_not_the_book(args: Namespace) -> None:
    where = opened.place(args)
    if os.path.exists(args.file) and os.path.exists(where) and os.path.samefile(args.file, where):
        raise Usage(f"{args.file} is the book itself: export to another file")


@contextmanager
def _writing(path: str) -> Iterator[TextIO]:
    """Stdout, or a file that appears under its name only when it is whole."""
    if path == STDIN:
        yield sys.stdout
        return
    part = Path(f"{path}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _needs_escapes(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "") != "utf8"


def _import(args: Namespace, console: Console) -> int:
    with _reading(args.file) as (lines, total), Progress("reading bytes" if total else "reading", total) as progress:
        records = list(_records(lines, args.file, progress, sized=total is not None))
    with opened.writable(args, console) as book:
        if sys.stderr.isatty():
            console.remark(f"embedding and writing {plural(len(records), 'record')}")
        loaded = book.load(records)
    skipped = sum(record.get("type") != "header" for record in records) - loaded
    text = f"took in {plural(loaded, 'record')}"
    text += f"; {skipped:,} stood there already" if skipped else ""
    console.result({"loaded": loaded, "skipped": skipped}, text)
    return 0


@contextmanager
def _reading(path: str) -> Iterator[tuple[Iterable[bytes | str], int | None]]:
    """The lines of a file with its size, or those of stdin."""
    if path == STDIN:
        yield getattr(sys.stdin, "buffer", sys.stdin), None
        return
    with open(path, "rb") as stream:
        yield stream, os.fstat(stream.fileno()).st_size


def _records(lines: Iterable[bytes | str], path: str, progress: Progress, *, sized: bool) -> Iterator[dict[str, Json]]:
    place, read = "stdin" if path == STDIN else path, 0
    for number, line in enumerate(lines, start=1):
        read += len(line)
        if line.strip():
            yield _record(line, f"{place}, line {number}")
        progress.update(read if sized else number)


def _record(line: bytes | str, place: str) -> dict[str, Json]:
    try:
        record = json.loads(line)
    except UnicodeDecodeError as error:
        raise InvalidText(f"{place} is not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{place} is not JSON: {error}; nothing was taken in") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"{place} is no record that export wrote; nothing was taken in")
    return record


def _backup(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        book.backup(args.path)
    copied = Path(args.path).stat().st_size
    console.result({"file": args.path, "bytes": copied}, f"copied the book to {args.path} ({size(copied)})")
    return 0
