"""Lines of a page, and the one thing in them that is not text: a link to a file."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.run import Run


class FileLink(str):
    """The path of a file as text, which a page log shows as a link when it is logged as a line of its own."""

    __slots__ = ("target",)
    target: Path

    def __new__(cls, path: str | os.PathLike[str]) -> FileLink:
        link = super().__new__(cls, os.fspath(path))
        link.target = Path(path).expanduser().absolute()
        return link


def line(text: str, run: Run) -> str:
    """The markup of a line: only a FileLink becomes a link, whatever the text looks like."""
    shown = run.clean(str(text))
    if isinstance(text, FileLink):
        return f'<a class="file" href="{markup.text(_address(text.target, run))}">{markup.name(shown)}</a>'
    return markup.block(shown)


def _address(target: Path, run: Run) -> str:
    """Relative to the log for a file in it, so that the log can be moved; any other by its place on this machine."""
    if target.is_relative_to(run.root):
        return "../" + quote(os.fsencode(target.relative_to(run.root).as_posix()))
    return target.as_uri()
