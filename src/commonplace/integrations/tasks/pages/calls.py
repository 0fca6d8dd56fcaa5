"""Which call a line belongs to: every task and thread of a program has its own answer."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import CodeType, FrameType, MappingProxyType

from commonplace.integrations.tasks.pages.page import Page
from commonplace.integrations.tasks.pages.run import Run

# A task begins with a copy of what its maker had: its calls stand below the one that started it, and what it enters
# is not seen outside. Never changed in place, since the copy is of the reference.
_NONE: Mapping[int, Page] = MappingProxyType({})
_pages: ContextVar[Mapping[int, Page]] = ContextVar("commonplace_pages", default=_NONE)


def current(run: Run) -> Page | None:
    """The call of this run in which the caller is."""
    return _pages.get().get(run.key)


def enter(run: Run, page: Page) -> None:
    """From here on, in this task, the page is the current one."""
    _pages.set(MappingProxyType({**_pages.get(), run.key: page}))


def back_to(run: Run, page: Page | None) -> None:
    """The page that is current again, if any."""
    rest = {key: value for key, value in _pages.get().items() if key != run.key}
    _pages.set(MappingProxyType(rest if page is None else {**rest, run.key: page}))


def entered_by(page: Page, code: CodeType) -> Page:
    """The call that a function leaves: its own, also where one below it was never left; else the current one."""
    each: Page | None = page
    while each is not None:
        if each.code is code:
            return each
        each = each.parent
    return page


def name_of(frame: FrameType) -> str:
    """What a reader calls the function of a frame: Class.method, or its name alone."""
    owner = frame.f_locals.get("self")
    kind = type(owner) if owner is not None else frame.f_locals.get("cls")
    name = frame.f_code.co_name
    return f"{kind.__name__}.{name}" if isinstance(kind, type) else name
