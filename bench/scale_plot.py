"""The model of `scale.py` as a picture: dots are measured, full lines run as far as they do, dashed ones beyond."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from scale_model import DECADES, Line, hot_bytes, steps

mpl.use("svg")
from matplotlib import pyplot as plt  # the backend is chosen before
from matplotlib.axes import Axes

_BLUE, _ORANGE, _GREEN = "#1f5fa8", "#d9730d", "#2a8a4a"


def draw(found: dict[str, Any], path: Path) -> None:
    """Three charts side by side."""
    mpl.rcParams |= {
        "svg.hashsalt": "scale",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    figure, (recall, size, nodes) = plt.subplots(1, 3, figsize=(13, 4.2), constrained_layout=True)
    lines = {name: Line(**line) for name, line in found["model"]["lines"].items()}
    _recall(recall, found, lines)
    _size(size, found, lines)
    _nodes(nodes, found["model"]["sizing"])
    for axes in (recall, size, nodes):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.grid(visible=True, which="major", alpha=0.25)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, format="svg", metadata={"Date": None})


def _line(axes: Axes, line: Line, measured: list[tuple[float, float]], until: float, colour: str, label: str) -> None:
    """Measured points as dots, the fit full among them, and dashed beyond the last of them."""
    last = max(n for n, _ in measured)
    first = min(n for n, _ in measured)
    axes.plot(*zip(*measured, strict=True), "o", color=colour, markersize=4, label=f"{label}, measured")
    for start, stop, style in ((first, last, "-"), (last, until, "--")):
        x = np.geomspace(start, stop, 60)
        axes.plot(x, [line.at(n) for n in x], style, color=colour, linewidth=1.3)


def _recall(axes: Axes, found: dict[str, Any], lines: dict[str, Line]) -> None:
    spaces, one, graphs = steps(found)
    exact = [(step["space"], step["recall"]["server_ms"]) for step in [*spaces, *one]]
    _line(axes, lines["exact recall by space, server CPU ms"], exact, 1e6, _BLUE, "exact scan")
    graph = [(step["memories"], step["recall"]["server_ms"]) for step in graphs]
    _line(axes, lines["recall by graph, server CPU ms"], graph, 1e6, _ORANGE, "graph")
    axes.set(title="One recall", xlabel="memories in the space", ylabel="CPU ms of the server")


def _size(axes: Axes, found: dict[str, Any], lines: dict[str, Line]) -> None:
    spaces, _, _ = steps(found)
    total = [(step["memories"], sum(step["bytes"].values()) / 1e9) for step in spaces]
    _line(axes, _gigabytes(lines["bytes"]), total, DECADES[-1], _BLUE, "tables and indexes")
    hot = [(step["memories"], hot_bytes(step) / 1e9) for step in spaces]
    _line(axes, _gigabytes(lines["bytes that recalls read"]), hot, DECADES[-1], _GREEN, "what recalls read")
    axes.set(title="Bytes", xlabel="memories in the book", ylabel="GB")


def _gigabytes(line: Line) -> Line:
    return replace(line, start=line.start / 1e9, slope=line.slope / 1e9)


def _nodes(axes: Axes, sizing: list[dict[str, float]]) -> None:
    memories = [row["memories"] for row in sizing]
    for key, colour, label in (
        ("cores", _BLUE, "cores"),
        ("nodes_some_hot", _GREEN, "nodes, a tenth of the spaces in use"),
        ("nodes_all_hot", _ORANGE, "nodes, all in memory"),
    ):
        axes.plot(memories, [row[key] for row in sizing], "--", marker="x", color=colour, linewidth=1.3, label=label)
    axes.set(title="Extrapolated: cores and nodes", xlabel="memories in the book", ylabel="")
