"""kv: JSON values under names."""

from __future__ import annotations

import json
from argparse import Namespace

from commonplace.cli import arguments, inputs, opened
from commonplace.cli.arguments import Commands, Parser
from commonplace.cli.output import Console
from commonplace.errors import NotFound
from commonplace.values import Entry, Json

_EXAMPLES = """\
  commonplace kv set release plan '{"step": 1}'
  commonplace kv get release plan
  commonplace kv set release plan '{"step": 2}' --if-version 1
  commonplace kv append release log '"tests are green"' '"tagged"'
  commonplace kv keys release
"""


def register(commands: Commands) -> None:
    """Add `kv` and its verbs."""
    verbs = arguments.add_group(
        commands, "kv", help="plain key-value state: JSON values under names", examples=_EXAMPLES
    )
    arguments.add(verbs, "list", _list, help="list the namespaces")
    keys = arguments.add(verbs, "keys", _keys, help="list the keys of a namespace")
    keys.add_argument("namespace", metavar="NAMESPACE", help="the namespace")
    keys.add_argument("prefix", nargs="?", default="", metavar="PREFIX", help="only keys that begin with it")
    _key(arguments.add(verbs, "get", _get, help="show the value of a key"))
    _register_set(verbs)
    append = _key(arguments.add(verbs, "append", _append, help="add items to the end of a list, in one step"))
    append.add_argument("item", nargs="+", metavar="ITEM", help="JSON, or text where it is no JSON; - reads stdin")
    delete = _key(arguments.add(verbs, "delete", _delete, help="delete a key"))
    arguments.if_version_option(delete, "the entry")


def _register_set(verbs: Commands) -> None:
    made = _key(arguments.add(verbs, "set", _set, help="set the value of a key"))
    made.add_argument(
        "value", nargs="?", metavar="VALUE", help="JSON, or text where it is no JSON; - or nothing reads stdin"
    )
    made.add_argument("--ttl", type=inputs.duration, metavar="TIME", help="how long it lives: 90, 15m, 12h, 7d, 2w")
    arguments.if_version_option(made, "the entry")


def _key(made: Parser) -> Parser:
    made.add_argument("namespace", metavar="NAMESPACE", help="the namespace")
    made.add_argument("key", metavar="KEY", help="the key")
    return made


def _list(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        names = book.namespaces()
    console.result(names, "\n".join(names))
    return 0


def _keys(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        keys = book.kv(args.namespace).keys(args.prefix)
    console.result(keys, "\n".join(keys))
    return 0


def _get(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        entry = book.kv(args.namespace).entry(args.key)
    if entry is None:
        raise NotFound(f"nothing stands under {args.key!r} in {args.namespace!r}")
    console.result(entry, shown(entry.value) + "\n")
    return 0


def _set(args: Namespace, console: Console) -> int:
    value = inputs.value(inputs.text_or_stdin(args.value, "the value"))
    with opened.writable(args, console) as book:
        entry = book.kv(args.namespace).set(args.key, value, ttl=args.ttl, if_version=args.if_version)
    return _written(entry, console)


def _append(args: Namespace, console: Console) -> int:
    items = [inputs.value(inputs.text(item)) for item in args.item]
    with opened.writable(args, console) as book:
        entry = book.kv(args.namespace).append(args.key, *items)
    return _written(entry, console)


def _written(entry: Entry, console: Console) -> int:
    console.result(entry, f"{entry.key} is at version {entry.version}")
    return 0


def _delete(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        deleted = book.kv(args.namespace).delete(args.key, if_version=args.if_version)
    console.result({"deleted": deleted}, f"deleted {args.key}" if deleted else f"nothing stood under {args.key}")
    return 0


def shown(value: Json) -> str:
    """A text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
