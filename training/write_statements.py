"""Write the folder of the model of statements: `write_statements.py WORK TALK PAIRS TEMPERATURE FOLDER`.

TALK and PAIRS are what train_statements.py wrote; several, joined with commas, are averaged.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import export
import torch
from base_statements import get, read_base, read_weights
from reading import PAIR_DEPTH, TALK_DEPTH, Encoder, PairModel, TalkModel
from train_statements import mix

NAME = "commonplace-statements-1"
PARTS = ("keep.onnx", "relate.onnx")


def main() -> None:
    work, talk, pairs, temperature, folder = sys.argv[1:]
    weights, vocabulary = get(Path(work))
    talk_base, pair_base, target = read_weights(weights), read_base(Path(work) / "base.npz"), Path(folder)
    talks, relations = TalkModel(Encoder(talk_base, TALK_DEPTH)), PairModel(Encoder(pair_base, PAIR_DEPTH))
    talks.load_state_dict(mix([torch.load(path) for path in talk.split(",")]))
    relations.load_state_dict(mix([torch.load(path) for path in pairs.split(",")]))
    export.write_talk(talks, target)
    export.write_pairs(relations, float(temperature), target)
    shutil.copy(vocabulary, target / "vocab.txt")
    hashes = {f"sha256 of {name}": hashlib.sha256((target / name).read_bytes()).hexdigest() for name in PARTS}
    (target / "model.json").write_text(json.dumps({"name": NAME, **hashes}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
