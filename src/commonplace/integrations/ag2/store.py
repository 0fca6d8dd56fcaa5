"""BookKnowledgeStore: the files of AG2's agents, stored as key-value entries of a book."""

from __future__ import annotations

import builtins

from ag2.knowledge import ChangeCallback, ChangeSubscription
from ag2.knowledge.polling import PollingChangeWatcher

from commonplace import AsyncBook, KeyValue
from commonplace.errors import InvalidInput
from commonplace.integrations.codec import decode, encode
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.values import Json


class BookKnowledgeStore:
    """A KnowledgeStore that outlives its process and that agents of any process share.

    Stores of the same `name` on the same book are the same store. A file is a list of the pieces that were appended to
    it: the book appends to a list atomically, so that appends of two processes are both kept, each at its own offset.
    """

    def __init__(
        self,
        where: BookLike | None = None,
        name: str = "knowledge",
        *,
        space: str | None = None,
        poll_interval_s: float = 0.5,
    ) -> None:
        self._handle = BookHandle(where, space)
        self._namespace = f"ag2 {name}"
        self._poll_interval_s = poll_interval_s

    async def read(self, path: str) -> str | None:
        """Return the text of a file; None if there is none."""
        return await self._handle.run(self._read, path)

    async def write(self, path: str, content: str) -> None:
        """Write a whole file; when this returns it is on disk."""
        await self._handle.run(lambda: self._entries().set(_key(path), [encode(content)]))

    async def list(self, path: str = "/") -> builtins.list[str]:
        """Return the names in a directory, sorted; directories end with a slash."""
        prefix = _prefix(path)
        keys = await self._handle.run(lambda: self._entries().keys(prefix))
        names = (key[len(prefix) :].partition("/") for key in keys)
        return sorted({name + slash for name, slash, _ in names})

    async def delete(self, path: str) -> None:
        """Delete a file, or a directory with everything in it; a missing one is no error."""

        def work() -> None:
            entries = self._entries()
            for key in (_key(path), *entries.keys(_prefix(path))):
                entries.delete(key)

        await self._handle.run(work)

    async def exists(self, path: str) -> bool:
        """Return whether there is such a file or directory."""
        keys = await self._handle.run(lambda: self._entries().keys(_key(path)))
        return any(each == _key(path) or each.startswith(_prefix(path)) for each in keys)

    async def append(self, path: str, content: str) -> int:
        """Append to a file atomically and return the byte offset at which the content begins."""

        def work() -> int:
            entry = self._entries().append(_key(path), encode(content))
            return len(_bytes(_text(entry.value))) - len(_bytes(content))

        return await self._handle.run(work)

    async def read_range(self, path: str, start: int, end: int | None = None) -> str:
        """Return the bytes from `start` to before `end` as text; empty if there is no such file."""

        def work() -> str:
            data = _bytes(self._read(path) or "")
            stop = len(data) if end is None else min(end, len(data))
            return data[start:stop].decode("utf-8", "surrogatepass") if start < stop else ""

        return await self._handle.run(work)

    async def on_change(self, path: str, callback: ChangeCallback) -> ChangeSubscription:
        """Call back with each path at or below this one that changes, in any process."""
        watcher = PollingChangeWatcher(backend=self, prefix=path, callback=callback, interval_s=self._poll_interval_s)
        await watcher.start()
        return watcher

    async def list_versions_under(self, prefix: str) -> dict[str, int]:
        """Return the files at or below a path with their versions, which the watcher compares."""

        def work() -> dict[str, int]:
            entries = self._entries()
            found = ((key, entries.entry(key)) for key in (_key(prefix), *entries.keys(_prefix(prefix))))
            return {key: entry.version for key, entry in found if entry is not None}

        return await self._handle.run(work)

    async def book(self) -> AsyncBook:
        """Return the book itself, with every verb."""
        return await self._handle.book()

    async def close(self) -> None:
        """Release the book if this store opened it; the files stay."""
        await self._handle.close()

    def _entries(self) -> KeyValue:
        return self._handle.open().kv(self._namespace)

    def _read(self, path: str) -> str | None:
        entry = self._entries().entry(_key(path))
        return None if entry is None else _text(entry.value)


def _key(path: str) -> str:
    """Return the path with one slash before each part and none at its end."""
    return "/" + "/".join(part for part in path.split("/") if part)


def _prefix(path: str) -> str:
    """Return the prefix of the paths inside a directory."""
    return _key(path).rstrip("/") + "/"


def _text(value: Json) -> str:
    if not isinstance(value, list):
        raise InvalidInput(f"a file of a knowledge store is a list of texts, not {type(value).__name__}")
    return "".join(decode(piece) for piece in value)


def _bytes(text: str) -> bytes:
    """Return the bytes that offsets count."""
    return text.encode("utf-8", "surrogatepass")
