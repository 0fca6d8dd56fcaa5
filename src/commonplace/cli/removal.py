"""The commands that remove memories, for good or until further notice."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import Commands, Parser
from commonplace.cli.console import Console, Usage, plural, visible
from commonplace.cli.memories import listed
from commonplace.values import KINDS, Forgotten, Scope

if TYPE_CHECKING:
    from commonplace.book import Book


_SHOWN = 20
"""How many of the memories that would go `prune` lists."""
_FORGET = """\
  commonplace forget ID ID
  commonplace forget --user maria --dry-run
  commonplace forget --filter '{"said_at": {"$lt": "2025-01-01"}}' --yes
"""
_PRUNE = """\
  commonplace prune --older-than 365d --kind message
  commonplace prune --weaker-than 0.1 --dry-run
  commonplace prune --keep 10000 --yes
"""
_QUARANTINE = """\
  commonplace quarantine ID --reason "nobody remembers saying this"
  commonplace quarantine --filter '{"source": "scraper"}' --reason "the page was tampered with"
"""
_RELEASE = """\
  commonplace release ID
  commonplace release --filter '{"source": "scraper"}'
"""


def register(commands: Commands) -> None:
    """Add forget, prune, quarantine and release."""
    _register_forget(commands)
    _register_prune(commands)
    quarantine = arguments.add(
        commands, "quarantine", _quarantine, help="hide memories from recall, with everything learned from them",
        examples=_QUARANTINE,
    )  # fmt: skip
    _which_options(quarantine)
    quarantine.add_argument("--reason", required=True, metavar="WHY", help="reason, shown in the history")
    release = arguments.add(commands, "release", _release, help="end the quarantine of memories", examples=_RELEASE)
    _which_options(release)


def _register_forget(commands: Commands) -> None:
    made = arguments.add(
        commands, "forget", _forget, help="delete memories permanently, with all versions", examples=_FORGET
    )
    _which_options(made)
    made.add_argument(
        "--everything", action="store_true", help="the whole space, with its entries, canvases and transcripts"
    )
    _asking_options(made)


def _register_prune(commands: Commands) -> None:
    made = arguments.add(
        commands, "prune", _prune, help="forget old, weak or surplus memories; shows them first", examples=_PRUNE
    )
    made.add_argument(
        "--older-than", type=inputs.duration, metavar="TIME",
        help="forget memories not said, used or repeated for: 12h, 90d, 52w",
    )  # fmt: skip
    made.add_argument(
        "--weaker-than",
        type=float,
        metavar="X",
        help="forget memories below this strength (age, importance, use), 0 to 1.2",
    )
    made.add_argument("--keep", type=int, metavar="N", help="forget all but the N strongest")
    group = made.add_argument_group("selection")
    group.add_argument(
        "--kind", action="append", choices=KINDS, metavar="KIND", help="only of this kind; may be repeated"
    )
    group.add_argument(
        "--tag", action="append", metavar="TAG", help="only with this tag; if repeated, with all of them"
    )
    _asking_options(made)


def _which_options(made: Parser) -> None:
    """Add options that name memories: ids, a selection, or a scope."""
    made.add_argument("id", nargs="*", metavar="ID", help="id of a memory")
    arguments.selection_options(made)
    arguments.scope_options(made, "exactly the memories of")


def _asking_options(made: Parser) -> None:
    made.add_argument("--dry-run", action="store_true", help="only show what would be forgotten")
    made.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def _forget(args: Namespace, console: Console) -> int:
    selector = _selector(args, everything=args.everything)
    with books.existing(args) as book:
        if args.dry_run:
            would = book.forget(**selector, dry_run=True)  # type: ignore[arg-type]
            console.result(would, "\n".join([*would.ids, f"would forget {_account(would)}"]))
            return 0
        if not args.yes and sys.stdin.isatty():
            would = book.forget(**selector, dry_run=True)  # type: ignore[arg-type]
            if not _confirmed(would):
                console.remark("nothing was forgotten")
                return 1
        gone = book.forget(**selector)  # type: ignore[arg-type]
    console.result(gone, f"forgot {_account(gone)}")
    return 0


def _prune(args: Namespace, console: Console) -> int:
    policy = {
        "older_than": args.older_than,
        "weaker_than": args.weaker_than,
        "keep": args.keep,
        "kinds": args.kind,
        "tags": args.tag,
    }
    if args.older_than is None and args.weaker_than is None and args.keep is None:
        raise Usage("give --older-than, --weaker-than or --keep")
    with books.existing(args) as book:
        if args.dry_run or not args.yes:
            would = book.prune(**policy)
            if args.dry_run or not sys.stdin.isatty():
                console.result(would, f"{_some(book, would)}would forget {_account(would)}")
                if not args.dry_run:
                    console.remark("nothing was forgotten: add --yes to forget")
                return 0
            sys.stderr.write(visible(_some(book, would)))
            if not _confirmed(would):
                console.remark("nothing was forgotten")
                return 1
        gone = book.prune(**policy, dry_run=False)
    console.result(gone, f"forgot {_account(gone)}")
    return 0


def _some(book: Book, would: Forgotten) -> str:
    """Return the first memories that would go, one line each."""
    some = list(would.ids[:_SHOWN])
    if not some:
        return ""
    page = book.list(filter={"id": {"$in": some}}, superseded=True, order="oldest", limit=_SHOWN)
    more = len(would.ids) - _SHOWN
    return listed(page.memories) + "\n" + (f"… and {more:,} more\n" if more > 0 else "")


def _quarantine(args: Namespace, console: Console) -> None:
    selector = _selector(args)
    with books.existing(args) as book:
        ids = book.quarantine(**selector, reason=args.reason)  # type: ignore[arg-type]
    count = plural(len(ids), "memory", "memories")
    console.result(ids, "\n".join([*ids, f"quarantined {count}"]))


def _release(args: Namespace, console: Console) -> None:
    selector = _selector(args)
    with books.existing(args) as book:
        ids = book.release(**selector)  # type: ignore[arg-type]
    console.result(ids, "\n".join([*ids, f"released {plural(len(ids), 'memory', 'memories')}"]))


def _selector(args: Namespace, *, everything: bool | None = None) -> dict[str, object]:
    """Return which memories are meant, named in exactly one way; `everything` is None where it is no option."""
    scope = Scope(user=args.user, agent=args.agent, session=args.session)
    selection = {
        "kinds": args.kind,
        "tags": args.tag,
        "filter": args.filter,
        "scope": None if scope == Scope() else scope,
    }
    chosen = {name: value for name, value in selection.items() if value is not None}
    if sum([bool(args.id), bool(chosen), bool(everything)]) != 1:
        raise Usage(
            f"to {args.command}, give either ids or a selection with --kind, --tag, --filter, --user, --agent and"
            " --session" + ("" if everything is None else ", or --everything")
        )
    if everything:
        return {"everything": True}
    return chosen or {"id": args.id}


def _account(gone: Forgotten) -> str:
    parts = [plural(gone.memories, "memory", "memories")]
    parts += [plural(gone.entries, "entry", "entries")] if gone.entries else []
    parts += [plural(gone.files, "file")] if gone.files else []
    parts += [plural(gone.messages, "message")] if gone.messages else []
    return ", ".join(parts)


def _confirmed(would: Forgotten) -> bool:
    if not any((would.memories, would.entries, would.files, would.messages)):
        return True
    sys.stderr.write(f"Forget {_account(would)}? This cannot be undone. [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
