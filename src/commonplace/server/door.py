"""The one way from a request to a Book: who asks, whether they may, what it costs; then the verb, in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

from commonplace.book import Book
from commonplace.errors import Forbidden, InvalidInput
from commonplace.local import LocalBook
from commonplace.memories.core import Core, Place
from commonplace.server.callers import Ask, Caller
from commonplace.server.idempotency import Answered, Once
from commonplace.server.visits import Extra, Visit, VisitedStore, visiting
from commonplace.store.tables import spaces

T = TypeVar("T")
_MOST_BOOKS = 10_000
_LONG = 4
"""Imports, checks and the like that a process does at once; more of them wait, and nothing else does."""


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
        if not isinstance(core.store, VisitedStore):
            core.store = VisitedStore(core.store)
        self._core = core
        self._gate = gate
        self._books: dict[str, Book] = {}
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="commonplace door")
        self._long = ThreadPoolExecutor(max_workers=_LONG, thread_name_prefix="commonplace long")

    async def run(self, ask: Ask, verb: Callable[[Book], T], *, keep: bool = False) -> T:
        """Run a verb on the book of the space that is asked for."""
        return await self.aside(partial(self.run_here, ask, verb, keep=keep), long=ask.long)

    async def aside(self, work: Callable[[], T], *, long: bool = False) -> T:
        """Do something in a worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._long if long else self._pool, work)

    async def admit(self, ask: Ask) -> Caller:
        """Say who asks, if they may; for what is done without a book."""
        caller, _ = await self.aside(partial(self.admitted, ask))
        return caller

    async def prove(self) -> None:
        """Recall the planted memory."""
        await self.aside(self._core.prove)

    def run_here(self, ask: Ask, verb: Callable[[Book], T], *, keep: bool = False) -> T:
        """The same in this thread.

        A request with a name gives what it gave the first time: by the result of its first write, from which the verb
        goes on; `keep` is for verbs whose answer does not follow from that, and keeps the answer as well.
        """
        caller, space = self.admitted(ask)
        if ask.operation in ("read", "recall"):
            return self._charged(ask, caller, lambda: verb(self._book(space)))
        extras = self._gate.extras(ask, caller)
        if ask.once is not None:
            once = Once(f"{caller.key or ''}:{ask.once}", ask.digest)
            done, wrote = self._run_once(once, extras, space, verb, keep=keep)
        else:
            with visiting(Visit(extras)) as visit:
                done = verb(self._book(space))
            wrote = visit.wrote
        if not wrote:  # it had nothing to write, and is a request all the same
            self._gate.charge(ask, caller)
        return done

    def _run_once(
        self, once: Once, extras: Sequence[Extra], space: str, verb: Callable[[Book], T], *, keep: bool
    ) -> tuple[T, bool]:
        place = Place(self._core.store, space)
        before = once.before(self._core.store, place.find())
        if before is not None and before.whole:
            answer: T = before.value  # type: ignore[assignment]  # it is what this verb gave
            return answer, True
        # The name goes around the charge: what is not done again is not paid for again.
        try:
            with visiting(Visit([*extras, once], repeated=before is not None)) as visit:
                done = verb(self._book(space))
        except Answered as answered:
            answer = answered.value  # type: ignore[assignment]  # as above
            return answer, True
        if keep:
            done = once.keep(self._core.store, place.find(), done)
        return done, visit.wrote

    def admitted(self, ask: Ask) -> tuple[Caller, str]:
        """Who asks, and for which space; Unauthorized or Forbidden if they may not."""
        caller = self._gate.admit(ask)
        space = caller.home if ask.space is None else ask.space
        if caller.key is None and space.startswith(spaces.RESERVED):
            raise InvalidInput(f"names of spaces do not begin with {spaces.RESERVED!r}")
        if not caller.opens(space):
            raise Forbidden(f"this key does not open the space {space!r}")
        if ask.everywhere and not caller.opens_all:
            raise Forbidden("this is about every space of the book: it needs a key that opens them all")
        if not caller.may(ask.role):
            raise Forbidden(f"this key may {caller.role}; this needs a key that may {ask.role}")
        return caller, space

    async def run_as(self, ask: Ask, verb: Callable[[Core, Caller], T]) -> T:
        """Run something that is about no space, but about the book as a whole, for whoever asks."""
        return await self.aside(partial(self._run_as, ask, verb))

    def _run_as(self, ask: Ask, verb: Callable[[Core, Caller], T]) -> T:
        caller, _ = self.admitted(ask)
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
        self._long.shutdown(wait=True)

    def _book(self, space: str) -> Book:
        # A book finds its space's number once; making one for each request would look it up each time.
        found = self._books.get(space)
        if found is None:
            if len(self._books) >= _MOST_BOOKS:
                self._books.clear()
            found = self._books[space] = LocalBook(self._core, space)
        return found
