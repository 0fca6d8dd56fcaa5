"""The commands about persons: erase one, list the users, and the receipts of erasures."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import Commands, Option, Section
from commonplace.cli.console import Console, Result, UsageError, escape_controls, plural, table
from commonplace.errors import InvalidInput
from commonplace.values import PERSON_PARTS, Forgotten, Receipt

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.store.base import Store

COMMANDS = Commands()

_SHOWN = 20
"""Mentions that are listed."""
_PARTS = (("memories", "memory"), ("entries", "entry"), ("files", "file"), ("messages", "message"))


@COMMANDS.on_book("users")
def _users(book: Book, args: Namespace) -> Result:
    """List the users to whom something belongs.

    commonplace users
    """
    users = book.users()
    rows = [(each.name, each.memories, each.entries, each.files, each.messages) for each in users]
    columns = ("USER:20", "MEMORIES:>", "ENTRIES:>", "FILES:>", "MESSAGES:>")
    return Result(users, table(columns, rows, empty="No users."))


@COMMANDS.add(
    "erase",
    Section("whom", *(Option(f"--{part} {part.upper()}", f"the {part}") for part in PERSON_PARTS)),
    Option("--dry-run", "only show what would be erased"),
    Option("--yes", "do not ask for confirmation"),
)
def _erase(args: Namespace, console: Console) -> Result | int:
    """Erase everything that belongs to a user, agent, session or source.

    commonplace erase --user maria --dry-run
    commonplace erase --user maria --yes
    """
    person = arguments.pick(args, *PERSON_PARTS)
    if len(person) != 1:
        raise UsageError("name one: --user, --agent, --session or --source")
    with books.open_existing(args) as book:
        if args.dry_run or not args.yes:
            would = book.forget(**person, dry_run=True)
            if args.dry_run or not sys.stdin.isatty():
                notice = "" if args.dry_run else "nothing was erased: add --yes to erase"
                return Result(would, f"would erase {_counts(would)}{_mentions(would)}", notice=notice)
            if not _confirm(would, console):
                return 1
        gone = book.forget(**person)
    receipt: Any = gone.receipt
    state = "the bytes are gone" if receipt.settled_at else "some bytes are left: commonplace receipts settle"
    return Result(gone, f"erased {_counts(gone)}{_mentions(gone)}\nreceipt {receipt.number}: {state}")


def _confirm(would: Forgotten, console: Console) -> bool:
    sys.stderr.write(escape_controls(f"Erase {_counts(would)}? This cannot be undone. [y/N] "))
    sys.stderr.flush()
    confirmed = sys.stdin.readline().strip().lower() in ("y", "yes")
    if not confirmed:
        console.remark("nothing was erased")
    return confirmed


def _counts(gone: Forgotten) -> str:
    counts = [(getattr(gone, many), one, many) for many, one in _PARTS]
    return ", ".join(plural(*each) for each in counts if each[0]) or "nothing"


def _mentions(gone: Forgotten) -> str:
    if not gone.mentions:
        return ""
    lines = [f"  {each.part} {each.place} ({each.reason})" for each in gone.mentions[:_SHOWN]]
    more = len(gone.mentions) - _SHOWN
    lines += [f"  … and {more:,} more"] if more > 0 else []
    return "\nto be decided, since others wrote it:\n" + "\n".join(lines)


@COMMANDS.on_book(
    "receipts",
    Option(
        "action ACTION?",
        "list, verify, settle, or again",
        choices=("list", "verify", "settle", "again"),
        default="list",
    ),
    Option("file FILE?", "receipts that `receipts --json` wrote; - is stdin"),
)
def _receipts(book: Book, args: Namespace) -> Result:
    """List, verify or settle the receipts of erasures, or erase again after a restore.

    commonplace receipts --json > receipts.json
    commonplace receipts verify receipts.json
    commonplace receipts settle
    commonplace receipts again receipts.json
    """
    if args.action in ("list", "settle") and args.file is not None:
        raise UsageError(f"receipts {args.action} reads no file")
    if args.action == "again" and args.file is None:
        raise UsageError("give the file that `receipts --json` wrote before the restore")
    if args.action == "verify":
        verdict = book.verify_receipts(_read(args.file) if args.file else ())
        text = "\n".join([*verdict.problems, f"{plural(verdict.checked['receipts'], 'receipt')} checked"])
        return Result(
            {"ok": verdict.ok, "problems": verdict.problems, "checked": verdict.checked}, text,
            status=0 if verdict.ok else 1,
        )  # fmt: skip
    if args.action == "again":
        found = book.erase_again(_read(args.file))
        return Result(found, f"erased {plural(len(found), 'person', 'persons')} again")
    return _list(book.settle_receipts() if args.action == "settle" else book.receipts())


def _list(found: list[Receipt]) -> Result:
    rows = [
        (
            each.number,
            each.at,
            each.part,
            each.by,
            sum(each.counts[part] for part, _ in _PARTS),
            each.settled_at or "not yet",
        )
        for each in found
    ]
    columns = ("NUMBER:>", "AT", "OF", "BY", "RECORDS:>", "BYTES GONE")
    return Result(found, table(columns, rows, empty="No receipts."))


def _read(path: str) -> list[Receipt]:
    from commonplace import wire

    place = "stdin" if path == inputs.STDIN else path
    try:
        found = json.loads(inputs.file_text(path))
    except ValueError as error:
        raise InvalidInput(f"{place} is not JSON: {error}") from error
    if not isinstance(found, list):
        raise InvalidInput(f"{place} is not a list of receipts")
    return [wire.read(Receipt, each) for each in found]


@COMMANDS.on_store(
    "probe",
    Option("text TEXT*", "a text that belonged to the person"),
    Option("--person NAME", "the name of the user, agent, session or source", required=True),
)
def _probe(store: Store, args: Namespace) -> Result:
    """Look for what is left of an erased person, in all spaces.

    commonplace probe --person maria
    commonplace probe --person maria "Hauptstrasse 7" maria@example.org
    """
    from commonplace.location import probe

    found = probe(store, args.person, args.text)
    lines = [f"{each.where}: {each.count:,}" for each in found.found] or ["nothing was found"]
    lines += [f"not seen: {each}" for each in found.unseen]
    value = {"ok": found.ok, "found": found.found, "searched": found.searched, "unseen": found.unseen}
    return Result(value, "\n".join(lines), status=0 if found.ok else 1)
