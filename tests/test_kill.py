"""Writers are killed at any moment; the book has every acknowledged write, and no part of any other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.testing import HashEmbedder

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process unasked")

KILLS = 60


@pytest.mark.slow
def test_no_kill_loses_an_acknowledged_write_or_leaves_half_of_another(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "commonplace.testing.contract.crash", str(tmp_path / "book.db"), "--kills", str(KILLS)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # writers are forked: the parent keeps to one thread
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.stdout, done.stderr
    account = json.loads(done.stdout)
    assert account["problems"] == []
    assert account["kills"] >= 50
    assert account["verified"] >= 2
    # The test is meaningful only if much was acknowledged and some writers died during an operation.
    assert account["acknowledged"] > KILLS
    assert account["cut_off"] > KILLS // 10
    assert account["memories"] > KILLS


def test_the_verifier_sees_what_it_is_there_to_see(tmp_path: Path) -> None:
    """A lost write, a half batch, a memory back from the dead and a wrong content are each reported."""
    from commonplace.testing.contract import crash

    import commonplace

    path = tmp_path / "book.db"
    batch = [["memory", f"half{i}", 1] for i in range(crash.BATCH)]
    notes = [
        ["begun", {"number": 1, "kind": "one", "things": [["memory", "lost", 1]]}],
        ["done", 1],
        ["begun", {"number": 2, "kind": "one", "things": [["memory", "gone", 1]]}],
        ["done", 2],
        ["begun", {"number": 3, "kind": "forget", "things": [["memory", "gone", 0]]}],
        ["done", 3],
        ["begun", {"number": 4, "kind": "one", "things": [["memory", "garbled", 1]]}],
        ["done", 4],
        ["begun", {"number": 5, "kind": "append", "item": ["list", "l0", [1, 5]]}],
        ["done", 5],
        ["begun", {"number": 6, "kind": "batch", "things": batch}],
    ]
    (tmp_path / "1.notes").write_text("".join(json.dumps(note) + "\n" for note in notes))
    with commonplace.open(path, embedder=HashEmbedder()) as book:
        book.remember(crash.text("gone", 1), id="gone")
        book.remember("something else", id="garbled")
        book.remember(crash.text("stranger", 1), id="stranger")
        for _, name, _ in batch[:7]:
            book.remember(crash.text(name, 1), id=name)  # type: ignore[call-overload]
    problems = "\n".join(crash.verify(path, crash.read_notes(tmp_path)))
    assert "memory lost is at version 0" in problems
    assert "memory gone is at version 1, acknowledged was 0" in problems
    assert "memory garbled has not the content" in problems
    assert "memory stranger was never written" in problems
    assert "there in part: 7 of 20" in problems
    assert "('list', 'l0') lost (1, 5)" in problems
