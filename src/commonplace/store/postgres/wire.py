"""Pipelined statements, and vectors and arrays in PostgreSQL's binary formats.

Statements are sent in one packet and waited for only where rows are read. psycopg's own pipeline, written in Python,
takes 90 µs of CPU and a packet for each statement; libpq takes 3 µs and one packet for all. A recall has seven
statements.
"""

from __future__ import annotations

import selectors
import struct
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import errors, pq
from psycopg.adapt import Buffer, Dumper, Loader, PyFormat, Transformer
from psycopg.types.numeric import Int8BinaryDumper

from commonplace.store.base import Row

_BINARY = 1
_MOST_PREPARED = 400
"""Number of prepared statements of a connection; further ones are sent as text each time."""


class PendingRows:
    """The rows of a statement, available after the server has answered."""

    __slots__ = ("_wire", "is_here", "rows")

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.is_here = False
        self.rows: list[Row] = []

    def fetchall(self) -> list[Row]:
        """Wait for the rows and return them."""
        self._wire.wait_for(self)
        return self.rows


class Wire:
    """One connection's pipeline: everything between `open` and `close` is sent and answered in order."""

    def __init__(self, connection: psycopg.Connection[Any], *, prepare: bool) -> None:
        self.prepare = prepare
        self._pgconn = connection.pgconn  # psycopg has made it non-blocking
        self._encoding = connection.info.encoding
        self._transformer = Transformer(connection)
        self._waiting: deque[PendingRows] = deque()
        self._error: psycopg.Error | None = None
        self._seen: set[tuple[bytes, tuple[int, ...]]] = set()
        self._prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self._selector: selectors.BaseSelector | None = None

    def open(self) -> None:
        self._error = None
        self._waiting.clear()
        self._pgconn.enter_pipeline_mode()

    def close(self) -> None:
        """Wait for every answer and raise the first error."""
        try:
            self.sync()
        finally:
            if self._pgconn.status == pq.ConnStatus.OK and not self._waiting:
                self._pgconn.exit_pipeline_mode()

    def sync(self) -> None:
        """Wait for every answer; after an error, the server continues behind this point."""
        last = PendingRows(self)
        self._pgconn.pipeline_sync()
        self._waiting.append(last)
        # No Flush: it would reach a pooler in a packet of its own, perhaps after the answer to the Sync. The pooler
        # would then give this idle client a server connection, which only the next Sync would free.
        self._receive_until(last)

    def send(self, text: bytes, values: Sequence[object] | None) -> PendingRows:
        transformer = self._transformer
        dumped = transformer.dump_sequence(values, [PyFormat.AUTO] * len(values)) if values else None
        types = transformer.types or () if values else ()
        formats = transformer.formats if values else None
        name = self._name(text, types) if self.prepare else None
        if name is None:
            self._pgconn.send_query_params(text, dumped, types, formats, _BINARY)
        else:
            self._pgconn.send_query_prepared(name, dumped, formats, _BINARY)
        answer = PendingRows(self)
        self._waiting.append(answer)
        return answer

    def wait_for(self, answer: PendingRows) -> None:
        """Wait for this answer; raise the first error since the last sync."""
        if not answer.is_here:
            self._pgconn.send_flush_request()
        self._receive_until(answer)

    def _receive_until(self, answer: PendingRows) -> None:
        while not answer.is_here:
            self._exchange()
            self._receive()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _name(self, text: bytes, types: tuple[int, ...]) -> bytes | None:
        """Return the name of a prepared statement; the second use of a statement prepares it."""
        key = (text, types)
        name = self._prepared.get(key)
        if name is not None:
            return name
        if key not in self._seen:
            if len(self._seen) < 4 * _MOST_PREPARED:
                self._seen.add(key)
            return None
        if len(self._prepared) >= _MOST_PREPARED:
            return None
        name = b"commonplace_%d" % len(self._prepared)
        self._prepared[key] = name
        self._pgconn.send_prepare(name, text, types)
        self._waiting.append(PendingRows(self))
        return name

    def _exchange(self) -> None:
        """Write and read in turn: a side that only writes may block both."""
        unsent = self._pgconn.flush()
        if not unsent and not self._pgconn.is_busy():
            return
        if self._selector is None:
            self._selector = selectors.DefaultSelector()
            self._selector.register(self._pgconn.socket, selectors.EVENT_READ)
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if unsent else 0)
        if self._selector.get_key(self._pgconn.socket).events != wanted:
            self._selector.modify(self._pgconn.socket, wanted)
        for _, events in self._selector.select():
            if events & selectors.EVENT_READ:
                self._pgconn.consume_input()

    def _receive(self) -> None:
        nothing = 0
        while self._waiting and not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            if result is not None:
                nothing = 0
                self._put(self._waiting.popleft(), result)
                continue
            # One None separates the answers of two statements; a broken connection returns only None.
            nothing += 1
            if nothing > 1 and self._pgconn.status == pq.ConnStatus.BAD:
                raise psycopg.OperationalError("the connection is lost")
            if nothing > 1:
                return

    def _put(self, answer: PendingRows, result: pq.abc.PGresult) -> None:
        answer.is_here = True
        status = result.status
        if status == pq.ExecStatus.TUPLES_OK:
            self._transformer.set_pgresult(result)
            answer.rows = self._transformer.load_rows(0, result.ntuples, tuple)
        elif status == pq.ExecStatus.FATAL_ERROR and self._error is None:
            self._error = errors.error_from_result(result, self._encoding)

    def discard(self) -> None:
        """Release the selector."""
        if self._selector is not None:
            self._selector.close()
            self._selector = None


