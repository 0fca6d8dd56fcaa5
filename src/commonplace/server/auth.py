"""Authentication and authorization: the key of a request, who holds it, and what it allows."""

from __future__ import annotations

import base64
import ipaddress
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import unquote

from starlette.requests import Request

from commonplace.access import keys, patterns
from commonplace.access.keys import ROLES, Role
from commonplace.access.plans import UNLIMITED, Limits
from commonplace.errors import Forbidden, InvalidInput, Unauthorized
from commonplace.store.base import Store
from commonplace.store.tables import spaces
from commonplace.store.tables.keys import Spent

Operation = Literal["read", "recall", "write", "admin"]
"""The kind of a request, as limits count it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request: with which key, on which space, for what."""

    secret: str | None
    """The key as it was sent, whatever the header."""
    space: str | None
    """None: the caller's home."""
    host: str | None = None
    """The Host header."""
    role: Role
    operation: Operation
    everywhere: bool = False
    """Whether the request is about every space of the book."""
    long: bool = False
    """Whether the request may take long: it runs in threads of its own, so that short ones do not wait for it."""
    namespace: str | None = None
    """The key-value namespace of the request; some limits apply to each namespace."""
    idempotency_key: str | None = None
    digest: str = ""
    """A digest of the request, to notice another request with the same idempotency key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request: the holder of a key, or anybody if the server needs none."""

    key: str | None
    """The key's public id; None if the server needs no key."""
    role: Role
    spaces: tuple[str, ...]
    """Patterns of the spaces that the key opens: "team-a", "agents-*"."""
    home: str
    """The space of requests that name none."""
    limits: Limits = UNLIMITED
    spent: tuple[Spent, ...] = ()
    """The use of the limits when the key was read."""

    @property
    def is_limited(self) -> bool:
        return self.key is not None and self.limits != UNLIMITED

    def opens(self, space: str) -> bool:
        """Return whether the caller may use a space."""
        return self.key is None or any(patterns.matches(pattern, space) for pattern in self.spaces)

    @property
    def opens_all(self) -> bool:
        """Whether the caller may use every space, also future ones."""
        return any(patterns.covers(pattern, patterns.STAR) for pattern in self.spaces)

    def may(self, role: Role) -> bool:
        """Return whether the caller's role includes another."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Gate(Protocol):
    """Identifies callers."""

    def admit(self, call: Call) -> Caller:
        """Return who calls; raise Unauthorized if the key is not valid."""


class KeyGate:
    """Admits by the keys in the book at this moment. A book without keys is open to local callers."""

    def __init__(self, store: Store, space: str, *, closed: bool = False) -> None:
        self._store = store
        self._anybody = Caller(key=None, role="admin", spaces=(patterns.STAR,), home=space)
        self._closed = closed
        """Whether a key is always needed. It becomes true once keys were seen: a book that loses its keys, as by a
        restore, does not become open."""

    def admit(self, call: Call) -> Caller:
        admitted = keys.admit(self._store, call.secret)
        if admitted is None:
            if self._closed:
                raise Unauthorized("this server needs a key, and the book has none: `commonplace keys create`")
            if not _is_local(call.host):
                # A web page can point a name of its own at this machine, and the browser would let it read the answers.
                raise Forbidden(
                    f"a server without keys accepts only requests to localhost or to its address, not to {call.host!r}"
                )
            return self._anybody
        self._closed = True
        key = admitted.key
        return Caller(
            key=key.id, role=key.role, spaces=key.spaces, home=key.home, limits=key.limits, spent=admitted.spent
        )


def authorize(caller: Caller, call: Call) -> str:
    """Return the space of a call; raise Forbidden if the caller may not do this there."""
    space = caller.home if call.space is None else call.space
    if caller.key is None and space.startswith(spaces.RESERVED):
        raise InvalidInput(f"space names must not begin with {spaces.RESERVED!r}")
    if not caller.opens(space):
        raise Forbidden(f"this key does not open the space {space!r}")
    if call.everywhere and not caller.opens_all:
        raise Forbidden("this request concerns every space of the book: it needs a key for all spaces")
    if not caller.may(call.role):
        raise Forbidden(f"this key may {caller.role}; this needs a key that may {call.role}")
    return space


def read_call(
    request: Request, role: Role, operation: Operation, *, idempotency_key: str | None = None, digest: str = ""
) -> Call:
    """Return the call that a request makes: its key, and the space and namespace in its path."""
    space, namespace = (request.path_params.get(name) for name in ("space", "namespace"))
    return Call(
        secret=read_secret(request),
        host=request.headers.get("host"),
        space=None if space is None else decode_name(space),
        role=role,
        operation=operation,
        namespace=None if namespace is None else decode_name(namespace),
        idempotency_key=idempotency_key,
        digest=digest,
    )


def read_secret(request: Request) -> str | None:
    """Return the key of a request: X-API-Key, a Bearer token, or the password of Basic."""
    given = request.headers.get("x-api-key")
    if given:
        return given
    scheme, _, rest = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip() or None
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(rest.strip(), validate=True).decode().partition(":")[2] or None
    except ValueError:  # not Base64, not UTF-8
        return None


def decode_name(name: str) -> str:
    """Return a part of a path without its percent-encoding; invalid UTF-8 is left for the verb to refuse."""
    return unquote(name, errors="surrogateescape")


def _is_local(host: str | None) -> bool:
    if not host:
        return True  # every browser sends it
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.lower().rstrip(".") == "localhost"
    return True
