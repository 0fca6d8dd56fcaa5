"""Print the table of docs/recall.md, and draw the curves of docs/learning.md: what age and use make of a memory.

python bench/decay.py [docs/images/decay.svg]
"""

from __future__ import annotations

import sys
from collections import defaultdict

from commonplace.memories import strength
from commonplace.settings import HALF_LIVES

DAY = 86_400.0
YEARS = 3
AGES = (1, 30, 90, 180, 400, 730)
USES = (0, 3, 12)
KINDS = ("fact", "pattern", "note", "message")


def main() -> None:
    """Print the table, and draw the curves if a file is given."""
    tabulate()
    if len(sys.argv) > 1:
        draw(sys.argv[1])


def tabulate() -> None:
    """Print recency times strength, by kind, use and age."""
    print("| kind | used or confirmed |", " | ".join(f"{age} days" for age in AGES), "|")
    print("|---|--:|" + "--:|" * len(AGES))
    for kind in KINDS:
        for used in USES:
            half_life = strength.stretch(HALF_LIVES[kind], used=used, confirmed=0)
            weights = [strength.recency(age * DAY, half_life) * strength.strength(0.5, used=used) for age in AGES]
            print(f"| {kind} | {used} |", " | ".join(f"{weight:.2f}" for weight in weights), "|")


def draw(path: str) -> None:
    """Draw the freshness of each kind by age."""
    import matplotlib  # the table needs none

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    alike: dict[float, list[str]] = defaultdict(list)
    for kind, half_life in HALF_LIVES.items():
        alike[half_life].append(kind)
    plt.rcParams["svg.hashsalt"] = "decay"
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    days = list(range(YEARS * 365 + 1))
    for half_life, kinds in sorted(alike.items(), reverse=True):
        left = [strength.freshness(day * DAY, half_life) for day in days]
        axes.plot(days, left, label=f"{', '.join(kinds)} ({half_life:.0f} days)")
    axes.set_xlabel("days since it was said, used or repeated")
    axes.set_ylabel("freshness")
    axes.set_xlim(0, days[-1])
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
