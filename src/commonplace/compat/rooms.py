"""BotWire's agents and channels, kept in a book: key-value entries and transcripts that any other door shows, too.

No namespace of a BotWire client holds a slash, so that none of these is one of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.values import Json, Message, checks

AGENTS = "botwire/agents"
CHANNELS = "botwire/channels"
TYPES = frozenset("signal analysis decision alert question response human status data".split())
_PAGE = 200


def register(book: Book, name: str, *, description: str, capabilities: Sequence[str], wallet: str) -> dict[str, Json]:
    """Make an agent known, or change what is known of it."""
    known: dict[str, Json] = {
        "description": description,
        "capabilities": list(capabilities),
        "wallet_address": wallet,
        "registered_at": _now(),
    }
    book.kv(AGENTS).set(name, known)
    return _agent(name, known)


def agents(book: Book, capability: str = "") -> list[dict[str, Json]]:
    """The agents that are known, or those that have a capability."""
    entries = book.kv(AGENTS)
    found = [_agent(name, entries.get(name)) for name in entries.keys()]  # noqa: SIM118  # it is no dict
    return [agent for agent in found if not capability or capability in _listed(agent["capabilities"])]


def create(book: Book, channel: str, *, agent: str, visibility: str, description: str) -> dict[str, Json]:
    """Make a channel; Conflict if there is one of that name."""
    made: dict[str, Json] = {
        "created_by": checks.name(agent, "agent_id"),
        "visibility": visibility,
        "description": description,
        "created_at": _now(),
    }
    book.kv(CHANNELS).set(channel, made, if_version=0)
    return {"channel": channel, **made}


def join(book: Book, channel: str, agent: str) -> dict[str, Json]:
    """Make an agent a member of a channel."""
    _ensure(book, channel)
    members = book.kv(f"{CHANNELS}/{channel}")
    if members.entry(agent) is None:
        members.set(agent, {"joined_at": _now()})
    return {"channel": channel, "agent_id": agent, "status": "joined"}


def post(book: Book, channel: str, *, agent: str, type: str, data: Json) -> dict[str, Json]:
    """Add an entry to a channel; when this returns it is on disk."""
    if type not in TYPES:
        raise InvalidInput(f"unknown type {type!r}; known: {', '.join(sorted(TYPES))}")
    _ensure(book, channel)
    made = book.transcript(session(channel)).append(data, role="agent", name=agent, metadata={"type": type})
    return {**_entry(channel, made), "channel": channel}


def entries(
    book: Book, channel: str, *, type: str | None = None, since: float | None = None, limit: int = 50
) -> list[dict[str, Json]]:
    """Entries of a channel, oldest first: the first after a moment, or the last that there are."""
    _ensure(book, channel)
    most = checks.count(limit, "limit", least=1, most=1000)
    if since is not None:
        return _some(_forward(book, channel, since), type, most)
    return _some(_backward(book, channel), type, most)[::-1]


def session(channel: str) -> str:
    """The session whose transcript is a channel."""
    return f"{CHANNELS}/{channel}"


def _some(found: Iterator[dict[str, Json]], type: str | None, most: int) -> list[dict[str, Json]]:
    taken: list[dict[str, Json]] = []
    for entry in found:
        if type is None or entry["type"] == type:
            taken.append(entry)
        if len(taken) == most:
            break
    return taken


def _forward(book: Book, channel: str, since: float) -> Iterator[dict[str, Json]]:
    """The entries after a moment, oldest first. Their times rise with their numbers, so that it is found by halving."""
    transcript = book.transcript(session(channel))
    last = transcript.tail(1)
    low, high = 1, last[0].number + 1 if last else 1
    while low < high:
        middle = (low + high) // 2
        if _moment(transcript.read(start=middle, limit=1)[0]) > since:
            high = middle
        else:
            low = middle + 1
    while page := transcript.read(start=low, limit=_PAGE):
        yield from (_entry(channel, message) for message in page)
        low = page[-1].number + 1


def _backward(book: Book, channel: str) -> Iterator[dict[str, Json]]:
    """The entries, newest first."""
    transcript = book.transcript(session(channel))
    page = transcript.tail(_PAGE)
    while page:
        yield from (_entry(channel, message) for message in reversed(page))
        first = page[0].number
        start = max(first - _PAGE, 1)
        page = transcript.read(start=start, limit=first - start) if first > 1 else []


def _entry(channel: str, message: Message) -> dict[str, Json]:
    return {
        "id": f"{channel}:{message.number}",
        "agent_id": message.name,
        "type": message.metadata.get("type", "data"),
        "data": message.content,
        "timestamp": _moment(message),
    }


def _moment(message: Message) -> float:
    # When it was stored, not when it was said: clients ask for what is later than the last that they saw.
    return message.created_at.timestamp()


def _agent(name: str, known: Any) -> dict[str, Any]:
    given = known if isinstance(known, dict) else {}
    return {"agent_id": name, "name": name, "description": "", "capabilities": [], **given}


def _listed(capabilities: object) -> Sequence[object]:
    # Any door can write these entries, so that they need not be what `register` makes.
    return capabilities if isinstance(capabilities, list) else ()


def _ensure(book: Book, channel: str) -> None:
    if book.kv(CHANNELS).entry(channel) is None:
        raise NotFound(f"no channel {channel!r} in this space: create it first")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()
