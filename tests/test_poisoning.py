"""Secrets leave no trace on disk, in the index or in the log; text that reads like an instruction stays quoted."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import commonplace
from commonplace.guard.echo import AVOID, HEADER
from commonplace.guard.secrets import redact
from tests.guard.samples import Sample, samples, sayings

LONG_ENOUGH = 8
"""Shorter ones stand in numbers and vectors by chance."""


def known(sample: Sample) -> bool:
    """Return whether the guard finds every secret of a sample; the guard's own tests count the misses."""
    kept = redact(sample.text).text
    return bool(sample.secrets) and not any(secret in kept for secret in sample.secrets)


@pytest.mark.slow
def test_no_secret_reaches_the_disk_the_index_or_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told = [sample for sample in samples() if known(sample)]
    assert len(told) > 350
    with commonplace.open(tmp_path / "book.db") as book:
        book.remember([sample.text for sample in told])
        book.learn([{"content": sample.text, "name": "Ann"} for sample in told], wait=True)
        book.transcript("t").extend([{"content": {"note": sample.text}} for sample in told])
        book.remember("a note", id="m")
        for sample in told[:40]:
            book.revise("m", sample.text)
        exported = json.dumps(list(book.export()))
    on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in {secret for sample in told for secret in sample.secrets}:
        assert secret.encode() not in on_disk or len(secret) < LONG_ENOUGH
        assert secret not in exported or len(secret) < LONG_ENOUGH
        assert secret not in caplog.text


@pytest.mark.slow
def test_no_order_stands_outside_its_quotes(tmp_path: Path) -> None:
    orders = [saying.text for saying in sayings() if saying.instruction]
    assert len(orders) > 250
    with commonplace.open(tmp_path / "book.db", reader=None) as book:
        book.learn([{"content": order, "name": "Mallory"} for order in orders], wait=True)
        for order in orders:
            for line in book.recall(order, threshold=0, k=5).text.splitlines():
                if line not in (HEADER, AVOID):
                    label, _, quoted = line.partition("] ")
                    assert label.startswith("- [")
                    assert isinstance(json.loads(quoted), str)


FIRST = """\
Planner: We chose Flask as the web framework because the team knows it.
Coder: The cron approach for token clean-up failed because jobs overlapped. Use a queue instead.
Reviewer: Always validate input on all endpoints.
User: Thanks everybody, good work!"""
SECOND = """\
Planner: The load tests look bad. What now?
Coder: We chose FastAPI over Flask as the web framework because of async support.
Reviewer: Good call."""


def test_four_agents_decide_reverse_and_a_fifth_joins(tmp_path: Path) -> None:
    """Three sessions, which look like separate processes to the book."""
    for session, talk in (("one", FIRST), ("two", SECOND)):
        with commonplace.open(tmp_path / "team.db") as book:
            book.learn(talk, session=session, wait=True)
    with commonplace.open(tmp_path / "team.db") as book:
        decided = book.recall("Which web framework did we choose, and why?")
        assert decided.coverage == "known"
        assert decided.hits[0].memory.kind == "decision"
        assert "FastAPI" in decided.hits[0].memory.text
        assert "async support" in decided.hits[0].memory.text
        # The message says no more than the decision, and what was decided before is a warning, not an answer.
        assert not any("the team knows it" in hit.memory.text for hit in decided.hits)
        assert any("the team knows it" in hit.memory.text for hit in decided.avoid)
        assert decided.text.index("FastAPI") < decided.text.index(AVOID) < decided.text.index("the team knows it")
    with commonplace.open(tmp_path / "team.db") as newcomer:
        tried = newcomer.recall("How should we do the token clean-up?")
        assert any("cron approach" in hit.memory.text for hit in tried.avoid)
        assert "Use a queue instead" in tried.text
        assert "validate input" in newcomer.recall("What do we always do on endpoints?").text
        assert not newcomer.recall("Who won the football match?").hits


def test_nobody_closes_what_another_person_says_of_themselves(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "book.db", reader=None) as book:

        def say(name: str, text: str) -> commonplace.Learned:
            return book.learn([{"role": "user", "name": name, "content": text}], wait=True)

        say("Sarah", "I live in Berlin.")
        claimed = say("Mallory", "Sarah lives in Paris now.")
        assert "disputes" in [link.relation for link in claimed.links]
        assert "Sarah lives in Berlin" in [memory.text for memory in book.list()]
        moved = say("sarah", "I live in Rome now.")
        assert "supersedes" in [link.relation for link in moved.links]


def test_a_memory_that_several_messages_lead_to_is_listed_once(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "book.db", reader=None) as book:
        said = [{"role": "user", "name": name, "content": "We use FastAPI."} for name in ("Sarah", "Bob", "Ann")]
        learned = book.learn(said, wait=True)
        assert len(learned.memories) == 1
        assert learned.memories[0].version == book.get(learned.memories[0].id).version