# -- types ---------------------------------------------------------------------------------------------


class Half(NamedTuple):
    """A stored unit vector: little-endian float16."""

    blob: bytes


class Full(NamedTuple):
    """A query vector in full precision."""

    numbers: npt.NDArray[np.float32]


class Numbers(NamedTuple):
    """An array of int16, int32, int64 or float32."""

    array: npt.NDArray[Any]


class VectorTypes(NamedTuple):
    """The OIDs of pgvector's types in this database, and their schema."""

    halfvec: int
    vector: int
    schema: str


_ELEMENTS = {"i2": (21, 1005), "i4": (23, 1007), "i8": (20, 1016), "f4": (700, 1021)}
"""By numpy's name for a type: the OIDs of the type and of its array type."""


class _NumbersDumper(Dumper):
    format = pq.Format.BINARY

    def dump(self, obj: Numbers) -> Buffer | None:
        kind = obj.array.dtype.str[1:]
        size = obj.array.dtype.itemsize
        packed = np.empty(len(obj.array), [("size", ">i4"), ("value", f">{kind}")])
        packed["size"], packed["value"] = size, obj.array
        # One dimension without nulls; an empty array has none.
        if not len(obj.array):
            return struct.pack("!iii", 0, 0, _ELEMENTS[kind][0])
        return struct.pack("!iiiii", 1, 0, _ELEMENTS[kind][0], len(obj.array), 1) + packed.tobytes()

    def get_key(self, obj: Numbers, format: Any) -> Any:
        return (self.cls, obj.array.dtype.str[1:])

    def upgrade(self, obj: Numbers, format: Any) -> Dumper:
        made = type(self)(self.cls)
        made.oid = _ELEMENTS[obj.array.dtype.str[1:]][1]
        return made


class _HalfDumper(Dumper):
    format = pq.Format.BINARY

    def dump(self, obj: Half) -> Buffer | None:
        swapped = np.frombuffer(obj.blob, "<u2").byteswap()
        return struct.pack("!HH", len(swapped), 0) + bytes(swapped)


class _FullDumper(Dumper):
    format = pq.Format.BINARY

    def dump(self, obj: Full) -> Buffer | None:
        return struct.pack("!HH", len(obj.numbers), 0) + obj.numbers.astype(">f4").tobytes()


class _HalfLoader(Loader):
    format = pq.Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(np.frombuffer(data, "<u2", offset=4).byteswap())


def register_types(connection: psycopg.Connection[Any], types: VectorTypes) -> None:
    """Register our types. Every int is sent as bigint, so that a statement is prepared once, not once per width."""
    adapters = connection.adapters
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(Numbers, _NumbersDumper)
    adapters.register_dumper(Half, type("HalfDumper", (_HalfDumper,), {"oid": types.halfvec}))
    adapters.register_dumper(Full, type("FullDumper", (_FullDumper,), {"oid": types.vector}))
    adapters.register_loader(types.halfvec, _HalfLoader)
