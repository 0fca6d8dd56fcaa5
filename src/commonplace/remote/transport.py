"""Requests over kept connections: retried where that is safe, within a time limit, and never carried out twice.

Reads are simply repeated. A write carries an Idempotency-Key: the server carries it out once, and answers repetitions
with the first result. Servers of one book share these keys, so that the next one can take over in the middle of a call.
"""

from __future__ import annotations

import json
import math
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import urllib3
from urllib3.connection import HTTPConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)

from commonplace import errors
from commonplace.errors import (
    CommonplaceError,
    Conflict,
    InvalidInput,
    InvalidText,
    LimitReached,
    ServerFailed,
    ServerUnavailable,
    StoreClosed,
)
from commonplace.remote.address import Address
from commonplace.settings import __version__
from commonplace.values import times

T = TypeVar("T")
Body = bytes | Iterator[bytes] | None

TIMEOUT = 30.0
"""Seconds that a call may take, including its retries."""
PATIENCE = 3600.0
"""The same for calls that take longer the more there is to do, such as `work` and `load`."""
_RETRY_FOR = 10.0
"""Seconds in which a call is tried again: enough for a server to restart."""
_CONNECT = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0
_CONNECTIONS = 32
"""Connections that are kept; more are opened when more calls run at once, and closed afterwards."""
_PROBES = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
_AWAY = (502, 503, 504)
"""The statuses of a proxy whose server is away."""
_EXCERPT = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call in terms of HTTP; every repetition is the same."""

    method: str
    path: str
    """Below /v1, with its names encoded."""
    body: Body = None
    headers: Mapping[str, str] = field(default_factory=dict)
    writes: bool = False
    patient: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def encode(value: object) -> bytes:
    """Return a request's body; refuse values that JSON or UTF-8 cannot represent."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise InvalidText("the call holds a lone surrogate: it is not valid Unicode text") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the call holds a value that JSON cannot represent: {error}") from error


def path_part(name: str) -> str:
    """Return any name as one part of a path."""
    quoted = quote(name, safe="")
    # Proxies would take these for the directory and the one above it.
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted


def query_string(fields: Mapping[str, object]) -> str:
    """Return the query of a path without the fields that are None; true and false are as in JSON."""
    named = {name: str(each).lower() if isinstance(each, bool) else each for name, each in fields.items()}
    found = urlencode([(name, each) for name, each in named.items() if each is not None])
    return f"?{found}" if found else ""


