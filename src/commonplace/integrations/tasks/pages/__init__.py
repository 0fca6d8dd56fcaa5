"""What a program does, as linked HTML pages: one for each call, in a tree. Needs nothing but commonplace."""

from __future__ import annotations

from commonplace.integrations.tasks.pages.levels import PageLoggerConfig
from commonplace.integrations.tasks.pages.logger import PageLogger
from commonplace.integrations.tasks.pages.page import Page

__all__ = ["Page", "PageLogger", "PageLoggerConfig"]
