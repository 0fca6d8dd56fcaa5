"""Door: the one way from a request to a Book. It authorizes, charges, and runs the verb in a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

from commonplace.book import Book
from commonplace.errors import StoreError
from commonplace.local import LocalBook
from commonplace.memories.core import Core, Place
from commonplace.server import limits
from commonplace.server.auth import Call, Caller, Gate, authorize
from commonplace.server.idempotency import AlreadyAnswered, IdempotencyRecord, RequestStore
from commonplace.server.limits import Charge
from commonplace.store.tables import keys as rows

T = TypeVar("T")
Verb = Callable[[Book], T]
_MOST_BOOKS = 10_000
_LONG = 4
"""Imports, checks and the like that a process runs at once."""


class Door:
    """Runs verbs for requests. Everything that takes time happens in a worker thread, in one hop."""

    def __init__(self, core: Core, gate: Gate, *, threads: int) -> None:
        self._core = core
        self._gate = gate
        self._books: dict[str, LocalBook] = {}
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="commonplace door")
        self._long = ThreadPoolExecutor(max_workers=_LONG, thread_name_prefix="commonplace long")

    async def run(self, call: Call, verb: Verb[T], *, again: Verb[T] | None = None, keep: bool = False) -> T:
        """Run a verb on the book of the call's space; the arguments are those of `run_here`."""
        return await self.in_thread(partial(self.run_here, call, verb, again=again, keep=keep), long=call.long)

    async def run_on_core(self, call: Call, verb: Callable[[Core, Caller], T]) -> T:
        """Run something that is about the whole book, not about one space."""

        def work() -> T:
            caller, _ = self.authorize(call)
            return self._charge_and_run(call, caller, lambda: verb(self._core, caller))

        return await self.in_thread(work)

    async def admit(self, call: Call) -> None:
        """Raise Unauthorized or Forbidden if the call is not allowed."""
        await self.in_thread(partial(self.authorize, call))

    async def is_open(self) -> bool:
        """Return whether callers without a key are admitted."""
        return not self._gate.closed and await self.in_thread(self._gate.is_open)

    async def prove(self) -> None:
        """Recall the planted memory, or raise: the book can be read and its index works."""
        await self.in_thread(self._core.prove)

    async def in_thread(self, work: Callable[[], T], *, long: bool = False) -> T:
        """Run something in a worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._long if long else self._pool, work)

    def authorize(self, call: Call) -> tuple[Caller, str]:
        """Return who calls, and the space; raise Unauthorized or Forbidden if the call is not allowed."""
        caller = self._gate.admit(call)
        return caller, authorize(caller, call)

    def run_here(self, call: Call, verb: Verb[T], *, again: Verb[T] | None = None, keep: bool = False) -> T:
        """Authorize and charge a call, and run its verb in this thread.

        With an idempotency key, the verb's first write also records the key and its own result. A repeated request
        gets that result from its first write, and the verb builds the same answer from it. `again` is the verb of a
        repeated request, if it differs. `keep` also records the answer, for verbs whose answer does not follow from
        their first write.
        """
        caller, space = self.authorize(call)
        book = self._book(space)
        if call.operation in ("read", "recall"):
            return self._charge_and_run(call, caller, lambda: verb(book))
        charge = limits.charge_of(call, caller) if caller.is_limited else None
        if call.idempotency_key is not None:
            return self._run_once(call, caller, charge, book, verb, again=again or verb, keep=keep)
        if charge is None:
            return verb(book if caller.key is None else book.over(self._core.store, by=caller.key))
        store = RequestStore(self._core.store, charge)
        done = verb(book.over(store.as_store, by=caller.key))
        self._ensure_charged(store, charge)
        return done

    def _run_once(
        self,
        call: Call,
        caller: Caller,
        charge: Charge | None,
        book: LocalBook,
        verb: Verb[T],
        *,
        again: Verb[T],
        keep: bool,
    ) -> T:
        record = IdempotencyRecord(f"{caller.key or ''}:{call.idempotency_key}", call.digest)
        place = Place(self._core.store, book.space)
        before = record.find(self._core.store, place.find())
        if before is not None and before.is_answer:
            return cast("T", before.value)  # the answer of this verb
        store = RequestStore(self._core.store, charge, record)
        try:
            done = (verb if before is None else again)(book.over(store.as_store, by=caller.key))
        except AlreadyAnswered as answered:
            return cast("T", answered.value)
        if keep:
            is_repeated = before is not None or store.is_repeated
            done = record.keep_answer(self._core.store, place.find(), done, is_repeated=is_repeated)
        self._ensure_charged(store, charge)
        return done

    def _ensure_charged(self, store: RequestStore, charge: Charge | None) -> None:
        """Charge a request that wrote nothing."""
        if charge is not None and charge.counts_requests and not store.recorded:
            self._core.store.write(charge.take, rows.lane(charge.key))

    def _charge_and_run(self, call: Call, caller: Caller, work: Callable[[], T]) -> T:
        """Charge for a request in a write of its own, and take the charge back if the work fails."""
        charge = limits.charge_of(call, caller) if caller.is_limited else None
        if charge is None or not charge.counts_requests:
            return work()
        lane = rows.lane(charge.key)
        charged = self._core.store.write(charge.take, lane)
        try:
            return work()
        except Exception:
            # The caller needs the first error, not that the charge could not be taken back.
            with suppress(StoreError):
                self._core.store.write(charged.take_back, lane)
            raise

    def _book(self, space: str) -> LocalBook:
        # A book looks its space's number up once, so books are kept.
        found = self._books.get(space)
        if found is None:
            if len(self._books) >= _MOST_BOOKS:
                self._books.clear()
            found = self._books[space] = LocalBook(self._core, space)
        return found

    def close(self) -> None:
        """Let the current requests end, and accept no more."""
        self._pool.shutdown(wait=True)
        self._long.shutdown(wait=True)
