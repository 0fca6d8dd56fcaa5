"""PageLogger: logs what a program does as pages that a person can read."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partialmethod
from pathlib import Path
from types import CodeType, FrameType, MappingProxyType
from typing import Any, Protocol
from urllib.parse import quote

from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.markup import CRITICAL, DEBUG, ERROR, INFO, NONE, WARNING
from commonplace.integrations.tasks.pages.messages import Images, Messages, count_usage
from commonplace.integrations.tasks.pages.run import LogPage, PageLoggerConfig, Run, RunOptions, read_config


class AnyLogger(Protocol):
    """The methods that task-centric memory uses of a logger: PageLogger has them, and so has AutoGen's."""

    def info(self, line: str) -> object:
        """Write a line on the current page."""

    def warning(self, line: str) -> object:
        """Write a warning on the current page."""

    def log_model_call(self, summary: str, input_messages: Any, response: Any) -> object:
        """Write a question to a model and its answer on a page of their own."""

    def enter_function(self) -> object:
        """Begin a page for the calling function."""

    def leave_function(self) -> object:
        """End that page."""


@contextmanager
def open_page(logger: AnyLogger, name: str) -> Iterator[None]:
    """Log to a page for the time of a `with`, also if it fails; AutoGen's logger names the page itself."""
    page = getattr(logger, "page", None)
    if callable(page):
        with page(name):
            yield
        return
    logger.enter_function()
    try:
        yield
    finally:
        logger.leave_function()


class FileLink(str):
    """The path of a file as text; a page log shows it as a link if it is a line of its own."""

    __slots__ = ("target",)
    target: Path

    def __new__(cls, path: str | os.PathLike[str]) -> FileLink:
        link = super().__new__(cls, os.fspath(path))
        link.target = Path(path).expanduser().absolute()
        return link


class PageLogger:
    """Logs text, images and model calls to HTML pages, one for each call, linked in a tree.

    Every run has a directory of its own below `path`, and no other file is touched. A line is on disk when the method
    returns. At level NONE, the default, nothing is written. Threads and tasks may share a logger.
    """

    def __init__(self, config: PageLoggerConfig | None = None) -> None:
        options = read_config(config)
        self.level = options.level
        self._writer: PageWriter | None = None
        if self.level < NONE:
            self._writer = PageWriter(options)
            # Also if the program ends without `finalize`, or drops the logger.
            self._end = weakref.finalize(self, self._writer.run.end)

    @property
    def directory(self) -> str | None:
        """The directory of this run, whose index.html is the call tree; None if nothing is written."""
        return None if self._writer is None else str(self._writer.run.directory)

    def log(self, level: int, line: str) -> None:
        """Add a line to the current page, unless its level is below the logger's. `debug` to `critical` call this."""
        if (writer := self._writer_at(level)) is not None:
            writer.add_line(line, level)

    debug = partialmethod(log, DEBUG)
    info = partialmethod(log, INFO)
    warning = partialmethod(log, WARNING)
    error = partialmethod(log, ERROR)
    critical = partialmethod(log, CRITICAL)

    def log_message_content(self, message_content: object, summary: str) -> LogPage | None:
        """Add a page with the content of a message: text, images, tool calls, or a list of them."""
        if (writer := self._writer_at(INFO)) is None:
            return None
        return writer.add_leaf(summary, "message", writer.messages.render_content(message_content))

    def log_dict_list(self, content: Sequence[Mapping[str, Any]], summary: str) -> LogPage | None:
        """Add a page with a list of mappings, each as JSON."""
        if (writer := self._writer_at(INFO)) is None:
            return None
        return writer.add_leaf(summary, "list", "".join(map(writer.messages.render_json, content)))

    def log_model_call(self, summary: str, input_messages: Sequence[object], response: object) -> LogPage | None:
        """Add a page with the messages to a model, its answer, and the tokens of both."""
        if (writer := self._writer_at(INFO)) is None:
            return None
        return writer.add_model_leaf(summary, input_messages, writer.messages.render_answer(response), [response])

    def log_model_task(self, summary: str, input_messages: Sequence[object], task_result: Any) -> LogPage | None:
        """Add a page with the messages to agents, and all messages of their TaskResult."""
        if (writer := self._writer_at(INFO)) is None:
            return None
        results = list(task_result.messages)
        answer = writer.messages.render_messages(results, last="answer")
        return writer.add_model_leaf(summary, input_messages, answer, results)

    def log_link_to_local_file(self, file_path: str | os.PathLike[str]) -> FileLink:
        """Return a link to a file, to be logged as a line: `logger.info(logger.log_link_to_local_file(path))`."""
        return FileLink(file_path)

    def add_link_to_image(self, description: str, source_image_path: str | os.PathLike[str]) -> None:
        """Add a small copy of an image file to the current page; it opens in full when clicked."""
        if (writer := self._writer_at(INFO)) is not None:
            writer.add(writer.images.add_file(description, source_image_path))

    def flush(self, finished: bool = False) -> None:
        """Wait until the images are on disk, too; everything else is when its method returns."""
        if self._writer is not None:
            self._writer.run.wait()
            if finished:
                self._end()

    def finalize(self) -> None:
        """Write the end of the run to the call tree; a second time does nothing."""
        self.flush(finished=True)

    def enter_function(self) -> LogPage | None:
        """Add a page for the calling function; lines of this task go there until `leave_function`."""
        frame = sys._getframe(1)
        return None if self._writer is None else self._writer.enter(_name_function(frame), frame.f_code)

    def leave_function(self) -> None:
        """Finish the page of the calling function, and those of functions that it called and that did not leave."""
        if self._writer is not None:
            self._writer.leave_function(sys._getframe(1).f_code)

    @contextmanager
    def page(self, name: str) -> Iterator[LogPage | None]:
        """Log to a page of that name for the time of a `with`; an exception that ends it is logged there."""
        if (writer := self._writer) is None:
            yield None
            return
        page = writer.enter(name)
        try:
            yield page
        except BaseException as error:
            if self.level <= ERROR:
                writer.add_line(f"{type(error).__name__}: {error}", ERROR, page)
            raise
        finally:
            writer.leave(page)

    def _writer_at(self, level: int) -> PageWriter | None:
        return self._writer if level >= self.level else None


