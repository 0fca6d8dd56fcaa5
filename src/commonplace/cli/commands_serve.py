"""serve: the book over HTTP, for every language and framework."""

from __future__ import annotations

import ipaddress
import signal
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.cli import arguments, opened
from commonplace.cli.arguments import Commands
from commonplace.cli.output import Console
from commonplace.errors import InvalidInput, ModelUnavailable, missing_package

if TYPE_CHECKING:
    from commonplace.server.config import Config, Listener

_EXAMPLES = """\
  commonplace serve
  commonplace serve team.db --port 9000 --workers 2
  commonplace serve postgresql://db/agents --host 0.0.0.0 --tls-certificate cert.pem --tls-key key.pem
"""


def register(commands: Commands) -> None:
    """Add the command that serves."""
    serve = arguments.add(
        commands, "serve", _serve, help="serve the book over HTTP until Ctrl-C, for any language", examples=_EXAMPLES
    )
    serve.add_argument("where", nargs="?", metavar="PATH|URL", help="the book (as --book)")
    listening = serve.add_argument_group("where it listens")
    listening.add_argument("--host", default="127.0.0.1", help="the address; off loopback, keys are needed (127.0.0.1)")
    listening.add_argument("--port", type=int, default=8420, metavar="N", help="the port; 0 takes a free one (8420)")
    listening.add_argument("--workers", type=int, default=1, metavar="N", help="processes that share the port (1)")
    listening.add_argument("--tls-certificate", type=Path, metavar="FILE", help="serve HTTPS with this certificate")
    listening.add_argument("--tls-key", type=Path, metavar="FILE", help="the certificate's private key")
    group = serve.add_argument_group("how it serves")
    group.add_argument("--threads", type=int, default=2, metavar="N", help="threads of each process (2)")
    group.add_argument("--no-work", action="store_true", help="leave jobs to `commonplace work`")
    group.add_argument("--extractor", metavar="SPEC", help="what learns: rules, openai:MODEL (rules)")
    group.add_argument(
        "--cors", action="append", metavar="ORIGIN", help="let pages of this origin call; may be repeated"
    )
    group.add_argument("--sign-up", metavar="PLAN", help="let anybody make a key of this plan, with a space of its own")
    group.add_argument("--telemetry", action="store_true", help="tell OpenTelemetry of requests, without content")


def _serve(args: Namespace, console: Console) -> int:
    _ensure_installed()
    from commonplace.server import run

    listening, config = _listening(args), _config(args)
    keyed = _prepare(config, listening, console)
    sock = run.bind(listening.host, listening.port)
    url = f"{listening.scheme}://{_authority(listening.host)}:{sock.getsockname()[1]}"
    console.result({"url": url, "book": _shown(config.book)}, _welcome(url, config, keyed=keyed))
    # After it has ended its way, uvicorn passes the signal on: then there is nothing left to end.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        run.run(config, listening, sock)
    except KeyboardInterrupt:
        console.remark("ended")
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


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
        book=args.where or opened.place(args),
        embedder=opened.embedder(args),
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
    """Open the book once before anything listens, where what is wrong can be told; says whether it has keys."""
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
        console.remark("keys and memories travel unencrypted: use --tls-certificate, or a proxy that has one")
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
    # The book has keys: whoever pastes these lines has one, and it is not ours to print.
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
