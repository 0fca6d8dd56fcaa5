"""Opening a book: a path or URL becomes a store, a store and an embedder become a Book."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path

from commonplace.book import Book
from commonplace.core import Core
from commonplace.embed import load as load_embedder
from commonplace.embed.base import Embedder
from commonplace.errors import CommonplaceError, InvalidInput, StoreUnavailable
from commonplace.settings import Settings
from commonplace.store.base import Store
from commonplace.store.postgres import address
from commonplace.store.sqlite import SqliteStore

EmbedderLike = Embedder | Callable[[list[str]], object] | str | None


def open(
    where: str | PathLike[str],
    *,
    space: str = "default",
    embedder: EmbedderLike = None,
    settings: Settings | None = None,
    read_url: str | None = None,
) -> Book:
    """Open the book at a path or a postgresql:// URL, making it if it is not there. Whoever opens closes.

    `space` is the wall: no verb of the returned book reaches beyond it. `embedder` is None for the one that
    ships with commonplace, or an Embedder, a function, or a text such as "openai:text-embedding-3-small".
    `read_url` names a PostgreSQL replica that recalls may ask, once it has seen this process's own writes.
    """
    chosen = settings or Settings()
    loaded = load_embedder(embedder)
    store = open_store(where, chosen, read_url=read_url)
    try:
        return Book(Core(store, loaded, chosen, shown(where)), space)
    except CommonplaceError:
        store.close()
        raise


def open_store(where: str | PathLike[str], settings: Settings, *, read_url: str | None = None) -> Store:
    """The store behind a path or URL."""
    place = fspath(where)
    if not isinstance(place, str) or not place:
        raise InvalidInput("say where the book is: a file's path such as team.db, or a postgresql:// URL")
    scheme = place.partition("://")[0] if "://" in place else ""
    if scheme in address.SCHEMES:
        return _open_postgres(place, settings, read_url)
    if scheme:
        raise InvalidInput(f"{scheme}:// is no store that this commonplace knows: give a path or a postgresql:// URL")
    if read_url is not None:
        raise InvalidInput("read_url is for a book in PostgreSQL: a file is its own replica")
    return SqliteStore(Path(place), settings)


def shown(where: str | PathLike[str]) -> str:
    """A book's place as messages may show it: without a password."""
    place = fspath(where)
    return address.parse(place).shown if "://" in place else place


def _open_postgres(url: str, settings: Settings, read_url: str | None) -> Store:
    try:
        from commonplace.store.postgres.store import PostgresStore
    except ImportError as error:
        raise StoreUnavailable(
            f'a book in PostgreSQL needs one more package ({error.name}): pip install "commonplace[postgres]"'
        ) from error
    return PostgresStore(address.parse(url), settings, read_url=read_url)
