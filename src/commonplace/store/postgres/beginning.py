"""How a transaction begins: what it tells the server, in one statement sent together with the first of its work.

The search path, the wall and the time-outs hold for this transaction alone, so that a pooler may give the
connection to anybody afterwards.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from commonplace.errors import StoreError
from commonplace.settings import Settings
from commonplace.store.postgres.address import Address
from commonplace.store.postgres.tables import EVERY_SPACE
from commonplace.store.postgres.transaction import Transaction
from commonplace.store.postgres.types import VectorTypes

# A statement is planned once for all spaces: planning it anew for each call takes as long as running it. Nor are they
# long enough to be compiled, or divided among processes that other callers need.
_SETTINGS = """SELECT set_config('search_path', :path, TRUE), set_config('commonplace.space', :space, TRUE),
    set_config('statement_timeout', :statement, TRUE), set_config('lock_timeout', :lock, TRUE),
    set_config('jit', 'off', TRUE), set_config('max_parallel_workers_per_gather', '0', TRUE),
    set_config('plan_cache_mode', 'force_generic_plan', TRUE), set_config('enable_seqscan', :scan, TRUE)"""
# A writer's turn, in a statement of its own: the time-outs above hold for it, and what it sees is from after the wait.
_TURN = """SELECT pg_advisory_xact_lock_shared(CAST(:book AS integer), -1),
    pg_advisory_xact_lock(CAST(:book AS integer), CAST(:space AS integer))"""
_WHOLE_TURN = "SELECT pg_advisory_xact_lock(CAST(:book AS integer), -1)"
# The number by which the server knows the transaction, whether the space is still there, and its last number.
_BEGUN = """SELECT CAST(pg_current_xact_id() AS text),
    CAST(:space AS integer) < 1 OR EXISTS (SELECT 1 FROM space WHERE number = CAST(:space AS integer)),
    coalesce((SELECT last FROM census WHERE space = CAST(:space AS integer)), 0)"""


GONE = "this book's space is no longer there, as after a restore or a failover that lost it: open the book again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What every transaction on a book says first."""

    path: str
    statement: str
    lock: str
    book: int
    """The first half of the names of the book's advisory locks."""

    def reading(self, tx: Transaction, space: int | None) -> None:
        """Begin a look at one snapshot of a space, or of all with None."""
        tx.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        tx.send(_SETTINGS, self._terms(space))

    def writing(self, tx: Transaction, space: int | None) -> str:
        """Begin a change when it is its turn, and return the transaction's number."""
        tx.send("BEGIN")
        terms = self._terms(space)
        tx.send(_SETTINGS, terms)
        tx.send(_WHOLE_TURN if space is None else _TURN, terms)
        ((number, there, last),) = tx.run(_BEGUN, terms)
        if not there:
            raise StoreError(GONE)
        if space is not None:
            tx.last[space] = last
        return str(number)

    def _terms(self, space: int | None) -> dict[str, object]:
        return {
            "path": self.path,
            "space": str(EVERY_SPACE if space is None else space),
            # Every key begins with the space: whoever reads one has no business in the others' pages.
            "scan": "on" if space is None else "off",
            # Work on the whole book takes as long as the book is large.
            "statement": self.statement if space is not None else "0",
            "lock": self.lock,
            "book": self.book,
        }


def beginning(address: Address, settings: Settings, types: VectorTypes) -> Beginning:
    """What the transactions of a book say first."""
    return Beginning(
        path=f"{address.quoted}, {types.schema}",
        statement=_milliseconds(settings.statement_timeout),
        lock=_milliseconds(settings.busy_timeout),
        book=zlib.crc32(address.schema.encode()) - (1 << 31),
    )


def _milliseconds(seconds: float) -> str:
    """A time-out as the server takes it: at least one, since nought is none, and no more than it can count."""
    return str(min(max(int(1000 * seconds), 1), 2**31 - 1))
