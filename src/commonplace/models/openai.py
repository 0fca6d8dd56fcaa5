"""Requests to a service that speaks OpenAI's protocol, with the standard library alone.

Temporary failures are retried, and no error message contains the key.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TypeAlias
from urllib.parse import urlsplit

from commonplace.errors import InvalidInput

_OPENAI = "https://api.openai.com/v1"
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 20.0
_LONGEST_WAIT = 60.0
_LONGEST_COMPLAINT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """The answer of a service; `retry_after` is in seconds."""

    status: int
    body: bytes
    retry_after: float | None = None


class NoAnswer(Exception):
    """The service could not be reached or did not answer in time; the message says why."""


class ServiceFailed(Exception):
    """The service gave no usable answer; `status` is None if it gave none at all."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


Post: TypeAlias = Callable[[str, bytes, Mapping[str, str], float], HttpAnswer]
"""Sends a body with headers to an address within a time-out; raises NoAnswer if none comes."""


class OpenAIService:
    """One address of an OpenAI-compatible service. The key falls back to OPENAI_API_KEY and is never shown."""

    def __init__(
        self,
        base_url: str,
        path: str,
        *,
        api_key: str | None,
        timeout: float,
        retries: int,
        headers: Mapping[str, str] | None,
        client: Post | None,
    ) -> None:
        key = (api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
        self.url = _endpoint(base_url, path)
        self._headers = _headers(key, headers or {})
        self._secrets = [key, *(headers or {}).values()]
        self._timeout = timeout
        self._retries = retries
        self._post = client or post

    def ask(self, body: bytes, *, within: float | None = None) -> bytes:
        """Return the body of the service's answer, with retries; no new try starts once `within` seconds are over."""
        until = None if within is None else time.monotonic() + within
        cause: NoAnswer | None
        for attempt in range(self._retries + 1):
            try:
                answer = self._post(self.url, body, self._headers, _least(self._timeout, until))
            except NoAnswer as error:
                failure, pause = f"did not answer: {error}", pause_after(attempt, None)
                status, cause = None, error
            else:
                if answer.status == 200:
                    return answer.body
                failure, pause = self._complaint(answer), pause_after(attempt, answer.retry_after)
                status, cause = answer.status, None
                if answer.status not in (408, 429) and answer.status < 500:
                    break
            if attempt == self._retries or pause > _least(_LONGEST_WAIT, until):
                break
            time.sleep(pause)
        raise ServiceFailed(self._without_secrets(f"{self.url} {failure}"), status) from cause

    def _complaint(self, answer: HttpAnswer) -> str:
        hint = "" if answer.status != 401 or self._secrets[0] else "; set OPENAI_API_KEY or pass api_key"
        later = f" (try again in {answer.retry_after:g} s)" if answer.retry_after else ""
        return f"answered {answer.status}{later}{hint}: {complaint(answer.body)}"

    def _without_secrets(self, message: str) -> str:
        # Some services quote the key that they refuse.
        for secret in self._secrets:
            if secret:
                message = message.replace(secret, "***")
        return message


def default_url() -> str:
    """Return OPENAI_BASE_URL, or the address of OpenAI itself."""
    return os.environ.get("OPENAI_BASE_URL") or _OPENAI


def complaint(body: bytes) -> str:
    """Return the error in the body of an answer as one short line."""
    said: object
    try:
        said = json.loads(body)
    except ValueError:
        said = body.decode("utf-8", "replace")
    if isinstance(said, dict):
        said = said.get("error", said)
    if isinstance(said, dict):
        said = said.get("message", said)
    line = " ".join(str(said).split()) or "no reason given"
    return line if len(line) <= _LONGEST_COMPLAINT else line[: _LONGEST_COMPLAINT - 1] + "…"


def _least(seconds: float, until: float | None) -> float:
    """Return the seconds, or what is left of them; never 0, which sockets reject."""
    return seconds if until is None else max(min(seconds, until - time.monotonic()), 0.01)


def _endpoint(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("base_url is an http or https address, such as http://localhost:11434/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidInput("base_url must not contain a password, query or fragment; pass secrets in headers")
    return base_url.rstrip("/") + path


def _headers(key: str, extra: Mapping[str, str]) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    headers.update(extra)
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise InvalidInput(f"the header {name} holds a character that HTTP cannot carry")
    return headers


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as an answer: following it would hand the key to another host."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> HttpAnswer:
    """Send one request and read its whole answer, whatever the status; raise NoAnswer if none comes."""
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # noqa: S310 - checked to be http
    try:
        with _OPENER.open(request, timeout=timeout) as response:
            status, content, sent = response.status, response.read(), response.headers
    except urllib.error.HTTPError as error:
        with error:
            status, content, sent = error.code, _read_error(error), error.headers
    except TimeoutError as error:
        raise NoAnswer(f"nothing came for {timeout:g} s") from error
    except urllib.error.URLError as error:
        late = isinstance(error.reason, TimeoutError)
        raise NoAnswer(f"nothing came for {timeout:g} s" if late else str(error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswer(f"the connection broke: {error!r}") from error
    return HttpAnswer(status=status, body=content, retry_after=_seconds(sent.get("Retry-After")))


def _read_error(error: urllib.error.HTTPError) -> bytes:
    """Return the body of a refusal; the status counts even if the body breaks off."""
    try:
        return error.read()
    except (OSError, http.client.HTTPException):
        return b""


def _seconds(retry_after: str | None) -> float | None:
    """Return the header, a number or a date, as seconds from now; None for anything else."""
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


def pause_after(attempt: int, retry_after: float | None) -> float:
    """Return the seconds to wait after the attempt with this number, counted from 0.

    The pause doubles each time and is random, so that clients that failed together do not return together. It is
    never shorter than the service asked for.
    """
    pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
    if retry_after is not None:
        return retry_after + random.uniform(0, min(pause, retry_after) / 4)
    return random.uniform(pause / 2, pause)
