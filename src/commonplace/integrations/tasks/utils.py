"""What AutoGen's task_centric_memory.utils has, by the same names: only the beginning of the import changes.

Each is imported when it is first asked for: the page log and the grader need no AutoGen.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.integrations.tasks.apprentice import Apprentice, ApprenticeConfig
    from commonplace.integrations.tasks.grader import Grader
    from commonplace.integrations.tasks.pages import PageLogger, PageLoggerConfig
    from commonplace.integrations.tasks.recorder import ChatCompletionClientRecorder
    from commonplace.integrations.tasks.teachability import Teachability

__all__ = [
    "Apprentice",
    "ApprenticeConfig",
    "ChatCompletionClientRecorder",
    "Grader",
    "PageLogger",
    "PageLoggerConfig",
    "Teachability",
]

_HOMES = {
    "Apprentice": "apprentice",
    "ApprenticeConfig": "apprentice",
    "ChatCompletionClientRecorder": "recorder",
    "Grader": "grader",
    "PageLogger": "pages",
    "PageLoggerConfig": "pages",
    "Teachability": "teachability",
}
_AUTOGEN = ("apprentice", "recorder", "teachability")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOMES[name] in _AUTOGEN:
        importlib.import_module("commonplace.integrations.tasks._autogen")  # says what to install
    return getattr(importlib.import_module(f"commonplace.integrations.tasks.{_HOMES[name]}"), name)
