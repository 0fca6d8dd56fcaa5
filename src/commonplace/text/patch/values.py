"""What a patch is made of, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

NOWHERE = "/dev/null"
"""The name that stands for the missing side of a created or deleted file."""

Op = Literal[" ", "-", "+"]
Revisions: TypeAlias = "Mapping[str, int] | Callable[[str], int]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a hunk, its newline included; only a file's last line may be without."""

    op: Op
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One place to change: `old` has to stand there, `new` takes its place."""

    number: int
    start: int
    header: str
    lines: tuple[Line, ...]

    @property
    def old(self) -> list[str]:
        return [line.text for line in self.lines if line.op != "+"]

    @property
    def new(self) -> list[str]:
        return [line.text for line in self.lines if line.op != "-"]

    @property
    def ends_file(self) -> bool:
        """Whether the hunk says that no line follows it: a side of it has no newline at its end."""
        return any(not line.text.endswith("\n") for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """All hunks for one file. `old` is None for a new file, `new` for a deleted one."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the patch touches: two for a rename, otherwise one."""
        return tuple(dict.fromkeys(path for path in (self.old, self.new) if path is not None))

    @property
    def path(self) -> str:
        return self.paths[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a path holds after the patch; None means that it is gone."""

    path: str
    content: str | None
