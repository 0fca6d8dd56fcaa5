"""Requests over kept connections: retried where that is safe, given up in time, never done twice.

A call that only reads is repeated freely. One that writes carries an Idempotency-Key of its own: the server does what
it asks for once, and answers its repetitions with what the first one gave. Servers of one book know each other's names,
so that whoever does not answer can be replaced by the next, in the middle of a call.
"""

from __future__ import annotations

import json
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import urllib3
from urllib3.connection import HTTPConnection

from commonplace import __version__
from commonplace.errors import (
    CommonplaceError,
    InvalidInput,
    InvalidText,
    ServerFailed,
    ServerUnavailable,
    StoreClosed,
)
from commonplace.remote import address, answers
from commonplace.remote.address import Address
from commonplace.remote.answers import Answer
from commonplace.values import checks
from commonplace.values.ids import new_id

T = TypeVar("T")
Body = bytes | Iterator[bytes] | None

TIMEOUT = 30.0
"""Seconds that a call may take, its retries included."""
PATIENCE = 3600.0
"""The same for calls whose time depends on how much there is, such as `work` and `load`."""
_RETRY_FOR = 10.0
"""Seconds in which a call is tried again: enough for a server that is started anew."""
_CONNECT = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0
_CONNECTIONS = 32
"""Connections that are kept; more are made when more calls run at once, and closed after."""
_KEEP_ALIVE = ((socket.SO_KEEPALIVE, 1),)
_PROBES = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call as HTTP has it, each repetition of it the same."""

    method: str
    path: str
    """Below /v1, with its names encoded."""
    body: Body = None
    headers: Mapping[str, str] = field(default_factory=dict)
    writes: bool = False
    patient: bool = False


def encoded(value: object) -> bytes:
    """A request's body; refuses what JSON and UTF-8 cannot say."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise InvalidText("the call holds a lone surrogate: it is no valid Unicode text") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the call holds what JSON cannot say: {error}") from error


def part(name: str) -> str:
    """A name as one part of a path, whatever it holds."""
    encoded_name = quote(name, safe="")
    # As they are, proxies would take them for the directory and the one above it.
    return encoded_name.replace(".", "%2E") if encoded_name in (".", "..") else encoded_name


def query(**given: object) -> str:
    """The query of a path, of what is given; true and false as JSON has them."""
    named = {name: str(each).lower() if isinstance(each, bool) else each for name, each in given.items()}
    found = urlencode([(name, each) for name, each in named.items() if each is not None])
    return f"?{found}" if found else ""


def expected(if_version: int | None) -> dict[str, str]:
    """The header that compares before it sets; 0 means that nothing stands there yet."""
    version = checks.version(if_version)
    if version is None:
        return {}
    return {"If-Match": f'"{version}"'} if version else {"If-None-Match": "*"}


class _Server:
    """One server, and the connections to it."""

    def __init__(self, at: Address) -> None:
        self.shown = at.shown
        self.prefix = f"{at.prefix}/v1"
        self.headers = {"Accept-Encoding": "gzip", "User-Agent": f"commonplace/{__version__}"}
        if at.authorization is not None:
            self.headers["Authorization"] = at.authorization
        kind = urllib3.HTTPSConnectionPool if at.scheme == "https" else urllib3.HTTPConnectionPool
        self.pool = kind(at.host, at.port, maxsize=_CONNECTIONS, retries=False, socket_options=_socket_options())


