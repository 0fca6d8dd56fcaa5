"""HNSW for large spaces: an index of its own for each, so that nothing has to be filtered away.

One index over all spaces finds a few hundredths of the true neighbours in a small one. A partial index holds one
space alone. It is built in the background, without a lock that writers would feel, when a space has outgrown
an exact scan; until then, and for searches that are narrowed, the scan goes on.
"""

from __future__ import annotations

import atexit
import logging
import threading
from contextlib import suppress

import psycopg

from commonplace.errors import CommonplaceError
from commonplace.settings import Settings
from commonplace.store.base import Tx
from commonplace.store.postgres.address import Address
from commonplace.store.postgres.connections import Link, connect
from commonplace.store.postgres.transaction import Transaction

_LOG = logging.getLogger(__name__)

# As wide as the candidates that are wanted, and on from there while some of them turn out to be gone.
_SEARCH = (
    """SELECT set_config('hnsw.ef_search', :width, TRUE), set_config('hnsw.iterative_scan', 'relaxed_order', TRUE)"""
)
_MOST_WIDTH = 1000
# The space and the depth are numbers of ours, written out so that the planner sees that the index fits.
_NEAREST = """SELECT t.seq FROM trace t WHERE t.space = {space} AND t.state = 0
    ORDER BY CAST(t.vector AS halfvec({dimension})) <#> CAST(:half AS halfvec({dimension})) LIMIT {depth}"""
_BUILD = """CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} USING hnsw
    ((CAST(vector AS {types}.halfvec({dimension}))) {types}.halfvec_ip_ops) WHERE space = {space} AND state = 0"""
_HALF_BUILT = """SELECT 1 FROM pg_index i WHERE i.indexrelid = to_regclass($1) AND NOT i.indisvalid
    AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)"""
_TABLE = "SELECT CAST(CAST(tableoid AS regclass) AS text) FROM {schema}.trace WHERE space = $1 LIMIT 1"
_ALL = """SELECT c.relname FROM pg_class c WHERE c.relnamespace = CAST(current_schema() AS regnamespace)
    AND c.relkind = 'i' AND c.relname LIKE 'graph\\_%'"""


class Graphs:
    """The graphs of one book."""

    def __init__(self, address: Address, settings: Settings, types: str) -> None:
        self._address = address
        self._settings = settings
        self._types = types
        self._lock = threading.Lock()
        self._builder: threading.Thread | None = None
        self._building: Link | None = None
        self._given_up: set[int] = set()

    def find(
        self, tx: Transaction, space: int, *, ready: bool, population: int, dimension: int, depth: int
    ) -> str | None:
        """The statement that asks a space's graph; None where an exact scan is due, or while one is built."""
        if population < self._settings.graph_rows:
            return None
        if not ready:
            self._build_later(space, dimension)
            return None
        tx.send(_SEARCH, {"width": str(min(max(2 * depth, 100), _MOST_WIDTH))})
        return _NEAREST.format(space=space, dimension=dimension, depth=depth)

    def close(self) -> None:
        """Stop building; what is half built is dropped by the next one who builds."""
        with self._lock:
            builder, building = self._builder, self._building
        if builder is not None and builder.is_alive():
            if building is not None:
                with suppress(psycopg.Error):
                    building.cancel_safe(timeout=5)
            builder.join(timeout=10)
        atexit.unregister(self.close)

    def _build_later(self, space: int, dimension: int) -> None:
        with self._lock:
            if space in self._given_up or (self._builder is not None and self._builder.is_alive()):
                return
            self._builder = threading.Thread(
                target=self._build, args=(space, dimension), name="commonplace-hnsw", daemon=True
            )
            self._builder.start()
        atexit.register(self.close)

    def _build(self, space: int, dimension: int) -> None:
        # Whatever goes wrong, the scan stays right: it is said, and not tried again by this process.
        self._given_up.add(space)
        try:
            self._connect_and_build(space, dimension)
        except psycopg.errors.QueryCanceled:
            pass  # the book was closed meanwhile
        except (psycopg.Error, CommonplaceError) as error:
            _LOG.warning("no graph for a large space of %s, which is scanned instead: %s", self._address.shown, error)
        finally:
            self._building = None

    def _connect_and_build(self, space: int, dimension: int) -> None:
        with connect(self._address.url, self._address.shown, self._settings) as connection:
            self._building = connection
            name = f"{self._address.quoted}.{graph_name(space)}"
            if connection.execute(_HALF_BUILT, [name]).fetchall():
                connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}".encode())
            with connection.transaction():  # the wall stands here, too
                connection.execute("SELECT set_config('commonplace.space', $1, TRUE)", [str(space)])
                table = connection.execute(_TABLE.format(schema=self._address.quoted).encode(), [space]).fetchall()
            if table:
                self._create(connection, space, dimension, table[0][0])

    def _create(self, connection: Link, space: int, dimension: int, table: str) -> None:
        sql = _BUILD.format(name=graph_name(space), table=table, types=self._types, dimension=dimension, space=space)
        connection.execute(sql.encode())


def graph_name(space: int) -> str:
    """The name of a space's graph in the book's schema."""
    return f"graph_{space}"


def drop_all(tx: Tx) -> None:
    """Drop every graph: vectors of another length are about to take the place of those that they hold."""
    for (name,) in tx.run(_ALL):
        tx.run(f"DROP INDEX {name}")
