"""The commands that run servers: serve and postgres."""

from __future__ import annotations

import ipaddress
import signal
import sys
import time
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.cli import arguments, books
from commonplace.cli.arguments import Commands
from commonplace.cli.console import Console
from commonplace.errors import InvalidInput, ModelUnavailable, StoreError, missing_package
from commonplace.store.postgres.local import LocalPostgres

if TYPE_CHECKING:
    from commonplace.server.config import Config, Listener


_SERVE_EXAMPLES = """\
  commonplace serve
  commonplace serve team.db --port 9000 --workers 2
  commonplace serve postgresql://db/agents --host 0.0.0.0 --tls-certificate cert.pem --tls-key key.pem
"""


def register_server(commands: Commands) -> None:
    """Add serve."""
    serve = arguments.add(
        commands,
        "serve",
        _serve,
        help="serve the book over HTTP until Ctrl-C",
        examples=_SERVE_EXAMPLES,
    )
    serve.add_argument("where", nargs="?", metavar="PATH|URL", help="the book (as --book)")
    listening = serve.add_argument_group("where it listens")
    listening.add_argument("--host", default="127.0.0.1", help="address; other than loopback requires keys (127.0.0.1)")
    listening.add_argument("--port", type=int, default=8420, metavar="N", help="port; 0 chooses a free one (8420)")
    listening.add_argument("--workers", type=int, default=1, metavar="N", help="processes that share the port (1)")
    listening.add_argument("--tls-certificate", type=Path, metavar="FILE", help="serve HTTPS with this certificate")
    listening.add_argument("--tls-key", type=Path, metavar="FILE", help="the certificate's private key")
    group = serve.add_argument_group("how it serves")
    group.add_argument("--threads", type=int, default=2, metavar="N", help="worker threads of each process (2)")
    group.add_argument("--no-work", action="store_true", help="do not run jobs; `commonplace work` does")
    group.add_argument("--extractor", metavar="SPEC", help="how memories are found: rules or openai:MODEL (rules)")
    group.add_argument(
        "--cors", action="append", metavar="ORIGIN", help="allow web pages of this origin; may be repeated"
    )
    group.add_argument("--sign-up", metavar="PLAN", help="let anybody create a key with this plan and its own space")
    group.add_argument("--telemetry", action="store_true", help="report requests to OpenTelemetry, without content")


def _serve(args: Namespace, console: Console) -> None:
    _ensure_installed()
    from commonplace.server import run

    listening, config = _listening(args), _config(args)
    keyed = _prepare(config, listening, console)
    sock = run.bind(listening.host, listening.port)
    url = f"{listening.scheme}://{_authority(listening.host)}:{sock.getsockname()[1]}"
    console.result({"url": url, "book": _shown(config.book)}, _welcome(url, config, keyed=keyed))
    # uvicorn re-raises the signal after its own shutdown; nothing is left to end then.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        run.run(config, listening, sock)
    except KeyboardInterrupt:
        console.remark("ended")
    finally:
        signal.signal(signal.SIGTERM, before)


def _listening(args: Namespace) -> Listener:
    from commonplace.server.config import Listener

    if (args.tls_certificate is None) != (args.tls_key is None):
        raise InvalidInput("HTTPS needs both --tls-certificate and --tls-key")
    if not 0 <= args.port <= 65_535:
        raise InvalidInput(f"--port is a number from 0 to 65535, not {args.port}")
    if not 1 <= args.workers <= 64:
        raise InvalidInput(f"--workers is a number from 1 to 64, not {args.workers}")
    return Listener(
        host=args.host,
        port=args.port,
        workers=args.workers,
        certificate=args.tls_certificate,
        private_key=args.tls_key,
    )


def _config(args: Namespace) -> Config:
    from commonplace.server.config import Config

    return Config(
        book=args.where or books.place(args),
        embedder=books.embedder(args),
        reranker=args.reranker,
        extractor=args.extractor,
        space=args.space or "default",
        closed=not _is_loopback(args.host),
        threads=args.threads,
        work=not args.no_work,
        cors_origins=tuple(args.cors or ()),
        sign_up=args.sign_up,
        telemetry=args.telemetry,
    )


def _prepare(config: Config, listening: Listener, console: Console) -> bool:
    """Open the book once before listening, so that errors are reported here; return whether it has keys."""
    from commonplace.access import keys
    from commonplace.location import open_core

    core = open_core(config.book, space=config.space, embedder=config.embedder)
    try:
        core.prove()
        keyed = keys.exist(core.store)
        if config.closed and not keyed:
            raise InvalidInput(
                f"{listening.host} can be reached from other machines, and this book has no keys: make one first"
                f" (commonplace --book {_shown(config.book)} keys create --role admin --space '*'),"
                " or serve on loopback"
            )
    finally:
        core.close()
    if not _is_loopback(listening.host) and listening.certificate is None:
        console.remark("keys and memories are sent unencrypted: use --tls-certificate, or a proxy with TLS")
    return keyed


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _authority(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _shown(book: str) -> str:
    from commonplace.location import label

    return label(book)


def _welcome(url: str, config: Config, *, keyed: bool) -> str:
    # With keys, the reader has one of their own; it must not be printed.
    given = ' -H "Authorization: Bearer $COMMONPLACE_API_KEY"' if keyed else ""
    base = f"{url}/v1/spaces/{config.space}"
    return f"""\
commonplace serves {_shown(config.book)} at {url}  (Ctrl-C ends it)

  curl -s {base}/memories{given} --json '{{"content": "We chose FastAPI because of async support"}}'
  curl -s {base}/recall{given} --json '{{"query": "why FastAPI?"}}'

  {url}/docs shows every route
"""


def _ensure_installed() -> None:
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        if find_spec(package) is None:
            raise ModelUnavailable(missing_package("the server", package, "server"))


_READY = """\
PostgreSQL with pgvector is ready; Ctrl-C stops it, and the data stays in {directory}
  {url}
In another terminal:
  commonplace --book '{url}' remember "something worth keeping"
"""
_POSTGRES_EXAMPLES = """\
  commonplace postgres ./pgdata
  commonplace postgres ./pgdata --port 5433 --json
"""


def register_postgres(commands: Commands) -> None:
    """Add postgres."""
    made = arguments.add(
        commands, "postgres", _postgres, help="run a local PostgreSQL with pgvector until Ctrl-C",
        examples=_POSTGRES_EXAMPLES,
    )  # fmt: skip
    made.add_argument("directory", metavar="DIRECTORY", help="directory of its data; created if missing")
    made.add_argument(
        "--port", type=int, default=0, metavar="N", help="the port on 127.0.0.1 (the last one if free, else any)"
    )


def _postgres(args: Namespace, console: Console) -> None:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # asked to end or interrupted: one way out
    try:
        with LocalPostgres(args.directory, port=args.port) as server:
            _wait(server, console)
    finally:
        signal.signal(signal.SIGTERM, before)


def _wait(server: LocalPostgres, console: Console) -> None:
    """Print where the server is, and wait for an interrupt."""
    try:
        text = _READY.format(directory=server.directory, url=server.url)
        console.result({"url": server.url, "pid": server.pid}, text)
        sys.stdout.flush()
        while server.pid is not None:
            time.sleep(0.5)
    except KeyboardInterrupt:
        return
    raise StoreError(f"the server stopped unexpectedly; see {server.log}")
