"""A log of a program as linked HTML pages: one for each call, in a tree. Needs nothing but commonplace."""

from __future__ import annotations

from commonplace.integrations.tasks.pages.logger import PageLogger
from commonplace.integrations.tasks.pages.run import LogPage, PageLoggerConfig

__all__ = ["LogPage", "PageLogger", "PageLoggerConfig"]
