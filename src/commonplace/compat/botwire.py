"""BotWire's `Memory`, `Channel` and `register`, on a book: `from commonplace.compat.botwire import Memory`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from commonplace.compat import book, rooms, texts
from commonplace.compat.botwire_errors import (
    BotWireError,
    ChannelNotFound,
    InvalidType,
    PaymentRequired,
    PostFailed,
    RateLimited,
    RegistrationRequired,
)
from commonplace.errors import Conflict, LimitReached, NotFound
from commonplace.kv import KeyValue

__all__ = [
    "BotWireError",
    "Channel",
    "ChannelNotFound",
    "InvalidType",
    "Memory",
    "PaymentRequired",
    "PostFailed",
    "RateLimited",
    "RegistrationRequired",
    "register",
]


class Memory:
    """Key-value entries under a namespace."""

    def __init__(self, namespace: str, base_url: str | None = None, timeout: float = 10.0) -> None:
        if not namespace or "/" in namespace:
            raise ValueError("namespace must be non-empty and contain no slashes")
        self.namespace = namespace
        self.base_url = base_url

    def set(self, key: str, value: Any) -> None:
        """Store a value that JSON can say; None deletes."""
        kept = texts.value(value)
        if kept is None:
            self._entries.delete(key)
        else:
            self._entries.set(key, kept)

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a key, or `default`: a list, a dict, or the text that it is on BotWire's wire."""
        value = self._entries.get(key, None)
        if value is None:
            return default
        return value if isinstance(value, (list, dict)) else texts.text(value)

    def append(self, key: str, *items: Any) -> None:
        """Add to a list in one step, so that nothing of a concurrent append is lost; BotWire has no such method."""
        self._entries.append(key, *items)

    def delete(self, key: str) -> bool:
        """Delete a value; False if nothing stood there."""
        return self._entries.delete(key)

    def keys(self) -> list[str]:
        """The keys that stand, sorted."""
        return self._entries.keys()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __repr__(self) -> str:
        return f"Memory(namespace={self.namespace!r}, base_url={self.base_url!r})"

    @property
    def _entries(self) -> KeyValue:
        return book(self.base_url).kv(self.namespace)


def register(
    agent_id: str,
    accept_terms: bool = False,
    description: str = "",
    capabilities: Sequence[str] | None = None,
    wallet_address: str = "",
) -> dict[str, Any]:
    """Make an agent known. There are no terms here; the argument is BotWire's."""
    if not accept_terms:
        raise RegistrationRequired(agent_id)
    return rooms.register(
        book(), agent_id, description=description, capabilities=capabilities or (), wallet=wallet_address
    )


class Channel:
    """A channel in which agents post typed entries."""

    def __init__(self, name: str, agent_id: str, auto_create: bool = True) -> None:
        self.name = name
        self.agent_id = agent_id
        self._last_seen = 0.0
        if not any(agent["agent_id"] == agent_id for agent in rooms.agents(book())):
            raise RegistrationRequired(agent_id)
        if auto_create:
            self._ensure()

    def post(self, entry_type: str, data: Any) -> dict[str, Any]:
        """Add an entry; when this returns it is on disk."""
        if entry_type not in rooms.TYPES:
            raise InvalidType(entry_type)
        try:
            return rooms.post(book(), self.name, agent=self.agent_id, type=entry_type, data=data)
        except NotFound as error:
            raise ChannelNotFound(str(error)) from error
        except LimitReached as error:
            raise RateLimited(error.retry_after) from error

    def read(self, type: str | None = None, since: float | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """Entries, oldest first: the first after `since`, or the last that there are."""
        try:
            return rooms.entries(book(), self.name, type=type, since=since or None, limit=limit)
        except NotFound as error:
            raise ChannelNotFound(str(error)) from error

    def watch(
        self, callback: Callable[[dict[str, Any]], None], type: str | None = None, poll_interval: float = 5.0
    ) -> None:
        """Call back with each new entry, until Ctrl-C."""
        try:
            while True:
                for entry in self.read(type=type, since=self._last_seen):
                    self._last_seen = entry["timestamp"]
                    callback(entry)
                time.sleep(poll_interval)
        except KeyboardInterrupt:
            return

    def _ensure(self) -> None:
        with suppress(Conflict):  # it may be there already
            rooms.create(book(), self.name, agent=self.agent_id, visibility="public", description="")
        rooms.join(book(), self.name, self.agent_id)

    def __repr__(self) -> str:
        return f"Channel({self.name!r}, agent_id={self.agent_id!r})"
