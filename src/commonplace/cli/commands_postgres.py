"""postgres: a PostgreSQL of one's own, in the foreground."""

from __future__ import annotations

import signal
import sys
import time
from argparse import Namespace

from commonplace.cli import arguments
from commonplace.cli.arguments import Commands
from commonplace.cli.output import Console
from commonplace.errors import StoreError
from commonplace.store.postgres.local import LocalPostgres

_READY = """\
PostgreSQL with pgvector is ready; Ctrl-C stops it, and the data stays in {directory}
  {url}
In another terminal:
  commonplace --book '{url}' remember "something worth keeping"
"""
_EXAMPLES = """\
  commonplace postgres ./pgdata
  commonplace postgres ./pgdata --port 5433 --json
"""


def register(commands: Commands) -> None:
    """Add the server."""
    made = arguments.add(
        commands, "postgres", _postgres, help="run a PostgreSQL with pgvector on this machine, until Ctrl-C",
        examples=_EXAMPLES,
    )  # fmt: skip
    made.add_argument("directory", metavar="DIRECTORY", help="where its data is; made if it is not there")
    made.add_argument(
        "--port", type=int, default=0, metavar="N", help="the port on 127.0.0.1 (the last one if free, else any)"
    )


def _postgres(args: Namespace, console: Console) -> int:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # asked to end or interrupted: one way out
    try:
        with LocalPostgres(args.directory, port=args.port) as server:
            _serve(server, console)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _serve(server: LocalPostgres, console: Console) -> None:
    """Say where the server is, and wait until somebody ends this."""
    try:
        text = _READY.format(directory=server.directory, url=server.url)
        console.result({"url": server.url, "pid": server.pid}, text)
        sys.stdout.flush()
        while server.pid is not None:
            time.sleep(0.5)
    except KeyboardInterrupt:
        return
    raise StoreError(f"the server ended by itself; {server.log} may say why")
