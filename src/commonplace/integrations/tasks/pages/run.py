"""One run of a program in a directory of its own; files are only added to, and nothing is ever removed."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import count
from pathlib import Path
from time import perf_counter

from commonplace.errors import InvalidInput, StoreUnavailable
from commonplace.guard import redaction
from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.levels import NAMES, Options
from commonplace.integrations.tasks.pages.tree import ended, run_head, run_row, runs_head

_log = logging.getLogger("commonplace.integrations.tasks.pages")
_keys = count()


class Run:
    """Where the pages of one run are; every write is one short append, and is with the system when it returns."""

    def __init__(self, options: Options) -> None:
        self.root, self.level, self.began = options.path, options.level, perf_counter()
        self.key = next(_keys)
        self.numbers, self.entries, self.images = count(1), count(1), count(1)
        self.calls = self.open_calls = self.model_calls = self.tokens = 0
        # A conversation comes again with every turn: what was cleaned once is not cleaned again.
        self.clean = lru_cache(maxsize=128)(lambda value: redaction.redact_text(value, options.redact))
        self._pending: list[Future[None]] = []
        self._worker: ThreadPoolExecutor | None = None
        self.lock = threading.RLock()
        self._broken = self._ended = False
        try:
            _index_of_runs(self.root)
            self.directory = _new_directory(self.root)
            facts = (f"{markup.now():%Y-%m-%d %H:%M:%S}", Path(sys.argv[0]).name or "python", f"process {os.getpid()}")
            _append(self.directory / "index.html", run_head(facts, NAMES[self.level]))
            _append(self.root / "index.html", run_row(self.directory.name, facts))
        except OSError as error:
            raise StoreUnavailable(f"the page log cannot be written at {self.root}: {error}") from error

    def append(self, file: str, text: str) -> None:
        """Add to a file of the run. A log must not stop what it tells of: a disk that fails is reported once."""
        if self._broken:
            return
        try:
            _append(self.directory / file, text)
        except OSError as error:
            self._fail(error)

    def later(self, work: Callable[[], None]) -> None:
        """Do what takes longer, such as writing an image, in a thread of the run."""
        with self.lock:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="commonplace-pages")
            self._pending = [each for each in self._pending if not each.done()]
            try:
                self._pending.append(self._worker.submit(self._try, work))
            except RuntimeError:  # after the end of the run, or of the program: there is no thread any more
                self._try(work)

    def wait(self) -> None:
        """Return when everything that was put off is written."""
        with self.lock:
            pending = list(self._pending)
        for each in pending:
            each.result()

    def end(self) -> None:
        """Say in both indexes that the run is over."""
        if self._ended:
            return
        self._ended = True
        self.wait()
        if self._worker is not None:
            self._worker.shutdown()
        figures = ((self.calls, "call"), (self.model_calls, "model call"), (self.tokens, "token"))
        counted = [f"{number:,} {word}{'' if number == 1 else 's'}" for number, word in figures]
        said = " · ".join([*counted, markup.took(perf_counter() - self.began)])
        if self.open_calls:
            said += f" · {self.open_calls} still open at the end"
        self.append("index.html", ended("run", said, "open" if self.open_calls else "done"))
        self.append(os.path.join(os.pardir, "index.html"), ended(self.directory.name, said))

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - an image that its owner closed or broke: the log goes on without it
            _log.error("an image is missing in the page log at %s: %s", self.directory, error)

    def _fail(self, error: OSError) -> None:
        if not self._broken:
            self._broken = True
            _log.error("the page log at %s is not written any further: %s", self.directory, error)


def _append(path: Path, text: str) -> None:
    # Text that no encoding has is shown by its code; one append is not torn apart by those of other threads.
    data = text.encode("utf-8", "backslashreplace")
    with open(path, "ab", buffering=0) as file:
        file.write(data)


def _index_of_runs(root: Path) -> None:
    """Make the index, unless it is there; another program's file is left alone."""
    root.mkdir(parents=True, exist_ok=True)
    index = root / "index.html"
    if os.path.lexists(index):  # also a link to nowhere: no file is made outside of the log
        with open(index, "rb") as file:
            if markup.MARK.encode() not in file.read(200):
                raise InvalidInput(f"{index} was not written by a page log: choose another path for it")
        return
    draft = root / f".index-{os.getpid()}-{threading.get_ident()}"
    draft.write_text(runs_head(), "utf-8")
    try:
        os.link(draft, index)  # whole or not at all, and whoever comes second leaves the first one's
    except FileExistsError:
        pass
    except OSError:  # a file system without links: two programs that begin at once may both write a head
        _append(index, runs_head())
    finally:
        draft.unlink()


def _new_directory(root: Path) -> Path:
    name = f"{markup.now():%Y-%m-%d_%H-%M-%S}"
    for number in count(1):
        directory = root / (name if number == 1 else f"{name}_{number}")
        try:
            directory.mkdir()
        except FileExistsError:
            continue
        return directory
    raise AssertionError("unreachable")
