"""The gate of a server: with keys in the book every request needs one; without any, whoever reaches it is let in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from commonplace.access import keys
from commonplace.errors import StoreError, Unauthorized
from commonplace.server import limits
from commonplace.server.callers import Ask, Caller
from commonplace.server.limits import Charge, Charged
from commonplace.server.open_gate import OpenGate, nothing
from commonplace.server.visits import Extra
from commonplace.store.base import Store
from commonplace.store.tables import meters
from commonplace.values import times


class KeyGate:
    """Admits by the keys of the book as they are at this moment, and charges by their limits."""

    def __init__(self, store: Store, space: str, *, closed: bool = False) -> None:
        self._store = store
        self._open = OpenGate(space)
        self._closed = closed
        """Whether a key is needed in any case. Once keys were seen it is: a book that loses them, as by a restore,
        does not open itself to whoever reaches this server."""

    def admit(self, ask: Ask) -> Caller:
        """Say who asks."""
        admitted = keys.admit(self._store, ask.secret)
        if admitted is None:
            if self._closed:
                raise Unauthorized("this server needs a key, and the book has none: `commonplace keys create`")
            return self._open.admit(ask)
        self._closed = True
        key = admitted.key
        return Caller(
            key=key.id,
            role=key.role,
            spaces=key.spaces,
            home=key.home,
            limits=key.limits,
            spent=admitted.spent,
        )

    def extras(self, ask: Ask, caller: Caller) -> Sequence[Extra]:
        """The charge of a request, for its first write."""
        made = self._made(ask, caller)
        return () if made is None else (made,)

    def charge(self, ask: Ask, caller: Caller) -> Callable[[], None]:
        """Charge for a request in a write of its own, and return what gives it back."""
        made = self._made(ask, caller)
        if made is None or not (made.counts or made.limits.rate is not None):
            return nothing
        lane = meters.lane(made.key)
        charged: Charged = self._store.write(made.take, lane)

        def give_back() -> None:
            # What went wrong is told, not that its price could not be given back as well.
            with suppress(StoreError):
                self._store.write(charged.give_back, lane)

        return give_back

    def _made(self, ask: Ask, caller: Caller) -> Charge | None:
        made = limits.charge(ask, caller)
        if made is not None:
            limits.ensure_left(made, caller.spent, times.now())
        return made
