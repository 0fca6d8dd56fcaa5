"""A door closes the book that it opened, whenever that was, and opens none after that."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

import commonplace
from commonplace.integrations import door as doors
from commonplace.integrations.door import Door


def test_a_book_that_is_being_opened_is_closed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    opened: list[commonplace.Book] = []

    def slowly(where: str, *, space: str) -> commonplace.Book:
        begun.set()
        may_go_on.wait()
        opened.append(commonplace.open(where, space=space))
        return opened[0]

    monkeypatch.setattr(doors, "open_book", slowly)

    async def main() -> None:
        door = Door(tmp_path / "team.db", None)
        opening = asyncio.ensure_future(door.run(door.open))
        await asyncio.to_thread(begun.wait)
        closing = asyncio.ensure_future(door.close())
        await asyncio.sleep(0)
        may_go_on.set()
        await asyncio.gather(opening, closing)

    asyncio.run(main())
    with pytest.raises(commonplace.StoreClosed):
        opened[0].stats()


def test_a_closed_door_opens_no_book(tmp_path: Path) -> None:
    door = Door(tmp_path / "team.db", None)
    asyncio.run(door.close())
    asyncio.run(door.close())
    with pytest.raises(commonplace.StoreClosed):
        door.open()
    assert not (tmp_path / "team.db").exists()
