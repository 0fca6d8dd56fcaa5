"""A blocking iterator as an asynchronous one: each step in a worker thread, a batch at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
_BATCH = 200


async def stream(run: Callable[[Callable[[], list[T]]], Awaitable[list[T]]], items: Iterator[T]) -> AsyncIterator[T]:
    """Yield every item; a hop between threads is paid once for a batch."""
    while batch := await run(lambda: list(islice(items, _BATCH))):
        for item in batch:
            yield item
