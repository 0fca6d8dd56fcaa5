"""Opening a book: a path or URL becomes a store, a store and an embedder become a Book."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path

from commonplace.book import Book
from commonplace.core import Core
from commonplace.embed import load as load_embedder
from commonplace.embed.base import Embedder
from commonplace.errors import CommonplaceError, InvalidInput, StoreUnavailable
from commonplace.rerank import Reranker
from commonplace.rerank import load as load_reranker
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
    reranker: Reranker | str | None = None,
    settings: Settings | None = None,
    read_url: str | None = None,
) -> Book:
    """Open the book at a path or a postgresql:// URL, making it if it is not there. Whoever opens closes.

    `space` is the wall: no verb of the returned book reaches beyond it. `embedder` is None for the one that
    ships with commonplace, or an Embedder, a function, or a text such as "openai:text-embedding-3-small".
    `reranker` is None for none, or a Reranker, or a text such as "ms-marco-minilm": each recall then takes up to
    `Settings.rerank_budget` longer.
    `read_url` names a PostgreSQL replica that recalls may ask, once it has seen this process's own writes.
    """
    chosen = settings or Settings()
    loaded, reader = load_embedder(embedder), load_reranker(reranker)
    store = open_store(where, chosen, read_url=read_url)
    try:
        return Book(Core(store, loaded, chosen, shown(where), reader), space)
    except CommonplaceError:
        store.close()
        raise


def open_store(where: str | PathLike[str], settings: Settings, *, read_url: str | None = None) -> Store:
    """The store behind a path or URL."""
    place = fspath(where)
    if not isinstance(place, str) or not place:
        raise InvalidInput("say where the book is: a file's path such as team.db, or a postgresql:// URL")
    if _is_url(place):
        _ensure_driver()
        from commonplace.store.postgres.store import PostgresStore

        return PostgresStore(address.parse(place), settings, read_url=read_url)
    if read_url is not None:
        raise InvalidInput("read_url is for a book in PostgreSQL: a file is its own replica")
    return SqliteStore(Path(place), settings)


def exists(where: str | PathLike[str]) -> bool:
    """Whether there is a book at a URL, or anything at a path; looking makes none."""
    place = fspath(where)
    if not _is_url(place):
        return Path(place).exists()
    _ensure_driver()
    from commonplace.store.postgres.upkeep import holds_a_book

    return holds_a_book(address.parse(place), Settings())


def shown(where: str | PathLike[str]) -> str:
    """A book's place as messages may show it: without a password."""
    place = fspath(where)
    return address.parse(place).shown if _is_url(place) else place


def _is_url(place: str) -> bool:
    if "://" not in place:
        return False
    scheme = place.partition("://")[0]
    if scheme not in address.SCHEMES:
        raise InvalidInput(f"{scheme}:// is no store that this commonplace knows: give a path or a postgresql:// URL")
    return True


def _ensure_driver() -> None:
    for package in ("psycopg", "psycopg_pool"):
        if find_spec(package) is None:
            raise StoreUnavailable(
                f'a book in PostgreSQL needs the package {package}: pip install "commonplace[postgres]"'
            )
