"""A model on disk: a folder with `model.json`, `vocab.txt` and its weights."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from commonplace.errors import EmbedderUnavailable, ModelUnavailable


class ModelFolder:
    """Reads a model's files. Raises `unavailable` with the name of a file that is missing or damaged."""

    def __init__(self, path: Path, unavailable: type[ModelUnavailable] = EmbedderUnavailable) -> None:
        self.path = path
        self.unavailable = unavailable
        try:
            about = json.loads(self.text("model.json"))
        except json.JSONDecodeError as error:
            raise self.damaged("model.json", str(error)) from error
        if not isinstance(about, dict):
            raise self.damaged("model.json", "it is not a JSON object")
        self._about: dict[str, object] = about

    def word(self, name: str) -> str:
        """Return a text of `model.json`, which may be empty."""
        value = self._about.get(name)
        if not isinstance(value, str):
            raise self.damaged("model.json", f"{name!r} is {value!r}, not a text")
        return value

    def number(self, name: str) -> int:
        """Return a whole number of `model.json`, above 0."""
        value = self._about.get(name)
        if type(value) is not int or value < 1:
            raise self.damaged("model.json", f"{name!r} is {value!r}, not a whole number above 0")
        return value

    def vocabulary(self) -> dict[str, int]:
        """Return the ids of the tokens in `vocab.txt`: the number of the line, from 0."""
        lines = self.text("vocab.txt").split("\n")
        if not lines[-1]:
            lines.pop()
        vocabulary = dict(zip(lines, range(len(lines)), strict=True))
        if len(vocabulary) != len(lines):
            raise self.damaged("vocab.txt", "it holds a token twice")
        return vocabulary

    def array(self, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
        """Map an array into memory: processes share its pages, and only those that are used are loaded."""
        path = self.file(name)
        try:
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise self.damaged(name, str(error)) from error
        if not isinstance(found, np.ndarray) or found.dtype != dtype or found.shape != shape:
            is_now = f"{found.dtype} {found.shape}" if isinstance(found, np.ndarray) else "an archive"
            raise self.damaged(name, f"it holds {is_now}, not {np.dtype(dtype)} {shape}")
        # A plain array on the same pages: indexing a memmap costs microseconds each time.
        plain: npt.NDArray[np.generic] = np.asarray(found)
        return plain

    def text(self, name: str) -> str:
        path = self.file(name)
        try:
            return path.read_bytes().decode()  # half the time of read_text, and it keeps "\r"
        except (OSError, UnicodeDecodeError) as error:
            raise self.damaged(name, str(error)) from error

    def file(self, name: str) -> Path:
        """Return the path of a file; raise if it is missing."""
        path = self.path / name
        if not path.is_file():
            raise self.unavailable(f"the model's file {path} is missing")
        return path

    def ensure_whole(self, name: str) -> None:
        """Raise if a file's bytes are not those that `model.json` promises."""
        try:
            found = self.file(name).read_bytes()
        except OSError as error:
            raise self.damaged(name, str(error)) from error
        if hashlib.sha256(found).hexdigest() != self.word(f"sha256 of {name}"):
            raise self.damaged(name, "its hash is not the one in model.json")

    def damaged(self, name: str, why: str) -> ModelUnavailable:
        """Return the error for a file that cannot be used."""
        return self.unavailable(f"the model's file {self.path / name} is damaged: {why}")
