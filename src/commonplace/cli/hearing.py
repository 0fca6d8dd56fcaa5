"""What the library logs while a command runs: said as remarks, so that it looks like everything else on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.cli.output import Console


@contextmanager
def warnings_as_remarks(console: Console) -> Iterator[None]:
    """Turn the library's warnings into remarks for as long as the block runs."""
    import logging  # the other commands have no use for it

    class Remarks(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            console.remark(record.getMessage())

    handler, logger = Remarks(logging.WARNING), logging.getLogger("commonplace")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
