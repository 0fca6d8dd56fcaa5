"""BookKnowledgeStore does what AG2's own stores do: the same checks run on them and on ours."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from ag2.knowledge import EventLogWriter, KnowledgeStore, MemoryKnowledgeStore, SqliteKnowledgeStore

import commonplace
from commonplace.integrations.ag2 import BookKnowledgeStore
from tests.integrations.processes import ran, start

Checks = Callable[[Any], Awaitable[None]]
STORES = {
    "memory": lambda path: MemoryKnowledgeStore(),
    "sqlite": lambda path: SqliteKnowledgeStore(path / "store.db", poll_interval_s=0.05),
    "book": lambda path: BookKnowledgeStore(path / "book.db", poll_interval_s=0.05),
}


def run(name: str, path: Path, checks: Checks) -> None:
    async def main() -> None:
        store = STORES[name](path)  # type: ignore[no-untyped-call]
        await checks(store)
        if name != "memory":
            closed = store.close()
            if closed is not None:
                await closed

    asyncio.run(main())


async def files(store: Any) -> None:
    assert isinstance(store, KnowledgeStore)
    assert await store.read("/none") is None
    assert await store.exists("/none") is False
    assert await store.list() == []
    await store.write("/memory/working.md", "one")
    await store.write("/memory/working.md", "two\n\tund drei – 日本")
    await store.write("//memory///sub//deep.txt/", "")
    await store.write("loose.txt", "no slash")
    assert await store.read("memory/working.md/") == "two\n\tund drei – 日本"
    assert await store.read("/memory/sub/deep.txt") == ""
    assert await store.read("/memory") is None
    assert await store.read("/loose.txt") == "no slash"
    assert await store.list("/") == ["loose.txt", "memory/"]
    assert await store.list("/memory/") == await store.list("memory") == ["sub/", "working.md"]
    assert await store.list("/nowhere") == []
    for path in ("/memory", "/memory/sub", "/memory/sub/deep.txt", "memory/working.md"):
        assert await store.exists(path) is True


async def prefixes(store: Any) -> None:
    """A path is no pattern, and the beginning of a name is no directory."""
    for path in ("/a_b/x", "/aXb/x", "/A_b/x", "/a%/x", "/a/x", "/ab", "/a_b.txt"):
        await store.write(path, path)
    assert await store.list("/a_b") == ["x"]
    assert await store.list("/a%") == ["x"]
    assert await store.exists("/a_") is False
    await store.delete("/a_b")
    await store.delete("/a%")
    await store.delete("/never")
    assert await store.list("/") == ["A_b/", "a/", "aXb/", "a_b.txt", "ab"]
    await store.delete("/a")
    assert await store.read("/ab") == "/ab"


async def appending(store: Any) -> None:
    """Offsets count bytes of UTF-8, also after a write, and a deleted file starts empty."""
    assert await store.append("/log/a.jsonl", "é\n") == 0
    assert await store.append("/log/a.jsonl", "日本\n") == 3
    assert await store.append("/log/a.jsonl", "") == 10
    assert await store.read("/log/a.jsonl") == "é\n日本\n"
    assert await store.read_range("/log/a.jsonl", 3) == "日本\n"
    assert await store.read_range("/log/a.jsonl", 0, 3) == "é\n"
    assert await store.read_range("/log/a.jsonl", 3, 99) == "日本\n"
    for start_at, end in ((10, None), (50, None), (5, 5), (7, 3), (0, 0), (0, -1)):
        assert await store.read_range("/log/a.jsonl", start_at, end) == ""
    assert await store.read_range("/none", 0) == ""
    with pytest.raises(UnicodeDecodeError):
        await store.read_range("/log/a.jsonl", 1)
    await store.write("/log/a.jsonl", "ab")
    assert await store.append("/log/a.jsonl", "cd") == 2
    await store.delete("/log")
    assert await store.append("/log/a.jsonl", "new") == 0
    offsets = await asyncio.gather(*(store.append("/log/many", f"{number:03}\n") for number in range(40)))
    assert sorted(offsets) == [4 * number for number in range(40)]
    lines = [await store.read_range("/log/many", each, each + 4) for each in offsets]
    assert lines == [f"{number:03}\n" for number in range(40)]


async def changes(store: Any) -> None:
    """A subscription tells of writes, appends and deletions at and below its path, and of nothing else."""
    told: asyncio.Queue[str] = asyncio.Queue()
    await store.write("/watched/old", "x")
    subscription = await store.on_change("/watched", told.put)
    await store.write("/watchedness", "no")
    await store.write("/watched/new", "y")
    assert await asyncio.wait_for(told.get(), 60) == "/watched/new"
    await store.append("/watched/new", "z")
    assert await asyncio.wait_for(told.get(), 60) == "/watched/new"
    await store.delete("/watched/old")
    assert await asyncio.wait_for(told.get(), 60) == "/watched/old"
    await subscription.close()
    await subscription.close()
    await store.write("/watched/new", "unheard")
    assert told.empty()


@pytest.mark.parametrize(("name", "checks"), [*itertools.product(STORES, (files, prefixes, appending, changes))])
def test_a_store_does_what_the_protocol_says(name: str, checks: Checks, tmp_path: Path) -> None:
    run(name, tmp_path, checks)


def test_text_that_a_book_refuses_comes_back_as_it_was(book: commonplace.Book) -> None:
    async def main() -> None:
        store = BookKnowledgeStore(book)
        for text in ("a\0b", "half \ud83d pair", '{"json": "x"}', "\\u0000", ""):
            await store.write("/odd", text)
            assert await store.read("/odd") == text
            await store.append("/odd", text)
            assert await store.read("/odd") == text + text
        with pytest.raises(commonplace.InvalidInput, match="key"):
            await store.write("/a\0b", "text")
        with pytest.raises(commonplace.InvalidInput, match="bytes"):
            await store.write("/" + "x" * 600, "text")

    asyncio.run(main())


def test_names_and_spaces_keep_stores_apart(book: commonplace.Book) -> None:
    async def main() -> None:
        await BookKnowledgeStore(book, "one").write("/x", "mine")
        assert await BookKnowledgeStore(book, "two").list() == []
        assert await BookKnowledgeStore(book.in_space("other"), "one").list() == []
        assert await BookKnowledgeStore(book, "one").read("/x") == "mine"

    asyncio.run(main())


APPEND = """
import asyncio, sys
from commonplace.integrations.ag2 import BookKnowledgeStore

