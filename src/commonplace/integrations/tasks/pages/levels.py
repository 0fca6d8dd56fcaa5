"""What a page log is told: its level, its place, and what must not stand in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast, get_args

from commonplace.errors import InvalidInput
from commonplace.settings import Redact

LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50, "NONE": 100}
DEBUG, INFO, WARNING, ERROR, CRITICAL, NONE = LEVELS.values()
NAMES = {number: name.lower() for name, number in LEVELS.items()}

_PATH = "./pagelogs/default"
_WORDS = ("level", "path", "redact")


class PageLoggerConfig(TypedDict, total=False):
    """`level`: DEBUG, INFO, WARNING, ERROR, CRITICAL or NONE; `path`: the directory that holds the runs.

    `redact`: what is taken out of everything that is written, as in `Settings`: "secrets" unless told otherwise.
    """

    level: str
    path: str
    redact: Redact


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A config that was checked."""

    level: int
    path: Path
    redact: Redact


def options(config: Mapping[str, Any] | None) -> Options:
    """What a config says; a word or a value that it cannot hold is an error, not a default."""
    given = dict(config or {})
    if unknown := [word for word in given if word not in _WORDS]:
        raise InvalidInput(f"a page log has no setting {unknown[0]!r}: its settings are {', '.join(_WORDS)}")
    level = str(given.get("level", "NONE")).upper()
    if level not in LEVELS:
        raise InvalidInput(f"level {given['level']!r} is not one of {', '.join(LEVELS)}")
    redact = given.get("redact", "secrets")
    if redact not in get_args(Redact):
        raise InvalidInput(f"redact {redact!r} is not one of {', '.join(get_args(Redact))}")
    path = Path(os.fspath(given.get("path", _PATH))).expanduser().absolute()
    return Options(level=LEVELS[level], path=path, redact=cast(Redact, redact))
