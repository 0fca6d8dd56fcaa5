"""Where a server is and with what key: an http:// or https:// URL, read once and shown without its secrets."""

from __future__ import annotations

import base64
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from commonplace.errors import InvalidInput

SCHEMES = ("http", "https")
KEY = "COMMONPLACE_API_KEY"
"""The environment variable with the key, where the caller gives none."""
_PORTS = {"http": 80, "https": 443}
_NEXT = re.compile(r",(?=https?://)")
"""Between two addresses; any other comma belongs to the one that it stands in."""


class UnencryptedKey(UserWarning):
    """A key that is sent over plain HTTP to another machine: whoever is on the way can read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server, and what to tell it about who asks."""

    scheme: str
    host: str
    port: int
    prefix: str
    """The path that everything is under, "" or "/memory"."""
    authorization: str | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """The address as messages may show it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"


def is_remote(place: str) -> bool:
    """Whether a place is a server's address and not a store's."""
    return place.partition("://")[0] in SCHEMES and "://" in place


def parse_all(urls: str, api_key: str | None = None, *, warn: bool = True) -> tuple[Address, ...]:
    """The addresses of one server or of several, as http://a:8420,http://b:8420."""
    return tuple(parse(url, api_key, warn=warn) for url in _NEXT.split(urls))


def shown(addresses: Sequence[Address]) -> str:
    """Addresses as messages may show them."""
    return ",".join(address.shown for address in addresses)


def parse(url: str, api_key: str | None = None, *, warn: bool = True) -> Address:
    """The address in a URL; a key comes from the caller, from the URL as user:password, or from the environment."""
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
            f"the key goes to {address.shown} unencrypted: use https:// unless the network is your own",
            UnencryptedKey,
            stacklevel=6,
        )
    return address


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in SCHEMES and parts.netloc.isascii() and _is_host(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed; the text may hold a password
        usable = False
    if not usable or any(character.isspace() or not character.isprintable() for character in url):
        raise InvalidInput(
            "the address of a server is http://host:port or https://host, perhaps with a path;"
            " several servers of one book are http://a:8420,http://b:8420"
        )
    return parts


def _is_host(name: str | None) -> bool:
    return name is not None and name != "" and "," not in name


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
        raise InvalidInput(f"api_key (or {KEY}) is no key: one is a word of letters, digits and signs, such as cp_…")
    return f"Bearer {key}"


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    import ipaddress  # every program imports this module, and few open a server

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
