"""The server that the PostgreSQL benchmarks run on: one, with a plain role, and its CPU time by the kernel's count."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg

from commonplace.store.postgres.local import LocalPostgres

SETTINGS = {
    "shared_buffers": "1GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "max_connections": "200",
    "max_wal_size": "4GB",
    "maintenance_work_mem": "2GB",  # HNSW is built in memory, as pgvector advises
    "max_parallel_maintenance_workers": "2",
}
ROLE = "bench"


class Server:
    """A running server; databases belong to a role without privileges, for which row-level security holds."""

    def __init__(self, local: LocalPostgres) -> None:
        self._local = local
        self._password = secrets.token_urlsafe(16)
        self._admin(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{self._password}'")

    @property
    def version(self) -> str:
        """The server's version and pgvector's."""
        with psycopg.connect(self._local.url) as connection:
            found = connection.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
            return f"PostgreSQL {connection.info.server_version // 10000}, pgvector {found.fetchall()[0][0]}"

    def make(self, name: str, *, template: str = "template1", extensions: tuple[str, ...] = ("vector",)) -> str:
        """Make a database and return its URL."""
        self._admin(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE {template} STRATEGY FILE_COPY")
        for extension in extensions:
            self._admin(f"CREATE EXTENSION IF NOT EXISTS {extension}", database=name)
        return f"postgresql://{ROLE}:{self._password}@127.0.0.1:{self._local.port}/{name}"

    def settle(self, name: str) -> None:
        """Bring statistics and visibility up to date, as autovacuum would after a while."""
        self._admin("VACUUM ANALYZE", database=name)
        self._admin("CHECKPOINT")

    def drop(self, name: str) -> None:
        self._admin(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def size_mb(self, name: str) -> float:
        with psycopg.connect(self._local.url) as connection:
            return float(connection.execute("SELECT pg_database_size(%s)", [name]).fetchall()[0][0]) / 1e6

    def cpu(self) -> float:
        """Seconds of CPU of all processes that the server has and had."""
        first = psutil.Process(self._local.pid)
        times = first.cpu_times()
        # Those that ended are in their parent's account.
        spent = times.user + times.system + times.children_user + times.children_system
        for child in first.children():
            try:
                used = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            spent += used.user + used.system
        return spent  # type: ignore[no-any-return]

    def superuser_url(self, name: str) -> str:
        return self._local.url.replace("/postgres?", f"/{name}?")

    def _admin(self, sql: str, *, database: str = "postgres") -> None:
        with psycopg.connect(self.superuser_url(database), autocommit=True) as connection:
            connection.execute(sql)


@contextmanager
def running(folder: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    """Start a new server with its data under `folder`; stop it at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # otherwise the server would outlive this process
    os.chmod(folder, 0o755)  # noqa: S103  # the server may run as another user
    with LocalPostgres(folder / "data", settings=SETTINGS | dict(settings)) as local:
        yield Server(local)
