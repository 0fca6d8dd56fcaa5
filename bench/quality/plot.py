"""One picture: recall by depth and by budget for every set and system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quality import measures
from quality.running import Row


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write a picture in the format that the file's name asks for."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    sets = list(dict.fromkeys(row.set for row in rows))
    figure, axes = pyplot.subplots(2, len(sets), figsize=(3.2 * len(sets), 6), sharey=True, squeeze=False)
    for column, set_ in enumerate(sets):
        own = [row for row in rows if row.set == set_ and row.kind == "own"]
        for system in dict.fromkeys(row.system for row in own):
            values = measures.averaged(row.measured for row in own if row.system == system)
            style = {"label": system, "marker": "o", "markersize": 3, "linewidth": 2 if system == "commonplace" else 1}
            _line(axes[0][column], measures.DEPTHS, [values[f"all@{depth}"] for depth in measures.DEPTHS], style)
            budgets = [budget for budget in measures.BUDGETS if f"part in {budget:,} tokens" in values]
            _line(axes[1][column], budgets, [values[f"part in {budget:,} tokens"] for budget in budgets], style)
        axes[0][column].set(title=set_, xlabel="memories returned", xticks=measures.DEPTHS)
        axes[1][column].set(xlabel="tokens returned")
    axes[0][0].set(ylabel="all of the evidence, %", ylim=(0, 100))
    axes[1][0].set(ylabel="part of the evidence, %")
    axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


def _line(axes: object, across: Sequence[int], values: Sequence[Sequence[float]], style: dict[str, object]) -> None:
    axes.plot(across, [100 * measures.interval(each)[0] for each in values], **style)  # type: ignore[attr-defined]