class _Server:
    """One server, and the connections to it."""

    def __init__(self, at: Address) -> None:
        self.label = at.label
        self.prefix = f"{at.prefix}/v1"
        self.headers = {"Accept-Encoding": "gzip", "User-Agent": f"commonplace/{__version__}"}
        if at.authorization is not None:
            self.headers["Authorization"] = at.authorization
        kind = urllib3.HTTPSConnectionPool if at.scheme == "https" else urllib3.HTTPConnectionPool
        # A server that vanishes without a word is noticed even while a long call waits.
        probes = [(socket.IPPROTO_TCP, getattr(socket, name), n) for name, n in _PROBES if hasattr(socket, name)]
        options = [*HTTPConnection.default_socket_options, (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *probes]
        self.pool = kind(at.host, at.port, maxsize=_CONNECTIONS, retries=False, socket_options=options)


class Transport:
    """The connections of a book to its server, or to several of one book. Safe between threads, not across a fork."""

    def __init__(self, addresses: Sequence[Address], *, timeout: float) -> None:
        self.label = ",".join(address.label for address in addresses)
        self._timeout = timeout
        self._pid = os.getpid()
        self._closed = threading.Event()
        self._servers = [_Server(each) for each in addresses]
        # At random, so that many books spread over the servers; it is kept until that server is away.
        self._chosen = random.randrange(len(self._servers))

    def call(self, request: Request, read: Callable[[Any], T]) -> T:
        """Make a call and return what `read` makes of the JSON in its answer."""
        with self._attempt(request, preload=True) as response:
            answer = _answer(response)
        try:
            value = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise ServerFailed(_unexpected_message(answer, self.label)) from error
        try:
            return read(value)
        except (KeyError, TypeError, ValueError, AttributeError, InvalidInput) as error:
            raise ServerFailed(
                f"{self.label} answered {request.method} with something that this commonplace cannot read:"
                " is the server another version?"
            ) from error

    @contextmanager
    def stream(self, request: Request) -> Iterator[Iterator[bytes]]:
        """Make a call whose answer is read while it arrives."""
        with self._attempt(request, preload=False) as response:
            try:
                yield self._pieces(response)
            finally:
                # A connection with an unread answer cannot be used again.
                response.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed.is_set()

    def close(self) -> None:
        """Close the connections; calls that wait for another attempt end."""
        # In a forked child the connections belong to the parent.
        if os.getpid() == self._pid and not self.closed:
            self._closed.set()
            for server in self._servers:
                server.pool.close()

    def _ensure_open(self) -> None:
        if os.getpid() != self._pid:
            raise StoreClosed(f"{self.label} was opened before a fork; open it again in the child process")
        if self.closed:
            raise StoreClosed(f"the book at {self.label} was closed")

    @contextmanager
    def _attempt(self, request: Request, *, preload: bool) -> Iterator[urllib3.BaseHTTPResponse]:
        """Yield a successful response, after as many attempts as may help; raise the last error."""
        begun = time.monotonic()
        ends = begun + (max(PATIENCE, self._timeout) if request.patient else self._timeout)
        # An attempt with hardly any time left would only hide the error of the one before.
        last = min(ends - min(1.0, self._timeout / 4), begun + _RETRY_FOR)
        headers = dict(request.headers)
        if isinstance(request.body, bytes):
            headers["Content-Type"] = "application/json"
        if request.writes:
            headers["Idempotency-Key"] = times.new_id()
        hope = doubt = False
        for attempt in count(1):
            self._ensure_open()
            at = self._chosen
            try:
                response = self._send(self._servers[at], request, headers, ends, preload)
            except _Failed as failed:
                wait = max(_backoff((attempt - 1) // len(self._servers)), failed.wait)
                # A server repeats a refusal, whatever failed before it.
                hope, doubt = failed.may_pass or (hope and failed.away), doubt or failed.sent
                if failed.away:
                    self._chosen = (at + 1) % len(self._servers)
                    if attempt % len(self._servers):  # a server has not been tried yet
                        hope, wait = True, 0.0
                again = hope and (not failed.sent or isinstance(request.body, bytes | None))
                if not again or time.monotonic() + wait > last:
                    if doubt and request.writes and failed.error.retryable:
                        raise ServerUnavailable(
                            f"{failed.error}; the write may have been done: check before you repeat it"
                        ) from failed.error
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
        except HTTPError as error:
            self._ensure_open()
            sent = not isinstance(error, (ConnectTimeoutError, SSLError))
            raise _Failed(_unavailable(error, server.label), away=True, may_pass=_may_pass(error), sent=sent) from error
        refused = failure(answer, server.label)
        raise _Failed(
            refused,
            away=answer.status in _AWAY,
            may_pass=refused.retryable,
            # A proxy may have lost an answer of the server itself.
            sent=isinstance(refused, ServerUnavailable),
            wait=_retry_after(answer, refused),
        )

    def _pieces(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        try:
            yield from response.stream(65536, decode_content=True)
        except HTTPError as error:
            raise _unavailable(error, self.label) from error


class _Failed(Exception):
    """One attempt that failed, and what that means for the next."""

    def __init__(self, error: CommonplaceError, *, away: bool, may_pass: bool, sent: bool, wait: float = 0.0) -> None:
        super().__init__(error)
        self.error = error
        self.away = away
        """Whether the server is at fault, so that another one may answer."""
        self.may_pass = may_pass
        self.sent = sent
        """Whether the server may have received the request and carried it out."""
        self.wait = wait
        """Seconds that the server asks to wait."""


def failure(answer: Answer, label: str) -> CommonplaceError:
    """Return the error in an answer, of the same class as in process."""
    if _media_type(answer) == "application/problem+json":
        try:
            return problem(json.loads(answer.body))
        except (ValueError, KeyError, TypeError, RecursionError):
            return ServerFailed(_unexpected_message(answer, label))
    if answer.status in _AWAY:
        return ServerUnavailable(f"{label} is away: something before it answered {answer.status}{_excerpt(answer)}")
    return ServerFailed(_unexpected_message(answer, label))


def problem(fields: Mapping[str, Any]) -> CommonplaceError:
    """Return the error that a problem document describes."""
    detail = str(fields["detail"])
    kind = ERRORS.get(fields["code"])
    if kind is None:
        return ServerFailed(f"the server reports an unknown error, {fields['code']!r}: {detail}")
    if issubclass(kind, Conflict):
        return kind(detail, current=int(fields["current"]))
    if issubclass(kind, LimitReached):
        return kind(detail, retry_after=float(fields["retry_after"]))
    return kind(detail)


def _retry_after(answer: Answer, error: CommonplaceError) -> float:
    """Return the seconds that a server asks to wait; 0 if it asks for none."""
    if isinstance(error, LimitReached):
        return error.retry_after
    given = answer.headers.get("Retry-After") or "0"
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = (times.to_micros(parsedate_to_datetime(given)) - times.now()) / 1e6
        except ValueError:
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _unexpected_message(answer: Answer, label: str) -> str:
    if 300 <= answer.status < 400:
        return f"{label} redirects to another address ({answer.status}): open the book at that one"
    return f"{label} gave an answer that is not commonplace's, {answer.status}{_excerpt(answer)}: is the address right?"


def _excerpt(answer: Answer) -> str:
    """Return the beginning of a text on one line without control characters; nothing of other media."""
    media = _media_type(answer)
    if not media.startswith("text/") and "json" not in media:
        return ""
    text = answer.body[: 4 * _EXCERPT].decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f" ({line[:_EXCERPT]}{'…' if len(line) > _EXCERPT else ''})" if line else ""


def _media_type(answer: Answer) -> str:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _unavailable(error: HTTPError, label: str) -> ServerUnavailable:
    """Return what went wrong on the way to the server."""
    for kind, message in (
        (NameResolutionError, "{} cannot be reached: its name is not known"),
        (NewConnectionError, "{} cannot be reached: {}; is the server running?"),
        (ConnectTimeoutError, "{} cannot be reached: nothing answers"),
        (SSLError, "there is no secure connection to {}: {}"),
        (ReadTimeoutError, "{} gave no answer in time"),
    ):
        if isinstance(error, kind):
            return ServerUnavailable(message.format(label, _reason(error)))
    return ServerUnavailable(f"the connection to {label} broke ({_reason(error)})")


def _may_pass(error: HTTPError) -> bool:
    """Whether a failure may soon be over; a wrong name or certificate is not."""
    if isinstance(error, NameResolutionError):
        cause = error.__cause__
        return isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN
    return not isinstance(error, SSLError)


def _answer(response: urllib3.BaseHTTPResponse) -> Answer:
    return Answer(status=response.status, headers=response.headers, body=response.data)


def _backoff(attempt: int) -> float:
    """Return seconds to wait: twice as long each time, with jitter."""
    longest: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(attempt, 20))
    return longest * random.uniform(0.5, 1.0)


def _reason(error: Exception) -> str:
    """Return the message of the innermost cause, which says most."""
    found: BaseException = error
    while (below := found.__cause__ or found.__context__) is not None:
        found = below
    words = found.strerror if isinstance(found, OSError) and found.strerror else str(found)
    return " ".join(str(words).split())[:200] or type(found).__name__


def _tree(kind: type[CommonplaceError]) -> Iterator[type[CommonplaceError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _tree(below)


ERRORS: dict[str, type[CommonplaceError]] = {
    kind.code: kind for kind in _tree(CommonplaceError) if kind.__module__ == errors.__name__
}
"""Every error class by its code."""
