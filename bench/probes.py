"""Try to reach one space of a server from another, by every route and dialect, and count the leaks.

    python bench/probes.py                      100,000 probes in this process, 5,000 more over HTTP
    python bench/probes.py --count 2000 --seed 7

Every answer, its headers too, is searched for the markers of the spaces that the key does not open; an answer that
says yes where the path names such a space counts as a leak, and so does an answer that tells a thing of another space
from one that does not exist. At the end every space is looked through for what others wrote. Ends with 1 on any leak.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import uvicorn
from probe_routes import Probe, Prober
from probe_world import OWN, VICTIMS, World

_REFILL = 2_000
_TOGETHER = 8
_TWINS = 0.25
"""The part of the probes with an id that are made again with one that never was."""


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: bytes
    body: bytes


@dataclass
class Tally:
    """Counts of the probes and their findings."""

    probes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    by_route: dict[str, Counter[str]] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    twins: int = 0

    def see(self, world: World, probe: Probe, answer: Answer) -> None:
        """Judge one answer."""
        self.probes[probe.route] += 1
        self.statuses[answer.status] += 1
        self.by_route.setdefault(probe.route, Counter())[f"{answer.status // 100}xx"] += 1
        told = f"{probe.holder.name}: {probe.method} {probe.path}?{probe.query} {probe.body[:300]!r} -> {answer.status}"
        if answer.status >= 500:
            self.faults.append(told)
        if not probe.allowed and answer.status < 400:
            self.leaks.append(f"let in: {told}")
        whole, sent = answer.headers + answer.body, None
        for marker, space in world.markers.items():
            if marker in whole and space not in probe.holder.spaces:
                sent = probe.sent if sent is None else sent
                if marker not in sent:
                    self.leaks.append(f"of {space!r}: {told}")

    def compare(self, probe: Probe, first: Answer, second: Answer, id: str, other: str) -> None:
        """Judge two answers about two things, one of another space and one that never existed."""
        if 429 in (first.status, second.status):  # an address that sent wrong keys has to wait, whatever it asks for
            return
        self.twins += 1
        if (first.status, first.body.replace(id.encode(), b"?")) != (
            second.status,
            second.body.replace(other.encode(), b"?"),
        ):
            self.leaks.append(
                f"told apart: {probe.holder.name}: {probe.method} {probe.path} {probe.body[:300]!r}"
                f" -> {first.status} {first.body[:200]!r} / {second.status} {second.body[:200]!r}"
            )


async def ask(app: Any, probe: Probe) -> Answer:
    """Send a probe to the application, as a server would."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": probe.method, "scheme": "http",
        "path": probe.path, "raw_path": probe.path.encode(), "query_string": probe.query.encode(), "root_path": "",
        "headers": [
            (b"host", b"localhost"), (b"content-length", b"%d" % len(probe.body)),
            *((name.encode(), value.encode("latin-1")) for name, value in probe.headers.items()),
        ],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {}, "extensions": {},
    }  # fmt: skip
    given = False

    async def receive() -> dict[str, Any]:
        nonlocal given
        if given:
            await asyncio.Event().wait()
        given = True
        return {"type": "http.request", "body": probe.body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    headers = b"\n".join(b": ".join(each) for each in sent[0]["headers"])
    return Answer(sent[0]["status"], headers, b"".join(each.get("body", b"") for each in sent[1:]))


async def _asked(world: World, tally: Tally, probe: Probe) -> None:
    try:
        answer = await ask(world.app, probe)
    except Exception as error:  # noqa: BLE001  # counted; the other probes continue
        tally.faults.append(f"{probe.method} {probe.path}: {error!r}")
        return
    tally.see(world, probe, answer)


async def _twin(world: World, tally: Tally, probe: Probe, chance: random.Random) -> None:
    """Ask about another space's memory and about one that never existed: the answers must be the same."""
    others = [known for space, known in world.known.items() if space not in probe.holder.spaces]
    id = next((each for known in others for each in known.ids if each.encode() in probe.sent), None)
    if id is None or probe.holder.token is None or "idempotency-key" in probe.headers:
        return
    if await asyncio.to_thread(world.holds, probe.holder.home if probe.space is None else probe.space, id):
        return  # the id is now used by a memory of this space, which the answer may show
    other = f"{chance.getrandbits(128):032x}"
    again = replace(
        probe, path=probe.path.replace(id, other), query=probe.query.replace(id, other),
        body=probe.body.replace(id.encode(), other.encode()),
    )  # fmt: skip
    first, second = await ask(world.app, probe), await ask(world.app, again)
    # New versions and times differ without revealing anything.
    if first.status >= 400 or second.status >= 400:
        tally.compare(probe, first, second, id, other)


async def inside(world: World, tally: Tally, count: int, seed: int) -> None:
    """Probe the application in this process."""
    prober, chance = Prober(world, seed), random.Random(seed)
    for done in range(0, count, _TOGETHER):
        if done and done % _REFILL < _TOGETHER:
            await asyncio.to_thread(world.refill)
        probes = [prober.next() for _ in range(min(_TOGETHER, count - done))]
        await asyncio.gather(*(_asked(world, tally, probe) for probe in probes))
        for probe in probes:
            if chance.random() < _TWINS:
                await _twin(world, tally, probe, chance)


def over_http(world: World, tally: Tally, count: int, seed: int) -> None:
    """Probe the same application as uvicorn serves it, with paths as they are written."""
    config = uvicorn.Config(world.app, port=0, log_level="error", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    connection, prober = http.client.HTTPConnection("127.0.0.1", port, timeout=60), Prober(world, seed)
    for done in range(count):
        if done and done % _REFILL == 0:
            world.refill()
        probe = prober.next()
        address = probe.path + (f"?{probe.query}" if probe.query else "")
        connection.request(probe.method, address, probe.body or None, probe.headers)
        answer = connection.getresponse()
        headers = "\n".join(f"{name}: {value}" for name, value in answer.getheaders()).encode("latin-1")
        tally.see(world, probe, Answer(answer.status, headers, answer.read()))
    connection.close()
    server.should_exit = True
    thread.join(30)


def probed(path: Path, *, count: int, over: int, seed: int) -> Tally:
    """Create a world, probe it, and return what was seen."""
    world, tally = World(path, seed), Tally()
    try:
        asyncio.run(inside(world, tally, count, seed))
        if over:
            over_http(world, tally, over, seed + 1)
        tally.leaks += world.broken()
    finally:
        world.core.close()
    return tally


def main() -> int:
    """Probe, and say what was found."""
    parser = argparse.ArgumentParser(description="Probe the walls between the spaces of a server.")
    parser.add_argument("--count", type=int, default=100_000, help="probes in this process")
    parser.add_argument("--http", type=int, default=5_000, help="probes over HTTP")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tally = probed(Path(folder) / "book.db", count=args.count, over=args.http, seed=args.seed)
    seconds, made = time.perf_counter() - began, sum(tally.probes.values())
    for route, number in sorted(tally.probes.items()):
        print(f"{number:7,}  {route:55} {dict(sorted(tally.by_route[route].items()))}")
    print(f"{made:,} probes of {len(tally.probes)} routes in {seconds:.0f} s, {made / seconds:.0f} a second;")
    print(f"{len(OWN)} spaces with keys, {len(VICTIMS)} without; statuses {dict(sorted(tally.statuses.items()))};")
    print(f"{tally.twins:,} pairs compared; {len(tally.leaks)} leaks, {len(tally.faults)} faults (5xx)")
    for each in (*tally.leaks[:20], *tally.faults[:20]):
        print("  ", each)
    return 1 if tally.leaks or tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