async def main(path, name):
    store = BookKnowledgeStore(path)
    await store.read("/log")
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(60):
        line = f"{name} {number:03} é\\n"
        offset = await store.append("/log", line)
        assert await store.read_range("/log", offset, offset + len(line.encode())) == line
    await store.write(f"/done/{name}", "yes")

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
def test_two_processes_append_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"

    async def main() -> None:
        store = BookKnowledgeStore(path, poll_interval_s=0.05)
        done: asyncio.Queue[str] = asyncio.Queue()
        await store.write("/begun", "yes")
        subscription = await store.on_change("/done", done.put)
        with ExitStack() as stack:
            processes = [stack.enter_context(start(APPEND, path, name)) for name in ("one", "two")]
            for process in processes:
                assert process.stdout is not None
                assert process.stdin is not None
                assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
                process.stdin.write("go\n")
                process.stdin.flush()
            heard = {await asyncio.wait_for(done.get(), 60), await asyncio.wait_for(done.get(), 60)}
            assert heard == {"/done/one", "/done/two"}, "a change of another process is heard here"
            await subscription.close()
            for process in processes:
                await asyncio.to_thread(ran, process)
        lines = (await store.read("/log") or "").splitlines()
        for name in ("one", "two"):
            assert [line for line in lines if line.startswith(name)] == [f"{name} {each:03} é" for each in range(60)]
        assert len(lines) == 120
        await store.close()
        await store.close()

    asyncio.run(main())


def test_ag2s_event_log_is_read_back_from_it(book: commonplace.Book) -> None:
    from ag2 import MemoryStream
    from ag2.events import ModelMessage, ModelRequest, ModelResponse

    async def main() -> None:
        store, stream = BookKnowledgeStore(book), MemoryStream()
        events = [ModelRequest.ensure_request(["hello \0 \ud800"]), ModelResponse(ModelMessage("hi"))]
        await EventLogWriter(store).persist(stream.id, events)
        await EventLogWriter(store).persist_dropped(stream.id, events[:1])
        assert await EventLogWriter(BookKnowledgeStore(book)).load(stream.id) == [events[0], *events]

    asyncio.run(main())
