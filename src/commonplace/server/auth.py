"""Authentication and authorization: the key of a request, who holds it, and what it allows."""

from __future__ import annotations

import base64
import ipaddress
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, Protocol
from urllib.parse import unquote

from starlette.requests import Request

from commonplace.access import keys, patterns
from commonplace.access.keys import ROLES, Role
from commonplace.access.plans import UNLIMITED, Limits
from commonplace.errors import Forbidden, InvalidInput, RateLimited, Unauthorized
from commonplace.store.base import Store
from commonplace.store.tables import spaces
from commonplace.store.tables.keys import Spent

_HOST = re.compile(r"(?:\[(?P<six>[^\[\]]*)\]|(?P<name>[^:\[\]]*))(?::[0-9]{0,5})?")

Operation = Literal["read", "recall", "write", "admin"]
"""The kind of a request, as limits count it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request: with which key, on which space, for what."""

    secret: str | None
    """The key as it was sent, whatever the header."""
    space: str | None
    """None: the caller's home."""
    address: str | None = None
    """Where it comes from; wrong keys are counted by it."""
    role: Role
    operation: Operation
    everywhere: bool = False
    """Whether the request is about every space of the book."""
    long: bool = False
    """Whether the request may take long: it runs in threads of its own, so that short ones do not wait for it."""
    namespace: str | None = None
    """The key-value namespace of the request; some limits apply to each namespace."""
    is_import: bool = False
    """Whether the request may write to any namespace."""
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

    closed: bool
    """Whether every caller needs a key, as is known without asking the store."""

    def admit(self, call: Call) -> Caller:
        """Return who calls; raise Unauthorized if the key is not valid."""

    def is_open(self) -> bool:
        """Return whether callers without a key are admitted."""


class WrongKeys:
    """Slows down who tries keys: an address may send so many wrong ones at once, and then one a second.

    Beyond that its keys are not even looked up, except those that were valid lately: others behind the same address go
    on. Both tables are bounded; what was seen longest ago is dropped first.
    """

    AT_ONCE = 50
    _EACH = 1.0
    """Seconds in which an address gains one more attempt."""
    _MOST = 10_000

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: OrderedDict[str, float] = OrderedDict()
        """When each address may send as many as ever again."""
        self._valid: OrderedDict[bytes, None] = OrderedDict()
        """Digests of keys that were valid lately."""
        self._lock = threading.Lock()

    def ensure_may_try(self, address: str, secret: str) -> None:
        """Raise RateLimited if too many wrong keys came from an address, and this is not a key that was valid."""
        if not self._full_at:  # without a lock: most servers never see a wrong key
            return
        with self._lock:
            wait = self._full_at.get(address, 0.0) - self._clock() - (self.AT_ONCE - 1) * self._EACH
            if wait <= 0 or _digest(secret) in self._valid:
                return
        raise RateLimited(
            f"too many wrong keys came from your address: the next may come in {wait:.3g} seconds", retry_after=wait
        )

    def add(self, address: str, secret: str) -> None:
        """Count a wrong key."""
        with self._lock:
            now = self._clock()
            self._valid.pop(_digest(secret), None)
            self._full_at[address] = max(self._full_at.pop(address, now), now) + self._EACH
            if len(self._full_at) > self._MOST:
                self._full_at.popitem(last=False)

    def clear(self, secret: str) -> None:
        """Note a key that is valid."""
        with self._lock:
            digest = _digest(secret)
            self._valid.pop(digest, None)
            self._valid[digest] = None
            if len(self._valid) > self._MOST:
                self._valid.popitem(last=False)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


class KeyGate:
    """Admits by the keys in the book at this moment. A book without keys is open to local callers."""

    def __init__(self, store: Store, space: str, *, closed: bool = False) -> None:
        self._store = store
        self._anybody = Caller(key=None, role="admin", spaces=(patterns.STAR,), home=space)
        self.closed = closed
        """Whether a key is always needed. It becomes true once keys were seen: a book that loses its keys, as by a
        restore, does not become open."""
        self._wrong = WrongKeys()

    def admit(self, call: Call) -> Caller:
        secret, address = call.secret, call.address
        if secret is not None and address is not None:
            self._wrong.ensure_may_try(address, secret)
        try:
            admitted = keys.admit(self._store, secret)
        except Unauthorized:
            if secret is not None and address is not None:
                self._wrong.add(address, secret)
            raise
        if admitted is None:
            if self.closed:
                raise Unauthorized("this server needs a key, and the book has none: `commonplace keys create`")
            return self._anybody
        self.closed = True
        if secret is not None and address is not None:
            self._wrong.clear(secret)
        key = admitted.key
        return Caller(
            key=key.id, role=key.role, spaces=key.spaces, home=key.home, limits=key.limits, spent=admitted.spent
        )

    def is_open(self) -> bool:
        if not self.closed and keys.exist(self._store):
            self.closed = True
        return not self.closed


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
        address=read_address(request),
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


def read_address(request: Request) -> str | None:
    """Return where a request comes from; of an IPv6 address its network, in which one holder has all addresses."""
    if request.client is None:
        return None
    try:
        address = ipaddress.ip_address(request.client.host)
    except ValueError:
        return request.client.host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def has_own_header(request: Request) -> bool:
    """Return whether the key is in a header that a page of another site cannot send without asking first."""
    headers = request.headers
    return bool(headers.get("x-api-key")) or headers.get("authorization", "").lower().startswith("bearer ")


def decode_name(name: str) -> str:
    """Return a part of a path without its percent-encoding; invalid UTF-8 is left for the verb to refuse."""
    return unquote(name, errors="surrogateescape")


def is_local(host: str | None) -> bool:
    """Return whether a Host header names this machine, or an address, and nothing else."""
    if not host:
        return True  # every browser sends it
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = found["six"] or found["name"]
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.lower().rstrip(".") == "localhost"
    return True
