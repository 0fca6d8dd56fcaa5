"""CommonplaceHistoryProvider: the messages of sessions, stored in a book.

A history may grow without bound, so it is stored as pages: key-value entries under the session's key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_framework import HistoryProvider, Message

from commonplace import AsyncBook, Entry, KeyValue
from commonplace.errors import Conflict, TooLarge
from commonplace.integrations.codec import decode, encode, encode_name
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.values import Json, checks

Item = dict[str, Any]

_PAGE = 500
"""Messages of a page, which is written again with every turn."""


class CommonplaceHistoryProvider(HistoryProvider):
    """A history that outlives its process: a session of the same id continues in any process that has the book.

    `name` separates histories that one book keeps of the same sessions. Agent Framework's own options say what is
    stored and loaded; `max_messages` loads at most the last so many.
    """

    def __init__(
        self,
        where: BookLike | None = None,
        *,
        source_id: str = "commonplace_history",
        space: str | None = None,
        name: str = "history",
        max_messages: int | None = None,
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: set[str] | None = None,
        store_outputs: bool = True,
    ) -> None:
        super().__init__(
            source_id,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
        )
        self._handle = BookHandle(where, space)
        self._namespace = f"agent_framework {name}"
        self._most = None if max_messages is None else checks.count(max_messages, "max_messages")

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages of a session, oldest first, as they were saved."""
        return await self._handle.run(self._read, _key(session_id))

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Add messages to a session, all or none; when this returns they are on disk. Processes may save at once."""
        if messages:
            await self._handle.run(self._save, _key(session_id), list(messages))

    async def clear(self, session_id: str | None) -> None:
        """Delete the history of a session; what was learned from it stays."""

        def work() -> None:
            entries = self._entries()
            for page in reversed(_page_keys(entries, _key(session_id))):
                entries.delete(page)

        await self._handle.run(work)

    async def book(self) -> AsyncBook:
        """Return the book itself, with every verb."""
        return await self._handle.book()

    async def close(self) -> None:
        """Release the book if this provider opened it; its contents stay."""
        await self._handle.close()

    def _entries(self) -> KeyValue:
        return self._handle.open().kv(self._namespace)

    def _save(self, key: str, messages: Sequence[Message]) -> None:
        _add(self._entries(), key, [message.to_dict() for message in messages])

    def _read(self, key: str) -> list[Message]:
        entries = self._entries()
        items = _decode_items(_pages(entries, _page_keys(entries, key)))
        if self._most is not None:
            items = items[max(len(items) - self._most, 0) :]
            while items and items[0].get("role") == "tool":  # a result without its call: no model takes it
                items = items[1:]
        return [Message.from_dict(each) for each in items]


def _key(session_id: str | None) -> str:
    return encode_name("default" if session_id is None else session_id)


def _add(entries: KeyValue, key: str, items: Sequence[Item]) -> None:
    """Add items at the end, all or none, except those that the history ends with already."""
    while True:
        keys = _page_keys(entries, key)
        last = _pages(entries, keys[-2:])
        new: list[Json] = [encode(item) for item in _unsaved(_decode_items(last), items)]
        if not new:
            return None
        number = int(keys[-1].rpartition("/")[2]) + 1 if keys else 0
        try:
            return _write(entries, last[-1] if last else None, f"{key}/{number:08}", new)
        except Conflict:
            continue  # another process was quicker: see again what is new


def _write(entries: KeyValue, last: Entry | None, following: str, new: list[Json]) -> None:
    if last is not None and len(_items(last)) < _PAGE:
        try:
            entries.set(last.key, [*_items(last), *new], if_version=last.version)
            return
        except TooLarge:
            pass  # pictures fill a page before messages do
    entries.set(following, new, if_version=0)


def _page_keys(entries: KeyValue, key: str) -> list[str]:
    return sorted(each for each in entries.keys(f"{key}/") if each[len(key) + 1 :].isdigit())


def _pages(entries: KeyValue, keys: Sequence[str]) -> list[Entry]:
    return [entry for entry in map(entries.entry, keys) if entry is not None]


def _items(page: Entry) -> list[Json]:
    return page.value if isinstance(page.value, list) else []


def _decode_items(pages: Sequence[Entry]) -> list[Item]:
    return [decode(item) for page in pages for item in _items(page)]


def _unsaved(before: Sequence[Item], items: Sequence[Item]) -> list[Item]:
    """Return the items after those that the history ends with: some callers repeat a conversation from its beginning.

    Only ids tell a repetition from somebody who says the same again, which is saved.
    """
    for length in range(min(len(before), len(items)), 0, -1):
        told = items[:length]
        if list(before[-length:]) == list(told) and any(item.get("message_id") for item in told):
            return list(items[length:])
    return list(items)
