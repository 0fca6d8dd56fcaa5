"""A list of messages that may grow without bound, as pages: key-value entries of as much as one may hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonplace.errors import Conflict, TooLarge
from commonplace.integrations.exact import packed, unpacked
from commonplace.kv import KeyValue
from commonplace.values import Entry, Json

Item = dict[str, Any]

_PAGE = 500
"""Messages of a page: what is written again with every turn."""


def read(kept: KeyValue, key: str) -> list[Item]:
    """All items, in order."""
    return [unpacked(item) for page in _pages(kept, _keys(kept, key)) for item in _items(page)]


def add(kept: KeyValue, key: str, items: Sequence[Item]) -> None:
    """Add items at the end, all or none, but for those that the list ends with already."""
    while True:
        keys = _keys(kept, key)
        last = _pages(kept, keys[-2:])
        before = [unpacked(item) for page in last for item in _items(page)]
        new: list[Json] = [packed(item) for item in _unsaid(before, items)]
        if not new:
            return
        number = int(keys[-1].rpartition("/")[2]) + 1 if keys else 0
        try:
            _write(kept, last[-1] if last else None, f"{key}/{number:08}", new)
        except Conflict:
            continue  # another process was quicker: what is new is seen afresh
        return


def delete(kept: KeyValue, key: str) -> None:
    """Delete all pages, the last first."""
    for page in reversed(_keys(kept, key)):
        kept.delete(page)


def _write(kept: KeyValue, last: Entry | None, following: str, new: list[Json]) -> None:
    if last is not None and len(_items(last)) < _PAGE:
        try:
            kept.set(last.key, [*_items(last), *new], if_version=last.version)
            return
        except TooLarge:
            pass  # pictures fill a page before messages do
    kept.set(following, new, if_version=0)


def _keys(kept: KeyValue, key: str) -> list[str]:
    return sorted(each for each in kept.keys(f"{key}/") if each[len(key) + 1 :].isdigit())


def _pages(kept: KeyValue, keys: Sequence[str]) -> list[Entry]:
    return [entry for entry in map(kept.entry, keys) if entry is not None]


def _items(page: Entry) -> list[Json]:
    return page.value if isinstance(page.value, list) else []


def _unsaid(before: Sequence[Item], items: Sequence[Item]) -> list[Item]:
    """The items after those that the list ends with: some callers tell a conversation from its beginning each time.

    Only ids tell that from somebody who says the same again, which is kept.
    """
    for length in range(min(len(before), len(items)), 0, -1):
        told = items[:length]
        if list(before[-length:]) == list(told) and any(item.get("message_id") for item in told):
            return list(items[length:])
    return list(items)
