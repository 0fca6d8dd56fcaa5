"""Measure the cost of one operation for the server: CPU by the kernel's count, bytes of log, pages read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypedDict, TypeVar

import psutil
import psycopg
from corpus import Question, Row
from measure import percentile
from peers.ours import Given
from pg_server import Server

import commonplace
from commonplace import Draft
from commonplace.settings import Settings

T = TypeVar("T", Row, Question)
ONE = "all"
"""The space that holds everything, in the book of one space."""
_NOBODY = "nobody"
_TABLES = """SELECT coalesce(p.relname, c.relname), pg_table_size(c.oid), pg_indexes_size(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
    WHERE n.nspname = 'commonplace' AND c.relkind = 'r'"""
_GRAPH = """SELECT pg_relation_size(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relname LIKE 'graph%' AND i.indisvalid"""
_COUNTERS = """SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'),
    (SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database())"""
_AUTOVACUUM = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"


class Cost(TypedDict):
    """The cost of one operation, as a mean over `calls`; `wall` is the median."""

    calls: int
    server_ms: float
    client_ms: float
    wall_ms: float
    wal_bytes: float
    pages: float


class Probe:
    """One database with a book in it, and what its operations cost."""

    def __init__(self, server: Server, name: str, *, dimension: int, url: str | None = None, **settings: Any) -> None:
        self.server = server
        self.name = name
        self.url = url or server.make(name)
        self.book = commonplace.open(self.url, embedder=Given(dimension), settings=Settings(**settings))
        self.spaces: dict[str, commonplace.Book] = {}
        self._admin = psycopg.connect(server.superuser_url(name), autocommit=True)

    def close(self) -> None:
        self.book.close()
        self._admin.close()

    def run(self, sql: str) -> list[Any]:
        """Ask the server as its superuser."""
        cursor = self._admin.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []

    def cost(self, call: Callable[[Any], Any], items: Sequence[Any], *, rows: float = 1) -> Cost:
        """Measure `call` over the items, for each of the `rows` in an item."""
        walls = []
        while self.run(_AUTOVACUUM)[0][0]:  # wait until autovacuum is done, so that its work is not measured
            time.sleep(0.5)
        wal, pages = self._counters()
        server, client = self.server.cpu(), time.process_time()
        for item in items:
            start = time.perf_counter()
            call(item)
            walls.append(1e3 * (time.perf_counter() - start))
        client, server = time.process_time() - client, self.server.cpu() - server
        wal_after, pages_after = self._counters()
        each = 1 / (len(items) * rows)
        return Cost(
            calls=round(len(items) * rows),
            server_ms=1e3 * server * each,
            client_ms=1e3 * client * each,
            wall_ms=percentile(walls, 0.5) / rows,
            wal_bytes=(wal_after - wal) * each,
            pages=(pages_after - pages) * each,
        )

    def _counters(self) -> tuple[int, int]:
        time.sleep(1.1)  # a connection reports the pages that it looked at once a second at most, with its next call
        for _ in range(3):
            self.space(_NOBODY).recall("nothing", k=1)
        wal, pages = self.run(_COUNTERS)[0]
        return int(wal), int(pages)

    def add(self, row: Row) -> None:
        self.space(row.space).remember(row.text, id=str(row.number), vector=row.vector)

    def add_many(self, rows: Sequence[Row]) -> None:
        by_space: dict[str, list[Draft]] = {}
        for row in rows:
            by_space.setdefault(row.space, []).append(Draft(content=row.text, id=str(row.number), vector=row.vector))
        for space, drafts in by_space.items():
            self.space(space).remember(drafts)

    def by_vector(self, question: Question) -> list[str]:
        return self._asked(question, "")

    def by_both(self, question: Question) -> list[str]:
        return self._asked(question, question.text)

    def _asked(self, question: Question, text: str) -> list[str]:
        found = self.space(question.space).recall(text, vector=question.vector, k=10, threshold=0, max_tokens=None)
        return [hit.memory.id for hit in found.hits]

    def space(self, name: str) -> commonplace.Book:
        if name not in self.spaces:
            self.spaces[name] = self.book.in_space(name)
        return self.spaces[name]

    def sizes(self) -> dict[str, int]:
        """Bytes of each table and of its indexes, all partitions together; free maps are the table's."""
        found: dict[str, int] = {}
        for table, rows, indexes in self.run(_TABLES):
            found[table] = found.get(table, 0) + int(rows)
            found[f"{table} indexes"] = found.get(f"{table} indexes", 0) + int(indexes)
        return {name: size for name, size in found.items() if size}

    def graph_bytes(self) -> int:
        """Bytes of the graphs that are ready; 0 while there is none."""
        return sum(int(size) for (size,) in self.run(_GRAPH))

    def backend_mb(self) -> float:
        """Memory of its own that the largest of the server's processes for a client holds."""
        pids = [pid for (pid,) in self.run("SELECT pid FROM pg_stat_activity WHERE application_name = 'commonplace'")]
        infos = [psutil.Process(pid).memory_info() for pid in pids]
        return max((info.rss - info.shared) / 1e6 for info in infos)  # type: ignore[no-any-return]

    def settle(self) -> None:
        self.server.settle(self.name)


def in_one(given: Sequence[T]) -> list[T]:
    """The same rows or questions, all in one space."""
    return [replace(each, space=ONE) for each in given]
