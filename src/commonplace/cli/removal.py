"""The commands that remove memories, permanently or until they are released."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import KIND_FILTER, TAG_FILTER, Commands, Option, Section
from commonplace.cli.console import Console, Result, UsageError, escape_controls, plural
from commonplace.cli.memories import memory_table
from commonplace.values import Forgotten, Scope

if TYPE_CHECKING:
    from commonplace.book import Book

COMMANDS = Commands()

_PREVIEW = 20
"""How many of the memories that would be forgotten `prune` lists."""
_WHICH = (
    Option("id ID*", "id of a memory"),
    arguments.SELECTION,
    arguments.scope_section("exactly the memories of"),
)
_CONFIRMATION = (
    Option("--dry-run", "only show what would be forgotten"),
    Option("--yes", "do not ask for confirmation"),
)


@COMMANDS.add(
    "forget",
    *_WHICH,
    Option("--everything", "the whole space, with its entries, canvases and transcripts"),
    *_CONFIRMATION,
)
def _forget(args: Namespace, console: Console) -> Result | int:
    """Delete memories permanently, with all versions.

    commonplace forget ID ID
    commonplace forget --user maria --dry-run
    commonplace forget --filter '{"said_at": {"$lt": "2025-01-01"}}' --yes
    commonplace forget --everything --yes
    """
    selector = _selector(args, everything=args.everything)
    if args.everything and not (args.yes or args.dry_run or sys.stdin.isatty()):
        raise UsageError("--everything without a terminal to ask at needs --yes: nothing was forgotten")
    with books.open_existing(args) as book:
        if args.dry_run or (not args.yes and sys.stdin.isatty()):
            would = book.forget(**selector, dry_run=True)
            if args.dry_run:
                return Result(would, "\n".join([*would.ids, f"would forget {_counts(would)}"]))
            if not _confirm(would, console):
                return 1
        gone = book.forget(**selector)
    return Result(gone, f"forgot {_counts(gone)}")


@COMMANDS.add(
    "prune",
    Option("--older-than TIME", "forget memories not said, used or repeated for: 12h, 90d, 52w", type=inputs.duration),
    Option("--weaker-than X", "forget memories below this strength (age, importance, use), 0 to 1.2", type=float),
    Option("--keep N", "forget all but the N strongest", type=int),
    Section("selection", KIND_FILTER, TAG_FILTER),
    *_CONFIRMATION,
)
def _prune(args: Namespace, console: Console) -> Result | int:
    """Forget old, weak or surplus memories; shows them first.

    commonplace prune --older-than 365d --kind message
    commonplace prune --weaker-than 0.1 --dry-run
    commonplace prune --keep 10000 --yes
    """
    limits = arguments.pick(args, "older_than", "weaker_than", "keep")
    if not limits:
        raise UsageError("give --older-than, --weaker-than or --keep")
    policy = {**limits, "kinds": args.kinds, "tags": args.tags}
    with books.open_existing(args) as book:
        if args.dry_run or not args.yes:
            would = book.prune(**policy)
            preview = _preview(book, would)
            if args.dry_run or not sys.stdin.isatty():
                notice = "" if args.dry_run else "nothing was forgotten: add --yes to forget"
                return Result(would, f"{preview}would forget {_counts(would)}", notice=notice)
            sys.stderr.write(escape_controls(preview))
            if not _confirm(would, console):
                return 1
        gone = book.prune(**policy, dry_run=False)
    return Result(gone, f"forgot {_counts(gone)}")


def _preview(book: Book, would: Forgotten) -> str:
    """Return the first memories that would be forgotten, one line each."""
    first = list(would.ids[:_PREVIEW])
    if not first:
        return ""
    page = book.list(filter={"id": {"$in": first}}, superseded=True, order="oldest", limit=_PREVIEW)
    more = len(would.ids) - _PREVIEW
    return memory_table(page.memories) + "\n" + (f"… and {more:,} more\n" if more > 0 else "")


@COMMANDS.add("quarantine", *_WHICH, Option("--reason WHY", "reason, shown in the history", required=True))
def _quarantine(args: Namespace, console: Console) -> Result:
    """Hide memories from recall, with everything learned from them.

    commonplace quarantine ID --reason "nobody remembers saying this"
    commonplace quarantine --filter '{"source": "scraper"}' --reason "the page was tampered with"
    """
    selector = _selector(args)
    with books.open_existing(args) as book:
        ids = book.quarantine(**selector, reason=args.reason)
    return Result(ids, "\n".join([*ids, f"quarantined {plural(len(ids), 'memory', 'memories')}"]))


@COMMANDS.add("release", *_WHICH)
def _release(args: Namespace, console: Console) -> Result:
    """End the quarantine of memories.

    commonplace release ID
    commonplace release --filter '{"source": "scraper"}'
    """
    selector = _selector(args)
    with books.open_existing(args) as book:
        ids = book.release(**selector)
    return Result(ids, "\n".join([*ids, f"released {plural(len(ids), 'memory', 'memories')}"]))


def _selector(args: Namespace, *, everything: bool | None = None) -> dict[str, Any]:
    """Return the selected memories, named in exactly one way; `everything` is None where it is no option."""
    scope, given = arguments.scope(args), arguments.pick(args, "kinds", "tags", "filter")
    if scope != Scope():
        given["scope"] = scope
    if sum([bool(args.id), bool(given), bool(everything)]) != 1:
        raise UsageError(
            f"to {args.command}, give either ids or a selection with --kind, --tag, --filter, --user, --agent and"
            " --session" + ("" if everything is None else ", or --everything")
        )
    if everything:
        return {"everything": True}
    return given or {"id": args.id}


def _counts(gone: Forgotten) -> str:
    others = ((gone.entries, "entry", "entries"), (gone.files, "file", "files"), (gone.messages, "message", "messages"))
    return ", ".join([plural(gone.memories, "memory", "memories"), *(plural(*each) for each in others if each[0])])


def _confirm(would: Forgotten, console: Console) -> bool:
    if not any((would.memories, would.entries, would.files, would.messages)):
        return True
    sys.stderr.write(f"Forget {_counts(would)}? This cannot be undone. [y/N] ")
    sys.stderr.flush()
    confirmed = sys.stdin.readline().strip().lower() in ("y", "yes")
    if not confirmed:
        console.remark("nothing was forgotten")
    return confirmed
