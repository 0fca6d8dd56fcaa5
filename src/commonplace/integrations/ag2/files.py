"""Files of a knowledge store: how their paths are written, and what a list of pieces reads as."""

from __future__ import annotations

from commonplace.errors import InvalidInput
from commonplace.integrations.exact import unpacked
from commonplace.values import Json


def text(value: Json) -> str:
    """The text of all pieces together."""
    if not isinstance(value, list):
        raise InvalidInput(f"a file of a knowledge store is a list of texts, not {type(value).__name__}")
    return "".join(unpacked(piece) for piece in value)


def data(text: str) -> bytes:
    """The bytes that offsets count."""
    return text.encode("utf-8", "surrogatepass")


def key(path: str) -> str:
    """The path with one slash before each part and none at its end."""
    return "/" + "/".join(part for part in path.split("/") if part)


def inside(path: str) -> str:
    """What the paths inside of a directory begin with."""
    return key(path).rstrip("/") + "/"
