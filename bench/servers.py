"""Three servers on one PostgreSQL under load: one is killed, the database is killed, and all are upgraded in turn.

python bench/servers.py [--seconds 4] [--clients 32] [--folder DIR]

The clients remember, revise, forget, add to lists, count by compare-and-set, write files, learn and recall; they know
the three servers by one address and nothing else. The newer version is a copy of this source with one more migration,
which adds a column; older and newer servers work on one book at the same time. Prints what happened when. The exit code
is 1 if an acknowledged write is missing, anything is doubled or incomplete, a message was not learned from once,
a client saw an error, or the deep check finds a problem.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import failover
import psycopg
from commonplace.testing.contract import crash
from commonplace.testing.contract.crash import Deed
from failover import AWAY, in_folder
from serving_trial import TREE, Clients, Served, Timeline, verdict

from commonplace import Book, Memory
from commonplace.learn.jobs import IDLE, LEASE
from commonplace.store import schema
from commonplace.store.postgres.local import LocalPostgres

LEARN_EVERY = 4
SPACE = "learning"
"""Where what is learned goes, apart from what the crash test counts."""
MIGRATION = """

def _note(tx: Tx, types: Types) -> None:
    tx.run(f"ALTER TABLE feedback ADD COLUMN note {types.integer}")


VERSION += 1
MIGRATIONS[VERSION] = _note
"""


def main() -> int:
    """Run the trial and print its timeline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="between one event and the next")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--folder", type=Path, help="where the data goes; a folder of its own by default")
    wanted = parser.parse_args()
    return in_folder(wanted.folder, lambda folder: run(folder, seconds=wanted.seconds, clients=wanted.clients))


def run(folder: Path, *, seconds: float, clients: int) -> int:
    """Start everything, run all events, and check the result."""
    say = Timeline()
    with LocalPostgres(folder / "data", settings={"max_connections": "200"}) as database:
        servers = [Served(name, database.url, folder) for name in "ABC"]
        try:
            for server in servers:
                server.start()
            for server in servers:
                server.wait()
            say("servers A, B and C serve one PostgreSQL")
            working = Clients(",".join(each.url for each in servers), folder / "notes", deeds, say, do=do)
            working.start(clients)
            say(f"{clients} clients work")
            working.watch(seconds)
            lose_one(servers[0], working, seconds)
            lose_database(database, working, seconds)
            upgrade(servers, _newer(folder), working, seconds)
            checks = [partial(compare_learned, working), partial(compare_version, database.url)]
            return verdict(working, database.url, checks)
        finally:
            for server in servers:
                server.kill()


def lose_one(server: Served, working: Clients, seconds: float) -> None:
    """Kill one server with -9, and start it again later."""
    server.kill()
    working.say(f"KILL -9 server {server.name}")
    working.watch(seconds)
    server.start()
    server.wait()
    working.say(f"server {server.name} is back")
    working.watch(seconds)


def lose_database(database: LocalPostgres, working: Clients, seconds: float) -> None:
    """Kill the database with -9, and start it again a little later."""
    database.kill()
    working.say("KILL -9 the database, all its processes")
    working.watch(AWAY)
    database.start()
    working.say("the database is back")
    working.watch(seconds)


def upgrade(servers: list[Served], newer: Path, working: Clients, seconds: float) -> None:
    """Replace one server after another by the newer version; between them, an older one is started once more."""
    first, *others = servers
    _replace(first, newer, working)
    working.watch(seconds)
    _replace(others[0], others[0].tree, working)
    working.watch(seconds)
    for server in others:
        _replace(server, newer, working)
        working.watch(seconds)


def compare_version(url: str, book: Book) -> list[str]:
    """The book is in the newer version, though it was just opened by the older one."""
    with psycopg.connect(url) as connection:
        ((found,),) = connection.execute("SELECT value FROM commonplace.book WHERE name = 'schema'").fetchall()
    return [] if int(found) == schema.VERSION + 1 else [f"the book is at version {found}: there was no upgrade"]


