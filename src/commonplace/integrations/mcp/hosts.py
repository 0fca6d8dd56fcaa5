"""The hosts that know MCP servers from a file of their own: where the file is, and how an entry is written into it.

Nothing is written here: `Change` holds the text before and after, for the caller to show and to save.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from commonplace.errors import InvalidInput

BACKUP = ".commonplace-backup"
"""Suffix of the copy of a file as it was before."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
Paths: TypeAlias = Callable[[Path], Path]
"""From the home directory to the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The program that a host starts."""

    name: str
    command: str
    args: Sequence[str]
    env: Mapping[str, str]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(f"a server's name has letters, digits, - and _, and is not {self.name!r}")

    def fields(self) -> dict[str, Any]:
        """Return the entry as most hosts write it."""
        return {"command": self.command, "args": [*self.args], **({"env": dict(self.env)} if self.env else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A host's file before and after; before is None if there is no file."""

    path: Path
    before: str | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentHost:
    """A program that uses MCP servers: where it lists them, in which form."""

    title: str
    user: Paths
    project: str | None
    """The file in a project's directory, if the host reads one."""
    key: str = "mcpServers"
    typed: bool = False
    """Whether an entry names its transport."""
    toml: bool = False

    def path(self, home: Path, project: Path | None) -> Path:
        """Return the file of a person, or of a project."""
        if project is None:
            return self.user(home)
        if self.project is None:
            raise InvalidInput(f"{self.title} has no file for a project: leave --project out")
        return project / self.project

    def install(self, path: Path, entry: Entry) -> Change:
        """Return the change that adds an entry, or replaces the one of the same name; the rest of the file stays."""
        before = _read(path)
        if self.toml:
            return Change(path=path, before=before, after=_with_table(before or "", entry))
        known = _parse(path, before)
        shown = {"type": "stdio", **entry.fields()} if self.typed else entry.fields()
        made = {**known, self.key: {**_servers(path, known, self.key), entry.name: shown}}
        return Change(path=path, before=before, after=_dump(made))

    def uninstall(self, path: Path, name: str) -> Change | None:
        """Return the change that takes an entry out, or None if there is none."""
        before = _read(path)
        if before is None:
            return None
        if self.toml:
            after = _without_table(before, name)
            return None if after == before else Change(path=path, before=before, after=after)
        known = _parse(path, before)
        servers = _servers(path, known, self.key)
        if name not in servers:
            return None
        rest = {each: fields for each, fields in servers.items() if each != name}
        return Change(path=path, before=before, after=_dump({**known, self.key: rest}))

    def show(self, entry: Entry) -> str:
        """Return the entry alone, as one would paste it."""
        if self.toml:
            return _table(entry)
        shown = {"type": "stdio", **entry.fields()} if self.typed else entry.fields()
        return _dump({self.key: {entry.name: shown}})


def _application(name: str) -> Paths:
    """Return where an application keeps its files on this system."""
    if sys.platform == "darwin":
        return lambda home: home / "Library" / "Application Support" / name
    if sys.platform == "win32":
        return lambda home: Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / name
    return lambda home: home / ".config" / name


HOSTS: Mapping[str, AgentHost] = {
    "claude-code": AgentHost(
        title="Claude Code", user=lambda home: home / ".claude.json", project=".mcp.json", typed=True
    ),
    "claude-desktop": AgentHost(
        title="Claude Desktop", project=None,
        user=lambda home: _application("Claude")(home) / "claude_desktop_config.json",
    ),
    "codex": AgentHost(
        title="Codex", user=lambda home: home / ".codex" / "config.toml", project=".codex/config.toml", toml=True
    ),
    "cursor": AgentHost(title="Cursor", user=lambda home: home / ".cursor" / "mcp.json", project=".cursor/mcp.json"),
    "gemini": AgentHost(
        title="Gemini CLI", user=lambda home: home / ".gemini" / "settings.json", project=".gemini/settings.json"
    ),
    "vscode": AgentHost(
        title="VS Code", user=lambda home: _application("Code")(home) / "User" / "mcp.json", project=".vscode/mcp.json",
        key="servers", typed=True,
    ),
    "windsurf": AgentHost(
        title="Windsurf", user=lambda home: home / ".codeium" / "windsurf" / "mcp_config.json", project=None
    ),
}  # fmt: skip
ANY = AgentHost(title="any other host", user=lambda home: home, project=None)
"""The form that nearly all hosts read."""


def find_host(name: str) -> AgentHost:
    """Return the host of a name; InvalidInput if it is not known."""
    if name not in HOSTS:
        raise InvalidInput(
            f"unknown host {name!r}; known: {', '.join(HOSTS)}; `commonplace mcp config` prints the entry for any other"
        )
    return HOSTS[name]


# -- JSON ----------------------------------------------------------------------------------------------


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None


def _parse(path: Path, text: str | None) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not plain JSON ({error}), and comments would be lost: nothing was changed;"
            " `commonplace mcp config` prints the entry to add by hand"
        ) from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{path} holds no JSON object: nothing was changed")
    return found


def _servers(path: Path, known: Mapping[str, Any], key: str) -> dict[str, Any]:
    servers = known.get(key, {})
    if not isinstance(servers, dict):
        raise InvalidInput(f"{key} in {path} is no JSON object: nothing was changed")
    return servers


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


# -- TOML ----------------------------------------------------------------------------------------------


def _table(entry: Entry) -> str:
    # A JSON string or list of strings is one of TOML, too.
    fields = [f"{name} = {json.dumps(part, ensure_ascii=False)}" for name, part in
              (("command", entry.command), ("args", [*entry.args]))]  # fmt: skip
    if entry.env:
        pairs = ", ".join(f"{json.dumps(name)} = {json.dumps(part)}" for name, part in entry.env.items())
        fields.append(f"env = {{ {pairs} }}")
    return "\n".join((f"[mcp_servers.{entry.name}]", *fields)) + "\n"


def _with_table(text: str, entry: Entry) -> str:
    rest = _without_table(text, entry.name).rstrip("\n")
    return f"{rest}\n\n{_table(entry)}" if rest else _table(entry)


def _without_table(text: str, name: str) -> str:
    """Return a document without a server's table and those below it; everything else stays as it was written."""
    quoted = rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')"
    own = re.compile(rf"\s*\[\s*mcp_servers\s*\.\s*{quoted}\s*(?:\.[^\]]*)?\]\s*(?:#.*)?")
    any_table = re.compile(r"\s*\[\[?[^\]]*\]\]?\s*(?:#.*)?")
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if any_table.fullmatch(line.rstrip("\n")):
            inside = own.fullmatch(line.rstrip("\n")) is not None
        if not inside:
            kept.append(line)
    return "".join(kept)
