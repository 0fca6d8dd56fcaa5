"""BotWire's HTTP dialect: key-value entries by namespace, agents, and channels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from commonplace import Book, Conflict, Entry, InvalidInput, NotFound
from commonplace.integrations.services import botwire
from commonplace.integrations.services.http import Name, ServiceRoute, on_book
from commonplace.values import Json

_TAG = re.compile(r'(?:W/)?"(\d{1,15})"')


class PreconditionFailed(Conflict):
    """An If-Match that no longer holds."""

    code = "precondition_failed"
    status = 412


router = APIRouter(route_class=ServiceRoute)


async def _expected_version(request: Request) -> int | None:
    """Return the version that a write is made for: If-Match names it, If-None-Match: * means that there is none."""
    match, none = request.headers.get("if-match"), request.headers.get("if-none-match")
    if none is not None:
        if none.strip() != "*" or match is not None:
            raise InvalidInput("a write may send If-None-Match: * or If-Match, not both")
        return 0
    if match is None:
        return None
    found = _TAG.fullmatch(match.strip())
    if found is None:
        raise InvalidInput('If-Match takes the ETag of a GET, such as "3"')
    return int(found[1])


async def _key(request: Request, key: Name) -> str:
    """Return the key. A client that does not escape its keys loses what follows a question mark: that is refused."""
    if request.url.query:
        raise InvalidInput("a key with a question mark must be sent as %3F")
    return key


Version = Annotated[int | None, Depends(_expected_version)]
Key = Annotated[str, Depends(_key)]


def _etag_of(body: Mapping[str, Json]) -> dict[str, str]:
    return {"ETag": f'"{body["version"]}"'} if "version" in body else {}


class BotWireValue(BaseModel):
    """A value: text, as the client sends it, or any JSON."""

    value: Any
    ttl: float | None = None


# Before the key itself, which may hold slashes.
@router.post("/memory/{namespace}/{key:path}/append")
@on_book("write", headers=_etag_of)
def append(book: Book, namespace: Name, key: Key, body: BotWireValue) -> dict[str, Json]:
    """Add a value to the end of a list in one step; concurrent ones are all kept."""
    return _entry_body(namespace, book.kv(namespace).append(key, botwire.decode_value(body.value)))


@router.put("/memory/{namespace}/{key:path}")
@on_book("write", headers=_etag_of)
def put(book: Book, namespace: Name, key: Key, version: Version, body: BotWireValue) -> dict[str, Json]:
    """Set a value; null deletes it."""
    value = botwire.decode_value(body.value)
    entries = book.kv(namespace)
    try:
        if value is None:
            gone = entries.delete(key, if_version=version)
            return {"namespace": namespace, "key": key, "deleted": gone}
        return _entry_body(namespace, entries.set(key, value, ttl=body.ttl, if_version=version))
    except Conflict as error:
        raise PreconditionFailed(str(error), current=error.current) from error


@router.get("/memory/{namespace}/{key:path}")
@on_book("read", headers=_etag_of)
def get(book: Book, namespace: Name, key: Key) -> dict[str, Json]:
    """A value, with its version as the ETag."""
    entry = book.kv(namespace).entry(key)
    if entry is None:
        raise NotFound(f"there is no key {key!r} in the namespace {namespace!r}")
    return _entry_body(namespace, entry)


@router.delete("/memory/{namespace}/{key:path}")
@on_book("write")
def delete(book: Book, namespace: Name, key: Key, version: Version) -> dict[str, Json]:
    """Delete a value."""
    try:
        if not book.kv(namespace).delete(key, if_version=version):
            raise NotFound(f"there is no key {key!r} in the namespace {namespace!r}")
    except Conflict as error:
        raise PreconditionFailed(str(error), current=error.current) from error
    return {"namespace": namespace, "key": key, "deleted": True}


@router.get("/memory/{namespace}")
@on_book("read")
def keys(book: Book, namespace: Name) -> dict[str, Json]:
    """The keys of a namespace, sorted."""
    found: list[Json] = [*book.kv(namespace).keys()]
    return {"namespace": namespace, "count": len(found), "keys": found}


class BotWireAgent(BaseModel):
    """An agent that registers."""

    name: str
    description: str = ""
    capabilities: list[str] = Field(default_factory=list)
    wallet_address: str = ""


@router.post("/identity/register")
@on_book("write")
def register(book: Book, body: BotWireAgent) -> dict[str, Json]:
    """Register an agent in its space."""
    return botwire.register_agent(
        book,
        body.name,
        description=body.description,
        capabilities=body.capabilities,
        wallet=body.wallet_address,
    )


@router.get("/identity/search")
@on_book("read")
def search(book: Book, capability: str = "") -> dict[str, Json]:
    """The agents of the space that have a capability; all of them, if none is named."""
    found: list[Json] = [*botwire.list_agents(book, capability)]
    return {"results": found, "count": len(found)}


class BotWireChannel(BaseModel):
    """A new channel."""

    agent_id: str
    visibility: str = "public"
    description: str = ""


@router.post("/channels/{channel}/create")
@on_book("write")
def create(book: Book, channel: Name, body: BotWireChannel) -> dict[str, Json]:
    """Create a channel; 409 if there is one of that name."""
    return botwire.create_channel(
        book, channel, agent=body.agent_id, visibility=body.visibility, description=body.description
    )


@router.post("/channels/{channel}/join")
@on_book("write")
def join(book: Book, channel: Name, agent_id: str) -> dict[str, Json]:
    """Add an agent to a channel."""
    return botwire.join_channel(book, channel, agent_id)


class BotWirePost(BaseModel):
    """An entry."""

    agent_id: str
    type: str
    data: Any


@router.post("/channels/{channel}/post")
@on_book("write")
def post(book: Book, channel: Name, body: BotWirePost) -> dict[str, Json]:
    """Add an entry."""
    return botwire.post_entry(book, channel, agent=body.agent_id, type=body.type, data=body.data)


@router.get("/channels/{channel}/messages")
@on_book("read")
def messages(
    book: Book,
    channel: Name,
    type: str | None = None,
    since: float | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> dict[str, Json]:
    """Entries, oldest first: the first after `since`, or else the last."""
    found: list[Json] = [*botwire.read_entries(book, channel, type=type, since=since, limit=limit)]
    return {"channel": channel, "count": len(found), "entries": found}


def _entry_body(namespace: str, entry: Entry) -> dict[str, Json]:
    changed = entry.updated_at.isoformat()
    return {
        "namespace": namespace,
        "key": entry.key,
        "value": botwire.encode_value(entry.value),
        "version": entry.version,
        # A book knows only when an entry was last set.
        "created_at": changed if entry.version == 1 else None,
        "updated_at": changed,
    }
