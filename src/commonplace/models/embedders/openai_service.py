"""A service that speaks OpenAI's protocol: asked with patience, and its refusals told without the key."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from commonplace.errors import InvalidInput
from commonplace.models.embedders import openai_wire
from commonplace.models.embedders.http_post import Answer, NoAnswer, Post, post, wait_before

_OPENAI = "https://api.openai.com/v1"
_LONGEST_WAIT = 60.0


class ServiceFailed(Exception):
    """The service gave no answer that can be used; `status` is None if it gave none at all."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


class OpenAIService:
    """One address of an OpenAI-compatible service. The key falls back to OPENAI_API_KEY and is shown nowhere."""

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
        """The body of the service's answer, after as many tries as are allowed; no new one once `within` is over."""
        until = None if within is None else time.monotonic() + within
        cause: NoAnswer | None
        for attempt in range(self._retries + 1):
            try:
                answer = self._post(self.url, body, self._headers, _least(self._timeout, until))
            except NoAnswer as error:
                failure, pause = f"did not answer: {error}", wait_before(attempt, None)
                status, cause = None, error
            else:
                if answer.status == 200:
                    return answer.body
                failure, pause = self._complaint(answer), wait_before(attempt, answer.retry_after)
                status, cause = answer.status, None
                if not _is_passing(answer.status):
                    break
            if attempt == self._retries or pause > _least(_LONGEST_WAIT, until):
                break
            time.sleep(pause)
        raise ServiceFailed(self._without_secrets(f"{self.url} {failure}"), status) from cause

    def _complaint(self, answer: Answer) -> str:
        said = openai_wire.complaint(answer.body)
        hint = "" if answer.status != 401 or self._secrets[0] else "; set OPENAI_API_KEY or pass api_key"
        later = f" (try again in {answer.retry_after:g} s)" if answer.retry_after else ""
        return f"answered {answer.status}{later}{hint}: {said}"

    def _without_secrets(self, message: str) -> str:
        """Services quote the key that they refuse; a message must not carry it on."""
        for secret in self._secrets:
            if secret:
                message = message.replace(secret, "***")
        return message


def home() -> str:
    """Where models without an address are asked: OPENAI_BASE_URL, or OpenAI itself."""
    return os.environ.get("OPENAI_BASE_URL") or _OPENAI


def _least(seconds: float, until: float | None) -> float:
    """So many seconds, or what is left of them; never nothing, which sockets take for an error."""
    return seconds if until is None else max(min(seconds, until - time.monotonic()), 0.01)


def _is_passing(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _endpoint(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("base_url is an http or https address, such as http://localhost:11434/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidInput("base_url holds no password, query or fragment; pass secrets in headers")
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
