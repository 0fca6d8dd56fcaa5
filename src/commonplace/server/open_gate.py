"""The gate of a server without keys: whoever reaches it, on loopback alone, may do everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.server.callers import Ask, Caller
from commonplace.server.visits import Extra


class OpenGate:
    """Lets everybody in, for nothing."""

    def __init__(self, space: str) -> None:
        self._anybody = Caller(key=None, role="admin", spaces=("*",), home=space)

    def admit(self, ask: Ask) -> Caller:
        """Anybody is welcome."""
        return self._anybody

    def extras(self, ask: Ask, caller: Caller) -> Sequence[Extra]:
        """Nothing is charged."""
        return ()

    def charge(self, ask: Ask, caller: Caller) -> Callable[[], None]:
        """Nothing is charged."""
        return nothing


def nothing() -> None:
    """Give back what was not charged."""
