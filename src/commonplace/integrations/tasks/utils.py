"""The names of AutoGen's task_centric_memory.utils: a program changes only the beginning of its import.

Each is imported when it is first used: the page log and the grader do not need AutoGen.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING

from commonplace.errors import missing_package

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
_NEED_AUTOGEN = ("apprentice", "recorder", "teachability")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOMES[name] in _NEED_AUTOGEN:
        for package in ("autogen_core", "autogen_agentchat"):
            if find_spec(package) is None:
                owner = "each of Teachability, Apprentice and ChatCompletionClientRecorder"
                raise ModuleNotFoundError(missing_package(owner, package, "autogen"), name=package)
    return getattr(importlib.import_module(f"commonplace.integrations.tasks.{_HOMES[name]}"), name)
