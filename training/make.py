"""Make the shipped reader from the data and the base model: `python training/make.py WORK`, two hours on two cores.

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
    # The books with two letters were written last: they were asked in the second half of the training only.
    # The newest were written after it, and have not been trained on yet.
    books = [book for book in books if book.stem not in ("aq", "ar", "as")]
    last = ",".join(book.stem for book in books if len(book.stem) > 1)
    first, model = work / "first.pt", work / "model.pt"
    steps: list[tuple[Path, list[object]]] = [
        (work / "base.npz", ["base.py", work]),
        (work / "groups.pkl", ["groups.py", work, *books]),
        (first, ["train.py", work, "--out", first, "--epochs", 2, "--without", last, "--last", 0.5]),
        (model, ["train.py", work, "--out", model, "--start", first, "--epochs", 1, "--again", last, "--rate", 5e-5,
                 "--seed", 1]),
        (work / "encoder", ["write.py", "encoder", model, FOLDER, work / "vocab.txt"]),
        (work / "council", ["train_council.py", work, "--folder", FOLDER]),
        (work / "hashes", ["write.py", "hashes", FOLDER]),
    ]  # fmt: skip
    paths = os.pathsep.join([str(HERE.parent / "src"), str(HERE)])
    for result, (program, *arguments) in steps:
        if not result.exists():
            print(f"{program}: making {result.name}", flush=True)
            command = [sys.executable, str(HERE / str(program)), *map(str, arguments)]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})
            result.touch()


if __name__ == "__main__":
    main()
