"""The processes of a server: found by the directory they work in, never by a number alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.errors import StoreError, StoreUnavailable

if TYPE_CHECKING:
    import psutil


def postmaster(directory: Path) -> psutil.Process | None:
    """The process that serves the directory, if there is one; a number left by a crash is not believed."""
    import psutil

    try:
        process = psutil.Process(int((directory / "postmaster.pid").read_text("utf-8").split("\n", 1)[0]))
        return process if _serves(process, directory) else None
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None


def clear_after_crash(directory: Path, *, patience: float = 10.0) -> None:
    """Remove the lock of a server that died, once none of its processes is left."""
    import psutil

    deadline = time.monotonic() + patience
    while left := [process.pid for process in psutil.process_iter() if _serves(process, directory)]:
        if time.monotonic() > deadline:
            raise StoreUnavailable(f"processes of a server that died still use {directory}: {left}")
        time.sleep(0.05)
    (directory / "postmaster.pid").unlink(missing_ok=True)


def kill_with_children(process: psutil.Process, *, patience: float = 10.0) -> None:
    """End a process and all it started, at once and without a chance to clean up."""
    import psutil

    try:
        process.suspend()  # so that it starts no other while its children are counted
        doomed = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for one in doomed:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            continue
    deadline = time.monotonic() + patience
    while any(alive(one) for one in doomed):
        if time.monotonic() > deadline:
            raise StoreError(f"processes survived SIGKILL: {[one.pid for one in doomed if alive(one)]}")
        time.sleep(0.01)


def alive(process: psutil.Process) -> bool:
    """Whether it still runs; a dead process that nobody has asked after does not."""
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _serves(process: psutil.Process, directory: Path) -> bool:
    """Whether it is a PostgreSQL of this directory: each of its processes works inside its data directory."""
    import psutil

    try:
        return process.name().startswith("postgres") and Path(process.cwd()) == directory
    except (psutil.Error, OSError):  # gone, a zombie, or somebody else's
        return False
