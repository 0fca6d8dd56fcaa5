"""One run of a program in a directory of its own, and its pages. Files are only appended to; nothing is removed."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from time import perf_counter
from types import CodeType
from typing import Any, TypedDict, cast, get_args

from commonplace import redact_text
from commonplace.errors import InvalidInput, StoreUnavailable
from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.markup import INFO, LEVEL_NAMES, LEVELS, WARNING
from commonplace.settings import Redact

_PATH = "./pagelogs/default"
_MOST_CRUMBS = 8

_log = logging.getLogger("commonplace.integrations.tasks.pages")
_keys = count()


class PageLoggerConfig(TypedDict, total=False):
    """`level`: DEBUG, INFO, WARNING, ERROR, CRITICAL or NONE; `path`: the directory that holds the runs.

    `redact`: what is removed from everything that is written, as in `Settings`; by default "secrets".
    """

    level: str
    path: str
    redact: Redact


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """A PageLoggerConfig, checked."""

    level: int
    path: Path
    redact: Redact


def check_names(config: Mapping[str, Any] | None, known: Collection[str], owner: str) -> None:
    """Raise InvalidInput for a setting that is not known."""
    for name in config or {}:
        if name not in known:
            raise InvalidInput(f"{owner} has no setting {name!r}; known: {', '.join(sorted(known))}")


def read_config(config: Mapping[str, Any] | None) -> RunOptions:
    """Return the options of a config; raise InvalidInput for an unknown name or value."""
    check_names(config, PageLoggerConfig.__annotations__, "PageLogger")
    given = dict(config or {})
    level = str(given.get("level", "NONE")).upper()
    if level not in LEVELS:
        raise InvalidInput(f"level {given['level']!r} is not one of {', '.join(LEVELS)}")
    redact = given.get("redact", "secrets")
    if redact not in get_args(Redact):
        raise InvalidInput(f"redact {redact!r} is not one of {', '.join(get_args(Redact))}")
    path = Path(os.fspath(given.get("path", _PATH))).expanduser().absolute()
    return RunOptions(level=LEVELS[level], path=path, redact=cast(Redact, redact))


class Run:
    """The directory of one run. Every write is one short append, which the system has when the method returns."""

    def __init__(self, options: RunOptions) -> None:
        self.root, self.level, self.began = options.path, options.level, perf_counter()
        self.key = next(_keys)
        self.numbers, self.entries, self.images = count(1), count(1), count(1)
        self.calls = self.open_calls = self.model_calls = self.tokens = 0
        # A conversation is logged again with every turn: a text is redacted once.
        self.clean = lru_cache(maxsize=128)(lambda value: redact_text(value, options.redact))
        self._pending: list[Future[None]] = []
        self._worker: ThreadPoolExecutor | None = None
        self.lock = threading.RLock()
        self._broken = self._ended = False
        try:
            _prepare_index(self.root)
            self.directory = _make_directory(self.root)
            facts = (f"{markup.now():%Y-%m-%d %H:%M:%S}", Path(sys.argv[0]).name or "python", f"process {os.getpid()}")
            _append(self.directory / "index.html", markup.run_head(facts, LEVEL_NAMES[self.level]))
            _append(self.root / "index.html", markup.run_row(self.directory.name, facts))
        except OSError as error:
            raise StoreUnavailable(f"the page log cannot be written at {self.root}: {error}") from error

    def append(self, file: str, text: str) -> None:
        """Append to a file of the run. A failing disk is reported once and does not stop the program."""
        if not self._broken:
            try:
                _append(self.directory / file, text)
            except OSError as error:
                self._fail(error)

    def run_later(self, work: Callable[[], None]) -> None:
        """Do longer work, such as writing an image, in a thread of the run."""
        with self.lock:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="commonplace-pages")
            self._pending = [each for each in self._pending if not each.done()]
            try:
                self._pending.append(self._worker.submit(self._try, work))
            except RuntimeError:  # after the end of the run or the program there is no thread
                self._try(work)

    def wait(self) -> None:
        """Wait until the thread has done its work."""
        with self.lock:
            pending = list(self._pending)
        for each in pending:
            each.result()

    def end(self) -> None:
        """Write the end of the run to both indexes; a second time does nothing."""
        if self._ended:
            return
        self._ended = True
        self.wait()
        if self._worker is not None:
            self._worker.shutdown()
        figures = ((self.calls, "call"), (self.model_calls, "model call"), (self.tokens, "token"))
        counts = [f"{number:,} {word}{'' if number == 1 else 's'}" for number, word in figures]
        result = " · ".join([*counts, markup.duration(perf_counter() - self.began)])
        if self.open_calls:
            result += f" · {self.open_calls} still open at the end"
        self.append("index.html", markup.end_mark("run", result, "open" if self.open_calls else "done"))
        self.append(os.path.join(os.pardir, "index.html"), markup.end_mark(self.directory.name, result))

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
    # Lone surrogates are shown by their codes. One unbuffered write is not mixed with those of other threads.
    data = text.encode("utf-8", "backslashreplace")
    with open(path, "ab", buffering=0) as file:
        file.write(data)


def _prepare_index(root: Path) -> None:
    """Create the index of runs unless it exists; another program's file is refused."""
    root.mkdir(parents=True, exist_ok=True)
    index = root / "index.html"
    if os.path.lexists(index):  # also a broken link: no file is created outside of the log
        with open(index, "rb") as file:
            if markup.MARK.encode() not in file.read(200):
                raise InvalidInput(f"{index} was not written by a page log: choose another path for it")
        return
    draft = root / f".index-{os.getpid()}-{threading.get_ident()}"
    draft.write_text(markup.runs_head(), "utf-8")
    try:
        os.link(draft, index)  # atomic: of two programs that start at once, the first one's file stays
    except FileExistsError:
        pass
    except OSError:  # a file system without links: two programs that start at once may both write a head
        _append(index, markup.runs_head())
    finally:
        draft.unlink()


