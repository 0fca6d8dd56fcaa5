"""The one way from a request to a Book: who asks, whether they may, what it costs; then the verb, in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from commonplace.book import Book
from commonplace.core import Core
from commonplace.errors import Forbidden
from commonplace.server.callers import Ask, Caller
from commonplace.server.visits import Extra, Visit, visiting

P = ParamSpec("P")
T = TypeVar("T")
_MOST_BOOKS = 10_000


class Gate(Protocol):
    """Knows the keys and what each may have."""

    def admit(self, ask: Ask) -> Caller:
        """Say who asks; Unauthorized if the key is none."""

    def extras(self, ask: Ask, caller: Caller) -> Sequence[Extra]:
        """What the request adds to its first write: its charge."""

    def charge(self, ask: Ask, caller: Caller) -> Callable[[], None]:
        """Charge for a request that writes nothing, and return what gives it back; LimitReached if it is too much."""


class Door:
    """Lets requests in. Everything that takes time happens in a worker thread, in one hop."""

    def __init__(self, core: Core, gate: Gate, *, threads: int) -> None:
        self._core = core
        self._gate = gate
        self._books: dict[str, Book] = {}
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="commonplace door")

    async def run(self, ask: Ask, verb: Callable[[Book], T]) -> T:
        """Run a verb on the book of the space that is asked for."""
        return await self._in_a_thread(self.run_here, ask, verb)

    async def admit(self, ask: Ask) -> Caller:
        """Say who asks, if they may; for what is done without a book."""
        return await self._in_a_thread(self._admitted, ask)

    async def prove(self) -> None:
        """Recall the planted memory."""
        await self._in_a_thread(self._core.prove)

    def run_here(self, ask: Ask, verb: Callable[[Book], T]) -> T:
        """The same in this thread."""
        caller = self._admitted(ask)
        space = caller.home if ask.space is None else ask.space
        if ask.operation in ("read", "recall"):
            return self._charged(ask, caller, lambda: verb(self._book(space)))
        with visiting(Visit(self._gate.extras(ask, caller))) as visit:
            done = verb(self._book(space))
        if not visit.wrote:  # it had nothing to write, and is a request all the same
            self._gate.charge(ask, caller)
        return done

    async def run_as(self, ask: Ask, verb: Callable[[Core, Caller], T]) -> T:
        """Run something that is about no space, but about the book as a whole, for whoever asks."""
        return await self._in_a_thread(self._run_as, ask, verb)

    def _run_as(self, ask: Ask, verb: Callable[[Core, Caller], T]) -> T:
        caller = self._admitted(ask)
        return self._charged(ask, caller, lambda: verb(self._core, caller))

    def _charged(self, ask: Ask, caller: Caller, work: Callable[[], T]) -> T:
        give_back = self._gate.charge(ask, caller)
        try:
            return work()
        except Exception:
            give_back()
            raise

    def close(self) -> None:
        """Let the requests at hand end, and no more in."""
        self._pool.shutdown(wait=True)

    async def _in_a_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(work, *args, **kwargs))

    def _admitted(self, ask: Ask) -> Caller:
        caller = self._gate.admit(ask)
        if ask.space is not None and not caller.opens(ask.space):
            raise Forbidden(f"this key does not open the space {ask.space!r}")
        if not caller.may(ask.role):
            raise Forbidden(f"this key may {caller.role}; this needs a key that may {ask.role}")
        return caller

    def _book(self, space: str) -> Book:
        # A book finds its space's number once; making one for each request would look it up each time.
        found = self._books.get(space)
        if found is None:
            if len(self._books) >= _MOST_BOOKS:
                self._books.clear()
            found = self._books[space] = Book(self._core, space)
        return found
