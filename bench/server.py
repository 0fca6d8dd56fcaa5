"""Compare commonplace's server with `chroma run`: recall and remember over HTTP, one command, one run, one table.

    python bench/server.py                       100,000 memories, 1 and 32 clients (about half an hour)
    python bench/server.py --rows 2000 --seconds 2 --repeats 1      a smoke run of a minute
    python bench/server.py --stores /var/tmp/served --json out.json keep the filled stores for the next run

Both hold the same texts and the same vectors (those of commonplace's own embedder), once as a whole and once in a
hundred spaces. What is asked, in equal parts of the mix:

    whole         the vector's neighbours among all
    space         the same in one of a hundred spaces
    whole words   vector and words among all
    space words   vector and words in one of a hundred spaces

commonplace does the same for all four: it has no cheaper way, embeds the question itself, and answers with hits,
weights and a text for a prompt. Chroma gets the vector with the request and, for the first two, searches no words:
that favours Chroma. Its words are filters without rank; ours are ranked. The load comes from a process of its own that
shares the cores with the servers; each client sends its next request when it has its answer. Servers take turns,
so that noise hits both alike: compare within a run.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import corpus
import numpy as np
from corpus import Corpus, Row
from fleet import BENCH, environment
from load import Job, Operation, cpu
from measure import percentile
from served import HOST, Chroma, Ours, Served
from turns import say

import commonplace

OPERATIONS = ("whole", "space", "whole words", "space words")
MIX = "mix"
REMEMBER = "remember"
QUESTIONS = 1_000
WARM = 2.0
ALIVE = {"commonplace": "/health", "chroma": "/api/v2/heartbeat"}
GOAL_RATE, GOAL_P95, GOAL_TIMES = 500.0, 60.0, 3.0


@dataclass(slots=True)
class Figures:
    """One server on one line: all windows together."""

    latencies: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    cpu: float = 0.0
    own: float = 0.0
    done: int = 0
    found: list[int] = field(default_factory=list)
    """How many memories the answers held that were looked at."""
    shares: list[list[float]] = field(default_factory=list)
    """CPU seconds of each process, by window."""

    def take(self, reply: dict[str, Any]) -> None:
        """Add a window."""
        done = len(reply["latencies"])
        self.latencies += reply["latencies"]
        self.rates.append(done / reply["seconds"])
        self.cpu += sum(reply["cpu"])
        self.own += reply["own"]
        self.shares.append([round(share, 2) for share in reply["cpu"]])
        self.done += done

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "rate": statistics.median(self.rates),
            "rates": self.rates,
            **{f"p{share}": percentile(self.latencies, share / 100) for share in (50, 95, 99)},
            "cpu_ms": self.cpu * 1e3 / self.done,
            "load_ms": self.own * 1e3 / self.done,
            "requests": self.done,
            "found": statistics.mean(self.found) if self.found else None,
            "cpu_by_process": self.shares,
        }


class Bench:
    """The servers, what they are asked, and the figures so far."""

    def __init__(self, servers: Sequence[Served], made: Corpus, options: argparse.Namespace, folder: Path) -> None:
        self.servers = servers
        self.made = made
        self.options = options
        self.folder = folder
        self.questions = made.questions()
        self.figures: dict[tuple[str, int, str], Figures] = {}
        self._written = options.rows

    def recalls(self) -> None:
        """Every operation and the mix, with each number of clients."""
        for clients in self.options.clients:
            for name in (*OPERATIONS, MIX):
                for turn in range(self.options.repeats):
                    for server in self.servers:
                        say(f"{name}, {clients} clients: {server.title}, {turn + 1} of {self.options.repeats}")
                        self._recall(server, name, clients)
                self._tell(name, clients)

    def _recall(self, server: Served, name: str, clients: int) -> None:
        figures = self.figures.setdefault((name, clients, server.title), Figures())
        reply = self._send(server, self._operations(server, name), clients)
        figures.take(reply)
        for number, answer in reply["samples"]:
            figures.found.append(_seen(server, name, number, answer))

    def _operations(self, server: Served, name: str) -> list[Operation]:
        if name != MIX:
            return [server.operation(name, question) for question in self.questions]
        return [
            server.operation(OPERATIONS[number % len(OPERATIONS)], question)
            for number, question in enumerate(self.questions)
        ]

    def remembers(self) -> None:
        """Single additions, each durable before its answer."""
        for clients in self.options.clients:
            for turn in range(self.options.repeats):
                for server in self.servers:
                    say(f"{REMEMBER}, {clients} clients: {server.title}, {turn + 1} of {self.options.repeats}")
                    self._remember(server, clients)
            self._tell(REMEMBER, clients)

    def _remember(self, server: Served, clients: int) -> None:
        most = int(self.options.seconds + WARM) * self.options.most_writes
        texts = _fresh(self.made, most, seed=len(self.figures) * 1_000 + self._written)
        self._written += 1
        before = server.held()
        reply = self._send(server, [server.addition(row) for row in texts], clients, once=True)
        self.figures.setdefault((REMEMBER, clients, server.title), Figures()).take(reply)
        added = server.held() - before
        if not reply["sent"] - clients <= added <= reply["sent"]:
            raise SystemExit(f"{server.title} answered {reply['sent']} additions and holds {added} more")

    def _send(self, server: Served, operations: list[Operation], clients: int, *, once: bool = False) -> dict[str, Any]:
        self._settle()
        reply = send(
            Job(
                host=HOST,
                port=server.port,
                operations=operations,
                clients=clients,
                warm=WARM,
                seconds=self.options.seconds,
                pids=server.pids(),
                once=once,
            ),
            self.folder,
        )
        if reply["refused"]:
            raise SystemExit(f"{server.title} refused {reply['refused']}: {reply['samples'][0][1][:500]}")
        return reply

    def _settle(self) -> None:
        """Wait until the machine is idle: work that a server does after its clients left would slow the next."""
        pids = [pid for server in self.servers for pid in server.pids()]
        for _ in range(300):
            before = sum(cpu(pids))
            time.sleep(0.3)
            if sum(cpu(pids)) - before < 0.03:
                return

    def _tell(self, name: str, clients: int) -> None:
        for server in self.servers:
            say(_line(name, clients, server.title, self.figures[name, clients, server.title].plain()), lasting=True)


def send(job: Job, folder: Path) -> dict[str, Any]:
    """Run a job in a separate process."""
    file, answer = folder / "job.pickle", folder / "answer.json"
    file.write_bytes(pickle.dumps(job))
    done = subprocess.run(
        [sys.executable, str(BENCH / "load.py"), str(file), str(answer)],
        capture_output=True,
        env=environment(),
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the load generator failed: {done.stderr.decode()[-2000:]}")
    reply: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    if not reply["latencies"]:
        raise SystemExit("no answer came in time")
    return reply


def ceiling(folder: Path, seconds: float) -> dict[str, Any]:
    """Measure the maximum of the load generator, with a server that always sends the same 8 kB."""
    server = subprocess.Popen([sys.executable, str(BENCH / "load_echo.py")], stdout=subprocess.PIPE, env=environment())
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        request = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 60\r\n\r\n" + b"x" * 60
        job = Job(host=HOST, port=port, operations=[(request,)], clients=32, warm=0.5, seconds=seconds)
        figures = Figures()
        figures.take(send(job, folder))
    finally:
        server.terminate()
        server.wait()
    return figures.plain()


def _seen(server: Served, name: str, number: int, answer: str) -> int:
    """How many memories an answer holds: a fast answer without memories does not count."""
    found = server.found(json.loads(answer.partition("\r\n\r\n")[2]))
    worded = name.endswith("words") or name == MIX
    if not found and not worded:
        raise SystemExit(f"{server.title} found nothing for question {number} of {name}: {answer[:300]}")
    return found


def _fresh(made: Corpus, count: int, *, seed: int) -> Iterator[Row]:
    """New texts: rows of the corpus with their words in another order, and their vectors."""
    rng = np.random.default_rng(seed)
    for row in made.rows(0, count):
        words = row.text.split()
        rng.shuffle(words)
        yield Row(
            number=row.number, text=f"{' '.join(words)} {seed}", space=row.space, vector=row.vector, floats=row.floats
        )


def embedded(folder: Path, *, rows: int, seed: int, given: Sequence[str] | None) -> Corpus:
    """A corpus whose vectors are those of commonplace's own embedder."""
    if (folder / "done").exists():
        return Corpus(folder)
    say("making texts")
    made = corpus.make(folder, rows=rows, questions=QUESTIONS, dimension=8, seed=seed, given=given)
    texts = [json.loads(line) for line in (folder / "texts.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = _asked(texts, seed)
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    say("embedding")
    from commonplace.models.embedders import load_embedder  # the default of a book

    embedder = load_embedder()
    np.save(
        folder / "vectors.npy", np.concatenate([embedder.embed(texts[at : at + 1000]) for at in range(0, rows, 1000)])
    )
    np.save(folder / "asked.npy", np.stack([embedder.embed_query(" ".join(words)) for words in asked]))
    (folder / "done").touch()
    return made


def _asked(texts: Sequence[str], seed: int) -> list[list[str]]:
    """Questions about rows of the space that each is asked in: no search crosses spaces."""
    counts = corpus.frequencies(texts)
    rng = np.random.default_rng(seed)
    full = len(texts) // corpus.SPACES
    rows = [int(rng.integers(0, full)) * corpus.SPACES + number % corpus.SPACES for number in range(QUESTIONS)]
    return [corpus.asked(texts[row], counts, len(texts)) for row in rows]


def quicker(bench: Bench, chroma: Chroma) -> None:
    """Try both ways that Chroma has for a space, and for words with a vector, and keep the quicker."""
    rates: dict[str, float] = {}
    for name, field_name in (("space", "apart"), ("whole words", "together")):
        for way in (False, True):
            setattr(chroma, field_name, way)
            job_figures = Figures()
            job_figures.take(bench._send(chroma, bench._operations(chroma, name), 1))
            rates[f"{field_name}={way}"] = job_figures.rates[0]
        setattr(chroma, field_name, rates[f"{field_name}=True"] > rates[f"{field_name}=False"])
    said = ", ".join(f"{way} {rate:,.1f}/s" for way, rate in rates.items())
    space = "a collection of its own" if chroma.apart else "a filter"
    words = "one request" if chroma.together else "two requests"
    chroma.notes += (f"a space is {space}; words and vector among all are {words}: the quicker ways ({said})",)  # type: ignore[assignment]


def _line(name: str, clients: int, title: str, figures: dict[str, Any]) -> str:
    found = "" if figures["found"] is None else f", {figures['found']:.1f} found"
    return (
        f"{name:<12}{clients:>4} clients  {title:<12}{_rate(figures['rate']):>8}/s   p50 {figures['p50']:.1f}"
        f"  p95 {figures['p95']:.1f}  p99 {figures['p99']:.1f} ms   CPU {figures['cpu_ms']:.2f} ms{found}"
    )


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}"


def table(bench: Bench) -> str:
    """All figures for a reader, with ratios."""
    ours, *others = [server.title for server in bench.servers]
    lines = [f"{'':<28}{'requests/s':>12}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'CPU ms':>9}{'found':>7}   times ours"]
    seen = dict.fromkeys((name, clients) for name, clients, _ in bench.figures)
    for name, clients in seen:
        lines.append(f"{name}, {clients} client{'s' * (clients > 1)}")
        mine = bench.figures[name, clients, ours].plain()
        for title in (ours, *others):
            row = bench.figures[name, clients, title].plain()
            found = "" if row["found"] is None else f"{row['found']:.1f}"
            ratio = "" if title == ours else (
                f"   rate {row['rate'] / mine['rate']:.2f}  p95 {row['p95'] / mine['p95']:.2f}"
                f"  CPU {row['cpu_ms'] / mine['cpu_ms']:.2f}"
            )  # fmt: skip
            lines.append(
                f"  {title:<26}{_rate(row['rate']):>12}{row['p50']:>9.1f}{row['p95']:>9.1f}{row['p99']:>9.1f}"
                f"{row['cpu_ms']:>9.2f}{found:>7}{ratio}"
            )
    return "\n".join(lines)


def _verdicts(bench: Bench) -> list[str]:
    most = max(bench.options.clients)
    ours, *others = [server.title for server in bench.servers]
    mine = bench.figures[MIX, most, ours].plain()
    said = [
        f"{_met(mine['rate'] >= GOAL_RATE)}: {mine['rate']:,.0f} recalls a second (goal {GOAL_RATE:.0f})",
        f"{_met(mine['p95'] <= GOAL_P95)}: p95 {mine['p95']:.1f} ms at {most} clients (goal {GOAL_P95:.0f})",
    ]
    for title in others:
        times = mine["rate"] / bench.figures[MIX, most, title].plain()["rate"]
        said.append(f"{_met(times >= GOAL_TIMES)}: {times:.1f} times {title}'s rate (goal {GOAL_TIMES:.0f})")
    return said


def _met(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> None:
    """Fill, measure, print, and write JSON if asked to."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # otherwise the servers would outlive this process
    scratch = Path(tempfile.mkdtemp(prefix="server-", dir=options.tmp))
    folder = options.stores or scratch
    given = corpus.read_texts(options.data) if options.data else None
    servers: list[Served] = [Ours(folder / "ours", workers=options.workers, threads=options.threads)]
    if "chroma" in options.peers:
        servers.append(Chroma(folder / "chroma"))
    try:
        made = embedded(folder / "corpus", rows=options.rows, seed=options.seed, given=given)
        own = ceiling(scratch, 2.0)
        say(
            f"the load generator alone reaches {own['rate']:,.0f}/s and costs {own['load_ms']:.3f} ms each",
            lasting=True,
        )
        _start(servers, made, options)
        bench = Bench(servers, made, options, scratch)
        for server in servers:
            if isinstance(server, Chroma):
                quicker(bench, server)
        bench.recalls()
        if not options.no_writes:
            bench.remembers()
        _report(bench, own, options)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(scratch, ignore_errors=True)


def _start(servers: Sequence[Served], made: Corpus, options: argparse.Namespace) -> None:
    for server in servers:
        filled = server.folder / "filled"
        ours = isinstance(server, Ours)
        if not ours:
            server.start(ALIVE[server.title])
        if not filled.exists():
            say(f"filling {server.title}")
            server.fill(lambda: made.rows(0, options.rows), say)
            filled.touch()
        if ours:
            server.start(ALIVE[server.title])


def _report(bench: Bench, own: dict[str, Any], options: argparse.Namespace) -> None:
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    say("", lasting=True)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load average {load}; {options.rows:,} memories;"
    )
    print(f"commonplace {commonplace.__version__}, chromadb {metadata.version('chromadb')}\n")
    print(table(bench))
    for server in bench.servers:
        print(
            "\n".join(f"{server.title}: {note}" for note in (*server.notes, f"{server.resident_mb():,.0f} MB resident"))
        )
    print(f"load generator: {own['rate']:,.0f}/s alone, {own['load_ms']:.3f} ms of CPU each")
    print("\n".join(_verdicts(bench)))
    if options.json:
        options.json.write_text(json.dumps(_plain(bench, own, options), indent=1) + "\n", encoding="utf-8")


def _plain(bench: Bench, own: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    return {
        "options": {name: str(value) for name, value in vars(options).items()},
        "load": own,
        "notes": {server.title: server.notes for server in bench.servers},
        "lines": [
            {"operation": name, "clients": clients, "server": title, **figures.plain()}
            for (name, clients, title), figures in bench.figures.items()
        ],
        "verdicts": _verdicts(bench),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="memories (100,000)")
    parser.add_argument("--seconds", type=float, default=8.0, help="length of each window (8)")
    parser.add_argument("--repeats", type=int, default=3, help="windows of each server on each line, in turns (3)")
    parser.add_argument("--clients", type=_numbers, default=(1, 32), help="how many at once (1,32)")
    parser.add_argument("--data", type=Path, help="texts as JSON or JSON Lines instead of generated ones")
    parser.add_argument("--peers", default="chroma", help="chroma, or none")
    parser.add_argument("--workers", type=int, default=2, help="processes of commonplace (2)")
    parser.add_argument("--threads", type=int, default=4, help="threads of each (4)")
    parser.add_argument("--no-writes", action="store_true", help="measure recall only")
    parser.add_argument("--most-writes", type=int, default=3_000, help="texts to have ready for a second of writing")
    parser.add_argument("--stores", type=Path, help="keep the filled stores here, and take them from here")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--tmp", type=Path, help="where stores are made (the system's temporary folder)")
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part) for part in text.split(",")))


if __name__ == "__main__":
    main()
