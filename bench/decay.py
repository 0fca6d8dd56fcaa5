"""Draw the curves of docs/learning.md: the strength of a memory of each kind by age.

python bench/decay.py docs/images/decay.svg
"""

from __future__ import annotations

import sys
from collections import defaultdict

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from commonplace.memories import strength
from commonplace.settings import HALF_LIVES

DAY = 86_400.0
YEARS = 3


def main() -> None:
    """Draw the curves into the given file."""
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
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
