"""BotWire's HTTP dialect: key-value entries by namespace, agents, and channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Depends, Request

from commonplace import Book, Conflict, Entry, InvalidInput, NotFound, wire
from commonplace.integrations.services import botwire
from commonplace.integrations.services.http import Limit, Name, ServiceRoute, ServiceRouter
from commonplace.values import Json

_ENTRY = "/memory/{namespace}/{key:path}"


class PreconditionFailed(Conflict):
    """An If-Match that no longer holds."""

    code = "precondition_failed"
    status = 412


router = ServiceRouter(route_class=ServiceRoute)


async def _expected_version(request: Request) -> int | None:
    return wire.expected_version(request.headers.get("if-match"), request.headers.get("if-none-match"))


async def _key(request: Request, key: Name) -> str:
    """Return the key. A client that does not escape its keys loses what follows a question mark: that is refused."""
    if request.url.query:
        raise InvalidInput("a key with a question mark must be sent as %3F")
    return key


Version = Annotated[int | None, Depends(_expected_version)]
Key = Annotated[str, Depends(_key)]


def _etag_of(body: Mapping[str, Json]) -> dict[str, str]:
    return {"ETag": f'"{body["version"]}"'} if "version" in body else {}


# Before the key itself, which may hold slashes.
@router.on_book("POST", f"{_ENTRY}/append", headers=_etag_of)
def append(book: Book, namespace: str, key: Key, *, value: Any) -> dict[str, Json]:
    """Add a value to the end of a list in one step; concurrent ones are all kept."""
    return _entry_body(namespace, book.kv(namespace).append(key, botwire.decode_value(value)))


@router.on_book("PUT", _ENTRY, headers=_etag_of)
def put(
    book: Book, namespace: str, key: Key, version: Version, *, value: Any, ttl: float | None = None
) -> dict[str, Json]:
    """Set a value: text, as the client sends it, or any JSON; null deletes it."""
    kept, entries = botwire.decode_value(value), book.kv(namespace)
    with _precondition():
        if kept is None:
            gone = entries.delete(key, if_version=version)
            return {"namespace": namespace, "key": key, "deleted": gone}
        return _entry_body(namespace, entries.set(key, kept, ttl=ttl, if_version=version))


@router.on_book("GET", _ENTRY, headers=_etag_of)
def get(book: Book, namespace: str, key: Key) -> dict[str, Json]:
    """Return a value, with its version as the ETag."""
    entry = book.kv(namespace).entry(key)
    if entry is None:
        raise NotFound(f"there is no key {key!r} in the namespace {namespace!r}")
    return _entry_body(namespace, entry)


@router.on_book("DELETE", _ENTRY)
def delete(book: Book, namespace: str, key: Key, version: Version) -> dict[str, Json]:
    """Delete a value."""
    with _precondition():
        if not book.kv(namespace).delete(key, if_version=version):
            raise NotFound(f"there is no key {key!r} in the namespace {namespace!r}")
    return {"namespace": namespace, "key": key, "deleted": True}


@router.on_book("GET", "/memory/{namespace}")
def keys(book: Book, namespace: str) -> dict[str, Json]:
    """Return the keys of a namespace, sorted."""
    found: list[Json] = [*book.kv(namespace).keys()]
    return {"namespace": namespace, "count": len(found), "keys": found}


@router.on_book("GET", "/identity/search")
def search(book: Book, *, capability: str = "") -> dict[str, Json]:
    """Return the agents of the space that have a capability; all of them, if none is named."""
    found: list[Json] = [*botwire.list_agents(book, capability)]
    return {"results": found, "count": len(found)}


@router.on_book("GET", "/channels/{channel}/messages")
def messages(
    book: Book, channel: str, *, type: str | None = None, since: float | None = None, limit: Limit = 50
) -> dict[str, Json]:
    """Return entries, oldest first: the first after `since`, or else the last."""
    found: list[Json] = [*botwire.read_entries(book, channel, type=type, since=since, limit=limit)]
    return {"channel": channel, "count": len(found), "entries": found}


router.on_book("POST", "/identity/register", namespace=botwire.AGENTS)(botwire.register_agent)
router.on_book("POST", "/channels/{channel}/create", namespace=botwire.CHANNELS)(botwire.create_channel)
_CHANNEL = f"{botwire.CHANNELS}/{{channel}}"
router.on_book("POST", "/channels/{channel}/join", namespace=_CHANNEL)(botwire.join_channel)
router.on_book("POST", "/channels/{channel}/post", namespace=_CHANNEL)(botwire.post_entry)


@contextmanager
def _precondition() -> Iterator[None]:
    try:
        yield
    except Conflict as error:
        raise PreconditionFailed(str(error), current=error.current) from error


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
