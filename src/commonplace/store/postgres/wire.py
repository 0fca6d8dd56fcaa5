"""Statements on the wire: sent ahead in one packet, and waited for only where rows are read.

psycopg connects, converts values and names errors; its own pipeline, written in Python, takes 90 µs of CPU for
each statement and a packet for each, where libpq takes 3 and one for all. A recall has seven statements.
"""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import errors, pq
from psycopg.adapt import PyFormat, Transformer

from commonplace.store.base import Row

_BINARY = 1
_MOST_PREPARED = 400
"""Names of prepared statements that a connection keeps; what comes later is sent whole each time."""


class Answer:
    """The rows of a statement, which come when they are asked for."""

    __slots__ = ("_wire", "is_here", "rows")

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.is_here = False
        self.rows: list[Row] = []

    def fetchall(self) -> list[Row]:
        self._wire.wait_for(self)
        return self.rows


class Wire:
    """One connection's pipeline. Everything between `open` and `close` is sent in order and answered in order."""

    def __init__(self, connection: psycopg.Connection[Any], *, prepare: bool) -> None:
        self.prepare = prepare
        self._pgconn = connection.pgconn  # psycopg has made it non-blocking
        self._encoding = connection.info.encoding
        self._transformer = Transformer(connection)
        self._waiting: deque[Answer] = deque()
        self._error: psycopg.Error | None = None
        self._seen: set[tuple[bytes, tuple[int, ...]]] = set()
        self._prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self._selector: selectors.BaseSelector | None = None

    def open(self) -> None:
        self._error = None
        self._waiting.clear()
        self._pgconn.enter_pipeline_mode()

    def close(self) -> None:
        """Wait for everything that was sent and raise the first error of it."""
        try:
            self.sync()
        finally:
            if self._pgconn.status == pq.ConnStatus.OK and not self._waiting:
                self._pgconn.exit_pipeline_mode()

    def sync(self) -> None:
        """End what belongs together: after an error, the server goes on behind this."""
        last = Answer(self)
        self._pgconn.pipeline_sync()
        self._waiting.append(last)
        self.wait_for(last)

    def send(self, text: bytes, values: Sequence[object] | None) -> Answer:
        transformer = self._transformer
        dumped = transformer.dump_sequence(values, [PyFormat.AUTO] * len(values)) if values else None
        types = transformer.types or () if values else ()
        formats = transformer.formats if values else None
        name = self._name(text, types) if self.prepare else None
        if name is None:
            self._pgconn.send_query_params(text, dumped, types, formats, _BINARY)
        else:
            self._pgconn.send_query_prepared(name, dumped, formats, _BINARY)
        answer = Answer(self)
        self._waiting.append(answer)
        return answer

    def wait_for(self, answer: Answer) -> None:
        """Take in what the server answers until this one is there; raise the first error since the last sync."""
        if not answer.is_here:
            self._pgconn.send_flush_request()
        while not answer.is_here:
            self._exchange()
            self._take_in()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _name(self, text: bytes, types: tuple[int, ...]) -> bytes | None:
        """The name of a statement that was prepared here; it is, when it comes for the second time."""
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
        self._waiting.append(Answer(self))
        return name

    def _exchange(self) -> None:
        """Write what is to be written and read what is there, both in turn: a side that only writes may block both."""
        unsent = self._pgconn.flush()
        if not unsent and not self._pgconn.is_busy():
            return
        selector = self._ready_selector()
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if unsent else 0)
        key = selector.get_key(self._pgconn.socket)
        if key.events != wanted:
            selector.modify(self._pgconn.socket, wanted)
        for _, events in selector.select():
            if events & selectors.EVENT_READ:
                self._pgconn.consume_input()

    def _ready_selector(self) -> selectors.BaseSelector:
        if self._selector is None:
            self._selector = selectors.DefaultSelector()
            self._selector.register(self._pgconn.socket, selectors.EVENT_READ)
        return self._selector

    def _take_in(self) -> None:
        nothing = 0
        while self._waiting and not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            if result is not None:
                nothing = 0
                self._put(self._waiting.popleft(), result)
                continue
            # One stands between the answers of two statements; on a broken connection there is nothing else.
            nothing += 1
            if nothing > 1 and self._pgconn.status == pq.ConnStatus.BAD:
                raise psycopg.OperationalError("the connection is lost")
            if nothing > 1:
                return

    def _put(self, answer: Answer, result: pq.abc.PGresult) -> None:
        answer.is_here = True
        status = result.status
        if status == pq.ExecStatus.TUPLES_OK:
            self._transformer.set_pgresult(result)
            answer.rows = self._transformer.load_rows(0, result.ntuples, tuple)
        elif status == pq.ExecStatus.FATAL_ERROR and self._error is None:
            self._error = errors.error_from_result(result, self._encoding)

    def discard(self) -> None:
        """Let go of what the operating system was told about this connection."""
        if self._selector is not None:
            self._selector.close()
            self._selector = None
