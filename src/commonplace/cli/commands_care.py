"""stats, check, reindex: how a book is doing, and the care of it."""

from __future__ import annotations

from argparse import Namespace

from commonplace.cli import arguments, opened
from commonplace.cli.arguments import Commands
from commonplace.cli.output import Console, plural, size
from commonplace.cli.progress import Progress
from commonplace.values import Stats

_REINDEX = """\
  commonplace reindex
  commonplace reindex team.db --embedder openai:text-embedding-3-small
"""


def register(commands: Commands) -> None:
    """Add the commands that look after a book."""
    arguments.add(
        commands, "stats", _stats, help="how much the space holds, and with what",
        examples="  commonplace stats\n  commonplace stats --json\n",
    )  # fmt: skip
    check = arguments.add(
        commands, "check", _check, help="verify the book; exit status 1 if anything is wrong",
        examples="  commonplace check\n  commonplace check --deep\n",
    )  # fmt: skip
    check.add_argument("--deep", action="store_true", help="compare every index with the rows")
    reindex = arguments.add(
        commands, "reindex", _reindex, help="embed the book anew; it stays usable, and a stopped run goes on",
        examples=_REINDEX,
    )  # fmt: skip
    reindex.add_argument("path", nargs="?", metavar="PATH", help="the book, if not --book")


def _stats(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        stats = book.stats()
    console.result(stats, _facts(stats))
    return 0


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
    with opened.existing(args) as book:
        found = book.check(deep=args.deep)
    counted = ", ".join(f"{count:,} {what}" for what, count in found.checked.items())
    lines = [f"problem: {problem}" for problem in found.problems] or ["The book is sound."]
    console.result(found, "\n".join([*lines, f"checked: {counted}"]))
    return 0 if found.ok else 1


def _reindex(args: Namespace, console: Console) -> int:
    from commonplace import reindex

    where = opened.ensure_there(args.path or opened.place(args))
    spec = opened.embedder(args)
    with Progress("embedding") as progress:
        count = reindex(where, embedder=spec, progress=progress.update)
    text = f"embedded {plural(count, 'version')} anew with the embedder {spec or 'default'}"
    console.result({"versions": count, "embedder": spec or "default"}, text)
    return 0
