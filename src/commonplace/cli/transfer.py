"""The commands for whole books: export, import, backup, copy, stats, check, reindex."""

from __future__ import annotations

import argparse
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from commonplace.cli import arguments, books
from commonplace.cli.arguments import Commands
from commonplace.cli.console import Console, Progress, Usage, plural, size
from commonplace.cli.inputs import STDIN
from commonplace.errors import InvalidInput, InvalidText
from commonplace.values import Json, Stats

if TYPE_CHECKING:
    from commonplace.transfer.copy import Copied


_EXPORT = """\
  commonplace export team.jsonl
  commonplace export --space ops | gzip > ops.jsonl.gz
"""
_IMPORT = """\
  commonplace --book copy.db import team.jsonl
  zcat ops.jsonl.gz | commonplace --space ops import -
"""


def register_export(commands: Commands) -> None:
    """Add export, import and backup."""
    out = arguments.add(
        commands, "export", _export, help="write everything in the space as JSON Lines", examples=_EXPORT
    )
    out.add_argument("file", nargs="?", default="-", metavar="FILE", help="output file; - is stdout (-)")
    out.add_argument("--vectors", action="store_true", help="include the vectors, so that import need not embed")
    into = arguments.add(
        commands, "import", _import, help="import what export wrote, all of it or nothing", examples=_IMPORT
    )
    into.add_argument("file", nargs="?", default="-", metavar="FILE", help="input file; - is stdin (-)")
    copy = arguments.add(
        commands, "backup", _backup, help="back up the whole book, even while it is in use",
        examples="  commonplace backup team-2026-05-04.db\n",
    )  # fmt: skip
    copy.add_argument("path", metavar="PATH", help="the new file; an existing one is never overwritten")


def _export(args: Namespace, console: Console) -> None:
    _ensure_not_the_book(args)
    with books.existing(args) as book, _writing(args.file) as stream, Progress("exporting") as progress:
        for record in progress.over(book.export(vectors=args.vectors)):
            stream.write(json.dumps(record, ensure_ascii=_needs_escapes(stream)) + "\n")
    count = progress.done
    if args.file != STDIN:
        console.result({"records": count, "file": args.file}, f"wrote {plural(count, 'record')} to {args.file}")


def _ensure_not_the_book(args: Namespace) -> None:
    where = books.place(args)
    if os.path.exists(args.file) and os.path.exists(where) and os.path.samefile(args.file, where):
        raise Usage(f"{args.file} is the book itself: export to another file")


@contextmanager
def _writing(path: str) -> Iterator[TextIO]:
    """Yield stdout, or a file that gets its name only when it is complete."""
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


def _import(args: Namespace, console: Console) -> None:
    with _reading(args.file) as (lines, total), Progress("reading bytes" if total else "reading", total) as progress:
        records = list(_records(lines, args.file, progress, sized=total is not None))
    with books.writable(args, console) as book:
        if sys.stderr.isatty():
            console.remark(f"embedding and writing {plural(len(records), 'record')}")
        loaded = book.load(records)
    skipped = sum(record.get("type") != "header" for record in records) - loaded
    text = f"imported {plural(loaded, 'record')}"
    text += f"; {skipped:,} already existed" if skipped else ""
    console.result({"loaded": loaded, "skipped": skipped}, text)


@contextmanager
def _reading(path: str) -> Iterator[tuple[Iterable[bytes | str], int | None]]:
    """Yield the lines of a file with its size, or the lines of stdin."""
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
        raise InvalidInput(f"{place} is not JSON: {error}; nothing was stored") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"{place} is not a record written by export; nothing was stored")
    return record


def _backup(args: Namespace, console: Console) -> int:
    with books.existing(args) as book:
        book.backup(args.path)
    copied = Path(args.path).stat().st_size
    console.result({"file": args.path, "bytes": copied}, f"copied the book to {args.path} ({size(copied)})")
    return 0


_COPY = """\
  commonplace copy team.db team-2.db
  commonplace copy team.db team-2.db --space ops --space web
  commonplace copy team.db team-2.db --compare --json
"""


def register_copy(commands: Commands) -> None:
    """Add copy."""
    made = arguments.add(
        commands, "copy", _copy, help="copy a whole book to another place; an interrupted copy can be continued",
        examples=_COPY,
    )  # fmt: skip
    made.add_argument("source", metavar="SRC", help="the book to copy: a path or URL")
    made.add_argument("target", metavar="DST", help="target path or URL; created if missing")
    group = made.add_argument_group("the copy")
    # Every command has --space; this one takes it more than once.
    group.conflict_handler = "resolve"
    group.add_argument(
        "--space", action="append", default=argparse.SUPPRESS, metavar="S", help="only this space; may be repeated"
    )
    group.add_argument("--mirror", action="store_true", help="make DST equal to SRC: also remove and overwrite")
    group.add_argument("--compare", action="store_true", help="copy nothing, only report differences")


