"""The lines of a patch, and where reading stands."""

from __future__ import annotations


class Cursor:
    """The lines of a patch, taken one by one."""

    def __init__(self, patch: str) -> None:
        self._lines = patch.removesuffix("\n").split("\n") if patch else []
        self._at = 0

    @property
    def number(self) -> int:
        """The number of the next line, from 1, for messages."""
        return self._at + 1

    def peek(self, ahead: int = 0) -> str | None:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else None

    def take(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def starts(self, prefix: str | tuple[str, ...], ahead: int = 0) -> bool:
        return (self.peek(ahead) or "").startswith(prefix)

    def skip_blank(self) -> bool:
        """Pass over blank lines and say whether anything follows."""
        while (line := self.peek()) is not None and not line.strip():
            self._at += 1
        return line is not None

    def at_names(self) -> bool:
        return self.starts("--- ") and self.starts("+++ ", 1)

    def at_surplus(self) -> bool:
        """Whether a line of a hunk follows where the counts of its header allow none."""
        return self.starts((" ", "+", "-")) and not self.at_names()
