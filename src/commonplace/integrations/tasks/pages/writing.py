"""What a page log does once it writes: the run, the call that is current, and what is added to it."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from commonplace.integrations.tasks.pages import calls, markup, shapes, tree
from commonplace.integrations.tasks.pages.images import Images
from commonplace.integrations.tasks.pages.levels import ERROR, INFO, Options
from commonplace.integrations.tasks.pages.links import line
from commonplace.integrations.tasks.pages.messages import Messages
from commonplace.integrations.tasks.pages.page import Page
from commonplace.integrations.tasks.pages.run import Run


class Writing:
    """The writing part of a PageLogger; there is none at level NONE."""

    def __init__(self, options: Options) -> None:
        self.run = Run(options)
        self.images = Images(self.run)
        self.messages = Messages(self.images, self.run.clean)

    def line(self, text: str, level: int, page: Page | None = None) -> None:
        """Add a line to a page, or to the current one."""
        self.add(line(text, self.run), level, page)

    def add(self, content: str, level: int = INFO, page: Page | None = None) -> None:
        """Add markup to a page, or to the current one; outside any call, to the index."""
        page = page or calls.current(self.run)
        if page is not None:
            page.add(content, level=level)
        else:
            entry = markup.entry(next(self.run.entries), content, level=level)
            self.run.append("index.html", tree.note_row(entry))

    def enter(self, name: str, code: CodeType | None = None) -> Page:
        """A page below the current one, which it takes the place of."""
        page = Page(self.run, name, calls.current(self.run), code=code)
        self.run.calls += 1
        self.run.open_calls += 1
        if self.run.level <= INFO:
            page.make()
        calls.enter(self.run, page)
        return page

    def leave(self, page: Page, said: str = "") -> None:
        """Finish a page; the one above it is current again."""
        if not page.left:
            self.run.open_calls -= 1
            page.leave(said)
        calls.back_to(self.run, page.parent)

    def leave_function(self, code: CodeType) -> None:
        """Finish the page of a function, and before it those of functions that it called and that never left."""
        top = calls.current(self.run)
        if top is None:
            return
        leaving = calls.entered_by(top, code)
        page = top
        while page is not leaving and page.parent is not None:
            self.leave(page, "Left without leave_function")
            page = page.parent
        self.leave(leaving)

    def failed(self, page: Page, error: BaseException) -> None:
        """Say what ended a page."""
        if self.run.level <= ERROR:
            self.line(f"{type(error).__name__}: {error}", ERROR, page)

    def leaf(self, summary: str, kind: str, body: str, note: str = "") -> Page:
        """A page that is whole at once."""
        page = Page(self.run, summary, calls.current(self.run), kind=kind)
        page.make(f'<section class="full">{body}</section>', note)
        return page

    def model(self, summary: str, body: str, answers: Sequence[object]) -> Page:
        """A page of what a model was asked and answered, with the tokens of both."""
        asked, answered = shapes.usage(*answers)
        self.run.model_calls += 1
        self.run.tokens += asked + answered
        said = f'<p class="usage">{asked:,} prompt tokens, {answered:,} completion tokens</p>'
        return self.leaf(summary, "model", said + body, note=f"{asked + answered:,} tokens")
