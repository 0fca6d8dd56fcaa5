"""Any function from texts to vectors, as an embedder."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from commonplace.errors import CommonplaceError, EmbedderFailed, InvalidInput
from commonplace.models.embedders.checked import CheckedEmbedder

Function = Callable[[list[str]], object]
"""Takes a list of texts; gives one vector for each, as a matrix or a sequence of sequences of numbers."""


class FunctionEmbedder(CheckedEmbedder):
    """Embeds with a function of yours; its answers are checked and brought to unit length.

    The name and version are stored beside every vector: change the version whenever
    the same text would get another vector. Calls may come from several threads.
    """

    def __init__(self, function: Function, *, name: str, version: str = "1", dimension: int | None = None) -> None:
        super().__init__(name=name, version=version, dimension=dimension)
        self._function = function

    def __repr__(self) -> str:
        return f"FunctionEmbedder(name={self.name!r}, version={self.version!r})"

    def _compute(self, texts: Sequence[str]) -> object:
        try:
            return self._function(list(texts))
        except CommonplaceError:
            raise
        except Exception as error:
            raise EmbedderFailed(f"{self.name} failed: {error!r}") from error


def named_after(function: Function) -> FunctionEmbedder:
    """Wrap a function under its own name; one that has no lasting name is refused."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    # A method's name says nothing of the object behind it: two models would go by one name.
    if not module or not name or "<" in name or inspect.ismethod(function):
        raise InvalidInput(
            f"{function!r} has no lasting name to store beside its vectors; "
            'give it one: FunctionEmbedder(function, name="my-model")'
        )
    return FunctionEmbedder(function, name=f"{module}.{name}")
