"""AsyncBook: the verbs of Book, awaited.

Each verb runs in a worker thread, so that the event loop never waits for a disk or a lock; SQLite and numpy release the
interpreter while they work. Signatures and docstrings are those of Book and its companions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from commonplace.book import Book, copy_declaration
from commonplace.canvas import Canvas
from commonplace.errors import StoreClosed
from commonplace.kv import KeyValue
from commonplace.transcript import Transcript
from commonplace.values import Json, Recall

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
_BATCH = 200
"""Exported records that are fetched in one visit to a worker thread."""
_LOCAL = 4
"""Threads of a book in this process: more would not search faster, and each one that runs may keep the loop waiting."""
_SERVED = 32
"""Threads of a book behind a server, which only wait for it."""


class Threads:
    """Runs blocking calls in worker threads of its own, so that other users of the loop's pool cannot delay them."""

    def __init__(self, *, served: bool) -> None:
        self.stopped = False
        self._pool = ThreadPoolExecutor(max_workers=_SERVED if served else _LOCAL, thread_name_prefix="commonplace")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.stopped:
            raise StoreClosed("the book was closed")
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *args, **kwargs))

    def stop(self) -> None:
        self.stopped = True
        self._pool.shutdown(wait=False)


class Awaited(Generic[S]):
    """An object whose verbs are awaited: `sync` carries them out, on `threads`."""

    def __init__(self, sync: S, threads: Threads) -> None:
        self.sync = sync
        self.threads = threads


def _awaitable(verb: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the verb of an Awaited with the signature and docstring of `verb`."""
    name = verb.__name__

    async def run(self: Awaited[Any], /, *args: P.args, **kwargs: P.kwargs) -> T:
        call: Any = partial(_recall, self.sync) if name == "recall" else getattr(self.sync, name)
        done: T = await self.threads.run(call, *args, **kwargs)
        return done

    return copy_declaration(verb, run)


class AsyncKeyValue(Awaited[KeyValue]):
    """One namespace of a space's key-value entries, awaited. Made by `AsyncBook.kv`."""

    get = _awaitable(KeyValue.get)
    entry = _awaitable(KeyValue.entry)
    set = _awaitable(KeyValue.set)
    delete = _awaitable(KeyValue.delete)
    keys = _awaitable(KeyValue.keys)
    append = _awaitable(KeyValue.append)


class AsyncCanvas(Awaited[Canvas]):
    """One canvas of a space, awaited. Made by `AsyncBook.canvas`."""

    write = _awaitable(Canvas.write)
    delete = _awaitable(Canvas.delete)
    forget = _awaitable(Canvas.forget)
    read = _awaitable(Canvas.read)
    file = _awaitable(Canvas.file)
    files = _awaitable(Canvas.files)
    revisions = _awaitable(Canvas.revisions)
    diff = _awaitable(Canvas.diff)
    apply = _awaitable(Canvas.apply)


class AsyncTranscript(Awaited[Transcript]):
    """The messages of one session of a space, awaited. Made by `AsyncBook.transcript`."""

    append = _awaitable(Transcript.append)
    extend = _awaitable(Transcript.extend)
    read = _awaitable(Transcript.read)
    resume = _awaitable(Transcript.resume)
    tail = _awaitable(Transcript.tail)
    forget = _awaitable(Transcript.forget)


def _recall(book: Book, *args: Any, **kwargs: Any) -> Recall:
    # Counting may read a vocabulary from disk, which the event loop must not do.
    answer = book.recall(*args, **kwargs)
    return replace(answer, counted=answer.tokens)


class AsyncBook(Awaited[Book]):
    """A shared, persistent memory, awaited: one space of one store. Made by `open_async`, or from an open Book."""

    def __init__(self, sync: Book, threads: Threads | None = None) -> None:
        super().__init__(sync, threads or Threads(served=sync.served))

    @property
    def space(self) -> str:
        """The name of the space: no verb of this book reaches beyond it."""
        return self.sync.space

    @property
    def where(self) -> str:
        """The path or URL of the store or server, without a password."""
        return self.sync.where

    @property
    def served(self) -> bool:
        """Whether a server keeps the book and does its work."""
        return self.sync.served

    @property
    def closed(self) -> bool:
        """Whether the book was closed, by this object or another one on the same store."""
        return self.sync.closed

    def in_space(self, space: str) -> AsyncBook:
        """Return a book on another space of the same store."""
        return AsyncBook(self.sync.in_space(space), self.threads)

    remember = _awaitable(Book.remember)
    learn = _awaitable(Book.learn)
    jobs = _awaitable(Book.jobs)
    work = _awaitable(Book.work)
    retry = _awaitable(Book.retry)
    links = _awaitable(Book.links)
    undo = _awaitable(Book.undo)
    recall = _awaitable(Book.recall)
    brief = _awaitable(Book.brief)
    get = _awaitable(Book.get)
    list = _awaitable(Book.list)
    revise = _awaitable(Book.revise)
    forget = _awaitable(Book.forget)
    users = _awaitable(Book.users)
    receipts = _awaitable(Book.receipts)
    settle_receipts = _awaitable(Book.settle_receipts)
    verify_receipts = _awaitable(Book.verify_receipts)
    erase_again = _awaitable(Book.erase_again)
    prune = _awaitable(Book.prune)
    quarantine = _awaitable(Book.quarantine)
    release = _awaitable(Book.release)
    history = _awaitable(Book.history)
    feedback = _awaitable(Book.feedback)

    def kv(self, namespace: str) -> AsyncKeyValue:
        """Return the key-value entries of a namespace."""
        return AsyncKeyValue(self.sync.kv(namespace), self.threads)

    def canvas(self, name: str) -> AsyncCanvas:
        """Return a canvas: text files that agents write together."""
        return AsyncCanvas(self.sync.canvas(name), self.threads)

    def transcript(self, session: str) -> AsyncTranscript:
        """Return the transcript of a session: the messages of one conversation."""
        return AsyncTranscript(self.sync.transcript(session), self.threads)

    namespaces = _awaitable(Book.namespaces)
    canvases = _awaitable(Book.canvases)
    transcripts = _awaitable(Book.transcripts)
    stats = _awaitable(Book.stats)
    check = _awaitable(Book.check)

    async def export(self, *, vectors: bool = False, user: str | None = None) -> AsyncIterator[dict[str, Json]]:
        """Yield everything in the space as JSON-able records that `load` restores without loss.

        `load` embeds the texts again; vectors that callers gave themselves are kept only with `vectors=True`. With a
        `user`, only what belongs to them, as `forget(user=…)` would erase it.
        """
        records = self.sync.export(vectors=vectors, user=user)
        while batch := await self.threads.run(lambda: [*islice(records, _BATCH)]):
            for record in batch:
                yield record

    load = _awaitable(Book.load)
    backup = _awaitable(Book.backup)

    async def close(self) -> None:
        """Close the store or the connections for every book on them; closing twice is harmless."""
        if not self.threads.stopped:
            await self.threads.run(self.sync.close)
            self.threads.stop()

    async def __aenter__(self) -> AsyncBook:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncBook {self.sync!r}>"
