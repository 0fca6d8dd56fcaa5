"""BookKnowledgeStore: the files of AG2's agents, kept as key-value entries of a book."""

from __future__ import annotations

import builtins

from ag2.knowledge import ChangeCallback, ChangeSubscription
from ag2.knowledge.polling import PollingChangeWatcher

from commonplace.aio import AsyncBook
from commonplace.integrations.ag2 import files
from commonplace.integrations.door import Door, Where
from commonplace.integrations.exact import packed
from commonplace.kv import KeyValue


class BookKnowledgeStore:
    """A KnowledgeStore that outlives its process and that agents of any process share.

    Stores of the same `name` on the same book are the same store. A file is a list of the pieces that were appended to
    it: the book adds to a list in one step, so that appends of two processes are both kept, each at its own offset.
    """

    def __init__(
        self,
        where: Where | None = None,
        name: str = "knowledge",
        *,
        space: str | None = None,
        poll_interval_s: float = 0.5,
    ) -> None:
        self._door = Door(where, space)
        self._namespace = f"ag2 {name}"
        self._poll_interval_s = poll_interval_s

    async def read(self, path: str) -> str | None:
        """The text of a file; None if there is none."""
        return await self._door.run(self._read, files.key(path))

    async def write(self, path: str, content: str) -> None:
        """Write a whole file; when this returns it is on disk."""
        await self._door.run(lambda: self._files().set(files.key(path), [packed(content)]))

    async def list(self, path: str = "/") -> builtins.list[str]:
        """The names of what is in a directory, sorted; directories end with a slash."""
        prefix = files.inside(path)
        keys = await self._door.run(lambda: self._files().keys(prefix))
        names = (key[len(prefix) :].partition("/") for key in keys)
        return sorted({name + slash for name, slash, _ in names})

    async def delete(self, path: str) -> None:
        """Delete a file, or a directory with all that is in it; nothing there is no error."""

        def work() -> None:
            kept = self._files()
            for key in (files.key(path), *kept.keys(files.inside(path))):
                kept.delete(key)

        await self._door.run(work)

    async def exists(self, path: str) -> bool:
        """Whether there is such a file or directory."""
        key, inside = files.key(path), files.inside(path)
        keys = await self._door.run(lambda: self._files().keys(key))
        return any(each == key or each.startswith(inside) for each in keys)

    async def append(self, path: str, content: str) -> int:
        """Add to the end of a file in one step, and say at which byte it begins; two processes lose nothing."""

        def work() -> int:
            entry = self._files().append(files.key(path), packed(content))
            return len(files.data(files.text(entry.value))) - len(files.data(content))

        return await self._door.run(work)

    async def read_range(self, path: str, start: int, end: int | None = None) -> str:
        """The bytes from `start` to before `end` as text; empty if there is no such file."""

        def work() -> str:
            data = files.data(self._read(files.key(path)) or "")
            stop = len(data) if end is None else min(end, len(data))
            return data[start:stop].decode("utf-8", "surrogatepass") if start < stop else ""

        return await self._door.run(work)

    async def on_change(self, path: str, callback: ChangeCallback) -> ChangeSubscription:
        """Call back with each path at or below this one that changes, in whatever process."""
        watcher = PollingChangeWatcher(backend=self, prefix=path, callback=callback, interval_s=self._poll_interval_s)
        await watcher.start()
        return watcher

    async def list_versions_under(self, prefix: str) -> dict[str, int]:
        """The files at or below a path and the version that each is at: what the watcher compares."""

        def work() -> dict[str, int]:
            kept = self._files()
            found = ((key, kept.entry(key)) for key in (files.key(prefix), *kept.keys(files.inside(prefix))))
            return {key: entry.version for key, entry in found if entry is not None}

        return await self._door.run(work)

    async def book(self) -> AsyncBook:
        """The book itself, with every verb."""
        return await self._door.book()

    async def close(self) -> None:
        """Release the book if this store opened it; the files stay."""
        await self._door.close()

    def _files(self) -> KeyValue:
        return self._door.open().kv(self._namespace)

    def _read(self, key: str) -> str | None:
        entry = self._files().entry(key)
        return None if entry is None else files.text(entry.value)
