"""A process with its own door: threads that send requests at once, or one that reports each."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from commonplace.errors import LimitReached, Unauthorized
from commonplace.location import open_core
from commonplace.memories.core import Core
from commonplace.server.door import Door
from commonplace.testing import HashEmbedder
from tests.access.keys_harness import door_of, put, recall, remember

THREADS = 25


def tell(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def request(door: Door, order: dict[str, Any], token: str) -> Callable[[str], object]:
    """Return a function that sends one request of the ordered kind."""
    if order["kind"] == "put":
        return lambda name: put(door, token, name, order.get("value", 1), space=order.get("space"))
    if order["kind"] == "remember":
        return lambda name: remember(door, token, f"the text of {name}")
    return lambda name: recall(door, token)


def many(door: Door, order: dict[str, Any]) -> dict[str, object]:
    """Send requests from many threads at once, and count how each kind of answer came."""
    counts, lock = {"passed": 0, "refused": 0}, threading.Lock()
    others: list[str] = []
    ready = threading.Barrier(THREADS)

    def client(number: int) -> None:
        send = request(door, order, order["tokens"][number % len(order["tokens"])])
        ready.wait()
        for turn in range(order["calls"] // THREADS):
            try:
                send(f"{order['me']}-{number}-{turn}")
                outcome = "passed"
            except LimitReached:
                outcome = "refused"
            except Exception as error:  # noqa: BLE001  # the test checks for other errors
                with lock:
                    others.append(repr(error))
                continue
            with lock:
                counts[outcome] += 1

    began = time.time()
    threads = [threading.Thread(target=client, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {**counts, "others": others, "began": began, "ended": time.time()}


def one_by_one(door: Door, order: dict[str, Any]) -> None:
    """Send requests without end, and tell of each that was answered."""
    send, number = request(door, order, order["tokens"][0]), 0
    while True:
        send(str(number))
        number += 1
        tell(number)


def main() -> None:
    core: Core | None = None
    door: Door | None = None
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "open":
            core = open_core(order["where"], embedder=HashEmbedder())
            core.identity()
            door = door_of(core)
            tell("open")
        elif order["do"] == "close":
            assert core is not None
            assert door is not None
            door.close()
            core.close()
            tell("closed")
        elif order["do"] == "many":
            assert door is not None
            tell(many(door, order))
        elif order["do"] == "one by one":
            assert door is not None
            one_by_one(door, order)
        else:
            assert door is not None
            try:
                recall(door, order["token"])
                tell("let in")
            except Unauthorized as error:
                tell(str(error))


if __name__ == "__main__":
    main()
