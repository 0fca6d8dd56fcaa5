"""Embeddings from any service that speaks OpenAI's `/embeddings`, with the standard library alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.errors import EmbedderFailed, InvalidInput
from commonplace.models.embedders import openai_wire
from commonplace.models.embedders.checked import CheckedEmbedder
from commonplace.models.embedders.http_post import Post
from commonplace.models.embedders.openai_service import OpenAIService, ServiceFailed


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
            answer = self._ask(openai_wire.request(self.name, part))
            rows += openai_wire.vectors(answer, len(part), self._service.url)
        return rows

    def _ask(self, body: bytes) -> bytes:
        try:
            return self._service.ask(body)
        except ServiceFailed as error:
            raise EmbedderFailed(str(error)) from error.__cause__
