"""What a request asks for, read from its headers: the key, the space, and the name that makes it happen once."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from fastapi import Request

from commonplace.server.callers import Ask, Operation, Role
from commonplace.server.paths import Name, decoded


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
    except (binascii.Error, UnicodeDecodeError):
        return None
    return password or None


def namespace(request: Request) -> str | None:
    """The key-value namespace that a request's path names: some limits are a namespace's."""
    named: str | None = request.path_params.get("namespace")
    return None if named is None else decoded(named)


def asks(role: Role, operation: Operation) -> Callable[..., Ask]:
    """A dependency that reads what a request to a space asks for."""

    def read(request: Request, space: Name) -> Ask:
        return Ask(
            secret=secret(request),
            space=space,
            role=role,
            operation=operation,
            namespace=namespace(request),
            once=request.headers.get("idempotency-key"),
        )

    return read


READ = asks("read", "read")
RECALL = asks("read", "recall")
WRITE = asks("write", "write")
ADMIN = asks("admin", "admin")
