"""Measure how much one PostgreSQL server can hold: bytes, log and CPU for each memory, and a model of them.

    python bench/scale.py --json scale.json --plot scale.svg    everything; more than an hour on two busy cores
    python bench/scale.py --quick                               a smoke run
    python bench/scale.py --json scale.json --only spaces --sizes 3000,10000,30000
    python bench/scale.py --from scale.json --plot scale.svg    fit and draw again, measure nothing

A book in a hundred spaces and a book in one space grow from size to size; at each, single calls by one client
are measured. Vectors are given, so that no embedding is timed. CPU is that of all of the server's processes, by
the kernel's count, which a busy machine disturbs least; wall time is noted, and no model is made of it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import corpus
import pg_server
from corpus import Corpus, Question, Row
from pg_server import Server
from scale_model import fitted, table
from scale_probe import Cost, Probe, in_one
from turns import say

Step = dict[str, Any]
BATCH = 1_000
SETTINGS = {"checkpoint_timeout": "1h", "max_wal_size": "16GB"}  # checkpoints happen when the benchmark needs them
GRAPH_ROWS, NO_GRAPH = 1_000, 1_000_000_000
LONGEST_BUILD = 1_800
_STREW = (
    "CREATE TEMP TABLE mixed AS SELECT * FROM commonplace.{part} ORDER BY random()",
    "TRUNCATE commonplace.{part}",
    "INSERT INTO commonplace.{part} SELECT * FROM mixed",
    "DROP TABLE mixed",
)
FIXED, FIXED_ROWS = "fixed", 1_000
"""A space that stays as it is while the book around it grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The measurements of a run and their repetitions."""

    sizes: tuple[int, ...] = (3_000, 10_000, 30_000, 100_000, 300_000)
    one: tuple[int, ...] = (1_000, 3_000, 10_000, 30_000, 100_000)
    graphs: tuple[int, ...] = (10_000, 30_000, 100_000)
    parts: tuple[int, ...] = (1, 8, 32, 128)
    parts_rows: int = 3_000
    dimension: int = 256
    seed: int = 7
    recalls: int = 400
    adds: int = 300

    @property
    def rows(self) -> int:
        """Rows that the largest book needs, with those of the adds at every size."""
        return max(*self.sizes, *self.one) + FIXED_ROWS + 4 * self.adds * (len(self.sizes) + len(self.one))


QUICK = Plan(sizes=(1_000, 2_000), one=(1_000, 2_000), graphs=(1_000, 2_000), parts=(1, 8), recalls=40, adds=30)


def main() -> None:
    """Measure or read, fit, print, and write what was asked for."""
    options = _options()
    found = json.loads(options.source.read_text(encoding="utf-8")) if options.source else _measured(options)
    if missing := [name for name in PARTS if name not in found]:
        raise SystemExit(f"no model yet: measure {', '.join(missing)} too (--only)")
    found["model"] = fitted(found)
    print(table(found["model"]))
    _write(options.json, found)
    if options.plot:
        from scale_plot import draw  # matplotlib, for those who want a picture

        draw(found, options.plot)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and few calls: does it run?")
    parser.add_argument("--sizes", type=_numbers, help="memories in a hundred spaces, such as 3000,10000")
    parser.add_argument("--one", type=_numbers, help="memories in one space")
    parser.add_argument("--graphs", type=_numbers, help="sizes of one space at which a graph is built")
    parser.add_argument("--recalls", type=int, help="how often each kind of recall is made (400)")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), help="of partitions,one,spaces; the rest of --json stays as it is"
    )
    parser.add_argument("--from", dest="source", type=Path, help="figures of an earlier run, as it wrote them")
    parser.add_argument("--json", type=Path, help="write figures and model to this file")
    parser.add_argument("--plot", type=Path, help="draw the model into this file (SVG)")
    parser.add_argument("--tmp", type=Path, help="where the server's data is made (the system's temporary folder)")
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part.replace("_", "")) for part in text.split(",") if part))


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    plan = QUICK if options.quick else Plan()
    given = {name: getattr(options, name) for name in ("sizes", "one", "graphs", "recalls") if getattr(options, name)}
    plan = replace(plan, **given)
    found: dict[str, Any] = {}
    if options.only and options.json and options.json.exists():
        found = json.loads(options.json.read_text(encoding="utf-8"))
    folder = Path(tempfile.mkdtemp(prefix="scale-", dir=options.tmp))
    try:
        say("making texts and vectors")
        made = corpus.make(
            folder / "corpus", rows=plan.rows, questions=plan.recalls, dimension=plan.dimension, seed=plan.seed
        )
        with pg_server.running(folder, SETTINGS) as server:
            for name in options.only or PARTS:
                found[name] = {"plan": asdict(plan), "machine": _machine(server), "steps": []}
                for step in PARTS[name](server, made, plan):
                    found[name]["steps"].append(step)
                    _write(options.json, found)  # a run takes long, and each step is independent
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _write(path: Path | None, found: dict[str, Any]) -> None:
    if path:
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _machine(server: Server) -> dict[str, Any]:
    return {
        "server": server.version,
        "settings": pg_server.SETTINGS | SETTINGS,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }


def _partitions(server: Server, made: Corpus, plan: Plan) -> Iterator[Step]:
    """Measure the same small book with increasing numbers of partitions."""
    questions = made.questions()
    for parts in plan.parts:
        say(f"{parts} partitions")
        url = server.make(f"parts_{parts}")
        probe = Probe(server, f"parts_{parts}", dimension=plan.dimension, url=f"{url}?partitions={parts}")
        probe.add_many(list(made.rows(0, plan.parts_rows)))
        probe.settle()
        rows = list(made.rows(plan.parts_rows, plan.parts_rows + plan.adds))
        for question in questions:
            probe.by_both(question)  # so that every connection has made its plans
        yield {
            "parts": parts,
            "recall": probe.cost(probe.by_both, questions),
            "add": probe.cost(probe.add, rows),
            "backend_mb": probe.backend_mb(),
            "bytes": probe.sizes(),
        }
        probe.close()
        server.drop(f"parts_{parts}")


def _spaces(server: Server, made: Corpus, plan: Plan) -> Iterator[Step]:
    """A book in a hundred spaces; at the end its vectors are scattered as single adds would scatter them."""
    probe = Probe(server, "spaces", dimension=plan.dimension, graph_rows=NO_GRAPH)
    spare, held = max(plan.sizes), 0
    questions = made.questions()
    probe.add_many([replace(row, space=FIXED) for row in made.rows(spare, spare + FIXED_ROWS)])
    spare += FIXED_ROWS
    for size in plan.sizes:
        say(f"{size:,} in a hundred spaces")
        step: Step = {"memories": size + FIXED_ROWS, "space": size // corpus.SPACES}
        step["load"] = _grow(probe, list(made.rows(held, size)))
        step["recall_unvacuumed"] = probe.cost(probe.by_both, questions)
        probe.settle()
        step["bytes"] = probe.sizes()
        step["recall"] = probe.cost(probe.by_both, questions)
        step["recall_vector"] = probe.cost(probe.by_vector, questions)
        step["recall_fixed"] = probe.cost(probe.by_both, [replace(each, space=FIXED) for each in questions])
        step |= _adds(probe, list(made.rows(spare, spare + 2 * plan.adds)), plan)
        if size == max(plan.sizes):
            step["recall_strewn"] = _strewn(probe, questions)
        yield step
        spare += 2 * plan.adds
        held = size
    probe.close()
    server.drop("spaces")


def _grow(probe: Probe, rows: list[Row]) -> Cost:
    batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    return probe.cost(probe.add_many, batches, rows=len(rows) / len(batches))


def _adds(probe: Probe, rows: Sequence[Row], plan: Plan) -> Step:
    """Single adds just after a checkpoint, when whole pages are logged, and as if the checkpoint were long ago."""
    soon = probe.cost(probe.add, rows[: plan.adds])
    probe.run("ALTER SYSTEM SET full_page_writes = off")
    probe.run("SELECT pg_reload_conf()")
    late = probe.cost(probe.add, rows[plan.adds :])
    probe.run("ALTER SYSTEM RESET full_page_writes")
    probe.run("SELECT pg_reload_conf()")
    return {"add": soon, "add_without_pages": late}


def _strewn(probe: Probe, questions: Sequence[Question]) -> Cost:
    """Recalls when rows of all spaces are mixed on every page, as they lie when many spaces grow at once."""
    say("strewing the rows")
    for (part,) in probe.run("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^trace_[0-9]+$'"):
        for sql in _STREW:
            probe.run(sql.format(part=part))
    probe.settle()
    return probe.cost(probe.by_both, questions)


def _one(server: Server, made: Corpus, plan: Plan) -> Iterator[Step]:
    """A book of one space, by exact scan, and at some sizes with a graph."""
    probe = Probe(server, "one", dimension=plan.dimension, graph_rows=NO_GRAPH)
    spare, held = max(plan.one), 0
    questions = in_one(made.questions())[: plan.recalls // 2]
    for size in plan.one:
        say(f"{size:,} in one space")
        step: Step = {"memories": size, "space": size}
        step["load"] = _grow(probe, in_one(list(made.rows(held, size))))
        probe.settle()
        step["bytes"] = probe.sizes()
        step["recall"] = probe.cost(probe.by_both, questions)
        step["recall_vector"] = probe.cost(probe.by_vector, questions)
        rows = in_one(list(made.rows(spare, spare + 3 * plan.adds)))
        step |= _adds(probe, rows[: 2 * plan.adds], plan)
        if size in plan.graphs:
            step["graph"] = _graph(probe, plan, questions, rows[2 * plan.adds :])
        yield step
        spare += 3 * plan.adds
        held = size
    probe.close()
    server.drop("one")


def _graph(exact: Probe, plan: Plan, questions: Sequence[Question], rows: Sequence[Row]) -> Step:
    """Let the book build its graph, as it does in the background, and ask it; then drop it again."""
    say("building a graph")
    truth = [exact.by_vector(question) for question in questions]
    probe = Probe(exact.server, "one", dimension=plan.dimension, url=exact.url, graph_rows=GRAPH_ROWS)
    start, before = time.perf_counter(), probe.server.cpu()
    probe.by_vector(questions[0])
    while not probe.graph_bytes():
        if time.perf_counter() - start > LONGEST_BUILD:
            raise SystemExit(f"no graph within {LONGEST_BUILD} s")
        time.sleep(0.2)
    taken, spent = time.perf_counter() - start, probe.server.cpu() - before
    answers = [probe.by_vector(question) for question in questions]
    right = sum(len(set(a) & set(b)) for a, b in zip(answers, truth, strict=True)) / sum(map(len, truth))
    found: Step = {
        "build_s": taken,
        "build_cpu_s": spent,
        "bytes": probe.graph_bytes(),
        "right": right,
        "recall": probe.cost(probe.by_both, questions),
        "recall_vector": probe.cost(probe.by_vector, questions),
        "add": probe.cost(probe.add, rows),
    }
    probe.close()
    for (name,) in exact.run("SELECT relname FROM pg_class WHERE relkind = 'i' AND relname LIKE 'graph%'"):
        exact.run(f"DROP INDEX commonplace.{name}")
    return found


PARTS = {"partitions": _partitions, "one": _one, "spaces": _spaces}


if __name__ == "__main__":
    main()
