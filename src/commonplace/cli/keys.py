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
    """Manage the API keys of a server: roles, spaces, limits.

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
_SAVE_IT = "store this key now: it is not shown again"


def _limit(word: str) -> tuple[str, object]:
    name, value = inputs.pair(word)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{word!r} is not NAME=NUMBER")
    return name, value


@VERBS.add(
    "create",
    Option("--role", "what the key allows (write)", choices=("read", "write", "admin"), default="write"),
    Option("--home S", "space for dialects whose requests name no space (the first)"),
    Option("--expires TIME", "expires after: 12h, 30d (never)", type=inputs.duration),
    Option("--plan NAME", "plan with the limits of the key (unlimited)", default="unlimited"),
    Option("--limit NAME=N*", "limit that overrides the plan; may be repeated", type=_limit, default=[]),
    Option("--label TEXT", "description, shown by list", default=""),
    space=Option("--space PATTERN*", "space that the key may use, * for any characters; may be repeated (default)"),
)
def _create(args: Namespace, console: Console) -> None:
    """Create a key and print it; it is not shown again."""
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
    """List all keys, including revoked ones, without their secrets."""
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
    Option("--grace TIME", "keep the old secret valid for: 15m, 12h (not at all)", type=inputs.duration),
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
    """Revoke a key permanently, at once and on every server."""
    from commonplace.access import keys

    with books.open_store(args) as store:
        key = keys.revoke(store, args.id)
    return Result(key, f"revoked {key.id}")


@VERBS.add("usage", _ID, Option("--namespace NAMESPACE", "the key-value namespace whose limits to show"))
def _usage(args: Namespace, console: Console) -> Result:
    """Show how much of its limits a key has used."""
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
