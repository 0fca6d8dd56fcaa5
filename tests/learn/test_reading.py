"""The reader that ships with commonplace keeps plain statements, and most of the written snippets."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest

from commonplace.learn.extractor import StatementExtractor
from tests.learn.scripted import said

ROOT = Path(__file__).resolve().parent.parent.parent
READER = StatementExtractor()

PLAIN = {
    "I prefer TypeScript.": "preference",
    "I am allergic to peanuts.": "fact",
    "My cat is called Miso.": "fact",
    "The staging server listens on port 8081.": "fact",
    "We chose FastAPI over Flask because of the async support.": "decision",
    "We decided to use Redis for caching.": "decision",
    "Always validate input on all endpoints.": "pattern",
    "The cron approach failed because jobs overlapped.": "failure",
    "The demo is on Friday.": "fact",
}


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_statement_is_kept_even_alone(text: str) -> None:
    ((finding,),) = READER.extract([said(text)])
    assert (finding.text, finding.kind) == (text, PLAIN[text])


@pytest.mark.parametrize(
    "text",
    [
        "Good morning!",
        "Thanks, that helped a lot!",
        "What should we use for the queue?",
        "lol that is funny",
        "Let me check.",
    ],
)
def test_chatter_is_not(text: str) -> None:
    assert READER.extract([said(text)]) == [[]]


@pytest.mark.slow
def test_the_written_snippets_are_mostly_found() -> None:
    score = runpy.run_path(str(ROOT / "bench" / "learning.py"))["_score"]
    count: Counter[str] = Counter()
    for _, each, _, _ in score(ROOT / "tests" / "data" / "learning" / "dev.jsonl", READER):
        count.update(each)
    assert count["met"] >= 0.85 * (count["met"] + count["false"])
    assert count["met"] >= 0.75 * (count["met"] + count["missed"])
    for detail in ("kind", "owner", "act", "day"):
        assert count[detail] >= 0.8 * count[f"{detail} asked"]
