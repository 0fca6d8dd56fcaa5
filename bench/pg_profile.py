"""Profile commonplace's PostgreSQL engine: functions of the client, statements of the server.

    python bench/pg_profile.py --size 10000 --json profile.json

The client is profiled by cProfile, which makes small functions look slower than they are; the server counts
by pg_stat_statements, with planning apart. Only compare within one run.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import pstats
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import corpus
import pg_ours
import pg_server
import psycopg
from corpus import SPACES, space_of

SETTINGS = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track_planning": "on",
    "pg_stat_statements.track_utility": "on",
}
_STATEMENTS = """SELECT calls, plans, total_plan_time, total_exec_time, rows, shared_blks_hit + shared_blks_read,
    regexp_replace(query, '\\s+', ' ', 'g') FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = %s ORDER BY total_plan_time + total_exec_time DESC LIMIT 20"""


def main() -> None:
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="pg-profile-", dir=options.tmp))
    try:
        given = dict(each.split("=", 1) for each in options.set)
        with pg_server.running(folder, SETTINGS | given) as server:
            shown = _profile(server, folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--top", type=int, default=28, help="how many functions to show")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the server")
    parser.add_argument("--tmp", type=Path)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _profile(server: pg_server.Server, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    size, calls = options.size, options.calls
    made = corpus.make(
        folder / "corpus",
        rows=size + 2 * calls + 4_000,
        questions=calls,
        dimension=options.dimension,
        seed=options.seed,
    )
    url = server.make("ours", extensions=("vector", "pg_stat_statements"))
    ours = pg_ours.Adapter(url, options.dimension)
    start = time.perf_counter()
    ours.add_many(list(made.rows(0, size)))
    print(f"{size:,} rows loaded at {size / (time.perf_counter() - start):,.0f}/s")
    server.settle("ours")
    ours.warm([space_of(number) for number in range(SPACES)])
    questions = made.questions()
    rows = list(made.rows(size, size + 2 * calls + 4_000))
    batches = [rows[2 * calls + place : 2 * calls + place + 1_000] for place in range(0, 4_000, 1_000)]
    batches = [[replace(row, space="s00") for row in batch] for batch in batches]
    parts: list[tuple[str, Callable[[Any], Any], Sequence[Any]]] = [
        ("recall by vector and words", ours.space_both, questions),
        ("recall by vector", ours.space_vector, questions),
        ("add one", ours.add, rows[: 2 * calls]),
        ("add a thousand", ours.add_many, batches),
    ]
    shown = {name: _part(server, name, call, items, options.top) for name, call, items in parts}
    ours.close()
    return shown


def _part(
    server: pg_server.Server, name: str, call: Callable[[Any], Any], items: Sequence[Any], top: int
) -> dict[str, Any]:
    half = len(items) // 2
    with psycopg.connect(server.superuser_url("ours"), autocommit=True) as connection:
        connection.execute("SELECT pg_stat_statements_reset()")
        figures = _timed(server, call, items[:half])
        statements = connection.execute(_STATEMENTS, ["ours"]).fetchall()
    functions = _functions(call, items[half:], top)
    print(f"\n══ {name}: " + ", ".join(f"{key} {value:.3f}" for key, value in figures.items()))
    print(" calls/op   plan µs   exec µs  rows  blocks   (of one operation)")
    for calls, _, plan, executed, rows, blocks, query in statements:
        each = max(half, 1)
        print(
            f"{calls / each:9.2f} {1e3 * plan / each:9.0f} {1e3 * executed / each:9.0f}"
            f" {rows / each:5.0f} {blocks / each:7.0f}   {query[:150]}"
        )
    print(functions)
    return figures | {"statements": [list(map(str, row)) for row in statements], "functions": functions}


def _timed(server: pg_server.Server, call: Callable[[Any], Any], items: Sequence[Any]) -> dict[str, float]:
    wall, client, there = time.perf_counter(), time.process_time(), server.cpu()
    for item in items:
        call(item)
    spent = time.perf_counter() - wall, time.process_time() - client, server.cpu() - there
    names = ("wall ms", "client CPU ms", "server CPU ms")
    return {name: 1e3 * value / max(len(items), 1) for name, value in zip(names, spent, strict=True)}


def _functions(call: Callable[[Any], Any], items: Sequence[Any], top: int) -> str:
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    for item in items:
        call(item)
    profile.disable()
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("tottime").print_stats(top)
    return f"of {len(items)} operations:\n" + out.getvalue().split("\n", 4)[-1]


if __name__ == "__main__":
    main()
