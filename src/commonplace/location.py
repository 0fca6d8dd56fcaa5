"""Paths and URLs: open the book there, copy it to another place, or re-embed it.

Here everything is put together; no other module opens a store.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial, wraps
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from commonplace.book import Book
from commonplace.errors import (
    CommonplaceError,
    InvalidInput,
    NotFound,
    ServerUnavailable,
    StoreUnavailable,
    missing_package,
)
from commonplace.kv import LocalKeyValue
from commonplace.local import LocalBook
from commonplace.memories.core import BackgroundWorker, Core, Place
from commonplace.models.embedders import load_embedder
from commonplace.models.embedders.base import Embedder
from commonplace.models.reader import Reader, find_reader
from commonplace.models.rerankers import Reranker
from commonplace.models.rerankers import load as load_reranker
from commonplace.models.statements import StatementReader, find_statements
from commonplace.remote import address as remote_address
from commonplace.remote.address import is_remote
from commonplace.settings import Settings
from commonplace.store.base import Store
from commonplace.store.postgres import address
from commonplace.store.sqlite.store import SqliteStore
from commonplace.values import checks
from commonplace.values.extraction import Extractor

if TYPE_CHECKING:
    from commonplace.aio import AsyncBook
    from commonplace.models.statements import StatementReader
    from commonplace.transfer.copy import Copied, End
    from commonplace.transfer.probe import Probed

P = ParamSpec("P")
Where = str | PathLike[str]
EmbedderLike = Embedder | Callable[[list[str]], object] | str | None
ExtractorLike = Extractor | str | None
Progress = Callable[[int, int], None]
LEDGER = "model tokens"
"""The key-value namespace in which a book counts the tokens of its extractor's model."""


def open(
    where: Where,
    *,
    space: str = "default",
    embedder: EmbedderLike = None,
    reranker: Reranker | str | None = None,
    reader: Reader | str | None = "default",
    settings: Settings | None = None,
    read_url: str | None = None,
    extractor: ExtractorLike = None,
    api_key: str | None = None,
    timeout: float | None = None,
) -> Book:
    """Open the book at a path or a postgresql:// URL, creating it if there is none. The caller closes it.

    No verb of the returned book reaches beyond `space`. `embedder` is None for the one that ships with commonplace, or
    an Embedder, a function, or a text such as "openai:text-embedding-3-small". `reader` is the model that reads the
    best candidates of a recall together with the question: "default" for the one that ships with commonplace, None for
    none, which is faster and understands less; `learn` then finds explicit commands alone. `reranker` is None, or a
    Reranker, or a text such as "ms-marco-minilm", which takes the place of the reader in recall.
    `read_url` is a PostgreSQL replica that recalls may use once it has this process's own writes. `extractor` finds
    memories for `learn`: None for the reader of statements that ships with commonplace, or an Extractor such as a
    ModelExtractor, or a text such as "openai:gpt-4o-mini", whose tokens are counted in the space's key-value entries.

    An http:// or https:// URL opens a book on a server (`commonplace serve`) as a RemoteBook; nothing is sent yet. With
    several servers of one book, "http://a:8420,http://b:8420", the next is used while one is away. `api_key` is a key
    of that server (else COMMONPLACE_API_KEY), and `timeout` the seconds that a call may take including its retries
    (30). The server has its own embedder, reranker, reader, settings, read_url and extractor: give none of them.
    """
    place = fspath(where)
    if isinstance(place, str) and is_remote(place):
        refused = {"embedder": embedder, "reranker": reranker, "settings": settings, "read_url": read_url,
                   "extractor": extractor, "reader": None if reader == "default" else reader or "none"}  # fmt: skip
        return _open_remote(place, space, api_key, timeout, refused)
    if api_key is not None or timeout is not None:
        raise InvalidInput("api_key and timeout are for a book behind a server, such as http://localhost:8420")
    core = open_core(
        where, space=space, embedder=embedder, reranker=reranker, reader=reader, settings=settings, read_url=read_url,
        extractor=extractor,
    )  # fmt: skip
    try:
        return LocalBook(core, space)
    except CommonplaceError:
        core.close()
        raise


def _make_awaitable(opener: Callable[P, Book]) -> Callable[P, Coroutine[Any, Any, AsyncBook]]:
    @wraps(opener)
    async def open_async(*args: P.args, **kwargs: P.kwargs) -> AsyncBook:
        import asyncio  # slow to import, and most programs open blocking books

        from commonplace.aio import AsyncBook

        return AsyncBook(await asyncio.to_thread(opener, *args, **kwargs))

    open_async.__name__ = open_async.__qualname__ = "open_async"
    open_async.__doc__ = "Open a book as `open` does, for use from an event loop."
    return open_async


