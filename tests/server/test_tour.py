"""The tour of docs/server.md, run as a reader would."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server.server_harness import Running

PAGE = Path(__file__).parents[2] / "docs" / "server.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="the tour is told with curl")
def test_the_tour_can_be_taken(running: Running, tmp_path: Path) -> None:
    (block,) = re.findall(r"(?ms)^```bash\n(.*?)^```", PAGE.read_text())
    assert "http://127.0.0.1:8420" in block
    script = block.replace("http://127.0.0.1:8420", running.url).replace(
        "curl -s ", "curl -sS --fail-with-body -w '\\n' "
    )
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert [hit["memory"]["id"] for hit in answers[1]["hits"]] == ["web"]
    assert answers[2]["version"] == 2
    assert answers[-1]["records"] > 5
