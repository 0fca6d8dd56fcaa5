"""AsyncBook: the verbs of Book, awaited. Made by tools/make_aio.py; change book.py and run it again.

The synchronous core is the only implementation. It runs in worker threads, so that the event loop never
waits for a disk or a lock; SQLite and numpy release the interpreter while they work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from os import PathLike
from types import EllipsisType, TracebackType
from typing import Literal, ParamSpec, TypeVar, overload

from commonplace.book import Book, Jobs, Links, Memories, Names, Revisions, Vector
from commonplace.canvas import Canvas
from commonplace.errors import StoreClosed
from commonplace.kv import KeyValue
from commonplace.location import EmbedderLike, ExtractorLike
from commonplace.location import open as open_book
from commonplace.models.rerankers import Reranker
from commonplace.remote.address import is_remote
from commonplace.settings import Settings
from commonplace.streaming import stream
from commonplace.transcript import Transcript
from commonplace.values import (
    Check,
    Content,
    Draft,
    Entry,
    File,
    Forgotten,
    Json,
    Kind,
    Learned,
    Memory,
    Message,
    Order,
    Origin,
    Page,
    Recall,
    Scope,
    Signal,
    Stats,
    Within,
)

P = ParamSpec("P")
T = TypeVar("T")
_LOCAL = 4
"""Threads of a book in this process: more would not search faster, and each one that runs may keep the loop waiting."""
_REMOTE = 32
"""Threads of a book behind a server, which only wait for it."""


class _Threads:
    """Runs blocking calls in worker threads of its own, so that other users of the loop's pool cannot delay them."""

    def __init__(self, most: int) -> None:
        self.stopped = False
        self._pool = ThreadPoolExecutor(max_workers=most, thread_name_prefix="commonplace")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.stopped:
            raise StoreClosed("the book was closed")
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *args, **kwargs))

    def stop(self) -> None:
        self.stopped = True
        self._pool.shutdown(wait=False)


def _counted(recall: Callable[P, Recall], *args: P.args, **kwargs: P.kwargs) -> Recall:
    """Recall, with its tokens counted already."""
    answer = recall(*args, **kwargs)
    return replace(answer, counted=answer.tokens)


async def open_async(
    where: str | PathLike[str],
    *,
    space: str = "default",
    embedder: EmbedderLike = None,
    reranker: Reranker | str | None = None,
    settings: Settings | None = None,
    extractor: ExtractorLike = None,
    api_key: str | None = None,
    timeout: float | None = None,
) -> AsyncBook:
    """Open a book as `open` does, for use from an event loop."""
    threads = _Threads(_REMOTE if is_remote(str(where)) else _LOCAL)
    try:
        book = await threads.run(
            open_book,
            where,
            space=space,
            embedder=embedder,
            reranker=reranker,
            settings=settings,
            extractor=extractor,
            api_key=api_key,
            timeout=timeout,
        )
    except BaseException:
        threads.stop()
        raise
    return AsyncBook(book, threads)


class AsyncKeyValue:
    """One namespace of a space's key-value entries. Made by `Book.kv`. Awaited."""

    def __init__(self, sync: KeyValue, threads: _Threads) -> None:
        self._sync = sync
        self._threads = threads

    async def get(self, key: str, default: Json = None) -> Json:
        """The value under `key`, or `default` if nothing stands there."""
        return await self._threads.run(self._sync.get, key, default)

    async def entry(self, key: str) -> Entry | None:
        """The value with its version and times; None if nothing stands there."""
        return await self._threads.run(self._sync.entry, key)

    async def set(self, key: str, value: Json, *, ttl: float | None = None, if_version: int | None = None) -> Entry:
        """Set a value; when this returns it is on disk. `if_version=0` sets it only if nothing stands there."""
        return await self._threads.run(self._sync.set, key, value, ttl=ttl, if_version=if_version)

    async def delete(self, key: str, *, if_version: int | None = None) -> bool:
        """Delete a value; False if nothing stood there."""
        return await self._threads.run(self._sync.delete, key, if_version=if_version)

    async def keys(self, prefix: str = "") -> list[str]:
        """The keys that stand, sorted; with `prefix` only those that begin with it."""
        return await self._threads.run(self._sync.keys, prefix)

    async def append(self, key: str, *items: Json) -> Entry:
        """Add items to the end of a list in one step, making the list if nothing stands there.

        Concurrent appends are all kept; a time to live that was set stays.
        """
        return await self._threads.run(self._sync.append, key, *items)


