"""Doing what waits: jobs are claimed, run, given back when they fail, and set aside when they fail for good."""

from __future__ import annotations

import logging
import random
import threading
import time
import uuid
from collections.abc import Callable

from commonplace import learning, pruning, times
from commonplace.core import Core
from commonplace.errors import CommonplaceError, StoreClosed
from commonplace.reconciling import Settled
from commonplace.store import jobs
from commonplace.values import Job

LEASE = 120.0
"""Seconds for which a claim holds: whoever has not finished by then is taken for dead."""
ATTEMPTS = 5
_FIRST_WAIT = 2.0
_LONGEST_WAIT = 600.0
_IDLE = 30.0
"""Seconds after which a worker looks for other processes' jobs, if nobody wakes it."""

_GLANCE = 0.02

_log = logging.getLogger(__name__)


def run_one(core: Core, space: int) -> tuple[Job, list[Settled]] | None:
    """Run the first job of a space that is due; None if none is. A job that fails is given back, and said so."""
    try:
        return _run_claimed(core, space, None)
    except _Failed as failed:
        return failed.job, []


def run_now(core: Core, space: int, number: int) -> list[Settled]:
    """Run one job at once, or wait for whoever runs it; what makes it fail is raised."""
    while True:
        try:
            done = _run_claimed(core, space, number)
        except _Failed as failed:
            raise failed.error from None
        if done is not None:
            return done[1]
        (job,) = core.store.read(lambda tx: jobs.find(tx, space, number), space) or (None,)
        if job is None:
            return []
        if job.state == "dead":
            raise CommonplaceError(f"job {number} has failed for good: {job.error}")
        time.sleep(_GLANCE)


class _Failed(Exception):
    """A job that did not succeed, and why."""

    def __init__(self, job: Job, error: Exception) -> None:
        super().__init__(job.number)
        self.job = job
        self.error = error


def _run_claimed(core: Core, space: int, number: int | None) -> tuple[Job, list[Settled]] | None:
    token = uuid.uuid4().hex
    job = core.store.write(lambda tx: jobs.claim(tx, space, token, lease=LEASE, number=number), space)
    if job is None:
        return None
    try:
        return job, _RUNS[job.kind](core, space, job, token) or []
    except StoreClosed:
        raise
    except Exception as error:  # whatever it is, the job must come to its end
        _give_back(core, space, job, token, error)
        raise _Failed(job, error) from error


def run_all(core: Core) -> int:
    """Run what is due in every space; returns how many jobs were tried."""
    done = 0
    while spaces := core.store.read(jobs.spaces_with_work, None):
        before = done
        for space in spaces:
            done += run_one(core, space) is not None
        if done == before:
            break
    return done


def _give_back(core: Core, space: int, job: Job, token: str, error: Exception) -> None:
    tried = job.attempts + 1
    wait = min(_FIRST_WAIT * 2**job.attempts, _LONGEST_WAIT) * random.uniform(0.8, 1.2)  # no secret
    due = None if tried >= ATTEMPTS else times.now() + int(wait * 1e6)
    # What went wrong may quote what was said: logs get its kind alone, the job keeps the words behind the wall.
    _log.warning("job %d failed (%s), attempt %d of %d", job.number, type(error).__name__, tried, ATTEMPTS)
    words = f"{type(error).__name__}: {error}"[:1000]
    core.store.write(lambda tx: jobs.fail(tx, space, job.number, token, words, due=due), space)


class Worker:
    """A thread that does what waits in one store, from the first job on until it is closed."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._wake = threading.Event()
        self._ended = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def wake(self) -> None:
        """Say that there is work; the first call starts the thread."""
        with self._starting:
            if self._thread is None and not self._ended:
                self._thread = threading.Thread(target=self._run, name="commonplace worker", daemon=True)
                self._thread.start()
        self._wake.set()

    def close(self) -> None:
        """End after the job at hand; what waits stays on disk."""
        with self._starting:
            self._ended = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self._ended:
            self._wake.clear()
            try:
                self._work()
                self._wake.wait(self._pause())
            except StoreClosed:
                return
            except CommonplaceError as error:
                _log.warning("the worker rests: %s", type(error).__name__)
                self._wake.wait(_IDLE)

    def _work(self) -> None:
        for space in self._core.store.read(jobs.spaces_with_work, None):
            while not self._ended and run_one(self._core, space) is not None:
                pass

    def _pause(self) -> float:
        """Seconds until the next job is due, as far as is known."""
        due = self._core.store.read(jobs.next_due, None)
        return _IDLE if due is None else min(max((due - times.now()) / 1e6, 0.01), _IDLE)


_RUNS: dict[str, Callable[[Core, int, Job, str], list[Settled] | None]] = {
    learning.KIND: learning.run,
    pruning.KIND: pruning.run,
}
