"""The gate of a server without keys: whoever reaches it, on loopback alone, may do everything."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence

from commonplace.errors import Forbidden
from commonplace.server.callers import Ask, Caller
from commonplace.server.visits import Extra


class OpenGate:
    """Lets everybody in, for nothing."""

    def __init__(self, space: str) -> None:
        self._anybody = Caller(key=None, role="admin", spaces=("*",), home=space)

    def admit(self, ask: Ask) -> Caller:
        """Anybody is welcome who calls this machine by its address, or localhost.

        A page of any site can let a name of its own point here, and the browser would take the answers for that site's.
        """
        if not _is_here(ask.host):
            raise Forbidden(f"without keys the server answers only as localhost or by its address, not as {ask.host!r}")
        return self._anybody

    def extras(self, ask: Ask, caller: Caller) -> Sequence[Extra]:
        """Nothing is charged."""
        return ()

    def charge(self, ask: Ask, caller: Caller) -> Callable[[], None]:
        """Nothing is charged."""
        return nothing


def _is_here(host: str | None) -> bool:
    if not host:
        return True  # no browser leaves it out
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.lower().rstrip(".") == "localhost"
    return True


def nothing() -> None:
    """Give back what was not charged."""
