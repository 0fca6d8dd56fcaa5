"""AsyncBook: every verb and companion, many at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import commonplace
from commonplace.testing import HashEmbedder


def test_a_story_with_every_companion(tmp_path: Path) -> None:
    async def story() -> None:
        async with await commonplace.open_async(tmp_path / "book.db", embedder=HashEmbedder()) as book:
            memory = await book.remember("We chose FastAPI over Flask", kind="decision")
            many = await book.remember(["one", "two"])
            assert len(many) == 2
            assert (await book.recall("FastAPI or Flask", threshold=0)).hits[0].memory == memory
            assert (await book.kv("n").set("k", [1])).version == 1
            assert (await book.kv("n").append("k", 2)).value == [1, 2]
            await book.canvas("c").write("a.txt", "text\n")
            assert await book.canvas("c").read("a.txt") == "text\n"
            await book.transcript("s").append("hello")
            assert [message.content for message in await book.transcript("s").tail()] == ["hello"]
            records = [record async for record in book.export()]
            assert sum(record["type"] == "memory" for record in records) == 3
            async with await commonplace.open_async(tmp_path / "copy.db", embedder=HashEmbedder()) as copy:
                # Three memories, one entry, one file, one message.
                assert await copy.load(records) == 6
            with pytest.raises(commonplace.NotFound):
                await book.in_space("other").get(memory.id)

    asyncio.run(story())


def test_many_tasks_at_once_lose_nothing(tmp_path: Path) -> None:
    async def story() -> int:
        async with await commonplace.open_async(tmp_path / "book.db", embedder=HashEmbedder()) as book:
            await asyncio.gather(*(book.kv("n").append("log", i) for i in range(100)))
            await asyncio.gather(*(book.remember(f"memory {i}") for i in range(100)))
            assert sorted(await book.kv("n").get("log")) == list(range(100))  # type: ignore[arg-type, type-var]
            return (await book.stats()).memories

    assert asyncio.run(story()) == 100


def test_a_failed_open_leaves_no_threads_behind(tmp_path: Path) -> None:
    (tmp_path / "book.db").write_text("this is no database, but it is longer than a header of one hundred bytes" * 5)

    async def story() -> None:
        with pytest.raises(commonplace.NotABook):
            await commonplace.open_async(tmp_path / "book.db", embedder=HashEmbedder())

    asyncio.run(story())
