"""The JSON of OpenAI's `/embeddings`: written, read and checked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from commonplace.errors import EmbedderFailed

_LONGEST_COMPLAINT = 300


def request(model: str, texts: Sequence[str]) -> bytes:
    """The body that asks for a vector for each text."""
    return json.dumps({"model": model, "input": list(texts)}).encode()


def vectors(body: bytes, count: int, url: str) -> list[object]:
    """The vectors in the order of the texts, however they came; EmbedderFailed if one is missing."""
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


def complaint(body: bytes) -> str:
    """What the service said was wrong, in one short line."""
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


def _rows(body: bytes, url: str) -> list[dict[str, object]]:
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise EmbedderFailed(f"{url} answered with something that is no JSON: {error}") from error
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise EmbedderFailed(f'{url} answered without a list "data": {complaint(body)}')
    if not all(isinstance(row, dict) and isinstance(row.get("embedding"), list) for row in rows):
        raise EmbedderFailed(f'{url} answered with a row of "data" that holds no list "embedding"')
    return rows
