"""Write a trained model as the folder that the package ships: `write.py WORK MODEL FOLDER [COUNCIL]`."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import export
import numpy as np
import torch
from train import Reader

NAME = "commonplace-reader-1"


def write(model: Reader, vocabulary: Path, folder: Path) -> None:
    """Write the encoder with int8 weights, the council, the vocabulary, and the hashes of the first two."""
    folder.mkdir(parents=True, exist_ok=True)
    export.write(model.encoder, folder / "model.onnx")
    (folder / "model.f32.onnx").unlink()
    np.savez(folder / "council.npz", **model.council.arrays())
    shutil.copy(vocabulary, folder / "vocab.txt")
    files = ("model.onnx", "council.npz")
    hashes = {f"sha256 of {name}": hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    (folder / "model.json").write_text(json.dumps({"name": NAME, **hashes}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    work, given, folder, *judged = map(Path, sys.argv[1:])
    model = torch.load(given, weights_only=False)
    if judged:
        model.council = torch.load(judged[0], weights_only=False)
    write(model, work / "vocab.txt", folder)
