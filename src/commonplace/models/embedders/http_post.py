"""One POST over HTTP, and how long to wait before the next try."""

from __future__ import annotations

import http.client
import random
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TypeAlias

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a service answered; `retry_after` is in seconds."""

    status: int
    body: bytes
    retry_after: float | None = None


class NoAnswer(Exception):
    """The service could not be reached, or fell silent; the message says why."""


Post: TypeAlias = Callable[[str, bytes, Mapping[str, str], float], Answer]
"""Sends a body with headers to an address within a time-out; raises NoAnswer when none comes."""


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Answer:
    """Send one request and read its whole answer, whatever the status; NoAnswer if none comes."""
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # noqa: S310 - checked to be http
    try:
        with _OPENER.open(request, timeout=timeout) as response:
            return _answer(response.status, response.read(), response.headers.get("Retry-After"))
    except urllib.error.HTTPError as error:
        with error:
            return _answer(error.code, _rest_of(error), error.headers.get("Retry-After"))
    except TimeoutError as error:
        raise NoAnswer(f"nothing came for {timeout:g} s") from error
    except urllib.error.URLError as error:
        late = isinstance(error.reason, TimeoutError)
        raise NoAnswer(f"nothing came for {timeout:g} s" if late else str(error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswer(f"the connection broke: {error!r}") from error


def wait_before(attempt: int, retry_after: float | None) -> float:
    """Seconds to wait after the attempt with this number, counted from 0.

    Doubles each time and is drawn at random, so that clients that failed together do not come back
    together; never shorter than the service asked for.
    """
    pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
    if retry_after is not None:
        return retry_after + random.uniform(0, min(pause, retry_after) / 4)
    return random.uniform(pause / 2, pause)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: following it would hand the key to another host."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _answer(status: int, body: bytes, retry_after: str | None) -> Answer:
    return Answer(status=status, body=body, retry_after=_seconds(retry_after))


def _rest_of(error: urllib.error.HTTPError) -> bytes:
    """The words that came with a refusal; the status counts even when they break off."""
    try:
        return error.read()
    except (OSError, http.client.HTTPException):
        return b""


def _seconds(retry_after: str | None) -> float | None:
    """The header as seconds from now: it holds a number or a date; anything else counts for nothing."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())