def _make_directory(root: Path) -> Path:
    name = f"{markup.now():%Y-%m-%d_%H-%M-%S}"
    for number in count(1):
        directory = root / (name if number == 1 else f"{name}_{number}")
        try:
            directory.mkdir()
        except FileExistsError:
            continue
        return directory
    raise AssertionError("unreachable")


class LogPage:
    """One page of a run: a call, or something that was logged in full. Its file is created with its first entry."""

    def __init__(
        self, run: Run, name: str, parent: LogPage | None, *, kind: str = "call", code: CodeType | None = None
    ) -> None:
        self.name, self.parent, self.kind, self.code = run.clean(str(name)), parent, kind, code
        self.left = False
        self._run, self._began = run, perf_counter()
        self._number: int | None = None
        self._level = INFO

    @property
    def path(self) -> Path | None:
        """The file of the page; None as long as nothing was written."""
        return None if self._number is None else self._run.directory / self.file

    @property
    def file(self) -> str:
        """The name of that file."""
        return f"{self._number:04}.html"

    def create(self, content: str = "", note: str = "") -> int:
        """Create the file, and those of the calls above it, unless they exist; return its number."""
        if self._number is not None:
            return self._number
        with self._run.lock:  # threads may share the call that started them
            for page in reversed(list(self.ancestors())):
                page._write()
            return self._write(content, note)

    def ancestors(self) -> Iterator[LogPage]:
        """Yield the calls above this one, the nearest first."""
        page = self.parent
        while page is not None:
            yield page
            page = page.parent

    def _write(self, content: str = "", note: str = "") -> int:
        if self._number is not None:
            return self._number
        self._number = number = next(self._run.numbers)
        parent = None if self.parent is None else self.parent._number
        self._run.append(self.file, markup.head(self.name, self._header()) + content)
        self._run.append("index.html", markup.call_row(number, self.name, kind=self.kind, note=note, parent=parent))
        if self.parent is not None:
            link = f'<a href="{self.file}">{markup.name(self.name)}</a>'
            row = f'<span id="c{number}">{link}<span class="took">{markup.text(note)}</span></span>'
            self.parent.add(row, kind=f"link {self.kind}")
        return number

    def add(self, content: str, *, level: int = INFO, kind: str = "line") -> None:
        """Add an entry of markup."""
        number = self.create()
        self._run.append(self.file, markup.entry(next(self._run.entries), content, level=level, kind=kind))
        if level >= WARNING and level > self._level:
            self._level = level
            self._run.append("index.html", markup.level_mark(f"p{number}", level))

    def leave(self, remark: str = "") -> None:
        """Write how long the call took; a second time does nothing."""
        if self.left:
            return
        self.left = True
        if self._number is None:
            return
        duration = markup.duration(perf_counter() - self._began)
        end = f'<footer class="end">{markup.text(remark or "Left")} after {duration}</footer>\n'
        self._run.append(self.file, end)
        self._run.append("index.html", markup.end_mark(f"p{self._number}", duration))
        if self.parent is not None and self.parent._number is not None:
            mark = f'<i hidden data-of="c{self._number}" data-state="done">{duration}</i>\n'
            self._run.append(self.parent.file, mark)

    def _header(self) -> str:
        near = reversed(list(islice(self.ancestors(), _MOST_CRUMBS)))
        links = [f'<a href="{page.file}">{markup.name(page.name)}</a>' for page in near]
        crumbs = " › ".join(['<a href="index.html">Call tree</a>', *links])
        call = self.kind == "call"
        state = (
            '<p class="unfinished">No end was written yet: the call continues, or it was interrupted.</p>'
            if call
            else ""
        )
        return (
            f"<main><nav>{crumbs}</nav><header><h1>{markup.name(self.name)}</h1>"
            f"{state}</header>{markup.controls('this page', levels=call)}"
        )
