"""Two thousand attempts to get from one space into another all fail. `bench/probes.py` makes a hundred thousand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from probe_routes import Probe
from probe_world import VICTIMS, World
from probes import Answer, Tally, probed


@pytest.mark.slow
def test_no_probe_gets_from_one_space_into_another(tmp_path: Path) -> None:
    tally = probed(tmp_path / "book.db", count=1_800, over=200, seed=20)
    assert sum(tally.probes.values()) == 2_000
    assert tally.leaks == []
    assert tally.faults == []
    assert len(tally.probes) > 75, "every route is tried"
    assert tally.statuses[200] > 400, "keys get at what is theirs"
    assert tally.twins > 15


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world") / "book.db", 1)


@pytest.mark.slow
def test_a_marker_of_another_space_is_noticed_wherever_it_stands(world: World) -> None:
    marker = world.known["vault"].marker
    writer = next(holder for holder in world.holders if holder.name == "writer")
    probe = Probe(route="GET /x", holder=writer, method="GET", path="/v1/spaces/alpha/stats", space="alpha")
    for answer in (Answer(200, b"", marker.encode()), Answer(404, f"etag: {marker}".encode(), b"")):
        tally = Tally()
        tally.see(world, probe, answer)
        assert len(tally.leaks) == 1
    own = Tally()
    own.see(world, probe, Answer(200, b"", world.known["alpha"].marker.encode()))
    assert own.leaks == []


def test_a_yes_for_a_space_of_others_is_noticed(world: World) -> None:
    writer = next(holder for holder in world.holders if holder.name == "writer")
    tally = Tally()
    tally.see(world, Probe(route="x", holder=writer, method="GET", path="/", space="vault"), Answer(200, b"", b"{}"))
    assert len(tally.leaks) == 1


def test_a_write_that_lands_in_a_space_of_others_is_noticed(world: World) -> None:
    from commonplace.local import LocalBook

    assert world.broken() == []
    LocalBook(world.core, VICTIMS[0]).kv("shelf").set("note", "written-by-writer-7")
    assert world.broken() == ["'vault' was changed", "writer wrote to 'vault'"]
