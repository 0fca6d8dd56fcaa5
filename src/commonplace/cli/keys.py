"""The commands for keys."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from commonplace.cli import books, inputs
from commonplace.cli.arguments import Commands, Option
from commonplace.cli.console import Console, Result, table

if TYPE_CHECKING:
    from commonplace.access.keys import Key

VERBS = Commands(
    "keys",
    """Who may use the book through a server, for what, and how much.

    commonplace keys create --role write --space team-a --label "the build agent"
    commonplace keys create --role read --space 'agents-*' --home agents-shared --expires 30d
    commonplace keys create --plan memstore-free --limit operations_month=5000
    commonplace keys list
    commonplace keys rotate 4k0c2m8x1qaz --grace 1h
    commonplace keys revoke 4k0c2m8x1qaz
    """,
)
_ID = Option("id ID", "the key's public id, the part after cp_")
_HEADS = "ID|LABEL:10|ROLE|SPACES:10|HOME:8|PLAN|LIMITS:10|CREATED|LAST USED|EXPIRES|REVOKED".split("|")
_SAVE_IT = "save it now: it will not be shown again"


def _limit(word: str) -> tuple[str, object]:
    name, value = inputs.pair(word)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{word!r} is not NAME=NUMBER")
    return name, value


@VERBS.add(
    "create",
    Option("--role", "what it allows (write)", choices=("read", "write", "admin"), default="write"),
    Option("--home S", "the space for protocols that name none (the first)"),
    Option("--expires TIME", "how long it is valid: 12h, 30d (forever)", type=inputs.duration),
    Option("--plan NAME", "its limits, by name (unlimited)", default="unlimited"),
    Option("--limit NAME=N", "a limit of its own; may be repeated", action="append", type=_limit, default=[]),
    Option("--label TEXT", "what it is for", default=""),
    space=Option(
        "--space PATTERN", "a space that it opens, * for any characters; may be repeated (default)", action="append"
    ),
)
def _create(args: Namespace, console: Console) -> None:
    """Create a key, and show it once."""
    from commonplace.access import keys

    spaces = args.space or ["default"]  # a text, if it stood before the command's name
    with books.open_or_create_store(args, console) as store:
        key = keys.create(
            store,
            role=args.role,
            spaces=[spaces] if isinstance(spaces, str) else spaces,
            home=args.home,
            label=args.label,
            plan=args.plan,
            limits=dict(args.limit),
            expires=args.expires,
        )
    console.show(Result(key, key.token))
    console.remark(_SAVE_IT)


@VERBS.add("list")
def _list(args: Namespace, console: Console) -> Result:
    """List the keys, revoked ones too; a secret is shown only once, when it is created."""
    from commonplace.access import keys

    with books.open_store(args) as store:
        found = keys.list_keys(store)
    return Result(found, table(_HEADS, map(_row, found), empty="No keys."))


def _row(key: Key) -> tuple[object, ...]:
    limits = " ".join(f"{name}={value:g}" for name, value in key.limits.given.items())
    times = (key.created_at, key.used_at, key.expires_at, key.revoked_at)
    return key.id, key.label, key.role, " ".join(key.spaces), key.home, key.plan, limits, *times


@VERBS.add(
    "rotate",
    _ID,
    Option("--grace TIME", "how long the old secret remains valid: 15m, 12h (not at all)", type=inputs.duration),
)
def _rotate(args: Namespace, console: Console) -> None:
    """Give a key a new secret."""
    from commonplace.access import keys

    with books.open_store(args) as store:
        key = keys.rotate(store, args.id, grace=args.grace or 0)
    console.show(Result(key, key.token))
    console.remark(_SAVE_IT)


@VERBS.add("revoke", _ID)
def _revoke(args: Namespace, console: Console) -> Result:
    """End a key for good, at once and on every server."""
    from commonplace.access import keys

    with books.open_store(args) as store:
        key = keys.revoke(store, args.id)
    return Result(key, f"revoked {key.id}")


@VERBS.add("usage", _ID, Option("--namespace NAMESPACE", "the key-value namespace whose limits to show"))
def _usage(args: Namespace, console: Console) -> Result:
    """Show what a key has used of its limits."""
    from commonplace.access import keys

    with books.open_store(args) as store:
        found = keys.usage(store, args.id, space=args.space, namespace=args.namespace)
    rows = [
        (
            each.name,
            "by namespace" if each.used is None else f"{each.used:,g}",
            f"{each.limit:,.10g}",
            each.resets_at,
        )
        for each in found
    ]
    return Result(found, table(("LIMIT", "USED:>", "OF:>", "RESETS"), rows, empty="This key has no limits."))
