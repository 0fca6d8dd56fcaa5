"""Paths in header lines, quoted as git quotes them."""

from __future__ import annotations

import re

from commonplace.errors import InvalidPatch

_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_UNSAFE = re.compile(r'[\x00-\x1f\x7f"\\]')


def escaped(name: str) -> str:
    """Quote a name as git does if a header line could not carry it otherwise."""
    if not _UNSAFE.search(name):
        return name
    return '"' + _UNSAFE.sub(lambda match: f"\\{ord(match[0]):03o}", name) + '"'


def unquoted(name: str) -> str:
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    try:
        return _ESCAPE.sub(_unescaped, name[1:-1].encode()).decode()
    except UnicodeError as error:
        raise InvalidPatch(f"the quoted path {name} is not UTF-8") from error


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _LETTERS.get(code, code)
