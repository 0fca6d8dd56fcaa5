"""A book works behind PgBouncer, which gives each transaction another server connection."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commonplace.testing.contract.kv import KeyValueConformance
from commonplace.testing.contract.recall import RecallConformance
from commonplace.testing.contract.sharing import SharingConformance
from commonplace.testing.contract.transcripts import TranscriptConformance

import commonplace
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS, server

PROGRAM = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
EMBEDDER = HashEmbedder()

pytestmark = pytest.mark.slow
if PROGRAM is None:
    pytest.skip("PgBouncer is not installed: `make test` installs it for root on Debian", allow_module_level=True)

# Two server connections for all clients: the next client would see any state that a transaction leaves behind.
CONFIGURATION = """[databases]
postgres = host=127.0.0.1 port={target} user=postgres password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
query_wait_timeout = 120
ignore_startup_parameters = extra_float_digits
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def bouncer() -> Iterator[int]:
    """The port of a PgBouncer in front of the tests' server."""
    assert PROGRAM is not None
    place = Path(tempfile.mkdtemp(prefix="commonplace-bouncer-"))
    place.chmod(0o711)
    port = free_port()
    password = (server().directory / "commonplace.passfile").read_text("utf-8").strip().rpartition(":")[2]
    configuration = place / "pgbouncer.ini"
    configuration.write_text(CONFIGURATION.format(target=server().port, password=password, port=port), "utf-8")
    owner = server().directory.stat()
    shutil.chown(configuration, owner.st_uid, owner.st_gid)
    process = subprocess.Popen([PROGRAM, str(configuration)], user=owner.st_uid, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(place)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("pgbouncer did not start")


def through(place: Path, port: int) -> str:
    """The URL of a place's book by way of the pooler."""
    return SCHEMAS.url(place).replace(f":{server().port}/", f":{port}/")


class TestPgBouncer(KeyValueConformance, RecallConformance, TranscriptConformance, SharingConformance):
    """Features that a pooler could break: transactions, errors, locks, row-level security, prepared statements."""

    @pytest.fixture(autouse=True)
    def _emptied(self, bouncer: int) -> Iterator[None]:
        self.port = bouncer
        yield
        SCHEMAS.release()

    def open(self, place: Path) -> commonplace.Book:
        return commonplace.open(through(place, self.port), embedder=EMBEDDER, reader=None)


def test_many_callers_of_many_spaces_share_two_server_connections(bouncer: int, tmp_path: Path) -> None:
    """Each sees its own space alone, though the connections pass from hand to hand."""

    def work(number: int) -> None:
        with commonplace.open(through(tmp_path, bouncer), embedder=EMBEDDER, space=f"space {number % 5}") as book:
            for turn in range(6):
                book.remember(f"Turn {turn} of caller {number}", id=f"{number} {turn}")
                book.kv("state").append("turns", [number, turn])
                hits = book.recall(f"turn {turn} of caller {number}", threshold=0, k=100)
                assert {int(hit.memory.id.split()[0]) % 5 for hit in hits} == {number % 5}

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(work, range(10)))
    with commonplace.open(through(tmp_path, bouncer), embedder=EMBEDDER) as book:
        for number in range(5):
            space = book.in_space(f"space {number}")
            turns = space.kv("state").get("turns")
            assert sorted(turns) == sorted([n, turn] for n in (number, number + 5) for turn in range(6))  # type: ignore[arg-type, type-var]
            assert space.stats().memories == 12
        assert book.check(deep=True).problems == ()
    SCHEMAS.release()
