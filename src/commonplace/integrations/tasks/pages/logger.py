"""PageLogger: what a program does, as pages that a person can read."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from commonplace.integrations.tasks.pages import calls
from commonplace.integrations.tasks.pages.levels import (
    CRITICAL,
    DEBUG,
    ERROR,
    INFO,
    NONE,
    WARNING,
    PageLoggerConfig,
    options,
)
from commonplace.integrations.tasks.pages.links import FileLink
from commonplace.integrations.tasks.pages.page import Page
from commonplace.integrations.tasks.pages.writing import Writing


class PageLogger:
    """Logs text, images and model calls to HTML pages, one for each call, linked in a tree.

    Every run has a directory of its own below `path`, and nothing that was there is touched. What was logged is on
    disk when the method returns. At level NONE, the default, nothing is written. Threads and tasks may share one.
    """

    def __init__(self, config: PageLoggerConfig | None = None) -> None:
        chosen = options(config)
        self.level = chosen.level
        self._writing: Writing | None = None
        if self.level < NONE:
            self._writing = Writing(chosen)
            # Also when the program ends without a word, or the logger is not kept.
            self._end = weakref.finalize(self, self._writing.run.end)

    @property
    def directory(self) -> str | None:
        """The directory of this run, whose index.html is the call tree; None where nothing is written."""
        return None if self._writing is None else str(self._writing.run.directory)

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
        if (writing := self._at(INFO)) is None:
            return None
        return writing.leaf(summary, "message", writing.messages.content(message_content))

    def log_dict_list(self, content: Sequence[Mapping[str, Any]], summary: str) -> Page | None:
        """Add a page with a list of mappings, each as JSON."""
        if (writing := self._at(INFO)) is None:
            return None
        return writing.leaf(summary, "list", "".join(map(writing.messages.json, content)))

    def log_model_call(self, summary: str, input_messages: Sequence[object], response: object) -> Page | None:
        """Add a page with the messages that a model got, what it answered, and the tokens of both."""
        if (writing := self._at(INFO)) is None:
            return None
        body = writing.messages.sent(input_messages) + writing.messages.answer(response)
        return writing.model(summary, body, [response])

    def log_model_task(self, summary: str, input_messages: Sequence[object], task_result: Any) -> Page | None:
        """Add a page with the messages that agents got, and all that they said and did for a TaskResult."""
        if (writing := self._at(INFO)) is None:
            return None
        done = list(task_result.messages)
        body = writing.messages.sent(input_messages) + writing.messages.done(done)
        return writing.model(summary, body, done)

    def log_link_to_local_file(self, file_path: str | os.PathLike[str]) -> FileLink:
        """A link to a file, to be logged as a line: `logger.info(logger.log_link_to_local_file(path))`."""
        return FileLink(file_path)

    def add_link_to_image(self, description: str, source_image_path: str | os.PathLike[str]) -> None:
        """Add a copy of an image file to the current page, small; it opens in full when clicked."""
        if (writing := self._at(INFO)) is not None:
            writing.add(writing.images.of_file(description, source_image_path))

    def flush(self, finished: bool = False) -> None:
        """Return when the images are on disk too; everything else was when its method returned."""
        if self._writing is not None:
            self._writing.run.wait()
            if finished:
                self._end()

    def finalize(self) -> None:
        """Write the end of the run to the call tree; a second time does nothing."""
        self.flush(finished=True)

    def enter_function(self) -> Page | None:
        """Add a page for the calling function; what is logged in this task goes there until `leave_function`."""
        frame = sys._getframe(1)
        return None if self._writing is None else self._writing.enter(calls.name_of(frame), frame.f_code)

    def leave_function(self) -> None:
        """Finish the page of the calling function, and those of functions that it called and that never left."""
        if self._writing is not None:
            self._writing.leave_function(sys._getframe(1).f_code)

    @contextmanager
    def page(self, name: str) -> Iterator[Page | None]:
        """Log to a page of that name for the time of a `with`; an exception that ends it is logged there."""
        if (writing := self._writing) is None:
            yield None
            return
        page = writing.enter(name)
        try:
            yield page
        except BaseException as error:
            writing.failed(page, error)
            raise
        finally:
            writing.leave(page)

    def _at(self, level: int) -> Writing | None:
        return self._writing if level >= self.level else None

    def _line(self, level: int, text: str) -> None:
        if (writing := self._at(level)) is not None:
            writing.line(text, level)