class AsyncCanvas:
    """One canvas of a space. Made by `Book.canvas`. Awaited."""

    def __init__(self, sync: Canvas, threads: _Threads) -> None:
        self._sync = sync
        self._threads = threads

    async def write(self, path: str, content: str, *, author: str | None = None, if_version: int | None = None) -> File:
        """Write a file as its next revision; `if_version=0` only if there is no such file."""
        return await self._threads.run(self._sync.write, path, content, author=author, if_version=if_version)

    async def delete(self, path: str, *, author: str | None = None, if_version: int | None = None) -> File:
        """Delete a file; its revisions stay readable by number. NotFound if there is no such file."""
        return await self._threads.run(self._sync.delete, path, author=author, if_version=if_version)

    async def forget(self, path: str) -> int:
        """Erase a file with every revision and return how many there were; NotFound if there never was one.

        `delete` keeps the revisions; this leaves nothing, not even the number that the next file starts from.
        """
        return await self._threads.run(self._sync.forget, path)

    async def read(self, path: str, revision: int | None = None) -> str:
        """The text of a file, or of one of its revisions."""
        return await self._threads.run(self._sync.read, path, revision)

    async def file(self, path: str, revision: int | None = None) -> File:
        """A file with its revision number, time and author."""
        return await self._threads.run(self._sync.file, path, revision)

    async def files(self) -> dict[str, int]:
        """The files that stand and the revision that each is at, by path."""
        return await self._threads.run(self._sync.files)

    async def revisions(self, path: str) -> list[File]:
        """Every revision of a file, oldest first."""
        return await self._threads.run(self._sync.revisions, path)

    async def diff(self, path: str, old: int, new: int | None = None) -> str:
        """A unified diff from one revision to another, or to the newest; `apply` accepts it."""
        return await self._threads.run(self._sync.diff, path, old, new)

    async def apply(
        self, text: str, *, author: str | None = None, if_version: int | Mapping[str, int] | None = None
    ) -> list[File]:
        """Apply a unified diff over one or several files, all or nothing, its context checked.

        StalePatch says which line no longer reads as the patch expects. `if_version` is the revision that
        the patched file must be at, or a mapping of paths to revisions.
        """
        return await self._threads.run(self._sync.apply, text, author=author, if_version=if_version)


