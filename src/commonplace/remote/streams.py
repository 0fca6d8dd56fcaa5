"""Records and files that are read and written while they travel: no book has to fit into memory twice."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commonplace.errors import (
    CommonplaceError,
    InvalidInput,
    ServerFailed,
    ServerUnavailable,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from commonplace.remote import answers
from commonplace.values import Json
from commonplace.values.ids import new_id

_PIECE = 65536


class Broken(Exception):
    """What a caller's own records raised while they were sent: the request ends unfinished."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def sent(records: Iterable[Mapping[str, Json]]) -> Iterator[bytes]:
    """Records as lines of JSON, a piece at a time."""
    piece = bytearray()
    for number, record in enumerate(_given(records), start=1):
        piece += _line(record, number)
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _given(records: Iterable[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    # Apart from the connection's own errors: a file that cannot be read is not a server that cannot be reached.
    try:
        yield from records
    except Exception as error:
        raise Broken(error) from error


def _line(record: object, number: int) -> bytes:
    if not isinstance(record, Mapping):
        raise InvalidInput(f"record {number} is not one that export() gives: it is a {type(record).__name__}")
    try:
        return json.dumps(dict(record), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"record {number} is not one that export() gives: {error}") from error


def received(pieces: Iterator[bytes], shown: str) -> Iterator[dict[str, Json]]:
    """The records of an export as they come; raises if it ends before its end."""
    count = 0
    for line in _lines(pieces):
        record = _record(line, shown)
        if record.get("type") == "error":
            raise _told(record, shown)
        if record.get("type") == "end":
            if record.get("records") != count:
                raise ServerFailed(f"{shown} says that it exported {record.get('records')} records, {count} came")
            return
        count += 1
        yield record
    raise ServerUnavailable(f"the export of {shown} broke off after {count} records: it is not whole, ask again")


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    for piece in pieces:
        *whole, last = piece.split(b"\n")
        for line in whole:
            yield b"".join((*rest, line))
            rest.clear()
        rest.append(last)
    if any(rest):
        yield b"".join(rest)


def _record(line: bytes, shown: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ServerUnavailable(f"the export of {shown} broke off in the middle of a record: ask again") from error
    if not isinstance(record, dict):
        raise ServerFailed(f"{shown} exports something that is no record: is the server another version?")
    return record


def _told(record: dict[str, Any], shown: str) -> CommonplaceError:
    try:
        return answers.problem(record)
    except (KeyError, TypeError, ValueError):
        return ServerFailed(f"{shown} could not finish the export, and does not say why")


def ensure_new(path: Path) -> None:
    """Refuse a path where something is."""
    if path.exists():
        raise InvalidInput(f"{path} exists already; a backup never overwrites a file: choose another name")


def saved(pieces: Iterator[bytes], path: Path) -> None:
    """Write a file that is there whole, or not at all."""
    unfinished = path.with_name(f".{path.name}.{new_id()}.part")
    try:
        with _explained(path):
            with unfinished.open("xb") as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            _placed(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _placed(unfinished: Path, path: Path) -> None:
    """Give a file its name, unless somebody has taken it meanwhile."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        ensure_new(path)
    except OSError:  # a file system without links
        ensure_new(path)
        unfinished.rename(path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(f"there is no room for {path}: {error.strerror}") from error
        if isinstance(error, PermissionError):
            raise StoreReadOnly(f"{path} cannot be written: {error.strerror}") from error
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
