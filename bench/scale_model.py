"""A small model of the costs: straight lines through what was measured, and what they say about larger books."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

DECADES = tuple(10**power for power in range(4, 10))
RECALLS, ADDS = 10.0, 1.0
"""Each second, for every million memories."""
SPACE = 3_000
"""Memories in a space that is asked."""
CORES, RAM, DISK = 16, 128e9, 4e12
"""One node."""
BUSY = 0.5
"""The share of its cores that a node should need."""
SLACK = 1.5
"""Disk for dead rows, the log and a rebuilt index, over what the tables hold."""
LOGGED = 33 * 8192
"""The most that an add logs: each page that it touches, one for each of 25 words and some more, as a whole."""
IN_USE = 0.1
"""The share of the spaces that are asked often."""
PAGE = 8192
HOT = ("trace", "trace indexes", "posting indexes")
"""Tables that every recall reads; of the others it reads only the returned rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """y = start + slope · x, by least squares of the relative errors."""

    start: float
    slope: float
    scale: str
    """`n`, or `log10 n`."""
    r2: float
    worst: float
    """The largest relative error of a point."""
    points: int

    def at(self, n: float) -> float:
        return self.start + self.slope * (n if self.scale == "n" else float(np.log10(n)))


def fit(points: Iterable[tuple[float, float]], scale: str = "n") -> Line:
    """The line through (n, y); level where it would fall: no cost sinks as a book grows, that is noise."""
    n, y = (np.array(column, float) for column in zip(*points, strict=True))
    x = n if scale == "n" else np.log10(n)
    design = np.stack([np.ones_like(x), x], axis=1)
    (start, slope), *_ = np.linalg.lstsq(design / y[:, None], np.ones_like(y), rcond=None)
    if slope < 0:
        start, slope = float((1 / y).sum() / (1 / y**2).sum()), 0.0
    errors = design @ np.array([start, slope]) - y
    spread = float(((y - y.mean()) ** 2).sum())
    return Line(
        start=float(start),
        slope=float(slope),
        scale=scale,
        r2=1 - float((errors**2).sum()) / spread if spread else 1.0,
        worst=float(np.abs(errors / y).max()),
        points=len(y),
    )