# The current page of each run. A task starts with a copy of its creator's context: its calls are below the call that
# started it, and pages that it enters are not seen outside. The mapping is replaced, never changed: the copy shares it.
_NO_PAGES: Mapping[int, LogPage] = MappingProxyType({})
_pages: ContextVar[Mapping[int, LogPage]] = ContextVar("commonplace_pages", default=_NO_PAGES)


class PageWriter:
    """Writes pages of a run to the place in the call tree where the caller is."""

    def __init__(self, options: RunOptions) -> None:
        self.run = Run(options)
        self.images = Images(self.run)
        self.messages = Messages(self.images, self.run.clean)

    def add_line(self, text: str, level: int, page: LogPage | None = None) -> None:
        """Add a line to a page, by default the current one. Only a FileLink becomes a link, whatever the text is."""
        shown = self.run.clean(str(text))
        if isinstance(text, FileLink):
            link = f'<a class="file" href="{markup.text(self._address(text.target))}">{markup.name(shown)}</a>'
            self.add(link, level, page)
        else:
            self.add(markup.block(shown), level, page)

    def add(self, content: str, level: int = INFO, page: LogPage | None = None) -> None:
        """Add markup to a page, by default the current one; outside any call, to the index."""
        page = page or self._current()
        if page is not None:
            page.add(content, level=level)
        else:
            entry = markup.entry(next(self.run.entries), content, level=level)
            self.run.append("index.html", markup.line_row(entry))

    def enter(self, name: str, code: CodeType | None = None) -> LogPage:
        """Make a page below the current one, and make it the current one."""
        page = LogPage(self.run, name, self._current(), code=code)
        self.run.calls += 1
        self.run.open_calls += 1
        if self.run.level <= INFO:
            page.create()
        self._set_current(page)
        return page

    def leave(self, page: LogPage, remark: str = "") -> None:
        """Finish a page; the one above it becomes the current one."""
        if not page.left:
            self.run.open_calls -= 1
            page.leave(remark)
        self._set_current(page.parent)

    def leave_function(self, code: CodeType) -> None:
        """Finish the page of a function, by default the current one, and first those below it that did not leave."""
        if (top := self._current()) is None:
            return
        leaving = next((page for page in (top, *top.ancestors()) if page.code is code), top)
        page = top
        while page is not leaving and page.parent is not None:
            self.leave(page, "Left without leave_function")
            page = page.parent
        self.leave(leaving)

    def add_leaf(self, summary: str, kind: str, body: str, note: str = "") -> LogPage:
        """Add a page that is complete at once."""
        page = LogPage(self.run, summary, self._current(), kind=kind)
        page.create(f'<section class="full">{body}</section>', note)
        return page

    def add_model_leaf(
        self, summary: str, messages: Sequence[object], answer: str, results: Sequence[object]
    ) -> LogPage:
        """Add a page with messages to a model, its answer, and the tokens of both."""
        prompt, completion = count_usage(results)
        self.run.model_calls += 1
        self.run.tokens += prompt + completion
        usage = f'<p class="usage">{prompt:,} prompt tokens, {completion:,} completion tokens</p>'
        body = usage + self.messages.render_messages(list(messages)) + answer
        return self.add_leaf(summary, "model", body, note=f"{prompt + completion:,} tokens")

    def _address(self, target: Path) -> str:
        """Return a relative address for a file in the log, so that the log can be moved; otherwise an absolute one."""
        if target.is_relative_to(self.run.root):
            return "../" + quote(os.fsencode(target.relative_to(self.run.root).as_posix()))
        return target.as_uri()

    def _current(self) -> LogPage | None:
        return _pages.get().get(self.run.key)

    def _set_current(self, page: LogPage | None) -> None:
        rest = {key: value for key, value in _pages.get().items() if key != self.run.key}
        _pages.set(MappingProxyType(rest if page is None else {**rest, self.run.key: page}))


def _name_function(frame: FrameType) -> str:
    """Return the name of a frame's function: Class.method, or its name alone."""
    owner = frame.f_locals.get("self")
    kind = type(owner) if owner is not None else frame.f_locals.get("cls")
    name = frame.f_code.co_name
    return f"{kind.__name__}.{name}" if isinstance(kind, type) else name