def _copy(args: Namespace, console: Console) -> int:
    from commonplace.location import compare, copy

    if args.compare and args.mirror:
        raise Usage("--compare changes nothing: omit --mirror")
    names = [args.space] if isinstance(args.space, str) else args.space
    with Progress("comparing" if args.compare else "copying") as progress:
        if args.compare:
            found = compare(args.source, args.target, names=names, progress=progress.update)
        else:
            found = copy(args.source, args.target, names=names, mirror=args.mirror, progress=progress.update)
    console.result({"ok": found.ok, "problems": found.problems, "parts": found.parts}, _told(found, args))
    return 0 if found.ok else 1


def _told(found: Copied, args: Namespace) -> str:
    from commonplace.location import label

    parts, source, target = found.parts, label(args.source), label(args.target)
    copied, kept, extra = (sum(getattr(part, name) for part in parts) for name in ("copied", "kept", "extra"))
    records, removed = sum(part.records for part in parts), sum(part.removed for part in parts)
    lines = []
    if not args.compare:
        lines.append(f"copied {plural(copied, 'record')} to {target}; {records - copied:,} already existed")
    if removed:
        lines.append(f"removed {plural(removed, 'record')} that {source} does not have")
    if kept:
        lines.append(f"kept {plural(kept, 'record')} that are newer in {target}")
    if extra:
        lines.append(f"{plural(extra, 'record')} only in {target}")
    lines += [f"problem: {problem}" for problem in found.problems]
    counted = ", ".join(f"{count:,} {name}" for name, count in _counted(found).items())
    lines.append(f"{'compared' if args.compare else 'verified'}: {counted or 'nothing'}")
    return "\n".join(lines)


def _counted(found: Copied) -> dict[str, int]:
    """Return how many records of each kind there are in all spaces."""
    counted: dict[str, int] = {}
    for part in found.parts:
        counted[part.part] = counted.get(part.part, 0) + part.records
    return counted


_REINDEX = """\
  commonplace reindex
  commonplace reindex team.db --embedder openai:text-embedding-3-small
"""


def register_care(commands: Commands) -> None:
    """Add stats, check and reindex."""
    arguments.add(
        commands, "stats", _stats, help="show the size of the space and the versions in use",
        examples="  commonplace stats\n  commonplace stats --json\n",
    )  # fmt: skip
    check = arguments.add(
        commands, "check", _check, help="verify the book; exit status 1 if there is a problem",
        examples="  commonplace check\n  commonplace check --deep\n",
    )  # fmt: skip
    check.add_argument("--deep", action="store_true", help="also compare every index with the rows")
    reindex = arguments.add(
        commands, "reindex", _reindex, help="embed all memories again; an interrupted run can be continued",
        examples=_REINDEX,
    )  # fmt: skip
    reindex.add_argument("path", nargs="?", metavar="PATH", help="the book (instead of --book)")


def _stats(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        stats = book.stats()
    console.result(stats, _facts(stats))


def _facts(stats: Stats) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(stats.by_kind.items()))
    facts = {
        "space": stats.space,
        "memories": f"{stats.memories:,} ({kinds})" if kinds else "0",
        "versions": f"{stats.versions:,}",
        "entries": f"{stats.entries:,}",
        "files": f"{stats.files:,}",
        "messages": f"{stats.messages:,}",
        "jobs": f"{stats.jobs:,} waiting",
        "embedder": f"{stats.embedder}, {plural(stats.dimension, 'dimension')}",
        "size": size(stats.bytes),
        "engine": stats.engine,
    }
    return "\n".join(f"{name:<10}{value}" for name, value in facts.items())


def _check(args: Namespace, console: Console) -> int:
    with books.existing(args) as book:
        found = book.check(deep=args.deep)
    counted = ", ".join(f"{count:,} {what}" for what, count in found.checked.items())
    lines = [f"problem: {problem}" for problem in found.problems] or ["The book has no problems."]
    console.result(found, "\n".join([*lines, f"checked: {counted}"]))
    return 0 if found.ok else 1


def _reindex(args: Namespace, console: Console) -> None:
    from commonplace import reindex

    where = books.ensure_there(args.path or books.place(args))
    spec = books.embedder(args)
    with Progress("embedding") as progress:
        count = reindex(where, embedder=spec, progress=progress.update)
    text = f"embedded {plural(count, 'version')} with the embedder {spec or 'default'}"
    console.result({"versions": count, "embedder": spec or "default"}, text)
