"""Notes: the `memory` of an agent, plain values under names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from commonplace.errors import Conflict, InvalidInput
from commonplace.kv import KeyValue


class Notes:
    """Key-value state of a book that several processes write; what is `made` of something else is only read."""

    def __init__(self, entries: KeyValue, made: Mapping[str, Callable[[], Any]] | None = None) -> None:
        self._entries = entries
        self._made = made or {}

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a key, or `default` if nothing stands there."""
        return self._made[key]() if key in self._made else self._entries.get(key, default)

    def set(self, key: str, value: Any) -> None:
        """Keep a value that JSON can say; when this returns it is on disk. None deletes."""
        if key in self._made:
            raise InvalidInput(f"{key} is kept message by message and cannot be set")
        if value is None:
            self._entries.delete(key)
        else:
            self._entries.set(key, value)

    def delete(self, key: str) -> bool:
        """Delete a value; False if nothing stood there."""
        return self._entries.delete(key)

    def append(self, key: str, *items: Any) -> None:
        """Add to the end of a list in one step; what others add at the same time is kept, too."""
        self._entries.append(key, *items)

    def update(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Set members of a mapping in one step; what others set at the same time is kept, too. Returns all of it."""
        while True:
            entry = self._entries.entry(key)
            known: Any = {} if entry is None else entry.value
            changed = {**known, **values}
            try:
                self._entries.set(key, changed, if_version=0 if entry is None else entry.version)
            except Conflict:
                continue  # somebody else was quicker: theirs is read, and ours added to it
            return changed

    def keys(self) -> list[str]:
        """The keys that stand, sorted."""
        return self._entries.keys()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None
