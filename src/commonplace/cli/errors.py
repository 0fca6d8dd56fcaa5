"""What the command line itself has to complain about."""

from __future__ import annotations


class Usage(Exception):
    """A command that cannot be understood; `hint` says where its help is."""

    code = "usage"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
