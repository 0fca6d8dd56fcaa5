"""A handle closes the book that it opened, and opens none after that."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

import commonplace
from commonplace.integrations.handle import BookHandle


def test_a_book_that_is_being_opened_is_closed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    opened: list[commonplace.Book] = []
    really_open = commonplace.open

    def slowly(where: str, *, space: str) -> commonplace.Book:
        begun.set()
        may_go_on.wait()
        opened.append(really_open(where, space=space))
        return opened[0]

    monkeypatch.setattr(commonplace, "open", slowly)

    async def main() -> None:
        handle = BookHandle(tmp_path / "team.db", None)
        opening = asyncio.ensure_future(handle.book())
        await asyncio.to_thread(begun.wait)
        closing = asyncio.ensure_future(handle.close())
        await asyncio.sleep(0)
        may_go_on.set()
        await asyncio.gather(opening, closing)

    asyncio.run(main())
    with pytest.raises(commonplace.StoreClosed):
        opened[0].stats()


def test_a_closed_handle_opens_no_book(tmp_path: Path) -> None:
    handle = BookHandle(tmp_path / "team.db", None)
    asyncio.run(handle.close())
    asyncio.run(handle.close())
    with pytest.raises(commonplace.StoreClosed):
        handle.open()
    assert not (tmp_path / "team.db").exists()
