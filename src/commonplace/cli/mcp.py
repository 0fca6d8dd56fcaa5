"""The command that serves a book over MCP, and writes it into the configuration of hosts."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.cli import arguments, books
from commonplace.cli.arguments import Commands, Option, Section
from commonplace.cli.console import Console, Result, UsageError
from commonplace.errors import ModelUnavailable, missing_package

if TYPE_CHECKING:
    from commonplace.integrations.mcp.hosts import Change, Entry

COMMANDS = Commands()
_KEY = "COMMONPLACE_API_KEY"


@COMMANDS.add(
    "mcp",
    Option("what BOOK|URL|install|uninstall|config?", "the book to serve over stdio (as --book), or what to do"),
    Option("host HOST?", "for install: claude-code, claude-desktop, codex, cursor, gemini, vscode, windsurf"),
    Section(
        "whose memory",
        Option("--user USER", "write as this user, and see only what is theirs or shared"),
        Option("--agent AGENT", "write as this agent"),
    ),
    arguments.EXTRACTOR,
    Section(
        "the configuration of a host",
        Option("--name NAME", "name of the server (commonplace)", default="commonplace"),
        Option("--project DIR", "the file of this project, not your own", type=Path),
        Option("--with-key", f"write {_KEY} into the file, for a book behind a server"),
        Option("--yes", "change the file without asking"),
    ),
)
def _mcp(args: Namespace, console: Console) -> Result | None:
    """Serve the book to one program over MCP, or install that in its configuration.

    commonplace mcp team.db
    commonplace mcp install claude-code --book ~/memory.db
    commonplace mcp uninstall claude-code
    commonplace mcp config --book https://memory.example.com --user maria
    """
    for package in ("mcp", "jsonschema"):
        if find_spec(package) is None:
            raise ModelUnavailable(missing_package("MCP", package, "mcp"))
    if args.what in _ACTIONS:
        return _ACTIONS[args.what](args, console)
    if args.host is not None:
        raise UsageError(f"unknown action {args.what!r}", hint=f"known: {', '.join(_ACTIONS)}; or give one book")
    args.book = args.what or args.book
    _serve(args, console)
    return None


def _serve(args: Namespace, console: Console) -> None:
    import asyncio

    from commonplace.integrations.handle import BookHandle
    from commonplace.integrations.mcp import Local, make_server, serve_stdio
    from commonplace.values import Scope

    with books.open_or_create(args, console) as book:
        connection = Local(BookHandle(book, None), Scope(user=args.user, agent=args.agent))
        asyncio.run(serve_stdio(make_server(lambda request: connection)))


def _config(args: Namespace, console: Console) -> Result:
    from commonplace.integrations.mcp import hosts

    host, entry = hosts.ANY if args.host is None else hosts.find_host(args.host), _entry(args)
    return Result({"mcpServers": {entry.name: entry.fields()}}, host.show(entry))


def _install(args: Namespace, console: Console) -> Result:
    from commonplace.integrations.mcp import hosts

    host = hosts.find_host(_host_name(args))
    entry = _entry(args)
    change = host.install(host.path(Path.home(), args.project), entry)
    if change.before == change.after:
        return _unchanged(change.path, "has it already")
    return _save(change, args, console, f"{host.title} knows {entry.name} when it starts again")


def _uninstall(args: Namespace, console: Console) -> Result:
    from commonplace.integrations.mcp import hosts

    host = hosts.find_host(_host_name(args))
    path = host.path(Path.home(), args.project)
    change = host.uninstall(path, args.name)
    if change is None:
        return _unchanged(path, f"has no server {args.name}")
    return _save(change, args, console, f"{host.title} no longer knows {args.name} when it starts again")


_ACTIONS = {"install": _install, "uninstall": _uninstall, "config": _config}


def _unchanged(path: Path, why: str) -> Result:
    return Result({"path": str(path), "changed": False}, f"{path} {why}: nothing was changed")


def _host_name(args: Namespace) -> str:
    if args.host is None:
        raise UsageError(f"{args.what} needs a host", hint="`commonplace mcp config` prints the entry for any other")
    name: str = args.host
    return name


def _entry(args: Namespace) -> Entry:
    """Return the entry that starts this program on this book, wherever the host starts it."""
    from commonplace.integrations.mcp import hosts
    from commonplace.remote.address import is_remote

    where = books.place(args)
    if "://" not in where:
        where = str(Path(where).expanduser().absolute())
    named = ("space", args.space or os.environ.get("COMMONPLACE_SPACE")), ("user", args.user), ("agent", args.agent)
    options = [part for name, value in named if value for part in (f"--{name}", value)]
    env = {_KEY: os.environ[_KEY]} if args.with_key and is_remote(where) and os.environ.get(_KEY) else {}
    if args.with_key and not env:
        raise UsageError(f"--with-key is for a book behind a server, and takes {_KEY} from the environment")
    found = shutil.which("commonplace")
    command, first = (found, []) if found else (sys.executable, ["-m", "commonplace"])
    return hosts.Entry(name=args.name, command=command, args=[*first, "mcp", where, *options], env=env)


def _save(change: Change, args: Namespace, console: Console, done: str) -> Result:
    """Show a change, ask, keep a copy of the file as it was, and write."""
    from commonplace.integrations.mcp.hosts import BACKUP

    before, after = ((text or "").splitlines(keepends=True) for text in (change.before, change.after))
    shown = "".join(difflib.unified_diff(before, after, str(change.path), str(change.path)))
    if not args.yes:
        console.remark(f"this changes {change.path}:\n{shown}")
        if not _confirm():
            return Result({"path": str(change.path), "changed": False}, "nothing was changed: --yes changes the file")
    change.path.parent.mkdir(parents=True, exist_ok=True)
    remarks = []
    if change.before is not None:
        backup = change.path.with_name(change.path.name + BACKUP)
        shutil.copy2(change.path, backup)
        remarks.append(f"the file as it was: {backup}")
    _replace(change.path, change.after)
    return Result({"path": str(change.path), "changed": True}, done, remarks=[*remarks, *([shown] if args.yes else [])])


def _confirm() -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stderr.write("Change it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all; a file that holds a key stays its owner's."""
    real = path.resolve()  # a link stays a link
    made = real.with_name(f".{real.name}.commonplace-{os.getpid()}")
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
    try:
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(made, mode)
        os.replace(made, real)
    finally:
        made.unlink(missing_ok=True)