open_async = _make_awaitable(open)


def open_core(
    where: Where,
    *,
    space: str = "default",
    embedder: EmbedderLike = None,
    reranker: Reranker | str | None = None,
    reader: Reader | str | None = "default",
    settings: Settings | None = None,
    read_url: str | None = None,
    extractor: ExtractorLike = None,
) -> Core:
    """Open what the books of all spaces at one place share.

    `space` is where the tokens of an extractor's model are counted.
    """
    chosen = settings or Settings()
    model = load_embedder(embedder)
    second = load_reranker(reranker)
    reads = find_reader(None if second is not None and reader == "default" else reader)
    statements = _find_statements(reader)
    finds = _extractor(extractor, space, chosen, statements)
    store = open_store(where, chosen, read_url=read_url)
    try:
        return Core(
            store, model, chosen, label(where), extractor=finds(store), worker=_make_worker, reranker=second,
            reader=reads, statements=statements,
        )  # fmt: skip
    except CommonplaceError:
        store.close()
        raise


def open_store(where: Where, settings: Settings, *, read_url: str | None = None) -> Store:
    """Open the store at a path or URL."""
    place = fspath(where)
    if not isinstance(place, str) or not place:
        raise InvalidInput("a book is at a path such as team.db, or at a postgresql:// URL")
    if is_remote(place):
        raise InvalidInput(f"{label(place)} is a server, but this needs its file or postgresql:// URL")
    if _is_url(place):
        _ensure_driver()
        from commonplace.store.postgres.store import PostgresStore

        return PostgresStore(address.parse(place), settings, read_url=read_url)
    if read_url is not None:
        raise InvalidInput("read_url works only for a book in PostgreSQL")
    return SqliteStore(Path(place), settings)


def exists(where: Where) -> bool:
    """Whether there is a book at a URL, or anything at a path; none is created. A server always has one."""
    place = fspath(where)
    if is_remote(place):
        return True
    if not _is_url(place):
        return Path(place).exists()
    _ensure_driver()
    from commonplace.store.postgres.database import holds_a_book

    return holds_a_book(address.parse(place), Settings())


def label(where: Where) -> str:
    """Return a path or URL for messages, without a password."""
    place = fspath(where)
    if is_remote(place):
        return ",".join(each.label for each in remote_address.parse_all(place, warn=False))
    return address.parse(place).shown if _is_url(place) else place


def copy(
    source: Store | Where,
    target: Store | Where,
    *,
    names: Sequence[str] | None = None,
    mirror: bool = False,
    progress: Progress | None = None,
    settings: Settings | None = None,
) -> Copied:
    """Copy every space, or those named, between paths, URLs or open stores, and verify what arrived.

    The target is created if it is new. Run again, a copy goes on where it stopped. Both ends may be in use: each memory
    is copied whole, as it was when it was read, and the next run fetches what the source gets later. What only the
    target has stays there, unless `mirror` removes it and overwrites what differs; spaces that the source does not have
    are never touched.

    `progress` is called with how many steps are done and how many there are. Raises Conflict if the target holds
    something else under the same id or key, EmbedderMismatch if its vectors come from another embedder.
    """
    from commonplace.transfer.copy import CopyRun  # few programs copy

    with _open_end(source, "the source", settings) as old, _open_end(target, "the target", settings, new=True) as new:
        if old.store is new.store or _is_same_place(source, target):
            raise InvalidInput(f"{old.name} cannot be copied onto itself: name another target")
        return CopyRun(old, new, writing=True, mirror=mirror, progress=progress).run(names)


def compare(
    source: Store | Where,
    target: Store | Where,
    *,
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
    settings: Settings | None = None,
) -> Copied:
    """Read two books and return how they differ; write nothing."""
    from commonplace.transfer.copy import CopyRun  # as above

    with _open_end(source, "the source", settings) as old, _open_end(target, "the target", settings) as new:
        return CopyRun(old, new, writing=False, progress=progress).run(names)


def reindex(
    where: Where,
    *,
    embedder: EmbedderLike = None,
    batch: int = 256,
    progress: Progress | None = None,
    settings: Settings | None = None,
) -> int:
    """Embed and analyse every version of every memory again; return how many. Run again, it goes on where it stopped.

    `progress` is called with how many are done and how many there are. Vectors that callers gave themselves are
    replaced by the embedder's, too.
    """
    from commonplace.transfer import reindex as transfer  # few programs re-embed

    with closing(open_store(where, settings or Settings())) as store:
        return transfer.reindex(store, load_embedder(embedder), batch=batch, progress=progress)


