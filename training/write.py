"""Write the folder that the package ships: `write.py encoder MODEL FOLDER VOCABULARY`, `write.py hashes FOLDER`.

The encoder comes first; train_council.py adds the council; the hashes come last.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import export
import torch
from train import Reader

NAME = "commonplace-reader-3"
PARTS = ("skim.onnx", "read.onnx", "council.onnx")


def write_encoder(model: Reader, folder: Path, vocabulary: Path) -> None:
    """Write both halves of the encoder, the council as it was trained beside it, the vocabulary and the hashes."""
    export.write_encoder(model.encoder, folder)
    export.write_council(model.council, folder)
    shutil.copy(vocabulary, folder / "vocab.txt")
    write_hashes(folder)


def write_hashes(folder: Path) -> None:
    """Write the name of the model and the hashes of its parts."""
    hashes = {f"sha256 of {name}": hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in PARTS}
    (folder / "model.json").write_text(json.dumps({"name": NAME, **hashes}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    if what == "encoder":
        given, folder, vocabulary = map(Path, paths)
        write_encoder(torch.load(given, weights_only=False), folder, vocabulary)
    else:
        write_hashes(Path(paths[0]))
