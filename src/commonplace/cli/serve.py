"""The commands that run servers, and those for the keys of a server."""

from __future__ import annotations

import ipaddress
import signal
import sys
import time
from argparse import ArgumentTypeError, Namespace
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.cli import books, inputs
from commonplace.cli.arguments import Commands, Option, Section, pick
from commonplace.cli.console import Console, Result, table
from commonplace.errors import InvalidInput, ModelUnavailable, StoreError, missing_package
from commonplace.store.postgres.local import LocalPostgres

if TYPE_CHECKING:
    from commonplace.access.keys import Key
    from commonplace.server.config import Config, Listener
    from commonplace.store.base import Store


SERVE = Commands()
POSTGRES = Commands()


@SERVE.add(
    "serve",
    Option("where PATH|URL?", "the book (as --book)"),
    Section(
        "where it listens",
        Option("--host HOST", "address; other than loopback requires keys (127.0.0.1)", default="127.0.0.1"),
        Option("--port N", "port; 0 chooses a free one (8420)", type=int, default=8420),
        Option("--workers N", "processes that share the port (1)", type=int, default=1),
        Option("--tls-certificate FILE", "serve HTTPS with this certificate", type=Path, dest="certificate"),
        Option("--tls-key FILE", "the certificate's private key", type=Path, dest="private_key"),
    ),
    Section(
        "how it serves",
        Option("--threads N", "worker threads of each process (2)", type=int, default=2),
        Option("--no-work", "do not run jobs; `commonplace work` does"),
        Option("--extractor SPEC", "how memories are found: reader or openai:MODEL (reader)"),
        Option("--cors ORIGIN*", "allow web pages of this origin; may be repeated"),
        Option("--sign-up PLAN", "let anybody create a key with this plan and its own space"),
        Option("--telemetry", "report requests to OpenTelemetry, without content"),
    ),
)
def _serve(args: Namespace, console: Console) -> None:
    """Serve the book over HTTP until Ctrl-C.

    commonplace serve
    commonplace serve team.db --port 9000 --workers 2
    commonplace serve postgresql://db/agents --host 0.0.0.0 --tls-certificate cert.pem --tls-key key.pem
    """
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        if find_spec(package) is None:
            raise ModelUnavailable(missing_package("the server", package, "server"))
    from commonplace.location import label
    from commonplace.server import run

    listener, config = _listener(args), _config(args)
    has_keys = _prepare(config, listener, console)
    sock = run.bind(listener.host, listener.port)
    host = f"[{listener.host}]" if ":" in listener.host else listener.host
    url = f"{listener.scheme}://{host}:{sock.getsockname()[1]}"
    book = label(config.book)
    console.show(Result({"url": url, "book": book}, _welcome(url, book, config.space, has_keys=has_keys)))
    # uvicorn re-raises the signal after its own shutdown; nothing is left to end then.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        run.run(config, listener, sock)
    except KeyboardInterrupt:
        console.remark("stopped")
    finally:
        signal.signal(signal.SIGTERM, before)


def _listener(args: Namespace) -> Listener:
    from commonplace.server.config import Listener

    if (args.certificate is None) != (args.private_key is None):
        raise InvalidInput("HTTPS needs both --tls-certificate and --tls-key")
    if not 0 <= args.port <= 65_535:
        raise InvalidInput(f"--port is a number from 0 to 65535, not {args.port}")
    if not 1 <= args.workers <= 64:
        raise InvalidInput(f"--workers is a number from 1 to 64, not {args.workers}")
    return Listener(**pick(args, "host", "port", "workers", "certificate", "private_key"))


def _config(args: Namespace) -> Config:
    from commonplace.server.config import Config

    return Config(
        book=args.where or books.place(args),
        embedder=books.setting(args, "embedder"),
        closed=not _is_loopback(args.host),
        work=not args.no_work,
        cors_origins=tuple(args.cors or ()),
        space=args.space or "default",
        **pick(args, "reranker", "reader", "extractor", "threads", "sign_up", "telemetry"),
    )


def _prepare(config: Config, listener: Listener, console: Console) -> bool:
    """Open the book once before listening, so that errors are reported here; return whether it has keys."""
    from commonplace.access import keys
    from commonplace.location import label, open_core

    core = open_core(config.book, space=config.space, embedder=config.embedder, reader=config.reader or "default")
    try:
        core.prove()
        if core.reader is not None:
            core.reader()
        has_keys = keys.exist(core.store)
        if config.sign_up is not None and not has_keys:
            raise InvalidInput(
                "with --sign-up anybody may create a key, and you would need one, too: create yours first"
                f" (commonplace --book {label(config.book)} keys create --role admin --space '*')"
            )
        if config.closed and not has_keys:
            raise InvalidInput(
                f"{listener.host} can be reached from other machines, and this book has no keys: create one first"
                f" (commonplace --book {label(config.book)} keys create --role admin --space '*'),"
                " or serve on loopback"
            )
    finally:
        core.close()
    if not _is_loopback(listener.host) and listener.certificate is None:
        console.remark("keys and memories are sent unencrypted: use --tls-certificate, or a proxy with TLS")
    return has_keys


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _welcome(url: str, book: str, space: str, *, has_keys: bool) -> str:
    # With keys, the reader has one of their own; it must not be printed.
    header = ' -H "Authorization: Bearer $COMMONPLACE_API_KEY"' if has_keys else ""
    base = f"{url}/v1/spaces/{space}"
    return f"""\
commonplace serves {book} at {url}  (Ctrl-C ends it)

  curl -s {base}/memories{header} --json '{{"content": "We chose FastAPI because of async support"}}'
  curl -s {base}/recall{header} --json '{{"query": "why FastAPI?"}}'

  {url}/docs shows every route
"""


