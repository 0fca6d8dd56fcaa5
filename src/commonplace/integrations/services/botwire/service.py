"""BotWire's agents, channels and values, kept in a book as key-value entries and transcripts.

The namespaces of agents and channels contain a slash, which no namespace of a BotWire client does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

from commonplace import Book, CommonplaceError, InvalidInput, Message, NotFound
from commonplace.values import Json, checks

AGENTS = "botwire/agents"
CHANNELS = "botwire/channels"
TYPES = frozenset("signal analysis decision alert question response human status data".split())
_PAGE = 200


def register_agent(
    book: Book, name: str, *, description: str, capabilities: Sequence[str], wallet: str
) -> dict[str, Json]:
    """Register an agent, or change its registration."""
    facts: dict[str, Json] = {
        "description": description,
        "capabilities": list(capabilities),
        "wallet_address": wallet,
        "registered_at": _now(),
    }
    book.kv(AGENTS).set(name, facts)
    return _agent_body(name, facts)


def list_agents(book: Book, capability: str = "") -> list[dict[str, Json]]:
    """Return the registered agents, or those that have a capability."""
    entries = book.kv(AGENTS)
    found = [_agent_body(name, entries.get(name)) for name in entries.keys()]  # noqa: SIM118  # it is no dict
    return [agent for agent in found if not capability or capability in _as_list(agent["capabilities"])]


def create_channel(book: Book, channel: str, *, agent: str, visibility: str, description: str) -> dict[str, Json]:
    """Create a channel; raise Conflict if there is one of that name."""
    made: dict[str, Json] = {
        "created_by": checks.name(agent, "agent_id"),
        "visibility": visibility,
        "description": description,
        "created_at": _now(),
    }
    book.kv(CHANNELS).set(channel, made, if_version=0)
    return {"channel": channel, **made}


def join_channel(book: Book, channel: str, agent: str) -> dict[str, Json]:
    """Add an agent to a channel."""
    _ensure_channel(book, channel)
    members = book.kv(f"{CHANNELS}/{channel}")
    if members.entry(agent) is None:
        members.set(agent, {"joined_at": _now()})
    return {"channel": channel, "agent_id": agent, "status": "joined"}


def post_entry(book: Book, channel: str, *, agent: str, type: str, data: Json) -> dict[str, Json]:
    """Add an entry to a channel; when this returns, it is on disk."""
    if type not in TYPES:
        raise InvalidInput(f"unknown type {type!r}; known: {', '.join(sorted(TYPES))}")
    _ensure_channel(book, channel)
    made = book.transcript(session_of(channel)).append(data, role="agent", name=agent, metadata={"type": type})
    return {**_entry_body(channel, made), "channel": channel}


def read_entries(
    book: Book, channel: str, *, type: str | None = None, since: float | None = None, limit: int = 50
) -> list[dict[str, Json]]:
    """Return entries of a channel, oldest first: the first after a time, or else the last."""
    _ensure_channel(book, channel)
    most = checks.count(limit, "limit", least=1, most=1000)
    if since is not None:
        return _take(_read_forward(book, channel, since), type, most)
    return _take(_read_backward(book, channel), type, most)[::-1]


def session_of(channel: str) -> str:
    """Return the session whose transcript holds a channel's entries."""
    return f"{CHANNELS}/{channel}"


def _take(found: Iterator[dict[str, Json]], type: str | None, most: int) -> list[dict[str, Json]]:
    taken: list[dict[str, Json]] = []
    for entry in found:
        if type is None or entry["type"] == type:
            taken.append(entry)
        if len(taken) == most:
            break
    return taken


def _read_forward(book: Book, channel: str, since: float) -> Iterator[dict[str, Json]]:
    """Yield the entries after a time, oldest first. Times rise with the numbers, so a binary search finds the first."""
    transcript = book.transcript(session_of(channel))
    last = transcript.tail(1)
    low, high = 1, last[0].number + 1 if last else 1
    while low < high:
        middle = (low + high) // 2
        if _stored_at(transcript.read(start=middle, limit=1)[0]) > since:
            high = middle
        else:
            low = middle + 1
    while page := transcript.read(start=low, limit=_PAGE):
        yield from (_entry_body(channel, message) for message in page)
        low = page[-1].number + 1


def _read_backward(book: Book, channel: str) -> Iterator[dict[str, Json]]:
    """Yield the entries, newest first."""
    transcript = book.transcript(session_of(channel))
    page = transcript.tail(_PAGE)
    while page:
        yield from (_entry_body(channel, message) for message in reversed(page))
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


def _as_list(capabilities: object) -> Sequence[object]:
    # Any client of the book can write these entries, so their shape is not certain.
    return capabilities if isinstance(capabilities, list) else ()


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
