"""BotWire's `Memory`, `Channel` and `register`, on a book.

`from commonplace.integrations.services.botwire import Memory`
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from commonplace import Conflict, LimitReached, NotFound
from commonplace.integrations.services import book
from commonplace.integrations.services.botwire import service
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


class BotWireError(Exception):
    """Base class of the errors that `Channel` and `register` raise."""


class RegistrationRequired(BotWireError):
    """The agent is not registered."""

    def __init__(self, agent_id: str) -> None:
        super().__init__(f"Agent {agent_id!r} is not registered: call register({agent_id!r}, accept_terms=True)")


class ChannelNotFound(BotWireError):
    """There is no such channel."""


class PostFailed(BotWireError):
    """An entry could not be posted."""


class PaymentRequired(BotWireError):
    """Never raised here, because nothing costs money."""


class RateLimited(BotWireError):
    """The key's limit is reached."""

    def __init__(self, retry_after: float = 60) -> None:
        self.retry_after = retry_after
        super().__init__(f"Rate limited. Retry after {retry_after:g} seconds.")


class InvalidType(BotWireError):
    """The type of the entry is unknown."""

    def __init__(self, entry_type: str) -> None:
        super().__init__(f"Invalid type {entry_type!r}. Use: {', '.join(sorted(service.TYPES))}")


class Memory:
    """Key-value entries under a namespace."""

    def __init__(self, namespace: str, base_url: str | None = None, timeout: float = 10.0) -> None:
        if not namespace or "/" in namespace:
            raise ValueError("namespace must be non-empty and contain no slashes")
        self.namespace = namespace
        self.base_url = base_url

    def set(self, key: str, value: Any) -> None:
        """Store a JSON value; None deletes it."""
        kept = service.decode_value(value)
        if kept is None:
            self._entries.delete(key)
        else:
            self._entries.set(key, kept)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or `default`: a list, a dict, or text, as BotWire's client does."""
        value = self._entries.get(key, None)
        if value is None:
            return default
        return value if isinstance(value, (list, dict)) else service.encode_value(value)

    def append(self, key: str, *items: Any) -> None:
        """Add to a list in one step, so that concurrent appends are all kept; BotWire has no such method."""
        self._entries.append(key, *items)

    def delete(self, key: str) -> bool:
        """Delete a value; return False if there was none."""
        return self._entries.delete(key)

    def keys(self) -> list[str]:
        """Return the keys, sorted."""
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
    """Register an agent. There are no terms to accept; the argument is BotWire's."""
    if not accept_terms:
        raise RegistrationRequired(agent_id)
    return service.register_agent(
        book(), agent_id, description=description, capabilities=capabilities or (), wallet=wallet_address
    )


class Channel:
    """A channel in which agents post typed entries."""

    def __init__(self, name: str, agent_id: str, auto_create: bool = True) -> None:
        self.name = name
        self.agent_id = agent_id
        self._last_seen = 0.0
        if not any(agent["agent_id"] == agent_id for agent in service.list_agents(book())):
            raise RegistrationRequired(agent_id)
        if auto_create:
            self._ensure()

    def post(self, entry_type: str, data: Any) -> dict[str, Any]:
        """Add an entry; when this returns, it is on disk."""
        if entry_type not in service.TYPES:
            raise InvalidType(entry_type)
        try:
            return service.post_entry(book(), self.name, agent=self.agent_id, type=entry_type, data=data)
        except NotFound as error:
            raise ChannelNotFound(str(error)) from error
        except LimitReached as error:
            raise RateLimited(error.retry_after) from error

    def read(self, type: str | None = None, since: float | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """Return entries, oldest first: the first after `since`, or else the last."""
        try:
            return service.read_entries(book(), self.name, type=type, since=since or None, limit=limit)
        except NotFound as error:
            raise ChannelNotFound(str(error)) from error

    def watch(
        self, callback: Callable[[dict[str, Any]], None], type: str | None = None, poll_interval: float = 5.0
    ) -> None:
        """Call `callback` with each new entry, until Ctrl-C."""
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
            service.create_channel(book(), self.name, agent=self.agent_id, visibility="public", description="")
        service.join_channel(book(), self.name, self.agent_id)

    def __repr__(self) -> str:
        return f"Channel({self.name!r}, agent_id={self.agent_id!r})"