class AsyncTranscript:
    """The messages of one session of a space. Made by `Book.transcript`. Awaited."""

    def __init__(self, sync: Transcript, threads: _Threads) -> None:
        self._sync = sync
        self._threads = threads

    async def append(
        self,
        content: Json,
        *,
        role: str = "user",
        name: str | None = None,
        said_at: datetime | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Message:
        """Add a message at the end; when this returns it is on disk and has its number."""
        return await self._threads.run(
            self._sync.append, content, role=role, name=name, said_at=said_at, metadata=metadata
        )

    async def extend(self, lines: Iterable[Mapping[str, object]]) -> list[Message]:
        """Add messages (mappings with content, role, name, said_at, metadata) at the end, all or none."""
        return await self._threads.run(self._sync.extend, lines)

    async def read(self, *, start: int = 1, limit: int | None = None) -> list[Message]:
        """Messages from number `start` on, oldest first."""
        return await self._threads.run(self._sync.read, start=start, limit=limit)

    async def resume(self, after: int = 0, *, limit: int | None = None) -> list[Message]:
        """What was said after message number `after`: pass the last number seen to go on from there."""
        return await self._threads.run(self._sync.resume, after, limit=limit)

    async def tail(self, n: int = 20) -> list[Message]:
        """The last `n` messages, oldest first."""
        return await self._threads.run(self._sync.tail, n)

    async def forget(self) -> int:
        """Erase the whole transcript, with what was learned from it alone; returns how many messages it had."""
        return await self._threads.run(self._sync.forget)


class AsyncBook:
    """A shared, persistent memory: one space of one store. Made by `open`; safe between threads. Awaited."""

    def __init__(self, sync: Book, threads: _Threads) -> None:
        self._sync = sync
        self._threads = threads

    @property
    def space(self) -> str:
        """The name of the space: no verb of this book reaches beyond it."""
        return self._sync.space

    def in_space(self, space: str) -> AsyncBook:
        """The same store behind another wall."""
        return AsyncBook(self._sync.in_space(space), self._threads)

    @overload
    async def remember(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
        self,
        content: str | bytes | dict[str, Json] | Draft,
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memory: ...

    @overload
    async def remember(
        self,
        content: Sequence[str | bytes | dict[str, Json] | Draft],
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memories: ...

    async def remember(
        self,
        content: str | bytes | dict[str, Json] | Draft | Sequence[str | bytes | dict[str, Json] | Draft],
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memory | Memories:
        """Remember a content, or each of a list; when this returns, all of it is on disk, or none.

        A list means many, and the options then apply to each of its plain contents; a Draft brings its own.
        A JSON list to be kept as one memory is `Draft(content=[…])`. Bytes are stored whole and found by
        the `text` given with them. An `id` that is taken raises Conflict. `supersedes` closes older
        memories: they leave recall, keep their history, and point to the new one. `reconcile` compares each with
        what is known: said again, it strengthens the memory that is there, which is returned; what it contradicts is
        closed, or closes it if that was said later.
        """
        return await self._threads.run(
            self._sync.remember,
            content,
            kind=kind,
            tags=tags,
            metadata=metadata,
            importance=importance,
            scope=scope,
            source=source,
            origin=origin,
            said_at=said_at,
            ttl=ttl,
            text=text,
            mime=mime,
            id=id,
            vector=vector,
            supersedes=supersedes,
            reason=reason,
            reconcile=reconcile,
        )

    async def learn(
        self,
        conversation: str | Iterable[Mapping[str, object] | str],
        *,
        session: str | None = None,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        origin: Origin | None = None,
        every: int = 1,
        idle: float = 60.0,
        wait: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learned:
        """Keep a conversation as it was said, and make memories of it.

        Messages are mappings with content and perhaps role, name, said_at, metadata, or lines of "Name: text". When
        this returns they are on disk and recall finds them; a thread of this process, or `commonplace work`, extracts
        what is worth keeping and reconciles it with what is known. `wait` does it now, and calls `progress` with how
        many messages are done and how many there are. A conversation that is given message by message is better
        learned in pieces: `every` so many messages of a session, or of fewer when nobody has spoken for `idle` seconds.
        """
        return await self._threads.run(
            self._sync.learn,
            conversation,
            session=session,
            scope=scope,
            tags=tags,
            origin=origin,
            every=every,
            idle=idle,
            wait=wait,
            progress=progress,
        )

    async def jobs(self) -> Jobs:
        """The jobs that wait, run, or have failed for good, oldest first."""
        return await self._threads.run(self._sync.jobs)

    async def work(self, *, hurry: bool = False) -> int:
        """Do the jobs of this space that are due, now; returns how many were tried.

        `hurry` also takes those that wait for more messages, as at the end of a conversation.
        """
        return await self._threads.run(self._sync.work, hurry=hurry)

    async def retry(self, number: int | None = None) -> int:
        """Queue a job again that had failed for good, or all of them; returns how many."""
        return await self._threads.run(self._sync.retry, number)

    async def links(self, id: str) -> Links:
        """What a memory has to do with others: what it supersedes, adds to or disputes, and where it was learned."""
        return await self._threads.run(self._sync.links, id)

    async def undo(self, id: str, other: str) -> Links:
        """Take back what reconciliation made of two memories: both stand again, each for itself.

        `other` is what `links` names: a superseded memory, or the message that was taken for a repetition.
        """
        return await self._threads.run(self._sync.undo, id, other)

    async def recall(
        self,
        query: str,
        *,
        k: int = 10,
        max_tokens: int | None = 2000,
        within: Within | Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        threshold: float | None = None,
        order: Order = "relevance",
        as_of: datetime | None = None,
        superseded: bool = False,
        vector: Vector | None = None,
    ) -> Recall:
        """Recall what bears on the query, the best first; an empty answer means that nothing does.

        `threshold` is a probability: 0 switches the cut-off off, None takes the calibrated default. The
        answer's text never has more than `max_tokens` tokens. `order="time"` gives the same memories oldest
        first. `as_of` answers as the book stood at that moment. A `vector` replaces the query's own.
        """
        return await self._threads.run(
            _counted,
            self._sync.recall,
            query,
            k=k,
            max_tokens=max_tokens,
            within=within,
            filter=filter,
            kinds=kinds,
            tags=tags,
            threshold=threshold,
            order=order,
            as_of=as_of,
            superseded=superseded,
            vector=vector,
        )

    async def get(self, id: str, *, version: int | None = None) -> Memory:
        """The memory as it stands, or as it was at a version; NotFound if there is none."""
        return await self._threads.run(self._sync.get, id, version=version)

    async def list(
        self,
        *,
        filter: Mapping[str, object] | None = None,
        within: Within | Scope | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        superseded: bool = False,
        order: Literal["newest", "oldest"] = "newest",
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """One page of memories by when they were said; its `cursor` fetches the next page."""
        return await self._threads.run(
            self._sync.list,
            filter=filter,
            within=within,
            kinds=kinds,
            tags=tags,
            superseded=superseded,
            order=order,
            limit=limit,
            cursor=cursor,
        )

    async def revise(
        self,
        id: str,
        content: Content | EllipsisType = ...,
        *,
        kind: Kind | EllipsisType = ...,
        tags: Sequence[str] | EllipsisType = ...,
        metadata: Mapping[str, Json] | EllipsisType = ...,
        importance: float | EllipsisType = ...,
        source: str | None | EllipsisType = ...,
        said_at: datetime | EllipsisType = ...,
        ttl: float | None | EllipsisType = ...,
        text: str | EllipsisType = ...,
        mime: str | EllipsisType = ...,
        vector: Vector | EllipsisType = ...,
        reason: str | None = None,
        if_version: int | None = None,
    ) -> Memory:
        """Give a memory a new version; what is not named stays, and the old version is kept.

        `if_version` is the version that the change was made for: Conflict if another came first.
        """
        return await self._threads.run(
            self._sync.revise,
            id,
            content,
            kind=kind,
            tags=tags,
            metadata=metadata,
            importance=importance,
            source=source,
            said_at=said_at,
            ttl=ttl,
            text=text,
            mime=mime,
            vector=vector,
            reason=reason,
            if_version=if_version,
        )

    async def forget(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove memories with all their versions, vectors and words, and say what was removed.

        Name ids, or select by scope, filter, kinds and tags together; `everything=True` empties the space,
        key-value entries, canvases and transcripts too. `dry_run` only says what would go.
        """
        return await self._threads.run(
            self._sync.forget,
            id,
            scope=scope,
            filter=filter,
            kinds=kinds,
            tags=tags,
            everything=everything,
            dry_run=dry_run,
        )

    async def prune(
        self,
        *,
        older_than: float | None = None,
        weaker_than: float | None = None,
        keep: int | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        dry_run: bool = True,
    ) -> Forgotten:
        """Forget what a policy lets go of, as a durable job; says what goes, and by default only that.

        `older_than` are seconds since a memory was said, used or repeated; `weaker_than` is a bound for what time,
        importance and use leave of it, 0 to 1.2; `keep` is how many may stay, the strongest.
        """
        return await self._threads.run(
            self._sync.prune,
            older_than=older_than,
            weaker_than=weaker_than,
            keep=keep,
            kinds=kinds,
            tags=tags,
            dry_run=dry_run,
        )

    async def quarantine(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        reason: str,
    ) -> Names:
        """Take memories out of recall, with what was learned from them; what they had superseded stands again.

        Name them as for `forget`: `filter={"source": "scraper"}` rolls back all that came from there, also what is
        closed already. Returns the ids of those that were not in quarantine before; `release` undoes it.
        """
        return await self._threads.run(
            self._sync.quarantine, id, scope=scope, filter=filter, kinds=kinds, tags=tags, reason=reason
        )

    async def release(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> Names:
        """Take memories out of quarantine again: they stand, and close what they had closed; returns their ids."""
        return await self._threads.run(self._sync.release, id, scope=scope, filter=filter, kinds=kinds, tags=tags)

    async def history(self, id: str) -> Revisions:
        """Every version of a memory, oldest first: what was done, when and why."""
        return await self._threads.run(self._sync.history, id)

    async def feedback(self, target: str, signal: Signal) -> int:
        """Tell whether what was recalled was used, ignored or wrong; returns how many memories learned it.

        `target` is a memory's id, or the receipt of a recall, which stands for all that it returned.
        """
        return await self._threads.run(self._sync.feedback, target, signal)

    def kv(self, namespace: str) -> AsyncKeyValue:
        """Plain key-value state under a name."""
        return AsyncKeyValue(self._sync.kv(namespace), self._threads)

    def canvas(self, name: str) -> AsyncCanvas:
        """Text files that agents write together."""
        return AsyncCanvas(self._sync.canvas(name), self._threads)

    def transcript(self, session: str) -> AsyncTranscript:
        """The messages of one conversation."""
        return AsyncTranscript(self._sync.transcript(session), self._threads)

    async def namespaces(self) -> Names:
        """The key-value namespaces that hold anything."""
        return await self._threads.run(self._sync.namespaces)

    async def canvases(self) -> Names:
        """The canvases that hold a file."""
        return await self._threads.run(self._sync.canvases)

    async def transcripts(self) -> Names:
        """The sessions that have a transcript."""
        return await self._threads.run(self._sync.transcripts)

    async def stats(self) -> Stats:
        """How much the space holds, and with what."""
        return await self._threads.run(self._sync.stats)

    async def check(self, *, deep: bool = False) -> Check:
        """Verify the store and that recall works; `deep` compares every index with the rows."""
        return await self._threads.run(self._sync.check, deep=deep)

    def export(self, *, vectors: bool = False) -> AsyncIterator[dict[str, Json]]:
        """Everything in the space as JSON-able records that `load` takes back without loss.

        `load` embeds the texts again; vectors that callers gave themselves are kept only with `vectors=True`.
        """
        return stream(self._threads.run, self._sync.export(vectors=vectors))

    async def load(self, records: Iterable[Mapping[str, Json]]) -> int:
        """Take in what `export` gave, all or nothing; what is there already is left alone. Returns how many.

        What had not been learned from yet when it was exported waits to be here.
        """
        return await self._threads.run(self._sync.load, records)

    async def backup(self, path: str | PathLike[str]) -> None:
        """Copy the whole store, every space, to a new file while it is in use."""
        return await self._threads.run(self._sync.backup, path)

    async def close(self) -> None:
        """Release the store for every book on it; closing twice is harmless."""
        if not self._threads.stopped:
            await self._threads.run(self._sync.close)
            self._threads.stop()

    async def __aenter__(self) -> AsyncBook:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncBook {self._sync!r}>"
