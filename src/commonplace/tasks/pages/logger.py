"""PageLogger: what a program does, as pages that a person can read."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from commonplace.tasks.pages import calls, markup, messages, tree
from commonplace.tasks.pages.images import Images
from commonplace.tasks.pages.levels import CRITICAL, DEBUG, ERROR, INFO, NONE, WARNING, PageLoggerConfig, options
from commonplace.tasks.pages.links import FileLink, line
from commonplace.tasks.pages.page import Page
from commonplace.tasks.pages.run import Run


class PageLogger:
    """Logs text, images and model calls to HTML pages, one for each call, linked in a tree.

    Every run has a directory of its own below `path`, and nothing that was there is touched. What was logged is on
    disk when the method returns. At level NONE, the default, nothing is written. Threads and tasks may share one.
    """

    def __init__(self, config: PageLoggerConfig | None = None) -> None:
        chosen = options(config)
        self.level = chosen.level
        self._run: Run | None = None
        if self.level < NONE:
            self._run = run = Run(chosen)
            self._images = Images(run)
            self._messages = messages.Messages(self._images, run.clean)
            # Also when the program ends without a word, or the logger is not kept.
            self._end = weakref.finalize(self, run.end)

    @property
    def directory(self) -> str | None:
        """The directory of this run, whose index.html is the call tree; None where nothing is written."""
        return None if self._run is None else str(self._run.directory)

    def debug(self, line: str) -> None:
        """Add a line to the current page, if the level is DEBUG."""
        self._line(DEBUG, line)

    def info(self, line: str) -> None:
        """Add a line to the current page, if the level is INFO or lower."""
        self._line(INFO, line)

    def warning(self, line: str) -> None:
        """Add a line to the current page, if the level is WARNING or lower."""
        self._line(WARNING, line)

    def error(self, line: str) -> None:
        """Add a line to the current page, if the level is ERROR or lower."""
        self._line(ERROR, line)

    def critical(self, line: str) -> None:
        """Add a line to the current page, if the level is CRITICAL or lower."""
        self._line(CRITICAL, line)

    def log_message_content(self, message_content: object, summary: str) -> Page | None:
        """Add a page with the content of a message: text, images, tool calls, or a list of them."""
        if (run := self._logs(INFO)) is None:
            return None
        return self._leaf(run, summary, "message", self._messages.content(message_content))

    def log_dict_list(self, content: Sequence[Mapping[str, Any]], summary: str) -> Page | None:
        """Add a page with a list of mappings, each as JSON."""
        if (run := self._logs(INFO)) is None:
            return None
        return self._leaf(run, summary, "list", "".join(self._messages.json(item) for item in content))

    def log_model_call(self, summary: str, input_messages: Sequence[object], response: object) -> Page | None:
        """Add a page with the messages that a model got, what it answered, and the tokens of both."""
        if (run := self._logs(INFO)) is None:
            return None
        body = self._messages.sent(input_messages) + self._messages.answer(response)
        return self._model(run, summary, body, messages.usage(response))

    def log_model_task(self, summary: str, input_messages: Sequence[object], task_result: Any) -> Page | None:
        """Add a page with the messages that agents got, and all that they said and did for a TaskResult."""
        if (run := self._logs(INFO)) is None:
            return None
        done = list(task_result.messages)
        body = self._messages.sent(input_messages) + self._messages.done(done)
        return self._model(run, summary, body, messages.usage(*done))

    def log_link_to_local_file(self, file_path: str | os.PathLike[str]) -> FileLink:
        """A link to a file, to be logged as a line: `logger.info(logger.log_link_to_local_file(path))`."""
        return FileLink(file_path)

    def add_link_to_image(self, description: str, source_image_path: str | os.PathLike[str]) -> None:
        """Add a copy of an image file to the current page, small; it opens in full when clicked."""
        if (run := self._logs(INFO)) is not None:
            self._add(run, self._images.of_file(description, source_image_path), INFO)

    def flush(self, finished: bool = False) -> None:
        """Return when the images are on disk too; everything else was when its method returned."""
        if self._run is not None:
            self._run.wait()
            if finished:
                self._end()

    def finalize(self) -> None:
        """Write the end of the run to the call tree; a second time does nothing."""
        self.flush(finished=True)

    def enter_function(self) -> Page | None:
        """Add a page for the calling function; what is logged in this task goes there until `leave_function`."""
        frame = sys._getframe(1)
        return self._enter(calls.name_of(frame), frame)

    def leave_function(self) -> None:
        """Finish the page of the calling function, and those of functions that it called and that never left."""
        if (run := self._run) is None or (top := calls.current(run)) is None:
            return
        leaving = calls.entered_by(top, sys._getframe(1).f_code)
        page: Page | None = top
        while page is not None and page is not leaving:
            self._leave(run, page, "Left without leave_function")
            page = page.parent
        self._leave(run, leaving)

    @contextmanager
    def page(self, name: str) -> Iterator[Page | None]:
        """Log to a page of that name for the time of a `with`; an exception that ends it is logged there."""
        page = self._enter(name, None)
        try:
            yield page
        except BaseException as error:
            if page is not None:
                self._error(page, error)
            raise
        finally:
            if page is not None and self._run is not None:
                self._leave(self._run, page)

    def _logs(self, level: int) -> Run | None:
        return self._run if level >= self.level else None

    def _line(self, level: int, text: str) -> None:
        if (run := self._logs(level)) is not None:
            self._add(run, line(text, run), level)

    def _add(self, run: Run, content: str, level: int) -> None:
        page = calls.current(run)
        if page is not None:
            page.add(content, level=level)
        else:
            run.append("index.html", tree.note_row(markup.entry(next(run.entries), content, level=level)))

    def _enter(self, name: str, frame: FrameType | None) -> Page | None:
        if (run := self._run) is None:
            return None
        page = Page(run, name, calls.current(run), code=frame.f_code if frame is not None else None)
        run.calls += 1
        run.open_calls += 1
        if self.level <= INFO:
            page.make()
        calls.enter(run, page)
        return page

    def _leave(self, run: Run, page: Page, said: str = "") -> None:
        if not page.left:
            run.open_calls -= 1
            page.leave(said)
        calls.back_to(run, page.parent)

    def _error(self, page: Page, error: BaseException) -> None:
        if (run := self._logs(ERROR)) is not None:
            page.add(line(f"{type(error).__name__}: {error}", run), level=ERROR)

    def _model(self, run: Run, summary: str, body: str, tokens: tuple[int, int]) -> Page:
        run.model_calls += 1
        run.tokens += sum(tokens)
        said = f"{tokens[0]:,} prompt tokens, {tokens[1]:,} completion tokens"
        return self._leaf(run, summary, "model", f'<p class="usage">{said}</p>{body}', note=f"{sum(tokens):,} tokens")

    def _leaf(self, run: Run, summary: str, kind: str, body: str, note: str = "") -> Page:
        page = Page(run, summary, calls.current(run), kind=kind)
        page.make(f'<section class="full">{body}</section>', note)
        return page
