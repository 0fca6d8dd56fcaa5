"""Four processes write while the primary is killed with -9 and its synchronous standby takes over.

python bench/standby.py [--seconds 20] [--folder DIR]

The writers know both servers by one URL and nothing else. Prints what happened when; the exit code is 1 if an
acknowledged write is missing, anything is doubled or incomplete, or a caller saw an error.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from failover import in_folder, trial, verdict

from commonplace.store.postgres.local import LocalPostgres

AWAY = 2.0
"""Seconds from the death of the primary to the promotion, as a watcher would take to be sure."""


def main() -> int:
    """Run the trial and print its timeline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="how long they write, the outage not counted")
    parser.add_argument("--folder", type=Path, help="where the data goes; a folder of its own by default")
    wanted = parser.parse_args()
    return in_folder(wanted.folder, lambda folder: run(folder, seconds=wanted.seconds))


def run(folder: Path, *, seconds: float) -> int:
    """Let them write, kill the primary, promote the standby, let them continue."""
    with LocalPostgres(folder / "primary") as primary:
        standby = primary.standby(folder / "standby", synchronous=True)
        try:
            with trial(either(primary, standby), folder) as running:
                running.say(f"through {running.url.partition('?')[0]}, the second one a synchronous standby")
                running.watch(seconds / 2)
                primary.kill()
                running.say("KILL -9 the primary, all its processes")
                running.watch(AWAY)
                standby.promote()
                running.say("the standby is promoted")
                running.watch(seconds / 2)
                return verdict(running)
        finally:
            standby.stop()


def either(primary: LocalPostgres, standby: LocalPostgres) -> str:
    """A URL of both servers that leads to the one which takes writes."""
    both = primary.url.replace(f":{primary.port}/", f":{primary.port},127.0.0.1:{standby.port}/")
    return f"{both}&target_session_attrs=read-write"


if __name__ == "__main__":
    raise SystemExit(main())
