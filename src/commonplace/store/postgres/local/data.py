"""The data of a local PostgreSQL: how its directory is made, copied and configured."""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from commonplace.errors import InvalidInput
from commonplace.store.postgres.local.account import Account, ensure_reachable
from commonplace.store.postgres.local.processes import clear_after_crash
from commonplace.store.postgres.local.programs import run

HOST = "127.0.0.1"
USER = "postgres"
PASSFILE = "commonplace.passfile"
LOG = "server.log"
DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "fsync": "on",
        "synchronous_commit": "on",
        "shared_buffers": "128MB",
        "max_connections": "100",
        "wal_level": "replica",
        "wal_keep_size": "128MB",  # a standby that was away for a moment still finds what it missed
        "wal_retrieve_retry_interval": "500ms",  # and is back soon after the primary is
        "password_encryption": "scram-sha-256",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
)
_CONFIGURATION = "commonplace.conf"
_FIXED = ("listen_addresses", "port", "unix_socket_directories")  # what `url` promises rests on them
_SETTING = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?")


def make(account: Account, directory: Path, settings: Mapping[str, str]) -> None:
    """Make an empty database with a password of its own."""
    password = secrets.token_urlsafe(32)
    with (
        _filling(account, directory),
        tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="commonplace-") as file,
    ):
        file.write(password)
        file.flush()
        account.own(Path(file.name))
        run(
            account, directory, "initdb", "-D", str(directory), f"--username={USER}",
            f"--pwfile={file.name}", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", *_flushing(settings),
        )  # fmt: skip
    with (directory / "postgresql.conf").open("a", encoding="utf-8") as configuration:
        configuration.write(f"\ninclude '{_CONFIGURATION}'\n")
    # Last: its presence says that the cluster is whole.
    account.write(directory / PASSFILE, f"*:*:*:{USER}:{password}\n")


def make_copy(account: Account, directory: Path, conninfo: str, settings: Mapping[str, str]) -> None:
    """Copy a running server, as one that follows it."""
    with _filling(account, directory):
        run(
            account, directory, "pg_basebackup", "-D", str(directory), "--write-recovery-conf",
            "--checkpoint=fast", "-d", conninfo, *_flushing(settings),
        )  # fmt: skip
    (directory / LOG).unlink(missing_ok=True)
    (directory / _CONFIGURATION).unlink()  # so that the copy does not ask for the port of the original
    # Promoted, the copy must not wait for a standby of the server that it was copied from.
    with (directory / "postgresql.auto.conf").open("a", encoding="utf-8") as configuration:
        configuration.write("synchronous_standby_names = ''\n")


def configure(account: Account, directory: Path, port: int, settings: Mapping[str, str]) -> None:
    """Write what the next start reads; what `alter system` has set stays, and counts for more."""
    wanted = {**settings, "listen_addresses": HOST, "port": str(port), "unix_socket_directories": ""}
    lines = [f"{name} = '" + value.replace("\\", "\\\\").replace("'", "''") + "'" for name, value in wanted.items()]
    account.write(directory / _CONFIGURATION, "\n".join(["# Rewritten at every start.", *lines, ""]))


def last_port(directory: Path) -> list[int]:
    """The port of the last start, if there was one."""
    try:
        text = (directory / _CONFIGURATION).read_text("utf-8")
    except FileNotFoundError:
        return []
    return [int(port) for port in re.findall(r"^port = '(\d+)'$", text, re.MULTILINE)]


def checked_directory(directory: str | Path) -> Path:
    """The directory as an absolute path, links resolved."""
    resolved = Path(directory).expanduser().resolve()
    if re.search(r'["$`\\\x00-\x1f]', str(resolved)):
        # pg_ctl starts the server through a shell and puts the path between double quotes, nothing more.
        raise InvalidInput(f"{str(resolved)!r} cannot hold a PostgreSQL: its path has a character special to the shell")
    return resolved


def checked_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with names in small letters, as PostgreSQL reads them."""
    for name, value in settings.items():
        if not _SETTING.fullmatch(name.lower()) or re.search(r"[\x00-\x1f]", value):
            raise InvalidInput(f"{name!r} = {value!r} is not a PostgreSQL setting")
        if name.lower() in _FIXED:
            raise InvalidInput(f"{name} cannot be set: a local PostgreSQL listens on {HOST} alone, at its `port`")
    return {name.lower(): value for name, value in settings.items()}


def _flushing(settings: Mapping[str, str]) -> list[str]:
    """Whoever gave up fsync, as throw-away servers of tests do, need not wait for it while the data is made either."""
    return ["--no-sync"] if settings["fsync"] == "off" else []


@contextmanager
def _filling(account: Account, directory: Path) -> Iterator[None]:
    """A directory that is empty before, and empty again if the block does not come to its end."""
    _make_directory(account, directory)
    try:
        yield
    except BaseException:
        clear_after_crash(directory)  # the program is gone, but one that it had started may still be writing
        for entry in directory.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        raise


def _make_directory(account: Account, directory: Path) -> None:
    """An empty directory of the account's own; one with anything in it is left as it is."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise InvalidInput(f"{directory} is a file; a local PostgreSQL needs a directory") from error
    if any(directory.iterdir()):
        raise InvalidInput(f"{directory} is not empty and holds no PostgreSQL: choose another directory")
    directory.chmod(0o700)
    account.own(directory)
    ensure_reachable(account, directory, "the directory")  # again: parents may be new, and closed by the umask
