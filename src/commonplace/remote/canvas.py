"""Canvases behind a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from commonplace import wire
from commonplace.canvas import Canvas, checked_path
from commonplace.remote import bodies
from commonplace.remote.transport import Request, Transport, encoded, expected, part, query
from commonplace.values import File, checks


class RemoteCanvas(Canvas):
    """One canvas of a space, over HTTP. Made by `RemoteBook.canvas`."""

    def __init__(self, transport: Transport, space: str, name: str) -> None:
        self._transport = transport
        self._path = f"{space}/canvases/{part(checks.name(name, 'canvas name'))}"

    def write(self, path: str, content: str, *, author: str | None = None, if_version: int | None = None) -> File:
        body = {"content": checks.text(content, "content", limit=2**63), **_author(author)}
        request = Request(
            method="PUT", path=self._at("files", path), body=encoded(body), headers=expected(if_version), writes=True
        )
        return self._transport.call(request, _file)

    def delete(self, path: str, *, author: str | None = None, if_version: int | None = None) -> File:
        place = self._at("files", path) + query(**_author(author))
        request = Request(method="DELETE", path=place, headers=expected(if_version), writes=True)
        return self._transport.call(request, _file)

    def forget(self, path: str) -> int:
        body = encoded({"path": checked_path(path)})
        request = Request(method="POST", path=f"{self._path}/forget", body=body, writes=True)
        return self._transport.call(request, lambda told: int(told["revisions"]))

    def file(self, path: str, revision: int | None = None) -> File:
        number = None if revision is None else checks.count(revision, "revision", least=1)
        request = Request(method="GET", path=self._at("files", path) + query(revision=number))
        return self._transport.call(request, _file)

    def files(self) -> dict[str, int]:
        return self._transport.call(Request(method="GET", path=self._path), lambda told: dict(told["files"]))

    def revisions(self, path: str) -> list[File]:
        request = Request(method="GET", path=self._at("revisions", path))
        return self._transport.call(request, lambda told: [_file(each) for each in told["revisions"]])

    def diff(self, path: str, old: int, new: int | None = None) -> str:
        first = checks.count(old, "revision", least=1)
        second = None if new is None else checks.count(new, "revision", least=1)
        request = Request(method="GET", path=self._at("diff", path) + query(old=first, new=second))
        return self._transport.call(request, lambda told: str(told["diff"]))

    def apply(
        self, text: str, *, author: str | None = None, if_version: int | Mapping[str, int] | None = None
    ) -> list[File]:
        body = {"patch": checks.text(text, "patch", limit=2**63), **_author(author), **_versions(if_version)}
        request = Request(method="POST", path=f"{self._path}/patch", body=encoded(body), writes=True)
        return self._transport.call(request, lambda told: [_file(each) for each in told["files"]])

    def _at(self, what: str, path: str) -> str:
        # A checked path has no part that a proxy would take away; its slashes may stay slashes.
        return f"{self._path}/{what}/{quote(checked_path(path), safe='/')}"


def _file(told: object) -> File:
    return wire.read(File, told)


def _author(author: str | None) -> dict[str, Any]:
    return bodies.given(author=checks.optional_name(author, "author"))


def _versions(if_version: int | Mapping[str, int] | None) -> dict[str, Any]:
    if isinstance(if_version, Mapping):
        return {"if_version": {checked_path(path): checks.version(number) for path, number in if_version.items()}}
    return bodies.given(if_version=checks.version(if_version))
