"""Jobs: claimed, run, given back when they fail, and set aside when they have failed too often."""

from __future__ import annotations

import logging
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from commonplace.errors import CommonplaceError, EmbedderMismatch, JobFailed, StoreClosed
from commonplace.guard import redaction
from commonplace.learn import ingest
from commonplace.learn.ingest import Conversation, Taken
from commonplace.learn.steps import Claimed
from commonplace.memories import erasure, forget
from commonplace.memories.core import Core, Place
from commonplace.reconcile.settle import Settled
from commonplace.store.tables import jobs, memories
from commonplace.values import Job, Learned, times

LEASE = 120.0
"""Seconds for which a claim holds: a worker that has not finished by then is taken for dead."""
ATTEMPTS = 5
_FIRST_WAIT = 2.0
_LONGEST_WAIT = 600.0
IDLE = 30.0
"""Seconds after which a worker that nobody wakes looks for other processes' jobs."""
_SHORTEST = 0.01
_GLANCE = 0.02

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One run of a job, and its results."""

    job: Job
    settled: list[Settled] = field(default_factory=list)
    error: Exception | None = None
    """Why it failed, if it did; it was given back, or has failed for good."""


def run_one(core: Core, space: int, number: int | None = None) -> JobRun | None:
    """Run a job of a space, or the first that is due; return None if there is none. A job that fails is given back."""
    token = uuid.uuid4().hex
    job = core.store.write(
        lambda tx: jobs.claim(tx, space, token, lease=LEASE, attempts=ATTEMPTS, number=number), space
    )
    if job is None:
        return None
    try:
        return JobRun(job=job, settled=_RUNS[job.kind](core, space, Claimed(job, token, LEASE)) or [])
    except StoreClosed:
        raise
    except (EmbedderMismatch, KeyboardInterrupt) as error:
        # Not the job's fault: another worker may have it at once, before the claim runs out.
        why = type(error).__name__
        core.store.write(lambda tx: jobs.fail(tx, space, job.number, token, why, due=times.now()), space)
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, the job must not stay claimed
        _give_back(core, space, job, token, error)
        return JobRun(job=job, error=error)


def run_all(core: Core, space: int, *, hurry: bool) -> int:
    """Run the jobs of a space that are due and return how many; `hurry` includes those that wait for messages."""
    if hurry:
        core.store.write(lambda tx: jobs.hurry(tx, space), space)
    done = 0
    while run_one(core, space) is not None:
        done += 1
    return done


def run_now(core: Core, space: int, number: int) -> list[Settled] | None:
    """Run one job at once; raise its error if it fails. If another worker runs it, wait for that and return None."""
    while True:
        done = run_one(core, space, number)
        if done is not None and done.error is not None:
            raise done.error
        if done is not None:
            return done.settled
        job = core.store.read(lambda tx: jobs.find(tx, space, number), space)
        if job is None:
            return None
        if job.error is not None and job.state != "running":
            raise JobFailed(f"job {number} failed in another worker: {job.error}")
        time.sleep(_GLANCE)


def learn(
    core: Core, place: Place, said: Conversation, *, wait: bool, progress: Callable[[int, int], None] | None
) -> Learned:
    """Store a conversation and let the background worker learn from it, or with `wait` learn from it now."""
    space = place.make()
    taken = ingest.take_in(core, space, said)
    if wait:
        return _finish(core, space, taken, progress or (lambda done, total: None))
    core.wake()
    return Learned(session=taken.session, messages=taken.ids, jobs=taken.jobs)


def _finish(core: Core, space: int, taken: Taken, progress: Callable[[int, int], None]) -> Learned:
    """Run the jobs of a stored conversation now, and return what was learned from it."""
    found = []
    for done, number in enumerate(taken.jobs):
        progress(done * ingest.TOGETHER, len(taken.ids))
        found.append(run_now(core, space, number))
    progress(len(taken.ids), len(taken.ids))
    if None in found:
        # A worker was quicker, or the call is a repetition: the results are in the book.
        found = [core.store.read(lambda tx: ingest.find_results(tx, space, taken.ids), space)]
    settled = [each for those in found for each in those or ()]
    # A message may repeat or reword what another one has led to: each memory is listed once, as it is in the end.
    rows = {each.row.id: each.row for each in settled if each.row is not None}
    return Learned(
        session=taken.session,
        messages=taken.ids,
        memories=tuple(map(memories.decode, rows.values())),
        links=tuple(link for each in settled for link in each.links),
    )


def run_due(core: Core, only: Place | None = None) -> Iterator[JobRun]:
    """Run what is due in every space in turn, or in one; yield each job that was run."""
    trying = True
    while trying:
        trying = False
        spaces = core.store.read(jobs.spaces_with_work, None)
        for space in spaces if only is None else [space for space in spaces if space == only.find()]:
            tried = run_one(core, space)
            if tried is not None:
                trying = True
                yield tried


def run_until(
    core: Core,
    ended: Callable[[], bool],
    rest: Callable[[float], object],
    *,
    only: Place | None = None,
    idle: float = IDLE,
) -> Iterator[JobRun]:
    """Run jobs as they become due, until `ended` returns True after a job; those that wait stay on disk.

    `rest` is called with the seconds until there may be more, at most `idle`. A store that does not answer is tried
    again after a while; a book that was re-embedded has to be opened again.
    """
    while not ended():
        try:
            for tried in run_due(core, only):
                yield tried
                if ended():
                    return
            due = core.store.read(jobs.next_due, None)
            rest(idle if due is None else min(max((due - times.now()) / 1e6, _SHORTEST), idle))
        except (EmbedderMismatch, StoreClosed):
            raise
        except CommonplaceError as error:
            _log.warning("the worker waits: %s", type(error).__name__)
            rest(IDLE)


def _give_back(core: Core, space: int, job: Job, token: str, error: Exception) -> None:
    tried = job.attempts + 1
    wait = min(_FIRST_WAIT * 2**job.attempts, _LONGEST_WAIT) * random.uniform(0.8, 1.2)  # no secret
    due = None if tried >= ATTEMPTS else times.now() + int(wait * 1e6)
    # An error may quote the conversation: logs get its class alone, the job keeps the words inside the space.
    _log.warning("job %d failed (%s), attempt %d of %d", job.number, type(error).__name__, tried, ATTEMPTS)
    told = f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode().replace("\0", " ")
    words = redaction.redact_text(told[:1000], core.settings.redact)
    core.store.write(lambda tx: jobs.fail(tx, space, job.number, token, words, due=due), space)


class Worker:
    """A thread that runs the jobs of one store, from the first call of `wake` until it is closed."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._wake = threading.Event()
        self._ended = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def wake(self) -> None:
        """Look for jobs now; the first call starts the thread."""
        with self._starting:
            if (self._thread is None or not self._thread.is_alive()) and not self._ended:
                self._thread = threading.Thread(target=self._run, name="commonplace worker", daemon=True)
                self._thread.start()
        self._wake.set()

    def close(self) -> None:
        """Stop after the current job; those that wait stay on disk."""
        with self._starting:
            self._ended = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        try:
            for _ in run_until(self._core, lambda: self._ended, self._rest):
                pass
        except StoreClosed:
            return
        except EmbedderMismatch:
            _log.warning("the worker stops: the book was re-embedded")

    def _rest(self, seconds: float) -> None:
        self._wake.wait(seconds)
        self._wake.clear()


def _run_prune(core: Core, space: int, claimed: Claimed) -> list[Settled] | None:
    return forget.run_prune(core, space, claimed.job, claimed.token)


def _run_erase(core: Core, space: int, claimed: Claimed) -> list[Settled] | None:
    return erasure.run(core, space, claimed.job, claimed.token)


_RUNS: dict[str, Callable[[Core, int, Claimed], list[Settled] | None]] = {
    jobs.LEARN: ingest.run,
    forget.PRUNE: _run_prune,
    erasure.ERASE: _run_erase,
}
