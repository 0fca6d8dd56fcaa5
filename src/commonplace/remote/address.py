"""Addresses of servers: http:// and https:// URLs with their keys, shown without secrets."""

from __future__ import annotations

import base64
import os
import re
import warnings
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from commonplace.errors import InvalidInput

KEY = "COMMONPLACE_API_KEY"
"""The environment variable with the key, unless the caller gives one."""
_PORTS = {"http": 80, "https": 443}
_BETWEEN = re.compile(r",(?=https?://)")
"""Separates two addresses; any other comma belongs to an address."""


class UnencryptedKey(UserWarning):
    """A key is sent over plain HTTP to another machine: anyone on the way can read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server and the credentials for it."""

    scheme: str
    host: str
    port: int
    prefix: str
    """The path that everything is under, "" or "/memory"."""
    authorization: str | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """The address for messages, without secrets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"


def is_remote(place: str) -> bool:
    """Whether a place is a server's address and not a store's."""
    scheme, separator, _ = place.partition("://")
    return bool(separator) and scheme in _PORTS


def parse_all(urls: str, api_key: str | None = None, *, warn: bool = True) -> tuple[Address, ...]:
    """Return the addresses of one server or of several, written http://a:8420,http://b:8420."""
    return tuple(parse(url, api_key, warn=warn) for url in _BETWEEN.split(urls))


def parse(url: str, api_key: str | None = None, *, warn: bool = True) -> Address:
    """Return the address in a URL; the key is the caller's, or user:password in the URL, or the environment's."""
    parts = _split(url)
    if parts.query or parts.fragment:
        raise InvalidInput("the address of a server has no ? and no #: give http://host:8420, perhaps with a path")
    address = Address(
        scheme=parts.scheme,
        host=parts.hostname or "",
        port=parts.port or _PORTS[parts.scheme],
        prefix=parts.path.rstrip("/"),
        authorization=_authorization(parts, api_key),
    )
    if warn and address.authorization is not None and address.scheme == "http" and not _is_loopback(address.host):
        warnings.warn(
            f"the key goes to {address.label} unencrypted: use https:// unless the network is your own",
            UnencryptedKey,
            stacklevel=6,
        )
    return address


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        usable = parts.scheme in _PORTS and parts.netloc.isascii() and host and "," not in host and parts.port != 0
    except ValueError:  # a port that is not a number, an open bracket; the message could quote a password
        usable = False
    if not usable or any(character.isspace() or not character.isprintable() for character in url):
        raise InvalidInput(
            "the address of a server is http://host:port or https://host, perhaps with a path;"
            " several servers of one book are http://a:8420,http://b:8420"
        )
    return parts


def _authorization(parts: SplitResult, api_key: str | None) -> str | None:
    if parts.username is not None or parts.password is not None:
        if api_key is not None:
            raise InvalidInput("give api_key= or user:password@ in the address, not both")
        if not parts.password:
            raise InvalidInput(
                "the address names a user without a password: write user:password@host, or give api_key="
            )
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    key = api_key if api_key is not None else os.environ.get(KEY) or None
    if key is None:
        return None
    if not isinstance(key, str) or not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput(f"api_key (or {KEY}) is not a key: one is a word of letters, digits and signs, such as cp_…")
    return f"Bearer {key}"


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    import ipaddress  # every program imports this module, and few open a server

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
