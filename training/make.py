"""Make the shipped reader from the data and the base model: `python training/make.py WORK`, an hour on two cores.

Needs the packages of training/requirements.txt, and pip's index for the base model. Each step is a program of its own
with its result in WORK; a step whose result is there is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "src" / "commonplace" / "models" / "weights" / "reader"


def main() -> None:
    work = Path(sys.argv[1])
    books = sorted((HERE / "books").glob("*.json"))
    steps: list[tuple[Path, list[object]]] = [
        (work / "base.npz", ["base.py", work]),
        (work / "groups.pkl", ["groups.py", work, *books]),
        (work / "half.pt", ["distil.py", work, "--out", work / "half.pt"]),
        (work / "first.pt", ["train.py", work, "--half", work / "half.pt", "--stop", 2000, "--out", work / "first.pt"]),
        (work / "model.pt", ["train.py", work, "--start", work / "first.pt", "--out", work / "model.pt",
                             "--epochs", 1, "--share", 0.55, "--rate", 3.5e-5, "--seed", 1]),
        (work / "encoder", ["write.py", work, work / "model.pt", work / "encoder"]),
        (work / "council.pt", ["train_council.py", work, "--folder", work / "encoder", "--out", work / "council.pt"]),
        (work / "written", ["write.py", work, work / "model.pt", FOLDER, work / "council.pt"]),
    ]  # fmt: skip
    paths = os.pathsep.join([str(HERE.parent / "src"), str(HERE)])
    for result, (program, *arguments) in steps:
        if not result.exists():
            print(f"{program}: making {result.name}", flush=True)
            command = [sys.executable, str(HERE / str(program)), *map(str, arguments)]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})


if __name__ == "__main__":
    main()
