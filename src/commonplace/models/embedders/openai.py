"""Embeddings from any service that speaks OpenAI's `/embeddings`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from commonplace.errors import EmbedderFailed, InvalidInput
from commonplace.models.embedders.base import CheckedEmbedder
from commonplace.models.openai import OpenAIService, Post, ServiceFailed, complaint


class OpenAIEmbedder(CheckedEmbedder):
    """Embeds through an OpenAI-compatible service and checks its answers before they are used.

    `base_url` is the part before `/embeddings`, such as "http://localhost:11434/v1". `api_key` falls back
    to the environment's OPENAI_API_KEY and is never shown. `dimension` is what to expect; without it the
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
        self._service = OpenAIService(
            base_url, "/embeddings", api_key=api_key, timeout=timeout, retries=retries, headers=headers, client=client
        )
        self._batch = batch

    def __repr__(self) -> str:
        return f"OpenAIEmbedder(model={self.name!r}, url={self._service.url!r})"

    def _compute(self, texts: Sequence[str]) -> object:
        rows: list[object] = []
        for start in range(0, len(texts), self._batch):
            part = texts[start : start + self._batch]
            try:
                answer = self._service.ask(json.dumps({"model": self.name, "input": list(part)}).encode())
            except ServiceFailed as error:
                raise EmbedderFailed(str(error)) from error.__cause__
            rows += _vectors(answer, len(part), self._service.url)
        return rows


def _vectors(body: bytes, count: int, url: str) -> list[object]:
    """Return the vectors in the order of the texts, whatever their order in the answer."""
    rows = _rows(body, url)
    if len(rows) != count:
        raise EmbedderFailed(f"{url} answered with {len(rows)} vectors for {count} texts")
    # Some servers leave the index out; then the order is the texts'.
    indexes = [row.get("index", at) for at, row in enumerate(rows)]
    places = [index for index in indexes if isinstance(index, int)]
    if len(indexes) != len(places) or sorted(places) != list(range(count)):
        raise EmbedderFailed(f"{url} answered with vectors whose indexes are not 0 to {count - 1}, each once")
    found: list[object] = [None] * count
    for place, row in zip(places, rows, strict=True):
        found[place] = row["embedding"]
    return found


def _rows(body: bytes, url: str) -> list[dict[str, object]]:
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise EmbedderFailed(f"{url} did not return JSON: {error}") from error
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise EmbedderFailed(f'{url} answered without a list "data": {complaint(body)}')
    if not all(isinstance(row, dict) and isinstance(row.get("embedding"), list) for row in rows):
        raise EmbedderFailed(f'{url} answered with a row of "data" without a list "embedding"')
    return rows
