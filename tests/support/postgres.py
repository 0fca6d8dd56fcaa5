"""A real PostgreSQL for the tests: one server for each worker, one schema for each book, used again when free."""

from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from commonplace.store.postgres.local import LocalPostgres

QUICK = {"fsync": "off", "full_page_writes": "off", "max_connections": "300"}
"""Most tests do not need to survive a power cut."""

_servers: list[LocalPostgres] = []
_keepers: list[psycopg.Connection[Any]] = []
_ordinary: list[str] = []
_PASSWORD = secrets.token_hex(8)
# PostgreSQL 16 and later can.
_QUICK_PASSWORDS = "SELECT set_config(name, '1', FALSE) FROM pg_settings WHERE name = 'scram_iterations'"


def server() -> LocalPostgres:
    """The worker's server, started at first use."""
    if not _servers:
        # Not under pytest's own directory, which only root may enter; the server then runs as another user.
        place = Path(tempfile.mkdtemp(prefix="commonplace-postgres-"))
        place.chmod(0o711)
        started = LocalPostgres(place / "data", settings=QUICK)
        started.start()
        atexit.register(_removed, started, place)
        _servers.append(started)
    return _servers[0]


def _removed(started: LocalPostgres, place: Path) -> None:
    for keeper in _keepers:
        keeper.close()
    started.stop()
    shutil.rmtree(place, ignore_errors=True)


def ordinary_url() -> str:
    """The server's URL for an ordinary role, because row-level security does not apply to superusers."""
    if not _ordinary:
        with psycopg.connect(server().url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            # The password lasts for one run, so a cheap hash is enough and saves 3 ms for each connection.
            connection.execute(_QUICK_PASSWORDS)
            connection.execute(sql.SQL("CREATE ROLE ordinary LOGIN PASSWORD {}").format(sql.Literal(_PASSWORD)))
            connection.execute("GRANT CREATE ON DATABASE postgres TO ordinary")
        _ordinary.append(f"postgresql://ordinary:{_PASSWORD}@127.0.0.1:{server().port}/postgres")
    return _ordinary[0]


class Schemas:
    """Books by place: one schema each, emptied after the test and used for the next one."""

    def __init__(self, prefix: str, url: Callable[[], str]) -> None:
        self._prefix = prefix
        self._url = url
        self._free: list[str] = []
        self._taken: dict[Path, str] = {}
        self._made = 0

    def url(self, place: Path, *, partitions: int = 1) -> str:
        """The URL of a place's book."""
        if place not in self._taken:
            self._taken[place] = self._free.pop() if self._free else self._new()
        return with_options(self._url(), schema=self._taken[place], partitions=partitions)

    def release(self) -> None:
        """Empty every schema that was taken; what stays is an empty book."""
        for schema in self._taken.values():
            try:
                empty(schema)
            except psycopg.Error:  # a test may leave a schema that is no book any more
                continue
            self._free.append(schema)
        self._taken.clear()

    def _new(self) -> str:
        self._made += 1
        return f"{self._prefix}_{self._made}"


def with_options(url: str, **options: object) -> str:
    """A URL with options of ours."""
    sign = "&" if "?" in url else "?"
    return url + sign + "&".join(f"{name}={value}" for name, value in options.items())


def empty(schema: str) -> None:
    """Remove everything from a book but its tables."""
    try:
        _emptied(_keeper(), schema)
    except psycopg.OperationalError:  # a test has killed the server meanwhile
        _keepers.clear()
        _emptied(_keeper(), schema)


def _keeper() -> psycopg.Connection[Any]:
    """One connection for all emptying: a new one takes longer than the work."""
    if not _keepers:
        _keepers.append(psycopg.connect(server().url, autocommit=True))
    return _keepers[0]


def _emptied(connection: psycopg.Connection[Any], schema: str) -> None:
    found = connection.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'book'",
        [schema],
    ).fetchall()
    place = sql.Identifier(schema)
    deletes = [sql.SQL("DELETE FROM {}.{}").format(place, sql.Identifier(name)) for (name,) in found]
    book = sql.SQL("DELETE FROM {}.book WHERE name <> 'schema'").format(place)
    connection.execute(sql.SQL("; ").join([*deletes, book]))


SCHEMAS = Schemas("book", lambda: server().url)
ORDINARY = Schemas("plain", ordinary_url)
