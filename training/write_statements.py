"""Write the folder of the model of statements: `write_statements.py WORK TALK PAIRS TEMPERATURE FOLDER`."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import export
import torch
from base_statements import get, read_weights
from reading import Encoder, PairModel, TalkModel

NAME = "commonplace-statements-1"
PARTS = ("words.onnx", "keep.onnx", "relate.onnx")


def main() -> None:
    work, talk, pairs, temperature, folder = sys.argv[1:]
    weights, vocabulary = get(Path(work))
    base, target = read_weights(weights), Path(folder)
    talks, relations = TalkModel(Encoder(base)), PairModel(Encoder(base))
    talks.load_state_dict(torch.load(talk))
    relations.load_state_dict(torch.load(pairs))
    export.write_words(base["embeddings.word_embeddings.weight"], target)
    export.write_talk(talks, target)
    export.write_pairs(relations, float(temperature), target)
    shutil.copy(vocabulary, target / "vocab.txt")
    hashes = {f"sha256 of {name}": hashlib.sha256((target / name).read_bytes()).hexdigest() for name in PARTS}
    (target / "model.json").write_text(json.dumps({"name": NAME, **hashes}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
