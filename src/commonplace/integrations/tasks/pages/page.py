"""One page of a run: a call, or something that was logged in full."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter
from types import CodeType

from commonplace.integrations.tasks.pages import markup, tree
from commonplace.integrations.tasks.pages.levels import INFO, WARNING
from commonplace.integrations.tasks.pages.run import Run

_MOST_CRUMBS = 8


class Page:
    """A page that grows by entries; it is made with the first of them, or as it is entered."""

    def __init__(
        self, run: Run, name: str, parent: Page | None, *, kind: str = "call", code: CodeType | None = None
    ) -> None:
        self.name, self.parent, self.kind, self.code = run.clean(str(name)), parent, kind, code
        self.left = False
        self._run, self._began = run, perf_counter()
        self._number: int | None = None
        self._level = INFO

    @property
    def path(self) -> Path | None:
        """The file of the page; None as long as there was nothing to write on it."""
        return None if self._number is None else self._run.directory / self.file

    @property
    def file(self) -> str:
        """The name of that file."""
        return f"{self._number:04}.html"

    def make(self, content: str = "", note: str = "") -> int:
        """Write the page, unless it is there, with those above it; its number."""
        if self._number is not None:
            return self._number
        with self._run.lock:  # threads may share the call that they were started by
            for page in reversed(list(self.above())):
                page._write()
            return self._write(content, note)

    def above(self) -> Iterator[Page]:
        """The calls that this one was made by, the nearest first."""
        page = self.parent
        while page is not None:
            yield page
            page = page.parent

    def _write(self, content: str = "", note: str = "") -> int:
        if self._number is not None:
            return self._number
        self._number = number = next(self._run.numbers)
        below = None if self.parent is None else self.parent._number
        self._run.append(self.file, markup.head(self.name, self._top()) + content)
        row = tree.call_row(number, self.name, kind=self.kind, note=note, below=below)
        self._run.append("index.html", row)
        if self.parent is not None:
            link = f'<a href="{self.file}">{markup.name(self.name)}</a>'
            said = f'<span id="c{number}">{link}<span class="took">{markup.text(note)}</span></span>'
            self.parent.add(said, kind=f"link {self.kind}")
        return number

    def add(self, content: str, *, level: int = INFO, kind: str = "line") -> None:
        """Add an entry of markup."""
        number = self.make()
        self._run.append(self.file, markup.entry(next(self._run.entries), content, level=level, kind=kind))
        if level >= WARNING and level > self._level:
            self._level = level
            self._run.append("index.html", tree.rose(f"p{number}", level))

    def leave(self, said: str = "") -> None:
        """Write how long it took; a second time does nothing."""
        if self.left:
            return
        self.left = True
        if self._number is None:
            return
        duration = markup.took(perf_counter() - self._began)
        end = f'<footer class="end">{markup.text(said or "Left")} after {duration}</footer>\n'
        self._run.append(self.file, end)
        self._run.append("index.html", tree.ended(f"p{self._number}", duration))
        if self.parent is not None and self.parent._number is not None:
            mark = f'<i hidden data-of="c{self._number}" data-state="done">{duration}</i>\n'
            self._run.append(self.parent.file, mark)

    def _top(self) -> str:
        near = reversed(list(islice(self.above(), _MOST_CRUMBS)))
        links = [f'<a href="{page.file}">{markup.name(page.name)}</a>' for page in near]
        crumbs = " › ".join(['<a href="index.html">Call tree</a>', *links])
        call = self.kind == "call"
        state = '<p class="unfinished">No end was written yet: the call goes on, or it was cut off.</p>' if call else ""
        return (
            f"<main><nav>{crumbs}</nav><header><h1>{markup.name(self.name)}</h1>"
            f"{state}</header>{tree.tools('this page', levels=call)}"
        )
