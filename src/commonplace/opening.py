"""Opening a book: a path or URL becomes a store, a store and an embedder become a Book."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path

from commonplace.book import Book
from commonplace.core import Core
from commonplace.embed import load as load_embedder
from commonplace.embed.base import Embedder
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.settings import Settings
from commonplace.store.base import Store
from commonplace.store.sqlite import SqliteStore

EmbedderLike = Embedder | Callable[[list[str]], object] | str | None


def open(
    where: str | PathLike[str],
    *,
    space: str = "default",
    embedder: EmbedderLike = None,
    settings: Settings | None = None,
) -> Book:
    """Open the book at a path, making the file if it is not there. Whoever opens closes.

    `space` is the wall: no verb of the returned book reaches beyond it. `embedder` is None for the one that
    ships with commonplace, or an Embedder, a function, or a text such as "openai:text-embedding-3-small".
    """
    chosen = settings or Settings()
    loaded = load_embedder(embedder)
    store = open_store(where, chosen)
    try:
        return Book(Core(store, loaded, chosen, fspath(where)), space)
    except CommonplaceError:
        store.close()
        raise


def open_store(where: str | PathLike[str], settings: Settings) -> Store:
    """The store behind a path."""
    place = fspath(where)
    if not isinstance(place, str) or not place:
        raise InvalidInput("say where the book is: a file's path, for example team.db")
    if "://" in place:
        raise InvalidInput(f"{place.split('://')[0]}:// is not a store that this commonplace knows: give a file's path")
    return SqliteStore(Path(place), settings)
