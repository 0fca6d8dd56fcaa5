"""copy: a whole book from one store to another."""

from __future__ import annotations

import argparse
from argparse import Namespace
from typing import TYPE_CHECKING

from commonplace.cli import arguments
from commonplace.cli.arguments import Commands
from commonplace.cli.errors import Usage
from commonplace.cli.output import Console, plural
from commonplace.cli.progress import Progress

if TYPE_CHECKING:
    from commonplace.transfer.copy import Copied

_COPY = """\
  commonplace copy team.db team-2.db
  commonplace copy team.db team-2.db --space ops --space web
  commonplace copy team.db team-2.db --compare --json
"""


def register(commands: Commands) -> None:
    """Add the command that copies books."""
    made = arguments.add(
        commands, "copy", _copy, help="copy a book, every space, to another place; run again, it goes on",
        examples=_COPY,
    )  # fmt: skip
    made.add_argument("source", metavar="SRC", help="the book to copy: a path or URL")
    made.add_argument("target", metavar="DST", help="where to: a path or URL, made if it is not there")
    group = made.add_argument_group("the copy")
    # Every command has --space; this one takes it more than once.
    group.conflict_handler = "resolve"
    group.add_argument(
        "--space", action="append", default=argparse.SUPPRESS, metavar="S", help="only this space; may be repeated"
    )
    group.add_argument("--mirror", action="store_true", help="remove from DST what SRC does not have")
    group.add_argument("--compare", action="store_true", help="copy nothing, say how the two differ")


def _copy(args: Namespace, console: Console) -> int:
    from commonplace.location import compare, copy

    if args.compare and args.mirror:
        raise Usage("--compare changes nothing: leave --mirror out")
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
        lines.append(f"copied {plural(copied, 'record')} to {target}; {records - copied:,} stood there already")
    if removed:
        lines.append(f"removed {plural(removed, 'record')} that {source} does not have")
    if kept:
        lines.append(f"left alone {plural(kept, 'record')} further on in {target}")
    if extra:
        lines.append(f"{plural(extra, 'record')} only in {target}")
    lines += [f"problem: {problem}" for problem in found.problems]
    counted = ", ".join(f"{count:,} {name}" for name, count in _counted(found).items())
    lines.append(f"{'compared' if args.compare else 'verified'}: {counted or 'nothing'}")
    return "\n".join(lines)


def _counted(found: Copied) -> dict[str, int]:
    """How many records of each kind there are in all spaces."""
    counted: dict[str, int] = {}
    for part in found.parts:
        counted[part.part] = counted.get(part.part, 0) + part.records
    return counted
