"""Clients write through one server on a file, which is killed with -9 again and again: all of it, or a part.

python bench/server_kill.py [--rounds 6] [--seconds 5] [--clients 32] [--folder DIR]

Prints what happened when. The exit code is 1 if an acknowledged write is missing, anything is doubled or incomplete, a
client saw an error before its time was over, a killed server leaves workers behind, or the deep check finds a problem.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import psutil
from failover import deeds, in_folder
from serving_trial import Clients, Served, Timeline, verdict

WORKERS = 2
ORPHANS = 10.0
"""Seconds within which workers end whose first process was killed."""


def main() -> int:
    """Run the trial and print its timeline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=6, help="how often something is killed")
    parser.add_argument("--seconds", type=float, default=5.0, help="between one kill and the next")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--folder", type=Path, help="where the data goes; a folder of its own by default")
    wanted = parser.parse_args()
    return in_folder(
        wanted.folder,
        lambda folder: run(folder, rounds=wanted.rounds, seconds=wanted.seconds, clients=wanted.clients),
    )


def run(folder: Path, *, rounds: int, seconds: float, clients: int) -> int:
    """Kill all of the server, then its first process alone, then one worker, and so on."""
    say, book = Timeline(), str(folder / "book.db")
    server = Served("only", book, folder, workers=WORKERS)
    try:
        server.start()
        server.wait()
        say(f"one server with {WORKERS} workers at {server.url}")
        writing = Clients(server.url, folder / "notes", deeds, say)
        writing.start(clients)
        say(f"{clients} clients write")
        problems = 0
        for number in range(rounds):
            writing.watch(seconds)
            problems += _KILLS[number % len(_KILLS)](server, say)
        writing.watch(seconds)
        return 1 if verdict(writing, book) or problems else 0
    finally:
        server.kill()


def _all(server: Served, say: Timeline) -> int:
    server.kill()
    say("KILL -9 the server, all its processes")
    _again(server, say)
    return 0


def _first(server: Served, say: Timeline) -> int:
    workers = server.kill_first()
    say("KILL -9 the first process of the server alone")
    _, left = psutil.wait_procs(workers, ORPHANS)
    for worker in left:
        say(f"PROBLEM: a worker goes on without it after {ORPHANS:g} s")
        worker.kill()
    if not left:
        say(f"its {len(workers)} workers have ended by themselves")
    _again(server, say)
    return len(left)


def _worker(server: Served, say: Timeline) -> int:
    server.kill_worker()
    say("KILL -9 one worker")
    until = time.monotonic() + 60
    while len(server.processes()) <= WORKERS and time.monotonic() < until:
        time.sleep(0.05)
    say(f"the server has {len(server.processes()) - 1} workers")
    return 0 if len(server.processes()) == WORKERS + 1 else 1


def _again(server: Served, say: Timeline) -> None:
    started = time.monotonic()
    server.start()
    server.wait()
    say(f"started again, ready after {time.monotonic() - started:.2f} s")


_KILLS = (_all, _first, _worker)


if __name__ == "__main__":
    raise SystemExit(main())
