"""What a command says: results on stdout, remarks and errors on stderr, as text or as JSON."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import datetime, timezone

from commonplace.wire import plain

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Console:
    """Where a command's words go; with `json`, every line on either stream is JSON."""

    json: bool = False

    def result(self, value: object, text: str) -> None:
        """Give the answer: the value for machines, or the text for people."""
        if self.json:
            self.data(value)
        elif text:
            self.text(text if text.endswith("\n") else text + "\n")

    def data(self, value: object) -> None:
        """Give a value as one JSON document: a line of its own, or indented for a terminal."""
        indent = 2 if sys.stdout.isatty() else None
        sys.stdout.write(_dumps(value, sys.stdout.encoding, indent) + "\n")

    def text(self, text: str) -> None:
        """Write text exactly; a terminal gets no control characters that a memory brought along."""
        shown = visible(text) if sys.stdout.isatty() else text
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(shown.encode(encoding, "backslashreplace").decode(encoding))

    def raw(self, content: bytes) -> None:
        """Write bytes exactly."""
        sys.stdout.flush()
        sys.stdout.buffer.write(content)

    def remark(self, text: str) -> None:
        """Say something beside the answer, on stderr, after what was answered so far."""
        sys.stdout.flush()
        if self.json:
            _complain(_dumps({"remark": text}, sys.stderr.encoding))
        else:
            _complain(f"commonplace: {visible(text)}")

    def error(self, code: str, message: str, *, hint: str | None = None) -> None:
        """Say what went wrong, on stderr, in one line."""
        if self.json:
            _complain(_dumps({"error": code, "message": message}, sys.stderr.encoding))
        else:
            _complain(f"commonplace: {one_line(message)}" + (f"\n{hint}" if hint else ""))


def visible(text: str) -> str:
    """Text whose control characters are spelled out, so that no memory can steer a terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str) -> str:
    """Text in one line, white space collapsed, control characters spelled out."""
    return visible(" ".join(text.split()))


def moment(when: datetime | None) -> str:
    """A time to the minute, in UTC; nothing for none."""
    return "" if when is None else when.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M")


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number and its noun: `1 memory`, `2 memories`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: int) -> str:
    """A number of bytes for people: `184 KiB`."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def _dumps(value: object, encoding: str | None, indent: int | None = None) -> str:
    # A stream that is not UTF-8 gets escapes, which every JSON reader undoes.
    unicode = (encoding or "utf-8").lower().replace("-", "") == "utf8"
    return json.dumps(plain(value), ensure_ascii=not unicode, indent=indent)


def _complain(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
