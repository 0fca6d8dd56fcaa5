"""Fill the database of each side: commonplace by its own calls, langgraph's tables by COPY."""

from __future__ import annotations

import time

import psycopg
from corpus import Corpus
from pg_server import Server
from pg_worker import Order, Worker
from turns import say

_PIECE = 20_000
_START, _PATIENCE = 20.0, 600.0
"""Seconds in which a graph must have been begun, and must be done."""
_GRAPHS = """SELECT i.indisvalid, pg_relation_size(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw' AND c.relkind = 'i'"""


def database(name: str) -> str:
    """The database of a side."""
    return name.replace("-", "_")


def databases(
    server: Server, made: Corpus, names: tuple[str, ...], dimension: int, size: int, notes: list[str]
) -> dict[str, str]:
    """Make and fill a database for each side; returns their URLs."""
    urls = {}  # type: ignore[var-annotated]
    if any(name.startswith("langgraph") for name in names):
        urls |= _langgraph(server, made, names, dimension, size, notes)
    if "commonplace" in names:
        urls = {"commonplace": server.make("commonplace")} | urls
        workers = [Worker("commonplace", urls["commonplace"], dimension, made.folder) for _ in range(2)]
        by_workers(server, workers, "commonplace", size, notes)
        for worker in workers:
            worker.close()
    return urls


def by_workers(
    server: Server, workers: list[Worker], name: str, size: int, notes: list[str], *, space: str | None = None
) -> None:
    """Fill by the side's own way of adding many, each process with its own spaces."""
    say(f"{size:,}: filling {name}")
    taken = client = spent = 0.0
    for piece in range(0, size, 100_000):
        stop = min(piece + 100_000, size)
        for place, worker in enumerate(workers):
            part = (place, len(workers))
            worker.prepare(Order(operation="fill", start=piece, stop=stop, part=part, space=space))
        for worker in workers:
            worker.ready()
        start, before = time.perf_counter(), server.cpu()
        for worker in workers:
            worker.go()
        client += sum(worker.result().cpu for worker in workers)
        taken += time.perf_counter() - start
        spent += server.cpu() - before
    server.settle(database(name))
    notes.append(
        f"{name} filled with {size:,} by remember([…]) in {len(workers)} processes: {size / taken:,.0f}/s,"
        f" CPU {1e3 * client / size:.2f} + {1e3 * spent / size:.2f} ms each, {server.size_mb(database(name)):,.0f} MB"
    )


def _langgraph(
    server: Server, made: Corpus, names: tuple[str, ...], dimension: int, size: int, notes: list[str]
) -> dict[str, str]:
    """Both variants from one COPY; the index is built by the statement that its own set-up had made it with."""
    from peers import langgraph_postgres

    say(f"{size:,}: filling langgraph by COPY")
    url = server.make("langgraph")
    langgraph_postgres.Adapter(url, dimension).close()
    index = langgraph_postgres.drop_index(url)
    start = time.perf_counter()
    for piece in range(0, size, _PIECE):
        langgraph_postgres.copy_rows(url, made.rows(piece, min(piece + _PIECE, size)))
    notes.append(f"langgraph filled with {size:,} by COPY: {size / (time.perf_counter() - start):,.0f}/s")
    server.settle("langgraph")
    urls = {"langgraph": url}
    if "langgraph-flat" in names:
        urls["langgraph-flat"] = server.make("langgraph_flat", template="langgraph")
    say(f"{size:,}: building langgraph's index")
    start, before = time.perf_counter(), server.cpu()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(index)
    notes.append(
        f"langgraph's HNSW over {size:,} built afterwards: {time.perf_counter() - start:,.1f} s,"
        f" {server.cpu() - before:,.1f} s of CPU, {server.size_mb('langgraph'):,.0f} MB in all"
    )
    for name in urls:
        server.settle(database(name))
    return urls


def await_graph(server: Server, name: str, notes: list[str]) -> bool:
    """Wait until commonplace has built the graph of its big space; False if it builds none."""
    say("waiting for the graph of the big space")
    start = time.perf_counter()
    with psycopg.connect(server.superuser_url(name), autocommit=True) as connection:
        while (taken := time.perf_counter() - start) < _PATIENCE:
            found = connection.execute(_GRAPHS).fetchall()
            if found and found[0][0]:
                notes.append(f"the graph of the big space was built in {taken:.0f} s: {found[0][1] / 1e6:,.0f} MB")
                return True
            if not found and taken > _START:
                break
            time.sleep(0.5)
    notes.append("no graph of the big space: only the exact scan is measured")
    return False
