"""Embeddings from any service that speaks OpenAI's `/embeddings`, with the standard library alone."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from commonplace.embed import openai_wire
from commonplace.embed.checked import CheckedEmbedder
from commonplace.embed.http_post import Answer, NoAnswer, Post, post, wait_before
from commonplace.errors import EmbedderFailed, InvalidInput

_LONGEST_WAIT = 60.0


class OpenAIEmbedder(CheckedEmbedder):
    """Embeds through an OpenAI-compatible service; what it answers is checked before it is used.

    `base_url` is the part before `/embeddings`, such as "http://localhost:11434/v1". `api_key` falls back
    to the environment's OPENAI_API_KEY and is shown nowhere. `dimension` is what to expect; without it the
    first answer settles it. Each request carries up to `batch` texts and waits `timeout` seconds for the
    service to connect and for each part of its answer. Refused connections, time-outs, 408, 429 and 5xx are
    tried `retries` times more. `client` sends one request in place of the standard library.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        dimension: int | None = None,
        batch: int = 128,
        timeout: float = 30.0,
        retries: int = 3,
        headers: Mapping[str, str] | None = None,
        client: Post | None = None,
    ) -> None:
        super().__init__(name=model, version="1", dimension=dimension)
        if batch < 1 or retries < 0 or timeout <= 0:
            raise InvalidInput("batch is at least 1, retries at least 0 and timeout more than 0")
        key = (api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
        self._url = _endpoint(base_url)
        self._headers = _headers(key, headers or {})
        self._secrets = [key, *(headers or {}).values()]
        self._batch = batch
        self._timeout = timeout
        self._retries = retries
        self._post = client or post

    def __repr__(self) -> str:
        return f"OpenAIEmbedder(model={self.name!r}, url={self._url!r})"

    def _compute(self, texts: Sequence[str]) -> object:
        rows: list[object] = []
        for start in range(0, len(texts), self._batch):
            part = texts[start : start + self._batch]
            answer = self._ask(openai_wire.request(self.name, part))
            rows += openai_wire.vectors(answer.body, len(part), self._url)
        return rows

    def _ask(self, body: bytes) -> Answer:
        """The service's answer to one request, after as many tries as are allowed."""
        for attempt in range(self._retries + 1):
            try:
                answer = self._post(self._url, body, self._headers, self._timeout)
            except NoAnswer as error:
                failure, pause = f"did not answer: {error}", wait_before(attempt, None)
                cause: NoAnswer | None = error
            else:
                if answer.status == 200:
                    return answer
                failure, cause = self._complaint(answer), None
                pause = wait_before(attempt, answer.retry_after)
                if not _is_passing(answer.status) or pause > _LONGEST_WAIT:
                    break
            if attempt < self._retries:
                time.sleep(pause)
        raise EmbedderFailed(self._without_secrets(f"{self._url} {failure}")) from cause

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


def _is_passing(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _endpoint(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("base_url is an http or https address, such as http://localhost:11434/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidInput("base_url holds no password, query or fragment; pass secrets in headers")
    return base_url.rstrip("/") + "/embeddings"


def _headers(key: str, extra: Mapping[str, str]) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    headers.update(extra)
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise InvalidInput(f"the header {name} holds a character that HTTP cannot carry")
    return headers
