"""A book of a few memories: what a new user sees first."""

from __future__ import annotations

from pathlib import Path

import commonplace


def test_a_question_in_other_words_is_answered_among_a_few_memories(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "team.db") as book:
        book.remember("We chose FastAPI over Flask because of async support", kind="decision", source="alice")
        for content in ("The cron approach failed because jobs overlapped", "Sarah prefers TypeScript"):
            book.remember(content)
            answer = book.recall("which web framework did we pick?")
            assert [hit.memory.content for hit in answer] == ["We chose FastAPI over Flask because of async support"]
            assert answer.coverage == "partly known"
        assert len(book.recall("what is the capital of Peru?")) == 0
