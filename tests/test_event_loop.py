"""AsyncBook keeps the event loop free: the store and the embedder are used in other threads only."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import apsw
import pytest

import commonplace
from commonplace import AsyncBook
from commonplace.testing import HashEmbedder

LIBRARY = Path(commonplace.__file__).parent
WORKERS_ONLY = ("store", "models", "memories", "recall", "text", "local.py", "kv.py", "canvas.py", "transcript.py")
OFF_THE_LOOP = tuple(str(LIBRARY / part) for part in WORKERS_ONLY)
OPERATIONS = 300


class Watched(HashEmbedder):
    """Records the threads that it is called on."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def embed(self, texts: Sequence[str]) -> Any:
        self.threads.add(threading.get_ident())
        return super().embed(texts)

    def embed_query(self, text: str) -> Any:
        self.threads.add(threading.get_ident())
        return super().embed_query(text)


class Trespasses:
    """Sees every call on the thread that it is installed on, and keeps those that belong on a worker thread."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        self.calls += 1
        code = frame.f_code
        # A constructor only keeps what it was given: `kv()` and its like are not awaited.
        if event == "call" and code.co_filename.startswith(OFF_THE_LOOP) and not _harmless(code.co_name):
            self.seen.add(f"{code.co_filename}:{code.co_name}")
        if event == "c_call" and isinstance(getattr(arg, "__self__", None), apsw.Connection):
            self.seen.add(f"apsw {arg!r}")


def _harmless(name: str) -> bool:
    return name in ("__init__", "kv", "canvas", "transcript", "in_space", "space", "__repr__")


async def mixed(book: AsyncBook, number: int) -> None:
    """Run one operation of ten kinds and check its answer."""
    kind, name = number % 10, f"ferry{number}"
    if kind in (0, 1, 2):
        memory = await book.remember(f"The {name} leaves at noon", id=name)
        assert memory.id == name
        assert name in {hit.memory.id for hit in await book.recall(f"when does {name} leave", threshold=0)}
    elif kind == 3:
        assert len(await book.remember([f"Car {i} on {name}" for i in range(5)])) == 5
    elif kind == 4:
        await book.remember(f"The {name} is late", id=name)
        assert (await book.revise(name, f"The {name} is on time")).version == 2
        assert len(await book.history(name)) == 2
    elif kind == 5:
        await book.remember(f"The {name} sinks", id=name)
        assert (await book.forget(name)).memories == 1
        with pytest.raises(commonplace.NotFound):
            await book.get(name)
    elif kind == 6:
        assert (await book.kv("state").set(name, number)).value == number
        await book.kv("state").append("all", number)
        assert await book.kv("state").get(name) == number
    elif kind == 7:
        assert (await book.canvas("plans").write(name, "one\n")).revision == 1
        assert await book.canvas("plans").read(name) == "one\n"
    elif kind == 8:
        assert (await book.transcript("crew").append(f"about {name}")).number > 0
    else:
        assert (await book.recall("which ferry leaves at noon", k=3)).tokens >= 0


async def heartbeat(stop: asyncio.Event) -> list[float]:
    """Return by how many seconds each sleep of a millisecond was late."""
    late = []
    while not stop.is_set():
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        late.append(time.perf_counter() - began - 0.001)
    return late


async def three_hundred(path: Path, embedder: Watched, trespasses: Trespasses) -> list[float]:
    book = await commonplace.open_async(path, embedder=embedder)
    async with book:
        stop = asyncio.Event()
        beating = asyncio.create_task(heartbeat(stop))
        sys.setprofile(trespasses)
        try:
            for first in range(0, OPERATIONS, 50):
                await asyncio.gather(*(mixed(book, number) for number in range(first, first + 50)))
            exported = [record async for record in book.export()]
        finally:
            sys.setprofile(None)
        stop.set()
        late = await beating
        assert sorted(await book.kv("state").get("all")) == list(range(6, OPERATIONS, 10))  # type: ignore[arg-type, type-var]
        numbers = [message.number for message in await book.transcript("crew").read()]
        assert numbers == list(range(1, OPERATIONS // 10 + 1))
        assert len(await book.canvas("plans").files()) == OPERATIONS // 10
        assert (await book.stats()).memories == 30 * (3 + 5 + 1)
        assert len(exported) > 30 * 9
        assert (await book.check(deep=True)).ok
    return late


@pytest.mark.slow
def test_three_hundred_operations_never_run_on_the_loops_thread(tmp_path: Path) -> None:
    embedder, trespasses = Watched(), Trespasses()
    late = asyncio.run(three_hundred(tmp_path / "book.db", embedder, trespasses))
    assert trespasses.calls > OPERATIONS, "nothing was seen: the test is blind"
    assert trespasses.seen == set()
    assert embedder.threads
    assert threading.get_ident() not in embedder.threads
    print(f"\n{OPERATIONS} operations, {len(late)} beats, the latest {max(late) * 1e3:.1f} ms late")


def test_a_cancelled_call_leaves_the_book_usable(tmp_path: Path) -> None:
    async def main() -> None:
        async with await commonplace.open_async(tmp_path / "book.db", embedder=HashEmbedder()) as book:
            await book.remember("Before")
            for number in range(20):
                task = asyncio.create_task(book.remember([f"Cut {number}", f"off {number}"]))
                await asyncio.sleep(0.0005 * (number % 5))
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await book.remember("After", id="after")
            assert (await book.get("after")).text == "After"
            # Each of the cut off is there whole or not at all.
            texts = {memory.text for memory in await book.list(limit=1_000)}
            for number in range(20):
                assert (f"Cut {number}" in texts) == (f"off {number}" in texts)
            assert (await book.check(deep=True)).ok

    asyncio.run(main())


def test_a_closed_asynchronous_book_is_store_closed_too(tmp_path: Path) -> None:
    async def main() -> None:
        book = await commonplace.open_async(tmp_path / "book.db", embedder=HashEmbedder())
        await book.remember("In time")
        await book.close()
        await book.close()
        with pytest.raises(commonplace.StoreClosed):
            await book.remember("Too late")

    asyncio.run(main())