_READY = """\
PostgreSQL with pgvector is ready; Ctrl-C stops it, and the data stays in {directory}
  {url}
In another terminal:
  commonplace --book '{url}' remember "something worth keeping"
"""


@POSTGRES.add(
    "postgres",
    Option("directory DIRECTORY", "directory of its data; created if missing"),
    Option("--port N", "the port on 127.0.0.1 (the last one if free, else any)", type=int, default=0),
)
def _postgres(args: Namespace, console: Console) -> None:
    """Run a local PostgreSQL with pgvector until Ctrl-C.

    commonplace postgres ./pgdata
    commonplace postgres ./pgdata --port 5433 --json
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # handled as Ctrl-C is
    try:
        with LocalPostgres(args.directory, port=args.port) as server, suppress(KeyboardInterrupt):
            text = _READY.format(directory=server.directory, url=server.url)
            console.show(Result({"url": server.url, "pid": server.pid}, text))
            sys.stdout.flush()
            while server.pid is not None:
                time.sleep(0.5)
            raise StoreError(f"the server stopped unexpectedly; see {server.log}")
    finally:
        signal.signal(signal.SIGTERM, before)


KEYS = Commands(
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
_STORE_IT = "store this key now: it is not shown again"


def _limit(word: str) -> tuple[str, object]:
    name, value = inputs.pair(word)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{word!r} is not NAME=NUMBER")
    return name, value


@KEYS.add(
    "create",
    Option("--role", "what the key allows (write)", choices=("read", "write", "admin"), default="write"),
    Option("--home S", "space for dialects whose requests name no space (the first)"),
    Option("--expires TIME", "expires after: 12h, 30d (never)", type=inputs.duration),
    Option("--plan NAME", "plan with the limits of the key (unlimited)", default="unlimited"),
    Option("--limit NAME=N*", "limit that overrides the plan; may be repeated", type=_limit, default=[]),
    Option("--label TEXT", "description, shown by list", default=""),
    space=Option("--space PATTERN*", "space that the key may use, * for any characters; may be repeated (default)"),
)
def _create(args: Namespace, console: Console) -> Result:
    """Create a key and print it; it is not shown again."""
    from commonplace.access import keys

    given = args.space or "default"  # a text, if it stood before the command's name
    spaces = [given] if isinstance(given, str) else given
    with books.open_store(args, console) as store:
        options = pick(args, "role", "home", "label", "plan", "expires")
        key = keys.create(store, spaces=spaces, limits=dict(args.limit), **options)
    return Result(key, key.token, notice=_STORE_IT)


@KEYS.on_store("list")
def _list_keys(store: Store, args: Namespace) -> Result:
    """List all keys, including revoked ones, without their secrets."""
    from commonplace.access import keys

    found = keys.list_keys(store)
    return Result(found, table(_HEADS, map(_row, found), empty="No keys."))


def _row(key: Key) -> tuple[object, ...]:
    limits = " ".join(f"{name}={value:g}" for name, value in key.limits.given.items())
    times = (key.created_at, key.used_at, key.expires_at, key.revoked_at)
    return key.id, key.label, key.role, " ".join(key.spaces), key.home, key.plan, limits, *times


@KEYS.on_store(
    "rotate",
    _ID,
    Option("--grace TIME", "keep the old secret valid for: 15m, 12h (not at all)", type=inputs.duration),
)
def _rotate(store: Store, args: Namespace) -> Result:
    """Give a key a new secret."""
    from commonplace.access import keys

    key = keys.rotate(store, args.id, grace=args.grace or 0)
    return Result(key, key.token, notice=_STORE_IT)


@KEYS.on_store("revoke", _ID)
def _revoke(store: Store, args: Namespace) -> Result:
    """Revoke a key permanently, at once and on every server."""
    from commonplace.access import keys

    key = keys.revoke(store, args.id)
    return Result(key, f"revoked {key.id}")


@KEYS.on_store("usage", _ID, Option("--namespace NAMESPACE", "the key-value namespace whose limits to show"))
def _usage(store: Store, args: Namespace) -> Result:
    """Show how much of its limits a key has used."""
    from commonplace.access import keys

    found = keys.usage(store, args.id, space=args.space, namespace=args.namespace)
    rows = []
    for each in found:
        used = "by namespace" if each.used is None else f"{each.used:,g}"
        rows.append((each.name, used, f"{each.limit:,.10g}", each.resets_at))
    return Result(found, table(("LIMIT", "USED:>", "OF:>", "RESETS"), rows, empty="This key has no limits."))
