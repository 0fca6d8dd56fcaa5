"""`commonplace mcp install` writes a host's file, shows the change first, and takes it back."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from commonplace.cli import main
from commonplace.integrations.mcp import hosts
from commonplace.integrations.mcp.hosts import HOSTS, Entry

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENTRY = Entry(name="commonplace", command="/bin/commonplace", args=["mcp", "/a b/team.db"], env={})
JSON = [name for name, host in HOSTS.items() if not host.toml]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("COMMONPLACE_BOOK", "COMMONPLACE_API_KEY", "COMMONPLACE_SPACE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def file_of(name: str, home: Path) -> Path:
    return HOSTS[name].path(home, None)


def servers(name: str, home: Path) -> dict[str, Any]:
    text = file_of(name, home).read_text("utf-8")
    found = tomllib.loads(text)["mcp_servers"] if HOSTS[name].toml else json.loads(text)[HOSTS[name].key]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", HOSTS)
def test_install_writes_an_entry_and_uninstall_takes_it_out(
    name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "install", name, "--book", "team.db", "--user", "ann", "--yes"]) == 0
    entry = servers(name, home)["commonplace"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-4:] == ["mcp", str(home / "team.db"), "--user", "ann"]
    assert not (home / "team.db").exists(), "installing makes no book"
    capsys.readouterr()
    assert main(["mcp", "install", name, "--book", "team.db", "--user", "ann", "--yes"]) == 0
    assert "has it already" in capsys.readouterr().out
    assert main(["mcp", "uninstall", name, "--yes"]) == 0
    assert "commonplace" not in json.dumps(servers(name, home) if not HOSTS[name].toml else {})
    assert main(["mcp", "uninstall", name, "--yes"]) == 0
    assert "nothing was changed" in capsys.readouterr().out


@pytest.mark.parametrize("name", JSON)
def test_the_rest_of_a_json_file_stays_and_is_kept_as_it_was(name: str, home: Path) -> None:
    path = file_of(name, home)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.dumps({"theme": "dark", HOSTS[name].key: {"other": {"command": "x", "args": []}}, "ä": [1]})
    path.write_text(before, "utf-8")
    assert main(["mcp", "install", name, "--yes"]) == 0
    after = json.loads(path.read_text("utf-8"))
    assert (after["theme"], after["ä"]) == ("dark", [1])
    assert set(after[HOSTS[name].key]) == {"other", "commonplace"}
    assert path.with_name(path.name + hosts.BACKUP).read_text("utf-8") == before
    assert main(["mcp", "uninstall", name, "--yes"]) == 0
    assert json.loads(path.read_text("utf-8")) == json.loads(before)


TOML = """# mine
model = "large"

[mcp_servers.other]
command = "x" # keep

[mcp_servers.commonplace]
command = "old"

[mcp_servers.commonplace.env]
A = "b"

[profiles.fast]
args = ["[mcp_servers.commonplace]"]
"""


def test_the_rest_of_a_toml_file_stays_as_it_was_written(home: Path) -> None:
    path = file_of("codex", home)
    path.parent.mkdir()
    path.write_text(TOML, "utf-8")
    assert main(["mcp", "install", "codex", "--book", 'a "b".db', "--yes"]) == 0
    text = path.read_text("utf-8")
    after = tomllib.loads(text)
    assert after["mcp_servers"]["commonplace"]["args"][-1] == str(home / 'a "b".db')
    assert "env" not in after["mcp_servers"]["commonplace"]
    assert after["profiles"] == tomllib.loads(TOML)["profiles"]
    assert 'command = "x" # keep' in text
    assert text.startswith("# mine\n")
    assert main(["mcp", "uninstall", "codex", "--yes"]) == 0
    assert set(tomllib.loads(path.read_text("utf-8"))["mcp_servers"]) == {"other"}


def test_without_consent_the_change_is_shown_and_nothing_is_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "install", "cursor"]) == 0
    told = capsys.readouterr()
    assert '+    "commonplace": {' in told.err
    assert "nothing was changed" in told.out
    assert not file_of("cursor", home).exists()


@pytest.mark.parametrize("content", ["{ // my servers\n}", "[]", '{"servers": []}', "{"])
def test_a_file_that_cannot_be_kept_whole_is_left_alone(
    content: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of("vscode", home)
    path.parent.mkdir(parents=True)
    path.write_text(content, "utf-8")
    assert main(["mcp", "install", "vscode", "--yes"]) == 1
    assert "nothing was changed" in capsys.readouterr().err
    assert path.read_text("utf-8") == content


def test_a_project_has_a_file_of_its_own(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "work").mkdir()
    assert main(["mcp", "install", "claude-code", "--project", "work", "--name", "team", "--yes"]) == 0
    assert set(json.loads((home / "work" / ".mcp.json").read_text("utf-8"))["mcpServers"]) == {"team"}
    assert main(["mcp", "install", "claude-desktop", "--project", "work", "--yes"]) == 1
    assert "no file for a project" in capsys.readouterr().err


def test_a_key_is_written_only_when_asked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMMONPLACE_API_KEY", "cp_secret")
    where = ["--book", "https://memory.example.com", "--yes"]
    assert main(["mcp", "install", "cursor", *where]) == 0
    assert servers("cursor", home)["commonplace"]["args"][-1] == "https://memory.example.com"
    assert "cp_secret" not in file_of("cursor", home).read_text("utf-8")
    assert main(["mcp", "install", "windsurf", "--with-key", *where]) == 0
    assert servers("windsurf", home)["commonplace"]["env"] == {"COMMONPLACE_API_KEY": "cp_secret"}
    if os.name == "posix":
        assert stat.S_IMODE(file_of("windsurf", home).stat().st_mode) == 0o600
    assert main(["mcp", "install", "windsurf", "--with-key", "--book", "team.db"]) == 2


def test_config_prints_the_entry_for_any_host(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "config", "--book", "team.db"]) == 0
    entry = json.loads(capsys.readouterr().out)["mcpServers"]["commonplace"]
    assert entry["args"][-2:] == ["mcp", str(home / "team.db")]
    assert main(["mcp", "config", "codex"]) == 0
    assert capsys.readouterr().out.startswith("[mcp_servers.commonplace]\n")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["install"], 2),
        (["install", "emacs"], 1),
        (["instal", "cursor"], 2),
        (["install", "cursor", "--name", "a b"], 1),
    ],
)
def test_wrong_usage_is_told(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", *words]) == status
    assert capsys.readouterr().err
