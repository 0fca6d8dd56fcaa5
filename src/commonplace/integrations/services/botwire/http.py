"""BotWire's HTTP dialect: key-value entries by namespace, agents, and channels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from commonplace import Book, Conflict, Entry, InvalidInput, NotFound
from commonplace.integrations.services.botwire import service
from commonplace.integrations.services.http import Name, ServiceRoute, answer
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


class BotWireValue(BaseModel):
    """A value: text, as the client sends it, or any JSON."""

    value: Any
    ttl: float | None = None


# Before the key itself, which may hold slashes.
@router.post("/memory/{namespace}/{key:path}/append")
async def append(request: Request, namespace: Name, key: Key, body: BotWireValue) -> Response:
    """Add a value to the end of a list in one step; concurrent ones are all kept."""

    def verb(book: Book) -> dict[str, Json]:
        return _entry_body(namespace, book.kv(namespace).append(key, service.decode_value(body.value)))

    return await answer(request, "write", verb, headers=_etag_of)


@router.put("/memory/{namespace}/{key:path}")
async def put(request: Request, namespace: Name, key: Key, version: Version, body: BotWireValue) -> Response:
    """Set a value; null deletes it."""
    value = service.decode_value(body.value)

    def verb(book: Book) -> dict[str, Json]:
        entries = book.kv(namespace)
        try:
            if value is None:
                gone = entries.delete(key, if_version=version)
                return {"namespace": namespace, "key": key, "deleted": gone}
            return _entry_body(namespace, entries.set(key, value, ttl=body.ttl, if_version=version))
        except Conflict as error:
            raise PreconditionFailed(str(error), current=error.current) from error

    return await answer(request, "write", verb, headers=_etag_of)


@router.get("/memory/{namespace}/{key:path}")
async def get(request: Request, namespace: Name, key: Key) -> Response:
    """A value, with its version as the ETag."""

    def verb(book: Book) -> dict[str, Json]:
        entry = book.kv(namespace).entry(key)
        if entry is None:
            raise NotFound(f"nothing stands under {key!r} in {namespace!r}")
        return _entry_body(namespace, entry)

    return await answer(request, "read", verb, headers=_etag_of)


@router.delete("/memory/{namespace}/{key:path}")
async def delete(request: Request, namespace: Name, key: Key, version: Version) -> Response:
    """Delete a value."""

    def verb(book: Book) -> dict[str, Json]:
        try:
            if not book.kv(namespace).delete(key, if_version=version):
                raise NotFound(f"nothing stands under {key!r} in {namespace!r}")
        except Conflict as error:
            raise PreconditionFailed(str(error), current=error.current) from error
        return {"namespace": namespace, "key": key, "deleted": True}

    return await answer(request, "write", verb)


@router.get("/memory/{namespace}")
async def keys(request: Request, namespace: Name) -> Response:
    """The keys of a namespace, sorted."""

    def verb(book: Book) -> dict[str, Json]:
        found: list[Json] = [*book.kv(namespace).keys()]
        return {"namespace": namespace, "count": len(found), "keys": found}

    return await answer(request, "read", verb)


class BotWireAgent(BaseModel):
    """An agent that registers."""

    name: str
    description: str = ""
    capabilities: list[str] = Field(default_factory=list)
    wallet_address: str = ""


@router.post("/identity/register")
async def register(request: Request, body: BotWireAgent) -> Response:
    """Register an agent in its space."""

    def verb(book: Book) -> dict[str, Json]:
        return service.register_agent(
            book,
            body.name,
            description=body.description,
            capabilities=body.capabilities,
            wallet=body.wallet_address,
        )

    return await answer(request, "write", verb)


@router.get("/identity/search")
async def search(request: Request, capability: str = "") -> Response:
    """The agents of the space that have a capability; all of them, if none is named."""

    def verb(book: Book) -> dict[str, Json]:
        found: list[Json] = [*service.list_agents(book, capability)]
        return {"results": found, "count": len(found)}

    return await answer(request, "read", verb)


class BotWireChannel(BaseModel):
    """A new channel."""

    agent_id: str
    visibility: str = "public"
    description: str = ""


@router.post("/channels/{channel}/create")
async def create(request: Request, channel: Name, body: BotWireChannel) -> Response:
    """Create a channel; 409 if there is one of that name."""

    def verb(book: Book) -> dict[str, Json]:
        return service.create_channel(
            book, channel, agent=body.agent_id, visibility=body.visibility, description=body.description
        )

    return await answer(request, "write", verb)


@router.post("/channels/{channel}/join")
async def join(request: Request, channel: Name, agent_id: str) -> Response:
    """Add an agent to a channel."""
    return await answer(request, "write", lambda book: service.join_channel(book, channel, agent_id))


class BotWirePost(BaseModel):
    """An entry."""

    agent_id: str
    type: str
    data: Any


@router.post("/channels/{channel}/post")
async def post(request: Request, channel: Name, body: BotWirePost) -> Response:
    """Add an entry."""

    def verb(book: Book) -> dict[str, Json]:
        return service.post_entry(book, channel, agent=body.agent_id, type=body.type, data=body.data)

    return await answer(request, "write", verb)


@router.get("/channels/{channel}/messages")
async def messages(
    request: Request,
    channel: Name,
    type: str | None = None,
    since: float | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """Entries, oldest first: the first after `since`, or else the last."""

    def verb(book: Book) -> dict[str, Json]:
        found: list[Json] = [*service.read_entries(book, channel, type=type, since=since, limit=limit)]
        return {"channel": channel, "count": len(found), "entries": found}

    return await answer(request, "read", verb)


def _entry_body(namespace: str, entry: Entry) -> dict[str, Json]:
    changed = entry.updated_at.isoformat()
    return {
        "namespace": namespace,
        "key": entry.key,
        "value": service.encode_value(entry.value),
        "version": entry.version,
        # A book knows only when an entry was last set.
        "created_at": changed if entry.version == 1 else None,
        "updated_at": changed,
    }


def _etag_of(told: Mapping[str, Json]) -> dict[str, str]:
    return {"ETag": f'"{told["version"]}"'} if "version" in told else {}
