"""work, jobs, retry: what learning and pruning left to do."""

from __future__ import annotations

import signal
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from commonplace.cli import arguments, opened
from commonplace.cli.arguments import Commands
from commonplace.cli.hearing import warnings_as_remarks
from commonplace.cli.output import Console, moment, plural
from commonplace.cli.table import Column, columns, table
from commonplace.values import Job

if TYPE_CHECKING:
    from commonplace.memories.core import Core, Place

_LOOK = 1.0
"""Seconds between two looks for jobs: they come from other processes, and nobody says when."""
_GLANCE = 0.1
_WORK = """\
  commonplace work
  commonplace work --once --json
"""
_JOBS = (
    Column(name="NUMBER", right=True),
    Column(name="KIND"),
    Column(name="STATE"),
    Column(name="ATTEMPTS", right=True),
    Column(name="DUE"),
    Column(name="ERROR", least=20),
)


def register(commands: Commands) -> None:
    """Add the commands that do and show jobs."""
    work = arguments.add(
        commands, "work", _work, help="do the jobs of every space, or of the one named, until Ctrl-C", examples=_WORK
    )
    work.add_argument("--once", action="store_true", help="end when no job is due; exit status 1 if one failed")
    arguments.extractor_option(work)
    jobs = arguments.add(
        commands, "jobs", _jobs, help="list the jobs that wait, run, or have failed for good",
        examples="  commonplace jobs\n  commonplace jobs --dead --json\n",
    )  # fmt: skip
    jobs.add_argument("--dead", action="store_true", help="only those that have failed for good")
    retry = arguments.add(
        commands, "retry", _retry, help="queue a job again that had failed for good, or all of them",
        examples="  commonplace retry\n  commonplace retry 12\n",
    )  # fmt: skip
    retry.add_argument("number", nargs="?", type=int, metavar="N", help="the job's number (all)")


class _Asked:
    """Whether somebody wants this to end; who asks twice is not kept waiting."""

    def __init__(self) -> None:
        self.ended = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.ended:
            raise KeyboardInterrupt
        self.ended = True

    def rest(self, seconds: float) -> None:
        """Sleep, but not when asked to end."""
        until = time.monotonic() + seconds
        while not self.ended and time.monotonic() < until:
            time.sleep(min(_GLANCE, seconds))


@contextmanager
def _until_asked() -> Iterator[_Asked]:
    """Take Ctrl-C and SIGTERM as a wish to end after the job at hand."""
    asked = _Asked()
    before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work(args: Namespace, console: Console) -> int:
    from commonplace.learn import jobs as working

    done = failed = 0
    with opened.core(args) as core, warnings_as_remarks(console), _until_asked() as asked:
        only = _named(core, args.space)
        if args.once:
            trying = working.run_due(core, only)
        else:
            console.remark("doing what waits; Ctrl-C ends it after the job at hand")
            trying = working.run_until(core, lambda: asked.ended, asked.rest, only=only, idle=_LOOK)
        for tried in trying:
            done, failed = done + (tried.error is None), failed + (tried.error is not None)
            if asked.ended:
                break
    text = f"did {plural(done, 'job')}" + (f"; {failed:,} failed, see `commonplace jobs`" if failed else "")
    console.result({"done": done, "failed": failed}, text)
    return 1 if args.once and failed else 0


def _named(core: Core, space: str | None) -> Place | None:
    """The one space that was asked for on the command line; the environment does not count here."""
    from commonplace.memories.core import Place
    from commonplace.values import checks

    return None if space is None else Place(core.store, checks.name(space, "space"))


def _jobs(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        jobs = [job for job in book.jobs() if job.state == "dead" or not args.dead]
    console.result(jobs, table(_JOBS, [_row(job) for job in jobs], limit=columns()) if jobs else "No jobs.")
    return 0


def _row(job: Job) -> tuple[str, ...]:
    due = "" if job.state == "dead" else moment(job.due_at)
    return str(job.number), job.kind, job.state, str(job.attempts), due, job.error or ""


def _retry(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book, warnings_as_remarks(console):
        queued = book.retry(args.number)
    console.result({"queued": queued}, f"queued {plural(queued, 'job')} again")
    return 0