def steps(found: dict[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """The measurements in a hundred spaces, in one, and with a graph."""
    one = found["one"]["steps"]
    graphs = [step["graph"] | {"memories": step["memories"]} for step in one if "graph" in step]
    return found["spaces"]["steps"], one, graphs


def fitted(found: dict[str, Any]) -> dict[str, Any]:
    """Every line, and the sizing that follows."""
    spaces, one, graphs = steps(found)
    lines = {
        **_recalls(spaces, one, graphs),
        "adding one, server CPU ms": _over(spaces, "memories", _server("add"), "log10 n"),
        "adding one of a batch, server CPU ms": _over(spaces, "memories", _server("load"), "log10 n"),
        "adding one of a batch to one space, server CPU ms": _over(one, "memories", _server("load"), "log10 n"),
        "log of an add soon after a checkpoint, bytes": _over(spaces, "memories", _log("add"), "log10 n"),
        "log of an add without whole pages, bytes": _over(spaces, "memories", _log("add_without_pages"), "log10 n"),
        "building a graph, CPU ms a vector": _over(
            graphs, "memories", lambda step: 1e3 * step["build_cpu_s"] / step["memories"], "log10 n"
        ),
        "bytes": fit((step["memories"], sum(step["bytes"].values())) for step in spaces),
        "bytes of vectors": fit((step["memories"], step["bytes"]["trace"]) for step in spaces),
        "bytes that recalls read": fit((step["memories"], hot_bytes(step)) for step in spaces),
    }
    return {
        "lines": {name: asdict(line) for name, line in lines.items()},
        "bytes_by_table": _by_table(spaces),
        "graph_bytes": graphs[-1]["bytes"] / graphs[-1]["memories"],
        "sizing": [sizing(lines, memories) for memories in DECADES],
    }


def _recalls(spaces: list[Any], one: list[Any], graphs: list[Any]) -> dict[str, Line]:
    every = [*spaces, *one]
    return {
        "exact recall by space, server CPU ms": _over(every, "space", _server("recall"), "n"),
        "exact recall by vector alone, server CPU ms": _over(every, "space", _server("recall_vector"), "n"),
        "recall in 1,000 by total, server CPU ms": _over(spaces, "memories", _server("recall_fixed"), "log10 n"),
        "recall by graph, server CPU ms": _over(graphs, "memories", _server("recall"), "log10 n"),
        "recall by graph, vector alone, server CPU ms": _over(graphs, "memories", _server("recall_vector"), "log10 n"),
    }


def sizing(lines: dict[str, Line], memories: int) -> dict[str, float]:
    """The resources of a book with spaces of SPACE memories."""
    recalls, adds = RECALLS * memories / 1e6, ADDS * memories / 1e6
    # A book that grows around a space makes its pages rarer in the caches: as much as was measured, no more.
    around = lines["recall in 1,000 by total, server CPU ms"]
    slower = max(around.at(memories) / around.at(DECADES[0]), 1.0)
    work = recalls * lines["exact recall by space, server CPU ms"].at(SPACE) * slower
    work += adds * lines["adding one, server CPU ms"].at(memories)
    cores = work / 1e3 / BUSY
    disk = SLACK * lines["bytes"].slope * memories
    hot = lines["bytes that recalls read"].slope * memories
    some = _in_use(hot, lines["bytes of vectors"].slope, memories)
    return {
        "memories": memories,
        "disk_gb": disk / 1e9,
        "hot_gb": hot / 1e9,
        "recalls": recalls,
        "adds": adds,
        "cores": cores,
        "log_mb_s": adds * min(lines["log of an add soon after a checkpoint, bytes"].at(memories), LOGGED) / 1e6,
        "nodes_all_hot": float(np.ceil(max(cores / CORES, hot / RAM, disk / DISK))),
        "some_hot_gb": some / 1e9,
        "nodes_some_hot": float(np.ceil(max(cores / CORES, some / RAM, disk / DISK))),
    }


def _in_use(hot: float, vector: float, memories: int) -> float:
    """Return the memory for the spaces in use: their words, and each page that contains one of their vectors."""
    pages = 1 - (1 - IN_USE) ** (PAGE / vector)
    return IN_USE * (hot - vector * memories) + pages * vector * memories  # type: ignore[no-any-return]


def _over(steps: Sequence[Any], of: str, what: Callable[[Any], float], scale: str) -> Line:
    return fit(((step[of], what(step)) for step in steps), scale)


def _server(key: str) -> Callable[[Any], float]:
    return lambda step: float(step[key]["server_ms"])


def _log(key: str) -> Callable[[Any], float]:
    return lambda step: float(step[key]["wal_bytes"])


def hot_bytes(step: dict[str, Any]) -> int:
    """Return the bytes that the recalls of all spaces read."""
    return sum(step["bytes"][name] for name in HOT)


def _by_table(spaces: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Bytes that each further memory adds to each table: an empty book has its pages too."""
    first, last = spaces[0], spaces[-1]
    more = last["memories"] - first["memories"]
    grown = {name: (size - first["bytes"].get(name, 0)) / more for name, size in last["bytes"].items()}
    return {name: each for name, each in sorted(grown.items(), key=lambda pair: -pair[1]) if each >= 1}


def table(model: dict[str, Any]) -> str:
    """Lines and sizing as text."""
    shown = ["", f"{'':52} {'start':>10} {'slope':>11}  {'of':8} {'R²':>6} {'worst':>6} points"]
    for name, line in model["lines"].items():
        shown.append(
            f"{name:52} {line['start']:10.4g} {line['slope']:11.4g}  {line['scale']:8} {line['r2']:6.3f}"
            f" {line['worst']:5.0%} {line['points']:6}"
        )
    shown += ["", "bytes a memory: " + ", ".join(f"{k} {v:,.0f}" for k, v in model["bytes_by_table"].items())]
    shown += [f"bytes of a graph: {model['graph_bytes']:,.0f} a vector", "", "  ".join(model["sizing"][0])]
    shown += ["  ".join(f"{value:,.4g}" for value in row.values()) for row in model["sizing"]]
    return "\n".join(shown)
