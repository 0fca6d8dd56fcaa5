"""Compare commonplace with other systems and bare SQLite: one command, one run, one table.

    python bench/speed.py                     everything (an hour: the peers are slow at 100,000)
    python bench/speed.py --quick             a smoke run of a minute or two
    python bench/speed.py --sizes 6000 --peers commonplace,bare,chroma --no-install --json out.json

All get the same texts and the same vectors, computed beforehand, so that no embedding is timed; ours is
shown apart. Each runs in a process of its own; calls are made in turns, so that noise hits all alike. Wall
time is what a caller waits; CPU time is the whole process's, all threads, and bears a busy machine better.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import sqlite3
import tempfile
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import corpus
import peers
from fleet import ROOT
from goals import Verdict, judge
from report import show
from trial import Plan, Trial
from turns import say

QUICK = {"questions": 20, "adds": 20, "batches": 2, "batch": 50, "calls": 60, "repeats": 2, "limit": 60.0}
QUICK_SIZES = (1_000, 2_000)


def main() -> None:
    """Measure, print, and write JSON if asked to."""
    options = _options()
    plan = _plan(options)
    folder = Path(tempfile.mkdtemp(prefix="speed-", dir=options.tmp))
    os.environ["TMPDIR"] = str(folder)  # candidates' temporary files are removed with it
    try:
        trial = _measure(plan, folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    verdicts = judge(trial.table, list(plan.names))
    say("", lasting=True)
    print(_machine_line())
    print(show(trial.table, plan.names, trial.notes, verdicts))
    if options.json:
        _write(options.json, plan, trial, verdicts)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=_numbers, help="memories held, such as 6000,100000 (the default)")
    parser.add_argument("--peers", type=_names, default=peers.COLUMNS, help=",".join(peers.COLUMNS))
    parser.add_argument("--quick", action="store_true", help="small sizes and few calls: does it run?")
    parser.add_argument("--limit", type=float, help="seconds for each phase of each candidate (600)")
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--data", type=Path, help="texts as JSON or JSON Lines instead of generated ones")
    parser.add_argument("--no-install", action="store_true", help="leave out packages and megabytes")
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--tmp", type=Path, help="where stores are made (the system's temporary folder)")
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part.replace("_", "")) for part in text.split(",")))


def _names(text: str) -> tuple[str, ...]:
    names = text.split(",")
    if unknown := set(names) - set(peers.COLUMNS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return tuple(name for name in peers.COLUMNS if name in names)


def _plan(options: argparse.Namespace) -> Plan:
    sizes = options.sizes or (QUICK_SIZES if options.quick else (6_000, 100_000))
    plan = Plan(
        names=tuple(filter(_present, options.peers)),
        sizes=sizes,
        dimension=options.dimension,
        seed=options.seed,
    )
    if options.quick:
        plan = replace(plan, **QUICK)  # type: ignore[arg-type]
    return replace(plan, limit=options.limit) if options.limit else plan


def _present(name: str) -> bool:
    """Return whether a candidate is installed; print a remark if it is left out."""
    distribution = peers.PEERS[name].distribution
    if name == peers.OURS:
        found = bool(importlib.util.find_spec("commonplace")) or (ROOT / "src/commonplace/__init__.py").exists()
    else:
        found = distribution is None or _version(distribution) != ""
    if not found:
        say(
            f"{peers.PEERS[name].title} is not installed and is left out (requirements/bench.txt)",
            lasting=True,
        )
    return found


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _measure(plan: Plan, folder: Path, options: argparse.Namespace) -> Trial:
    given = corpus.read_texts(options.data) if options.data else None
    say("making texts and vectors")
    rows = max(plan.sizes) + plan.spare
    made = corpus.make(
        folder / "corpus",
        rows=rows,
        questions=plan.questions,
        dimension=plan.dimension,
        seed=plan.seed,
        given=given,
    )
    trial = Trial(plan, made, folder)
    trial.imports()
    if not options.no_install:
        trial.installs()
    for size in plan.sizes:
        trial.at_size(size)
    return trial


def _machine() -> dict[str, Any]:
    versions = {
        entry.distribution: _version(entry.distribution) for entry in peers.PEERS.values() if entry.distribution
    }
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "versions": versions,
    }


def _machine_line() -> str:
    machine = _machine()
    load = "/".join(f"{value:.1f}" for value in machine["load"])
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    return (
        f"Python {machine['python']}, SQLite {machine['sqlite']}, {machine['cores']} cores,"
        f" load average {load}; {versions}\n"
    )


def _write(path: Path, plan: Plan, trial: Trial, verdicts: list[Verdict]) -> None:
    everything = {
        "machine": _machine(),
        "plan": asdict(plan),
        "lines": trial.table.plain(),
        "notes": trial.notes,
        "goals": [asdict(verdict) for verdict in verdicts],
    }
    path.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
