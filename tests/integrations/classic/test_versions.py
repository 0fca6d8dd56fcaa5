"""The integration with classic AutoGen works with every version of it, each in a separate process."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from tests.services.serving import run_client

ROOT = Path(__file__).resolve().parents[3]
BASE = "autogen-0.2.35"
"""The directory that also has what the other versions need."""
ENVIRONMENT = {"AUTOGEN_USE_DOCKER": "0", "PYTHONWARNINGS": "ignore", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}


@pytest.mark.clients
@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "version", "hook"),
    [
        # The hook that tells a version from the others: 0.2.40 has some for asynchronous chats, ag2 has others.
        ("autogen-0.2.35", "0.2.35", ""),
        ("autogen-agentchat-0.2.40", "0.2.40", "a_process_message_before_send"),
        ("ag2-0.9.10", "0.9.10", "update_agent_state"),
        ("ag2-0.14.0", "0.14.0", "update_agent_state"),
    ],
)
def test_everything_holds_with_each_version_of_autogen(tmp_path: Path, client: str, version: str, hook: str) -> None:
    program = str(Path(__file__).with_name("program.py"))
    given = [program, version, hook, *(["--all"] if client == BASE else [])]
    code = f"import runpy, sys\nsys.argv = {given!r}\nrunpy.run_path({program!r}, run_name='__main__')"
    said = run_client(code, *dict.fromkeys([client, BASE]), cwd=tmp_path, **ENVIRONMENT)
    assert said.endswith(f"All of it holds with {version}.\n")


def test_where_autogen_is_missing_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "pyautogen-0.10.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: pyautogen\nVersion: 0.10.0\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("commonplace.integrations.autogen_classic")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("commonplace.integrations.autogen_classic")
    assert caught.value.name == "autogen"
    assert "pyautogen 0.10.0 is installed, but since 0.10 it has no such module" in str(caught.value)
    assert 'pip install "ag2[openai]<1"' in str(caught.value)
