"""Exports, imports and backups, read and written piece by piece: none has to fit into memory."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from commonplace.errors import (
    InvalidInput,
    ServerFailed,
    ServerUnavailable,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from commonplace.remote import transport
from commonplace.values import Json, times

_PIECE = 65536


class SourceFailed(Exception):
    """The caller's records raised an error while they were sent; the request ends unfinished."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def encode_records(records: Iterable[Mapping[str, Json]]) -> Iterator[bytes]:
    """Yield records as lines of JSON, many in a piece."""
    piece = bytearray()
    for number, record in enumerate(_guard(records), start=1):
        piece += _line(record, number)
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _guard(records: Iterable[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    # A file that cannot be read must not look like a server that cannot be reached.
    try:
        yield from records
    except Exception as error:
        raise SourceFailed(error) from error


def _line(record: object, number: int) -> bytes:
    if not isinstance(record, Mapping):
        raise InvalidInput(f"record {number} is not a record of export(): it is a {type(record).__name__}")
    try:
        return json.dumps(dict(record), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"record {number} is not a record of export(): {error}") from error


def decode_records(pieces: Iterator[bytes], label: str) -> Iterator[dict[str, Json]]:
    """Yield the records of an export as they arrive; raise if it is not complete."""
    count = 0
    for line in _lines(pieces):
        record = _record(line, label)
        if record.get("type") == "error":
            try:
                raise transport.problem(record)
            except (KeyError, TypeError, ValueError):
                raise ServerFailed(f"{label} could not finish the export, and does not say why") from None
        if record.get("type") == "end":
            if record.get("records") != count:
                raise ServerFailed(f"{label} says that it exported {record.get('records')} records, {count} came")
            return
        count += 1
        yield record
    raise ServerUnavailable(f"the export of {label} broke off after {count} records: it is incomplete, try again")


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


def _record(line: bytes, label: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ServerUnavailable(f"the export of {label} broke off in the middle of a record: try again") from error
    if not isinstance(record, dict):
        raise ServerFailed(f"{label} sent something that is not a record: does the server have another version?")
    return record


def ensure_new(path: Path) -> None:
    """Refuse a path that exists."""
    if path.exists():
        raise InvalidInput(f"{path} exists already; a backup never overwrites a file: choose another name")


def save(pieces: Iterator[bytes], path: Path) -> None:
    """Write a new file completely, or not at all."""
    unfinished = path.with_name(f".{path.name}.{times.new_id()}.part")
    try:
        with _translate_errors(path):
            with open(unfinished, "xb", opener=partial(os.open, mode=0o600)) as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            _rename(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _rename(unfinished: Path, path: Path) -> None:
    """Give a file its name, unless the name was taken meanwhile."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        ensure_new(path)
    except OSError:  # a file system without links
        ensure_new(path)
        unfinished.rename(path)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(f"there is no room for {path}: {error.strerror}") from error
        if isinstance(error, PermissionError):
            raise StoreReadOnly(f"{path} cannot be written: {error.strerror}") from error
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