def probe(where: Store | Where, person: str, texts: Sequence[str] = (), *, settings: Settings | None = None) -> Probed:
    """Look for what is left of an erased person in every space: in rows, indexes, files and their free space.

    It looks for their name, as an owner and in texts, and for further `texts` that belonged to them.
    """
    from commonplace.transfer.probe import probe as look  # as above

    with _open_end(where, "the book", settings) as end:
        return look(end.store, person, texts)


@contextmanager
def _open_end(place: Store | Where, role: str, settings: Settings | None, *, new: bool = False) -> Iterator[End]:
    """Open the store at a place and close it afterwards; one that is open already stays open."""
    from commonplace.transfer.copy import End  # as above

    if not isinstance(place, (str, PathLike)):
        yield End(place, role)
        return
    if not new and not exists(place):
        raise NotFound(f"there is no book at {label(place)}")
    with closing(open_store(place, settings or Settings())) as store:
        yield End(store, label(place))


def _is_same_place(source: Store | Where, target: Store | Where) -> bool:
    if not isinstance(source, (str, PathLike)) or not isinstance(target, (str, PathLike)):
        return False
    here, there = fspath(source), fspath(target)
    if "://" in here or "://" in there:
        return here == there
    return Path(here).resolve() == Path(there).resolve()


def _open_remote(
    url: str, space: str, api_key: str | None, timeout: float | None, refused: Mapping[str, object]
) -> Book:
    for name, value in refused.items():
        if value is not None:
            raise InvalidInput(f"{name} is a setting of the store: set it on the server and omit it here")
    if find_spec("urllib3") is None:
        raise ServerUnavailable(missing_package("a book behind a server", "urllib3", "remote"))
    from commonplace.remote.book import RemoteBook
    from commonplace.remote.transport import TIMEOUT, Transport

    seconds = TIMEOUT if timeout is None else checks.amount(timeout, "timeout")
    if not seconds:
        raise InvalidInput("timeout is a number of seconds above 0")
    return RemoteBook(Transport(remote_address.parse_all(url, api_key), timeout=seconds), space)


def _extractor(
    spec: ExtractorLike, space: str, settings: Settings, reads: Callable[[], StatementReader] | None
) -> Callable[[Store], Callable[[], Extractor]]:
    """Return what makes the extractor, given the store to count its tokens in; refuse a wrong one at once."""
    if spec is None or spec == "reader":
        return lambda store: partial(_make_extractor, reads)
    if isinstance(spec, str):
        from commonplace.learn.chat import make_chat
        from commonplace.learn.extractor import ModelExtractor, StatementExtractor

        client = make_chat(spec)
        fallback = StatementExtractor(None if reads is None else "default")

        def make(store: Store) -> Callable[[], Extractor]:
            ledger = LocalKeyValue(store, Place(store, space), LEDGER, settings)
            model = ModelExtractor(client, ledger=ledger, fallback=fallback)
            return lambda: model

        return make
    if isinstance(spec, type) or not callable(getattr(spec, "extract", None)):
        raise InvalidInput(
            f"an extractor is 'reader', 'openai:MODEL' or an object with extract(messages), not {spec!r}"
        )
    return lambda store: lambda: spec


def _make_extractor(reads: Callable[[], StatementReader] | None) -> Extractor:
    from commonplace.learn.extractor import StatementExtractor  # few books learn

    return StatementExtractor(None if reads is None else reads())


def _find_statements(reader: Reader | str | None) -> Callable[[], StatementReader] | None:
    """Return what loads the reader of statements; None if the caller wants no reader, or nothing here can run it.

    A reranker takes the place of the reader in recall, not in learning.
    """
    return None if reader is None or reader == "none" else find_statements()


def _make_worker(core: Core) -> BackgroundWorker:
    from commonplace.learn.jobs import Worker  # few books learn, and it is slow to import

    return Worker(core)


def _is_url(place: str) -> bool:
    if "://" not in place:
        return False
    scheme = place.partition("://")[0]
    if scheme not in address.SCHEMES:
        raise InvalidInput(f"{scheme}:// is not a store: give a path, a postgresql:// or an http:// URL")
    return True


def _ensure_driver() -> None:
    for package in ("psycopg", "psycopg_pool"):
        if find_spec(package) is None:
            raise StoreUnavailable(missing_package("a book in PostgreSQL", package, "postgres"))
