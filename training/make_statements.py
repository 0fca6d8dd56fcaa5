"""Make the shipped model of statements: `python training/make_statements.py WORK`, two hours on two cores.

Needs the packages of training/requirements.txt, and pip's index for the base models. Each step is a program of its own
with its result in WORK; a step whose result is there is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "src" / "commonplace" / "models" / "weights" / "statements"
TEMPERATURE = 1.0


def main() -> None:
    work = Path(sys.argv[1])
    talks = [work / f"talk{number}.pt" for number in (1, 2, 3)]
    pairs = [work / f"pair{number}.pt" for number in (1, 2)]
    # The first rounds leave authors out, which tells how much is kept of what an unknown author says; the last ones
    # train on them as well, but for the end of their files, on which the thresholds were chosen.
    left = ["--without", "friends,teams"]
    also = ["--without", "people,p,ak"]
    steps: list[tuple[Path, list[object]]] = [
        (work / "base.npz", ["base.py", work]),
        (talks[0], ["train_statements.py", "keep", work, "--out", talks[0], *left, "--epochs", 3, "--rate", 1e-4]),
        (talks[1], ["train_statements.py", "keep", work, "--out", talks[1], *left, "--start", talks[0], "--seed", 1,
                    "--epochs", 3, "--rate", 9e-5]),
        (talks[2], ["train_statements.py", "keep", work, "--out", talks[2], *left, "--share", 0.35, "--seed", 2,
                    "--start", *talks[:2], "--epochs", 2.2, "--rate", 7e-5]),
        (pairs[0], ["train_statements.py", "relate", work, "--out", pairs[0], *also, "--epochs", 2, "--rate", 8e-5,
                    "--crossed", 0]),
        (pairs[1], ["train_statements.py", "relate", work, "--out", pairs[1], *also, "--share", 0.3, "--seed", 3,
                    "--start", pairs[0], "--epochs", 1.6, "--rate", 7e-5, "--trusted", 0.75]),
        (FOLDER / "model.json", ["write_statements.py", work, talks[2], pairs[1], TEMPERATURE, FOLDER]),
    ]  # fmt: skip
    paths = os.pathsep.join([str(HERE.parent / "src"), str(HERE)])
    for result, (program, *arguments) in steps:
        if not result.exists():
            print(f"{program}: making {result.name}", flush=True)
            command = [sys.executable, str(HERE / str(program)), *map(str, arguments)]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})


if __name__ == "__main__":
    main()