def _replace(server: Served, tree: Path, working: Clients) -> None:
    server.end()
    working.say(f"server {server.name} has ended, asked to by SIGTERM")
    server.tree = tree
    server.start()
    server.wait()
    working.say(f"server {server.name} is back, in the {'older' if tree == TREE else 'newer'} version")


def _newer(folder: Path) -> Path:
    """A copy of the source whose schema is one version ahead."""
    tree = folder / "newer"
    shutil.copytree(TREE / "commonplace", tree / "commonplace", ignore=shutil.ignore_patterns("__pycache__"))
    with (tree / "commonplace" / "store" / "schema.py").open("a", encoding="utf-8") as schema:
        schema.write(MIGRATION)
    return tree


# -- learning -------------------------------------------------------------------------------------


def deeds(birth: int) -> Iterator[Deed]:
    """Yield the operations of the failover trial, and after every fourth one a message to learn from."""
    for number, deed in enumerate(failover.deeds(birth)):
        yield deed
        if number % LEARN_EVERY == 0:
            yield {"number": deed["number"], "kind": "learn", "who": f"w{birth}x{number}"}


def do(book: Book, deed: Deed) -> None:
    """Perform one operation; a message is stored here, and any server learns from it."""
    if deed["kind"] != "learn":
        failover.do(book, deed)
        return
    said = {"role": "user", "name": deed["who"], "content": f"I prefer the lamp {deed['who']}."}
    book.in_space(SPACE).learn([said], session=deed["who"])


def compare_learned(working: Clients, book: Book) -> list[str]:
    """Check that each stored message exists once and led to exactly one memory."""
    learning, say = book.in_space(SPACE), working.say
    problems = _drained(learning, say)
    wanted, doubtful = _taken_in(working.folder)
    said, learned = Counter[str](), Counter[str]()
    for memory in _everything(learning):
        who = memory.content.rpartition(" ")[2].rstrip(".") if isinstance(memory.content, str) else ""
        (said if memory.kind == "message" else learned)[who] += 1
        if memory.kind == "message":
            continue
        relations = Counter(link.relation for link in learning.links(memory.id))
        # Learned from a second time, a message would repeat what it said.
        if memory.version != 1 or relations != {"learned from": 1}:
            problems.append(f"what {who} said was learned at version {memory.version} with {dict(relations)}")
    say(f"{len(wanted):,} messages taken in, {sum(learned.values()):,} memories learned from them")
    for name, found in (("message", said), ("memory", learned)):
        problems += [f"{found[who]} {name} of {who}" for who in wanted if found[who] != 1]
        problems += [f"a {name} of {who} out of nowhere" for who in found.keys() - wanted - doubtful]
        problems += [f"{found[who]} {name} of {who}" for who in doubtful if found[who] > 1]
    return problems


def _drained(learning: Book, say: Timeline) -> list[str]:
    """Wait until every job is done: the job of a killed server is taken over when its lease expires."""
    started, until = time.monotonic(), time.monotonic() + LEASE + 2 * IDLE
    while (waiting := learning.jobs()) and time.monotonic() < until:
        time.sleep(0.5)
    say(f"all jobs done {time.monotonic() - started:.1f} s later" if not waiting else f"{len(waiting)} jobs are left")
    return [f"job {job.number} is {job.state}: {job.error}" for job in waiting]


def _taken_in(folder: Path) -> tuple[set[str], set[str]]:
    """Return from the clients' notes whose messages were acknowledged, and whose calls were given up."""
    lines = (json.loads(line) for notes in folder.glob("*.notes") for line in notes.read_text("ascii").splitlines())
    begun = {about["who"] for what, about in lines if what == "begun" and about["kind"] == "learn"}
    doubtful = {deed["who"] for deed in crash.read_notes(folder).cut_off if deed["kind"] == "learn"}
    return begun - doubtful, doubtful


def _everything(book: Book) -> Iterator[Memory]:
    cursor = None
    while True:
        page = book.list(order="oldest", limit=10_000, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


if __name__ == "__main__":
    raise SystemExit(main())
