"""BotWire's `Memory`, `Channel` and `register`, on a book, and the functions that its HTTP dialect shares with them.

`from commonplace.integrations.services.botwire import Memory`. Values are key-value entries; agents are entries, and
channels are entries and transcripts. Their namespaces contain a slash, which no namespace of a BotWire client does.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from itertools import islice
from typing import Any

from commonplace import (
    Book,
    CommonplaceError,
    Conflict,
    InvalidInput,
    KeyValue,
    LimitReached,
    Message,
    NotFound,
    Transcript,
)
from commonplace.integrations.services import book as open_book
from commonplace.values import Json, checks

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


AGENTS = "botwire/agents"
CHANNELS = "botwire/channels"
TYPES = frozenset("signal analysis decision alert question response human status data".split())
_PAGE = 200


def register_agent(
    book: Book, *, name: str, description: str = "", capabilities: Sequence[str] = (), wallet_address: str = ""
) -> dict[str, Json]:
    """Register an agent, or change its registration."""
    facts: dict[str, Json] = {
        "description": description,
        "capabilities": list(capabilities),
        "wallet_address": wallet_address,
        "registered_at": _now(),
    }
    book.kv(AGENTS).set(name, facts)
    return _agent_body(name, facts)


def list_agents(book: Book, capability: str = "") -> list[dict[str, Json]]:
    """Return the registered agents, or those that have a capability."""
    entries = book.kv(AGENTS)
    found = [_agent_body(name, entries.get(name)) for name in entries.keys()]  # noqa: SIM118  # it is no dict
    # Any client of the book can write these entries, so their shape is not certain.
    return [
        agent
        for agent in found
        if not capability or (isinstance(agent["capabilities"], list) and capability in agent["capabilities"])
    ]


def create_channel(
    book: Book, channel: str, *, agent_id: str, visibility: str = "public", description: str = ""
) -> dict[str, Json]:
    """Create a channel; raise Conflict if there is one of that name."""
    made: dict[str, Json] = {
        "created_by": checks.name(agent_id, "agent_id"),
        "visibility": visibility,
        "description": description,
        "created_at": _now(),
    }
    book.kv(CHANNELS).set(channel, made, if_version=0)
    return {"channel": channel, **made}


def join_channel(book: Book, channel: str, agent_id: str) -> dict[str, Json]:
    """Add an agent to a channel."""
    _ensure_channel(book, channel)
    members = book.kv(f"{CHANNELS}/{channel}")
    if members.entry(agent_id) is None:
        members.set(agent_id, {"joined_at": _now()})
    return {"channel": channel, "agent_id": agent_id, "status": "joined"}


def post_entry(book: Book, channel: str, *, agent_id: str, type: str, data: Any) -> dict[str, Json]:
    """Add an entry to a channel; when this returns, it is on disk."""
    if type not in TYPES:
        raise InvalidInput(f"unknown type {type!r}; known: {', '.join(sorted(TYPES))}")
    _ensure_channel(book, channel)
    made = book.transcript(f"{CHANNELS}/{channel}").append(data, role="agent", name=agent_id, metadata={"type": type})
    return {**_entry_body(channel, made), "channel": channel}


def read_entries(
    book: Book, channel: str, *, type: str | None = None, since: float | None = None, limit: int = 50
) -> list[dict[str, Json]]:
    """Return entries of a channel, oldest first: the first after a time, or else the last."""
    _ensure_channel(book, channel)
    most, transcript = checks.count(limit, "limit", least=1, most=1000), book.transcript(f"{CHANNELS}/{channel}")
    messages = _read_backward(transcript) if since is None else _read_forward(transcript, since)
    entries = (_entry_body(channel, message) for message in messages)
    found = [*islice((entry for entry in entries if type is None or entry["type"] == type), most)]
    return found[::-1] if since is None else found


def _read_forward(transcript: Transcript, since: float) -> Iterator[Message]:
    """Yield the messages after a time, oldest first. Times rise with the numbers, so they can be bisected."""
    last = transcript.tail(1)
    numbers = range(1, last[0].number + 1 if last else 1)
    start = 1 + bisect_right(numbers, since, key=lambda number: _stored_at(transcript.read(start=number, limit=1)[0]))
    while page := transcript.read(start=start, limit=_PAGE):
        yield from page
        start = page[-1].number + 1


def _read_backward(transcript: Transcript) -> Iterator[Message]:
    """Yield the messages, newest first."""
    page = transcript.tail(_PAGE)
    while page:
        yield from reversed(page)
        first = page[0].number
        start = max(first - _PAGE, 1)
        page = transcript.read(start=start, limit=first - start) if first > 1 else []


def _entry_body(channel: str, message: Message) -> dict[str, Json]:
    return {
        "id": f"{channel}:{message.number}",
        "agent_id": message.name,
        "type": message.metadata.get("type", "data"),
        "data": message.content,
        "timestamp": _stored_at(message),
    }


def _stored_at(message: Message) -> float:
    # When it was stored: clients ask for entries that are later than the last one they saw.
    return message.created_at.timestamp()


def _agent_body(name: str, known: Any) -> dict[str, Any]:
    given = known if isinstance(known, dict) else {}
    return {"agent_id": name, "name": name, "description": "", "capabilities": [], **given}


def _ensure_channel(book: Book, channel: str) -> None:
    if book.kv(CHANNELS).entry(channel) is None:
        raise NotFound(f"no channel {channel!r} in this space: create it first")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()


def decode_value(sent: Json) -> Json:
    """Return the value that a book stores for what a client sent: the value whose JSON it is, or else the text.

    A client sends the json.dumps of everything but text. If json.dumps writes the parsed value exactly as it came, the
    book stores that value, which every other reader of the book understands; otherwise (other spaces, a key twice,
    1e5) it stores the text. Either way `encode_value` returns the same bytes. The text "5" and the number 5 are the
    same on the wire.
    """
    if not isinstance(sent, str):
        return sent
    try:
        read: Json = json.loads(sent)
        again = json.dumps(read)
        checks.json_text(read, "value", limit=len(again) * 4)
    except (ValueError, RecursionError, CommonplaceError):  # not JSON, or not storable: NaN, too deep, a NUL
        return sent
    return sent if isinstance(read, str) or again != sent else read


def encode_value(kept: Json) -> str:
    """Return what a client gets for a stored value: text as it is, everything else as JSON."""
    return kept if isinstance(kept, str) else json.dumps(kept)


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
        super().__init__(f"Invalid type {entry_type!r}. Use: {', '.join(sorted(TYPES))}")


class Memory:
    """Key-value entries under a namespace."""

    def __init__(self, namespace: str, base_url: str | None = None, timeout: float = 10.0) -> None:
        if not namespace or "/" in namespace:
            raise ValueError("namespace must be non-empty and contain no slashes")
        self.namespace = namespace
        self.base_url = base_url

    def set(self, key: str, value: Any) -> None:
        """Store a JSON value; None deletes it."""
        kept = decode_value(value)
        if kept is None:
            self._entries.delete(key)
        else:
            self._entries.set(key, kept)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or `default`: a list, a dict, or text, as BotWire's client does."""
        value = self._entries.get(key, None)
        if value is None:
            return default
        return value if isinstance(value, (list, dict)) else encode_value(value)

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
        return open_book(self.base_url).kv(self.namespace)


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
    return register_agent(
        open_book(),
        name=agent_id,
        description=description,
        capabilities=capabilities or (),
        wallet_address=wallet_address,
    )


