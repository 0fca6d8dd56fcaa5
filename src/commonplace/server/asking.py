"""What a request asks for, read from its headers: the key, the space, and the name that makes it happen once."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Header, Request

from commonplace.server.callers import Ask, Operation, Role
from commonplace.server.paths import Name, decoded

Once = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="A name of the caller's own for this request: repeated under it, it is not carried out again.",
    ),
]


def secret(request: Request) -> str | None:
    """The key that a request carries: Bearer, X-API-Key, or the password of Basic."""
    given = request.headers.get("x-api-key")
    if given:
        return given
    scheme, _, rest = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip() or None
    if scheme.lower() == "basic":
        return _password(rest.strip())
    return None


def _password(encoded: str) -> str | None:
    try:
        _, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:  # no Base64, no ASCII, no UTF-8
        return None
    return password or None


def host(request: Request) -> str | None:
    """By what name a request calls the server."""
    return request.headers.get("host")


def namespace(request: Request) -> str | None:
    """The key-value namespace that a request's path names: some limits are a namespace's."""
    named: str | None = request.path_params.get("namespace")
    return None if named is None else decoded(named)


Asking = Callable[..., Coroutine[Any, Any, Ask]]


def asks(role: Role, operation: Operation) -> Asking:
    """A dependency that reads what a request to a space asks for."""

    async def read(request: Request, space: Name) -> Ask:
        return Ask(secret=secret(request), host=host(request), space=space, role=role, operation=operation)

    return read


def asks_once(role: Role, operation: Operation, *, whole: bool = True) -> Asking:
    """The same for what writes, and may have a name under which it happens only once.

    Without `whole` the digest leaves the body out, which is a stream and has not been read yet.
    """

    async def read(request: Request, space: Name, idempotency_key: Once = None) -> Ask:
        return Ask(
            secret=secret(request),
            host=host(request),
            space=space,
            role=role,
            operation=operation,
            namespace=namespace(request),
            once=idempotency_key,
            digest="" if idempotency_key is None else digest(request, await request.body() if whole else b""),
        )

    return read


def digest(request: Request, body: bytes) -> str:
    """What a request says, in short."""
    said = hashlib.sha256()
    conditions = [request.headers.get(name, "") for name in ("if-match", "if-none-match")]
    for part in (
        request.method.encode(),
        *(condition.encode() for condition in conditions),
        request.scope["path"].encode("utf-8", "surrogateescape"),
        request.scope["query_string"],
        body,
    ):
        said.update(b"%d:" % len(part))
        said.update(part)
    return said.hexdigest()


READ = asks("read", "read")
RECALL = asks("read", "recall")
WRITE = asks_once("write", "write")
IMPORT = asks_once("write", "write", whole=False)
ADMIN = asks("admin", "admin")
