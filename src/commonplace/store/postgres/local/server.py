"""One server: started, stopped, crashed, followed by a standby."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING
from urllib.parse import quote

from commonplace.errors import InvalidInput, StoreError, StoreUnavailable
from commonplace.store.postgres.local import data, processes, programs
from commonplace.store.postgres.local.account import Account, account_for, ensure_reachable
from commonplace.store.postgres.local.data import HOST, LOG, PASSFILE, USER

if TYPE_CHECKING:
    import psutil

_TAKEN = "Address already in use"
_TRIES = 5


class LocalPostgres:
    """One PostgreSQL server on the loopback of this machine; its data stays in its directory, and only you get in.

    It listens on 127.0.0.1 alone. A password is made with the data and kept beside it, in a file that only the
    server's account (and root) can read; `url` names that file, so that the URL itself holds no secret.

    The server outlives this process unless it is stopped: use a `with` block, or call `stop`. Linux and macOS.
    """

    def __init__(
        self, directory: str | Path, *, port: int = 0, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Name the directory and the port (0: the one of last time if it is free, else any); nothing happens yet."""
        self.directory = data.checked_directory(directory)
        self.settings = {**data.DEFAULTS, **data.checked_settings(settings)}
        if not 0 <= port <= 65535:
            raise InvalidInput(f"{port} is not a port: use a number from 0 to 65535")
        self._port = port
        self._process: psutil.Process | None = None

    @property
    def url(self) -> str:
        """Where to connect, with the right to do everything."""
        passfile = quote(str(self.directory / PASSFILE), safe="/")
        return f"postgresql://{USER}@{HOST}:{self.port}/postgres?passfile={passfile}"

    @property
    def port(self) -> int:
        """The port on 127.0.0.1; it stays the same through stops, crashes and restarts."""
        if self._port == 0:
            raise StoreError(f"the server of {self.directory} has no port before its first start")
        return self._port

    @property
    def pid(self) -> int | None:
        """The number of the server's first process while it runs."""
        return self._process.pid if self._process is not None and processes.alive(self._process) else None

    @property
    def log(self) -> Path:
        """The file that the server writes its messages to."""
        return self.directory / LOG

    def start(self) -> None:
        """Start the server, making its data on first use; when this returns, it answers. Started twice is once."""
        if self._process is not None and processes.postmaster(self.directory) == self._process:
            return
        account = self._account()
        if not (self.directory / "PG_VERSION").exists():
            data.make(account, self.directory, self.settings)
        elif not (self.directory / PASSFILE).exists():
            raise StoreUnavailable(
                f"{self.directory} holds a PostgreSQL without {PASSFILE}: another program made it,"
                " or its making was interrupted; choose another directory, or remove this one"
            )
        self._ensure_not_served()
        self._start(account)

    def stop(self) -> None:
        """Stop the server in good order: open transactions are rolled back, nothing is left to recover."""
        if self._process is not None and processes.postmaster(self.directory) == self._process:
            programs.run(
                self._account(), self.directory, "pg_ctl", "stop", "-w", "-m", "fast", "-D", str(self.directory)
            )
        self._process = None

    def kill(self) -> None:
        """Crash the server: SIGKILL for it and every process of its own, with no chance to tidy up."""
        if self._process is not None:
            processes.kill_with_children(self._process)
        self._process = None

    def restart(self) -> None:
        """Stop and start again, on the same port."""
        self.stop()
        self.start()

    def is_ready(self) -> bool:
        """Whether the server accepts connections now."""
        if self.pid is None:
            return False
        where = ("-h", HOST, "-p", str(self.port), "-t", "2")
        return programs.attempt(self._account(), self.directory, "pg_isready", *where)[0] == 0

    def standby(
        self,
        directory: str | Path,
        *,
        port: int = 0,
        synchronous: bool = False,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> LocalPostgres:
        """Make and start a copy that follows this server; when this returns, it streams.

        With `synchronous`, a commit here is acknowledged only when it is on both disks, also after a restart of this
        server; while that standby is away, commits wait for it.
        """
        name = f"standby_{secrets.token_hex(4)}"
        copy = LocalPostgres(directory, port=port, settings={**self.settings, **settings})
        conninfo = f"{self._conninfo()} application_name={name}"
        data.make_copy(copy._account(), copy.directory, conninfo, copy.settings)
        try:
            copy.start()
            if synchronous:
                self._sql(f"alter system set synchronous_standby_names = '{name}'", "select pg_reload_conf()")
            self._await_follower(name, "sync" if synchronous else "async")
        except BaseException:
            copy.stop()
            raise
        return copy

    def promote(self) -> None:
        """Make a standby a server of its own; when this returns, it takes writes."""
        programs.run(self._account(), self.directory, "pg_ctl", "promote", "-w", "-D", str(self.directory))

    def __enter__(self) -> LocalPostgres:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _account(self) -> Account:
        account = account_for(self.directory)
        ensure_reachable(account, self.directory, "the directory")
        ensure_reachable(account, programs.home(account) / "postgres", "the program")
        return account

    def _ensure_not_served(self) -> None:
        other = processes.postmaster(self.directory)
        if other is not None:
            raise StoreUnavailable(
                f"{self.directory} is already served by process {other.pid}: use that one, or stop it"
                f" with `kill -INT {other.pid}`"
            )
        if (self.directory / "postmaster.pid").exists():
            processes.clear_after_crash(self.directory)

    def _start(self, account: Account) -> None:
        asked = [self._port] if self._port else [*data.last_port(self.directory), *(0 for _ in range(_TRIES))]
        for port in asked:
            chosen = port or _free_port()
            status, said = self._launch(account, chosen)
            if status == 0:
                self._port, self._process = chosen, processes.postmaster(self.directory)
                return
            if _TAKEN not in said:
                raise StoreError(f"PostgreSQL did not start; {self.log} says: {said}")
        raise StoreUnavailable(f"port {chosen} of {HOST} is taken: choose another one, or 0 for any that is free")

    def _launch(self, account: Account, port: int) -> tuple[int, str]:
        """Start the server once; the exit status of pg_ctl, and what the server's log says of this attempt."""
        data.configure(account, self.directory, port, self.settings)
        before = self.log.stat().st_size if self.log.exists() else 0
        words = ("start", "-w", "-t", "60", "-s", "-D", str(self.directory), "-l", str(self.log))
        try:
            status, said = programs.attempt(account, self.directory, "pg_ctl", *words)
        except BaseException:  # interrupted
            self._stop_half_started(patience=1.0)
            raise
        if status != 0:
            self._stop_half_started()
            said = self._logged(before) or said
        return status, said

    def _stop_half_started(self, *, patience: float = 0.0) -> None:
        """Leave nothing of a start that failed; one that was interrupted may still be on its way."""
        deadline = time.monotonic() + patience
        while (found := processes.postmaster(self.directory)) is None and time.monotonic() < deadline:
            time.sleep(0.05)
        self._process = found
        self.stop()

    def _logged(self, start: int) -> str:
        """The end of what the log says from a position on."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            log.seek(start)
            return log.read()[-2000:].decode("utf-8", "replace").strip()

    def _conninfo(self) -> str:
        passfile = str(self.directory / PASSFILE).replace("\\", "\\\\").replace("'", "\\'")
        return f"host={HOST} port={self.port} user={USER} dbname=postgres passfile='{passfile}' sslmode=disable"

    def _sql(self, *statements: str) -> str:
        words = [word for statement in statements for word in ("-c", statement)]
        return programs.run(self._account(), self.directory, "psql", "-XAtq", "-d", self._conninfo(), *words)

    def _await_follower(self, name: str, state: str, *, patience: float = 30.0) -> None:
        asking = "select sync_state from pg_stat_replication where state = 'streaming' and application_name = "
        deadline = time.monotonic() + patience
        while (seen := self._sql(f"{asking}'{name}'")) != state:
            if time.monotonic() > deadline:
                raise StoreError(f"the standby did not follow within {patience:g} s (state: {seen or 'absent'})")
            time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
