"""The commands for keys."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import Commands, Parser
from commonplace.cli.console import Column, Console, columns, moment, table

if TYPE_CHECKING:
    from commonplace.access.keys import Key, NewKey, Usage


_EXAMPLES = """\
  commonplace keys create --role write --space team-a --label "the build agent"
  commonplace keys create --role read --space 'agents-*' --home agents-shared --expires 30d
  commonplace keys create --plan memstore-free --limit operations_month=5000
  commonplace keys list
  commonplace keys rotate 4k0c2m8x1qaz --grace 1h
  commonplace keys revoke 4k0c2m8x1qaz
"""
_KEYS = (
    Column("ID"),
    Column("LABEL", least=10),
    Column("ROLE"),
    Column("SPACES", least=10),
    Column("HOME", least=8),
    Column("PLAN"),
    Column("LIMITS", least=10),
    Column("CREATED"),
    Column("LAST USED"),
    Column("EXPIRES"),
    Column("REVOKED"),
)
_USAGE = (
    Column("LIMIT"),
    Column("USED", right=True),
    Column("OF", right=True),
    Column("RESETS"),
)


def register(commands: Commands) -> None:
    """Add `keys` and its verbs."""
    verbs = arguments.add_group(
        commands, "keys", help="manage the API keys of a server: roles, spaces, limits", examples=_EXAMPLES
    )
    _register_create(verbs)
    arguments.add(verbs, "list", _list, help="list all keys, including revoked ones, without their secrets")
    rotate = _id(arguments.add(verbs, "rotate", _rotate, help="give a key a new secret"))
    rotate.add_argument(
        "--grace",
        type=inputs.duration,
        metavar="TIME",
        help="keep the old secret valid for: 15m, 12h (not at all)",
    )
    _id(arguments.add(verbs, "revoke", _revoke, help="revoke a key permanently, at once and on every server"))
    usage = _id(arguments.add(verbs, "usage", _usage, help="show how much of its limits a key has used"))
    usage.add_argument("--namespace", metavar="NAMESPACE", help="the key-value namespace whose limits to show")


def _register_create(verbs: Commands) -> None:
    made = arguments.add(
        verbs, "create", _create, help="create a key and print it; it is not shown again",
        patterns="space that the key may use, * for any characters; may be repeated (default)",
    )  # fmt: skip
    made.add_argument("--role", choices=("read", "write", "admin"), default="write", help="what the key allows (write)")
    made.add_argument("--home", metavar="S", help="space for dialects whose requests name no space (the first)")
    made.add_argument("--expires", type=inputs.duration, metavar="TIME", help="expires after: 12h, 30d (never)")
    made.add_argument("--plan", default="unlimited", metavar="NAME", help="plan with the limits of the key (unlimited)")
    made.add_argument(
        "--limit",
        action="append",
        type=_limit,
        default=[],
        metavar="NAME=N",
        help="limit that overrides the plan; may be repeated",
    )
    made.add_argument("--label", default="", metavar="TEXT", help="description, shown by list")


def _id(made: Parser) -> Parser:
    made.add_argument("id", metavar="ID", help="the key's public id, the part after cp_")
    return made


def _limit(word: str) -> tuple[str, object]:
    name, value = inputs.pair(word)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{word!r} is not NAME=NUMBER")
    return name, value


def _create(args: Namespace, console: Console) -> None:
    from commonplace.access import keys

    given = args.space or ["default"]  # a text, if it stood before the command's name
    with books.writable_store(args, console) as store:
        made = keys.create(
            store,
            role=args.role,
            spaces=[given] if isinstance(given, str) else given,
            home=args.home,
            label=args.label,
            plan=args.plan,
            limits=dict(args.limit),
            expires=args.expires,
        )
    _shown(made, console)


def _shown(made: NewKey, console: Console) -> None:
    console.result(made, made.token)
    console.remark("store this key now: it is not shown again")


def _list(args: Namespace, console: Console) -> None:
    from commonplace.access import keys

    with books.store(args) as store:
        found = keys.list_keys(store)
    console.result(found, table(_KEYS, [_row(key) for key in found], limit=columns()) if found else "No keys.")


def _row(key: Key) -> tuple[str, ...]:
    limits = " ".join(f"{name}={value:g}" for name, value in key.limits.given.items())
    times = (moment(each) for each in (key.created_at, key.used_at, key.expires_at, key.revoked_at))
    return key.id, key.label, key.role, " ".join(key.spaces), key.home, key.plan, limits, *times


def _rotate(args: Namespace, console: Console) -> None:
    from commonplace.access import keys

    with books.store(args) as store:
        _shown(keys.rotate(store, args.id, grace=args.grace or 0), console)


def _revoke(args: Namespace, console: Console) -> None:
    from commonplace.access import keys

    with books.store(args) as store:
        key = keys.revoke(store, args.id)
    console.result(key, f"revoked {key.id}")


def _usage(args: Namespace, console: Console) -> None:
    from commonplace.access import keys

    with books.store(args) as store:
        found = keys.usage(store, args.id, space=args.space, namespace=args.namespace)
    rows = [_usage_row(each) for each in found]
    console.result(found, table(_USAGE, rows, limit=columns()) if rows else "This key has no limits.")


def _usage_row(usage: Usage) -> tuple[str, ...]:
    used = "by namespace" if usage.used is None else f"{usage.used:,g}"
    return usage.name, used, f"{usage.limit:,.10g}", moment(usage.resets_at)