class Channel:
    """A channel in which agents post typed entries."""

    def __init__(self, name: str, agent_id: str, auto_create: bool = True) -> None:
        self.name = name
        self.agent_id = agent_id
        self._last_seen = 0.0
        if not any(agent["agent_id"] == agent_id for agent in list_agents(open_book())):
            raise RegistrationRequired(agent_id)
        if auto_create:
            self._ensure()

    def post(self, entry_type: str, data: Any) -> dict[str, Any]:
        """Add an entry; when this returns, it is on disk."""
        if entry_type not in TYPES:
            raise InvalidType(entry_type)
        try:
            return post_entry(open_book(), self.name, agent_id=self.agent_id, type=entry_type, data=data)
        except NotFound as error:
            raise ChannelNotFound(str(error)) from error
        except LimitReached as error:
            raise RateLimited(error.retry_after) from error

    def read(self, type: str | None = None, since: float | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """Return entries, oldest first: the first after `since`, or else the last."""
        try:
            return read_entries(open_book(), self.name, type=type, since=since or None, limit=limit)
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
            create_channel(open_book(), self.name, agent_id=self.agent_id)
        join_channel(open_book(), self.name, self.agent_id)

    def __repr__(self) -> str:
        return f"Channel({self.name!r}, agent_id={self.agent_id!r})"
