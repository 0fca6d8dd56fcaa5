"""Key-value state behind a server."""

from __future__ import annotations

from commonplace import wire
from commonplace.errors import NotFound
from commonplace.kv import KeyValue
from commonplace.remote import bodies
from commonplace.remote.transport import Request, Transport, encoded, expected, part, query
from commonplace.values import Entry, Json, checks


class RemoteKeyValue(KeyValue):
    """One namespace of a space's key-value entries, over HTTP. Made by `RemoteBook.kv`."""

    def __init__(self, transport: Transport, space: str, namespace: str) -> None:
        self._transport = transport
        self._path = f"{space}/kv/{part(checks.name(namespace, 'namespace'))}"

    def entry(self, key: str) -> Entry | None:
        request = Request(method="GET", path=self._at(key))
        try:
            return self._transport.call(request, _entry)
        except NotFound:
            return None

    def set(self, key: str, value: Json, *, ttl: float | None = None, if_version: int | None = None) -> Entry:
        body = {"value": bodies.json_value(value, "value"), **bodies.given(ttl=bodies.ttl(ttl))}
        request = Request(
            method="PUT", path=self._at(key), body=encoded(body), headers=expected(if_version), writes=True
        )
        return self._transport.call(request, _entry)

    def delete(self, key: str, *, if_version: int | None = None) -> bool:
        request = Request(method="DELETE", path=self._at(key), headers=expected(if_version), writes=True)
        return self._transport.call(request, lambda told: bool(told["deleted"]))

    def keys(self, prefix: str = "") -> list[str]:
        begins = checks.text(prefix, "prefix", limit=512)
        request = Request(method="GET", path=self._path + query(prefix=begins or None))
        return self._transport.call(request, lambda told: list(told["keys"]))

    def append(self, key: str, *items: Json) -> Entry:
        body = {"items": [bodies.json_value(item, "item") for item in items]}
        return self._transport.call(Request(method="POST", path=self._at(key), body=encoded(body), writes=True), _entry)

    def _at(self, key: str) -> str:
        return f"{self._path}/{part(checks.name(key, 'key'))}"


def _entry(told: object) -> Entry:
    return wire.read(Entry, told)