class Transport:
    """The connections of a book to its server, or to several of one book. Safe between threads; one process's own."""

    def __init__(self, addresses: Sequence[Address], *, timeout: float) -> None:
        self.shown = address.shown(addresses)
        self._timeout = timeout
        self._pid = os.getpid()
        self._closed = threading.Event()
        self._servers = [_Server(each) for each in addresses]
        # By chance, so that many books spread over the servers; it stays until that one is away.
        self._chosen = random.randrange(len(self._servers))

    def call(self, request: Request, read: Callable[[Any], T]) -> T:
        """Make a call and read the JSON that it is answered with."""
        answer = self.ask(request)
        told = answers.value(answer, self.shown)
        try:
            return read(told)
        except (KeyError, TypeError, ValueError, AttributeError, InvalidInput) as error:
            raise ServerFailed(
                f"{self.shown} answered {request.method} with something that this commonplace cannot read:"
                " is the server another version?"
            ) from error

    def ask(self, request: Request) -> Answer:
        """Make a call, and again while that may help; whatever is no success is raised."""
        with self._tried(request, preload=True) as response:
            return _answer(response)

    @contextmanager
    def stream(self, request: Request) -> Iterator[Iterator[bytes]]:
        """Make a call whose answer is read while it comes."""
        with self._tried(request, preload=False) as response:
            try:
                yield self._pieces(response)
            finally:
                # What was not read to its end cannot be used again.
                response.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed.is_set()

    def ensure_open(self) -> None:
        """Refuse to go on with a book that was closed, or that belongs to another process."""
        if os.getpid() != self._pid:
            raise StoreClosed(f"{self.shown} was opened before a fork; open it again in the child process")
        if self._closed.is_set():
            raise StoreClosed(f"the book at {self.shown} was closed")

    def close(self) -> None:
        """Give the connections up; calls that wait for a next try end."""
        # In a forked child the connections are not its own to touch.
        if os.getpid() == self._pid and not self._closed.is_set():
            self._closed.set()
            for server in self._servers:
                server.pool.close()

    @contextmanager
    def _tried(self, request: Request, *, preload: bool) -> Iterator[urllib3.BaseHTTPResponse]:
        begun = time.monotonic()
        ends = begun + (max(PATIENCE, self._timeout) if request.patient else self._timeout)
        # A try that has hardly any time left would only hide what went wrong before it.
        last = min(ends - min(1.0, self._timeout / 4), begun + _RETRY_FOR)
        headers = dict(request.headers)
        if isinstance(request.body, bytes):
            headers["Content-Type"] = "application/json"
        if request.writes:
            headers["Idempotency-Key"] = new_id()
        hope = doubt = False
        for attempt in count(1):
            self.ensure_open()
            at = self._chosen
            try:
                response = self._send(self._servers[at], request, headers, ends, preload)
            except _Failed as failed:
                wait = max(_backoff((attempt - 1) // len(self._servers)), failed.wait)
                # What a server has refused it refuses again, whatever went wrong before.
                hope, doubt = failed.may_pass or (hope and failed.away), doubt or failed.sent
                if failed.away:
                    self._chosen = (at + 1) % len(self._servers)
                    if attempt % len(self._servers):  # somebody has not been asked yet
                        hope, wait = True, 0.0
                again = hope and (not failed.sent or isinstance(request.body, bytes | None))
                if not again or time.monotonic() + wait > last:
                    if doubt and request.writes and failed.error.retryable:
                        raise _doubtful(failed.error) from failed.error
                    raise failed.error from failed.__cause__
            else:
                yield response
                return
            self._closed.wait(wait)

    def _send(
        self, server: _Server, request: Request, headers: Mapping[str, str], ends: float, preload: bool
    ) -> urllib3.BaseHTTPResponse:
        left = max(0.001, ends - time.monotonic())
        try:
            response = server.pool.urlopen(
                request.method,
                server.prefix + request.path,
                body=request.body,
                headers={**server.headers, **headers},
                redirect=False,
                timeout=urllib3.Timeout(connect=min(_CONNECT, left), read=left),
                chunked=isinstance(request.body, Iterator),
                preload_content=preload,
            )
            if 200 <= response.status < 300:
                return response
            answer = _answer(response)
        except urllib3.exceptions.HTTPError as error:
            self.ensure_open()
            told = _told(error, server.shown)
            raise _Failed(told, away=True, may_pass=_may_pass(error), sent=_may_be_sent(error)) from error
        refused = answers.failure(answer, server.shown)
        raise _Failed(
            refused,
            away=answer.status in answers.AWAY,
            may_pass=refused.retryable,
            # Whatever stands in between may have lost an answer of the server itself.
            sent=isinstance(refused, ServerUnavailable),
            wait=answers.retry_after(answer, refused),
        )

    def _pieces(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        try:
            yield from response.stream(65536, decode_content=True)
        except urllib3.exceptions.HTTPError as error:
            raise _told(error, self.shown) from error


class _Failed(Exception):
    """One try that did not succeed, and what that means for the next."""

    def __init__(self, error: CommonplaceError, *, away: bool, may_pass: bool, sent: bool, wait: float = 0.0) -> None:
        super().__init__(error)
        self.error = error
        self.away = away
        """Whether the server is to blame, and another one may answer."""
        self.may_pass = may_pass
        self.sent = sent
        """Whether the server may have heard it, and carried it out."""
        self.wait = wait
        """Seconds that the server asks to wait."""


def _told(error: Exception, shown: str) -> ServerUnavailable:
    """What went wrong between here and the server, in words."""
    if isinstance(error, urllib3.exceptions.NameResolutionError):
        return ServerUnavailable(f"{shown} cannot be reached: its name is not known")
    if isinstance(error, urllib3.exceptions.NewConnectionError):
        return ServerUnavailable(f"{shown} cannot be reached: {_reason(error)}; is the server running?")
    if isinstance(error, urllib3.exceptions.ConnectTimeoutError):
        return ServerUnavailable(f"{shown} cannot be reached: nobody answers")
    if isinstance(error, urllib3.exceptions.SSLError):
        return ServerUnavailable(f"there is no safe connection to {shown}: {_reason(error)}")
    if isinstance(error, urllib3.exceptions.ReadTimeoutError):
        return ServerUnavailable(f"{shown} gave no answer in time")
    return ServerUnavailable(f"the connection to {shown} broke ({_reason(error)})")


def _doubtful(failed: CommonplaceError) -> ServerUnavailable:
    """The last error of a call, one of whose tries may have been carried out."""
    return ServerUnavailable(f"{failed}; what was asked for may have been done: look before asking again")


def _may_pass(error: urllib3.exceptions.HTTPError) -> bool:
    """Whether a failure may be over in a moment: a wrong name or certificate is not."""
    if isinstance(error, urllib3.exceptions.NameResolutionError):
        cause = error.__cause__
        return isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN
    return not isinstance(error, urllib3.exceptions.SSLError)


def _may_be_sent(error: urllib3.exceptions.HTTPError) -> bool:
    never = (urllib3.exceptions.ConnectTimeoutError, urllib3.exceptions.SSLError)
    return not isinstance(error, never)


def _answer(response: urllib3.BaseHTTPResponse) -> Answer:
    return Answer(status=response.status, headers=response.headers, body=response.data)


def _backoff(attempt: int) -> float:
    """Twice as long each time, and never the same as anybody else's."""
    longest: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(attempt, 20))
    return longest * random.uniform(0.5, 1.0)


def _reason(error: Exception) -> str:
    """The words of the innermost cause, which say most."""
    found: BaseException = error
    while (below := found.__cause__ or found.__context__) is not None:
        found = below
    words = found.strerror if isinstance(found, OSError) and found.strerror else str(found)
    return " ".join(str(words).split())[:200] or type(found).__name__


def _socket_options() -> list[tuple[int, int, int]]:
    """A server that has vanished without a word is noticed, also while a long call waits."""
    probes = [(socket.IPPROTO_TCP, getattr(socket, name), n) for name, n in _PROBES if hasattr(socket, name)]
    kept = [(socket.SOL_SOCKET, option, n) for option, n in _KEEP_ALIVE]
    return [*HTTPConnection.default_socket_options, *kept, *probes]
