r"""Lines: a line ends at "\n" and nowhere else; a "\r" before it belongs to the line, so CRLF files stay CRLF."""

from __future__ import annotations

import io
import json

NO_NEWLINE = "\\ No newline at end of file"
"""The line of a diff below a line that has none."""

SHOWN = 160
"""Characters of a line that a message shows at most."""


def split(text: str) -> list[str]:
    r"""The lines with their newlines; unlike str.splitlines, "\r" or U+2028 end none."""
    return list(io.StringIO(text, newline="\n"))


def quoted(text: str, start: int = 0) -> str:
    """Show a line or path so that white space and missing newlines can be seen."""
    shown = text.removesuffix("\n")[start:]
    cut = shown[:SHOWN] + ("…" if len(shown) > SHOWN else "")
    return json.dumps(("…" if start else "") + cut, ensure_ascii=False)
