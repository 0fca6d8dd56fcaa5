"""0Latency's `Memory`, on a book: `from commonplace.compat.zero_latency import Memory`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace import __version__
from commonplace.book import Book
from commonplace.compat import answers
from commonplace.compat import book as opened
from commonplace.errors import CommonplaceError as ZeroLatencyError
from commonplace.errors import LimitReached as RateLimitError
from commonplace.errors import Unauthorized as AuthenticationError
from commonplace.values import Json

__all__ = ["AuthenticationError", "Memory", "RateLimitError", "Recalled", "ZeroLatencyError"]


class Recalled(dict[str, Any]):
    """An answer as the client has it; `.text` is the block for a prompt."""

    @property
    def text(self) -> str:
        """What was recalled, ready for a prompt."""
        text: str = self["text"]
        return text


class Memory:
    """The client of the guide and of the package. The key is for a server; a book in a file needs none."""

    def __init__(self, api_key: str = "", base_url: str | None = None, timeout: float = 30.0) -> None:
        self.api_key = api_key
        self.base_url = base_url

    def add(
        self, content: str, agent_id: str | None = None, metadata: Mapping[str, Json] | None = None
    ) -> dict[str, Json]:
        """Keep a text; when this returns it is on disk and recall finds it.

        A conversation ("Coder: …" line by line) is learned from in the background. A text with metadata is one memory.
        """
        if metadata is not None:
            return answers.stored([self._book.remember(content, scope=answers.scope(agent_id), metadata=metadata)])
        return self._learn(content, agent_id)

    def recall(
        self, query: str, agent_id: str | None = None, limit: int = 10, max_tokens: int = answers.BUDGET
    ) -> Recalled:
        """Recall what bears on a query."""
        found = answers.recall(self._book, query, agent=agent_id, limit=limit, budget=max_tokens)
        return Recalled(answers.recalled(found))

    def extract(self, conversation: Sequence[Mapping[str, Any]], agent_id: str | None = None) -> dict[str, Json]:
        """Keep a conversation, and make memories of it in the background."""
        return self._learn([dict(message) for message in conversation], agent_id)

    def extract_status(self, job_id: str) -> dict[str, Json]:
        """How an extraction stands."""
        return answers.extraction(self._book, job_id)

    def health(self) -> dict[str, Json]:
        """Whether the book is sound."""
        found = self._book.check()
        return {"status": "ok" if found.ok else "unhealthy", "problems": [*found.problems], "version": __version__}

    def close(self) -> None:
        """Nothing to release here: the book is closed at the program's end."""

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def _book(self) -> Book:
        return opened(self.base_url, api_key=self.api_key)

    def _learn(self, conversation: str | list[dict[str, Any]], agent_id: str | None) -> dict[str, Json]:
        learned = self._book.learn(conversation, scope=answers.scope(agent_id))
        return {"job_id": learned.session, "status": "accepted"}
