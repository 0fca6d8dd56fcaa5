"""The page log as the other parts use it; without one, nothing is written anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Pages(Protocol):
    """What is asked of a logger: PageLogger has it, and so has AutoGen's."""

    def info(self, line: str) -> None:
        """Write a line on the current page."""

    def warning(self, line: str) -> None:
        """Write a line that somebody should see."""

    def log_model_call(self, summary: str, input_messages: Any, response: Any) -> Any:
        """Write what a model was asked and what it answered, on a page of its own."""

    def enter_function(self) -> None:
        """Begin a page for the function that calls."""

    def leave_function(self) -> None:
        """End that page."""


class Silent:
    """A logger that writes nothing."""

    def info(self, line: str) -> None:
        """Write nothing."""

    def warning(self, line: str) -> None:
        """Write nothing."""

    def log_model_call(self, summary: str, input_messages: Any, response: Any) -> None:
        """Write nothing."""

    def enter_function(self) -> None:
        """Begin no page."""

    def leave_function(self) -> None:
        """End no page."""


@contextmanager
def page(logger: Pages, name: str) -> Iterator[None]:
    """A page of the log for as long as something takes, also when it fails."""
    named = getattr(logger, "page", None)
    if callable(named):
        with named(name):
            yield
        return
    logger.enter_function()
    try:
        yield
    finally:
        logger.leave_function()
