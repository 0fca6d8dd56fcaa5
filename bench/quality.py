"""Measure how well recall finds the evidence: commonplace through its public API, simple baselines and other systems.

    python bench/quality.py DATA…                                 everything (an hour, most of it the peers)
    python bench/quality.py DATA --systems commonplace            the product alone (some minutes)
    python bench/quality.py DATA --sets locomo --systems commonplace,BM25 --plot quality.svg --rows rows.jsonl

DATA are files, or folders with files, of locomo.json, longmemeval.json, beam100k.json and conflicts.json. Every turn
is remembered with its text, speaker, session and date; nothing is set for one set that is not set for all, and
nothing is kept from one run to the next. The peers get the same texts, with the speaker in front, and vectors of the
same embedder. `--rows` writes one line of JSON for each question of each system.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from quality import ablation, data, measures, plot, report, running, systems


def main() -> None:
    """Measure, print, and write what was asked for."""
    options = _options()
    cases = [case for case in data.load(options.data) if not options.sets or case.set in options.sets]
    if not cases:
        raise SystemExit(f"no set of that name: {', '.join(options.sets)}")
    if options.without:
        ablation.switch_off(options.without)
    if options.rows:
        options.rows.unlink(missing_ok=True)
    rows: list[running.Row] = []
    for name in options.systems:
        if not systems.present(name):
            print(f"{name} is not installed and is left out (requirements/bench.txt)\n")
            continue
        budgets = () if options.brief else measures.BUDGETS
        reading = systems.Reading(options.reranker, options.rerank_budget)
        system = systems.make(name, options.embedder, budgets, reading)
        asked = running.run(name, system, _some(cases, options.books), options.limit)
        rows += _written(asked, options.rows)
    print(report.report(rows))
    if options.plot:
        plot.draw(rows, options.plot)


def _written(rows: Iterable[running.Row], path: Path | None) -> Iterator[running.Row]:
    """Yield the rows and write each one at once, so that an interrupted run keeps its results."""
    if path is None:
        yield from rows
        return
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row.plain(), ensure_ascii=False) + "\n")
            file.flush()
            yield row


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    parser.add_argument(
        "--systems",
        type=_names,
        default=tuple(name for name in systems.SYSTEMS if name != "reconciling"),
        help=",".join(systems.SYSTEMS),
    )
    parser.add_argument("--sets", type=lambda text: text.split(","), default=(), help="such as locomo,longmemeval mix")
    parser.add_argument("--embedder", help="as for commonplace.open; the peers use it too")
    parser.add_argument("--reranker", help="as for commonplace.open; the peers have none")
    parser.add_argument("--rerank-budget", type=float, default=0.5, help="seconds for it in each recall (0.5)")
    parser.add_argument("--brief", action="store_true", help="leave out the budgets of tokens, which take longest")
    parser.add_argument("--without", choices=ablation.PARTS, help="switch one part of the ranking off")
    parser.add_argument("--books", type=int, help="only the first so many books of each set")
    parser.add_argument("--limit", type=float, default=900, help="seconds for each system on each set (900)")
    parser.add_argument("--rows", type=Path, help="write one line of JSON for each question here")
    parser.add_argument("--plot", type=Path, help="draw recall by depth and budget here (.svg or .png)")
    return parser.parse_args()


def _names(text: str) -> tuple[str, ...]:
    names = text.split(",")
    if unknown := set(names) - set(systems.SYSTEMS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return tuple(names)


def _some(cases: Sequence[data.Case], most: int | None) -> list[data.Case]:
    if most is None:
        return list(cases)
    sets = dict.fromkeys(case.set for case in cases)
    return [case for set_ in sets for case in [case for case in cases if case.set == set_][:most]]


if __name__ == "__main__":
    main()
