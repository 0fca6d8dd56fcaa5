"""The dialect of BotWire: key-value entries by namespace, agents, and channels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from commonplace.book import Book
from commonplace.compat import rooms, texts
from commonplace.errors import CommonplaceError, Conflict, InvalidInput, NotFound
from commonplace.server.dialects.speaking import Reading, Speaking, Writing, answered, detail
from commonplace.server.paths import Name
from commonplace.values import Entry, Json

_TAG = re.compile(r'(?:W/)?"(\d{1,15})"')


class Stale(Conflict):
    """An If-Match that no longer holds."""

    code = "precondition_failed"
    status = 412


class Route(Speaking):
    """Errors are {detail}."""

    def told(self, request: Request, error: CommonplaceError) -> Response:
        return detail(error, str(error))


router = APIRouter(route_class=Route)


async def _expected(request: Request) -> int | None:
    """The version that a write is meant for: If-Match names it, If-None-Match: * means that there is none."""
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
    """The key. A client that does not escape its keys has cut off what follows a question mark: that is no key."""
    if request.url.query:
        raise InvalidInput("a key with a question mark must be sent as %3F")
    return key


Version = Annotated[int | None, Depends(_expected)]
Key = Annotated[str, Depends(_key)]


class Value(BaseModel):
    """A value: text, as the client sends it, or any JSON."""

    value: Any
    ttl: float | None = None


# Before the key itself, which may hold slashes.
@router.post("/memory/{namespace}/{key:path}/append")
async def append(request: Request, ask: Writing, namespace: Name, key: Key, body: Value) -> Response:
    """Add a value to the end of a list in one step: concurrent ones are all kept."""

    def verb(book: Book) -> dict[str, Json]:
        return _plain(namespace, book.kv(namespace).append(key, texts.value(body.value)))

    return await answered(request, ask, verb, headers=_tagged)


@router.put("/memory/{namespace}/{key:path}")
async def put(request: Request, ask: Writing, namespace: Name, key: Key, version: Version, body: Value) -> Response:
    """Set a value; null deletes what stands there."""
    value = texts.value(body.value)

    def verb(book: Book) -> dict[str, Json]:
        entries = book.kv(namespace)
        try:
            if value is None:
                gone = entries.delete(key, if_version=version)
                return {"namespace": namespace, "key": key, "deleted": gone}
            return _plain(namespace, entries.set(key, value, ttl=body.ttl, if_version=version))
        except Conflict as error:
            raise Stale(str(error), current=error.current) from error

    return await answered(request, ask, verb, headers=_tagged)


@router.get("/memory/{namespace}/{key:path}")
async def get(request: Request, ask: Reading, namespace: Name, key: Key) -> Response:
    """A value, with its version as the ETag."""

    def verb(book: Book) -> dict[str, Json]:
        entry = book.kv(namespace).entry(key)
        if entry is None:
            raise NotFound(f"nothing stands under {key!r} in {namespace!r}")
        return _plain(namespace, entry)

    return await answered(request, ask, verb, headers=_tagged)


@router.delete("/memory/{namespace}/{key:path}")
async def delete(request: Request, ask: Writing, namespace: Name, key: Key, version: Version) -> Response:
    """Delete a value."""

    def verb(book: Book) -> dict[str, Json]:
        try:
            if not book.kv(namespace).delete(key, if_version=version):
                raise NotFound(f"nothing stands under {key!r} in {namespace!r}")
        except Conflict as error:
            raise Stale(str(error), current=error.current) from error
        return {"namespace": namespace, "key": key, "deleted": True}

    return await answered(request, ask, verb)


@router.get("/memory/{namespace}")
async def keys(request: Request, ask: Reading, namespace: Name) -> Response:
    """The keys of a namespace, sorted."""

    def verb(book: Book) -> dict[str, Json]:
        found: list[Json] = [*book.kv(namespace).keys()]
        return {"namespace": namespace, "count": len(found), "keys": found}

    return await answered(request, ask, verb)


class Agent(BaseModel):
    """Who registers."""

    name: str
    description: str = ""
    capabilities: list[str] = Field(default_factory=list)
    wallet_address: str = ""


@router.post("/identity/register")
async def register(request: Request, ask: Writing, body: Agent) -> Response:
    """Make an agent known in its space."""

    def verb(book: Book) -> dict[str, Json]:
        return rooms.register(
            book,
            body.name,
            description=body.description,
            capabilities=body.capabilities,
            wallet=body.wallet_address,
        )

    return await answered(request, ask, verb)


@router.get("/identity/search")
async def search(request: Request, ask: Reading, capability: str = "") -> Response:
    """The agents of the space that have a capability; all of them, if none is named."""

    def verb(book: Book) -> dict[str, Json]:
        found: list[Json] = [*rooms.agents(book, capability)]
        return {"results": found, "count": len(found)}

    return await answered(request, ask, verb)


class Channel(BaseModel):
    """A new channel."""

    agent_id: str
    visibility: str = "public"
    description: str = ""


@router.post("/channels/{channel}/create")
async def create(request: Request, ask: Writing, channel: Name, body: Channel) -> Response:
    """Make a channel; 409 if there is one of that name."""

    def verb(book: Book) -> dict[str, Json]:
        return rooms.create(
            book, channel, agent=body.agent_id, visibility=body.visibility, description=body.description
        )

    return await answered(request, ask, verb)


@router.post("/channels/{channel}/join")
async def join(request: Request, ask: Writing, channel: Name, agent_id: str) -> Response:
    """Make an agent a member."""
    return await answered(request, ask, lambda book: rooms.join(book, channel, agent_id))


class Post(BaseModel):
    """An entry."""

    agent_id: str
    type: str
    data: Any


@router.post("/channels/{channel}/post")
async def post(request: Request, ask: Writing, channel: Name, body: Post) -> Response:
    """Add an entry."""

    def verb(book: Book) -> dict[str, Json]:
        return rooms.post(book, channel, agent=body.agent_id, type=body.type, data=body.data)

    return await answered(request, ask, verb)


@router.get("/channels/{channel}/messages")
async def messages(
    request: Request,
    ask: Reading,
    channel: Name,
    type: str | None = None,
    since: float | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """Entries, oldest first: the first after `since`, or the last that there are."""

    def verb(book: Book) -> dict[str, Json]:
        found: list[Json] = [*rooms.entries(book, channel, type=type, since=since, limit=limit)]
        return {"channel": channel, "count": len(found), "entries": found}

    return await answered(request, ask, verb)


def _plain(namespace: str, entry: Entry) -> dict[str, Json]:
    changed = entry.updated_at.isoformat()
    return {
        "namespace": namespace,
        "key": entry.key,
        "value": texts.text(entry.value),
        "version": entry.version,
        # A book keeps when an entry was last set; of one that was set again nobody knows when it came.
        "created_at": changed if entry.version == 1 else None,
        "updated_at": changed,
    }


def _tagged(told: Mapping[str, Json]) -> dict[str, str]:
    return {"ETag": f'"{told["version"]}"'} if "version" in told else {}
