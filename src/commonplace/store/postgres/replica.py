"""A read replica for recall: asked only when it has seen all that this process wrote to the space."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from commonplace.errors import StoreBusy, StoreError, StoreUnavailable
from commonplace.settings import Settings
from commonplace.store.base import Tx
from commonplace.store.postgres.address import Address
from commonplace.store.postgres.connections import Connections, Patience
from commonplace.store.postgres.transaction import Transaction
from commonplace.store.postgres.types import VectorTypes
from commonplace.store.postgres.wire import Answer

T = TypeVar("T")
_LOG = logging.getLogger(__name__)

_WRITTEN = "SELECT CAST(pg_current_wal_insert_lsn() AS text)"
# A server that is no replica any more may have gone its own way: the primary is asked.
_FRESH = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn)"
_REMEMBERED = 10_000
_PATIENCE = 1.0
"""Seconds that a recall waits for a replica: the primary knows the answer too."""
_REST = 5.0
"""Seconds that a replica which did not answer is left alone."""


class Replica:
    """Connections to a replica, and how far it must have come for each space."""

    def __init__(self, address: Address, settings: Settings, types: VectorTypes, position: str) -> None:
        self._connections = Connections(address.url, address.shown, settings, types)
        self._written: OrderedDict[int, int] = OrderedDict()
        self._missed: set[int | None] = set()
        self._floor = _place(position)  # what others wrote before the book was opened here is expected of it, too
        self._resting_until = 0.0
        self._lock = threading.Lock()

    def written(self, tx: Tx, space: int | None) -> None:
        """Note how far the primary's log reaches now that a write to a space is in it."""
        ((said,),) = tx.run(_WRITTEN)
        position = _place(said)
        with self._lock:
            self._missed.discard(space)
            if space is None:
                self._floor = max(self._floor, position)
                return
            self._written.pop(space, None)
            self._written[space] = position
            while len(self._written) > _REMEMBERED:
                self._floor = max(self._floor, self._written.popitem(last=False)[1])

    def missed(self, space: int | None) -> None:
        """A write may be in the log, nobody knows where: the primary is to be asked how far it reaches."""
        with self._lock:
            self._missed.add(space)

    def missing(self, space: int) -> list[int | None]:
        """What of this process's writes has to be asked of the primary before the replica may answer for a space."""
        with self._lock:
            return [each for each in (space, None) if each in self._missed]

    def is_fresh(self, tx: Transaction, space: int) -> Answer:
        """Ask whether the replica that `tx` is on has seen every write of this process to the space."""
        with self._lock:
            wanted = max(self._written.get(space, 0), self._floor)
        return tx.send(_FRESH, {"written": f"{wanted >> 32:X}/{wanted & 0xFFFFFFFF:X}"})

    def tried(self, ask: Callable[[Connections, Patience], T | None]) -> T | None:
        """What the replica answers; None if it is behind or away."""
        if time.monotonic() < self._resting_until:
            return None
        try:
            return ask(self._connections, Patience(_PATIENCE))
        except StoreError as error:
            if not isinstance(error, (StoreBusy, StoreUnavailable)):
                _LOG.warning("a replica could not answer, the primary does: %s", error)
            self._resting_until = time.monotonic() + _REST
            return None

    def close(self) -> None:
        self._connections.close()


def _place(position: str) -> int:
    high, low = position.split("/")
    return int(high, 16) << 32 | int(low, 16)
