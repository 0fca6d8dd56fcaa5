"""Programs written for other services run on a book in a file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import commonplace
from commonplace.integrations import services
from commonplace.integrations.services import botwire, memstore, zerolatency
from commonplace.learn import jobs
from commonplace.values.extraction import Finding, Utterance
from tests.services.serving import Served, talking


@pytest.fixture(autouse=True)
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(services, "_chosen", {})
    services.configure(tmp_path / "team.db")
    yield
    services.close()


def test_memstores_functions_answer_as_the_tutorials_do() -> None:
    assert memstore.recall("what does Alice prefer?") == "No relevant memories found."
    told = memstore.remember("Alice prefers TypeScript", tags=["user:alice"])
    (memory,) = services.book().list()
    assert told == f"Memory stored (id: {memory.id})"
    assert memstore.recall("what does Alice prefer?", limit=3) == "- Alice prefers TypeScript"
    assert memstore.recall("what does Alice prefer?", tags=["user:bob"]) == "No relevant memories found."
    assert memstore.remember.__doc__  # it describes the tool to a model
    assert memstore.recall.__doc__


def test_zero_latencys_memory_recalls_what_was_added() -> None:
    with zerolatency.Memory("your-api-key") as mem:
        assert mem.recall("which framework?").text == ""
        job = mem.add("Coder: We chose FastAPI over Flask because of async support.\nReviewer: Agreed.")
        assert "FastAPI" in mem.recall("which web framework did we choose?").text
        until = time.monotonic() + 20
        while (status := mem.extract_status(str(job["job_id"])))["status"] == "accepted":
            assert time.monotonic() < until
            time.sleep(0.02)
        assert status["status"] == "complete"
        assert status["memory_ids"]
        mem.add("The office is in Lisbon", agent_id="guide", metadata={"source": "tour"})
        found = mem.recall("where is the office?", agent_id="guide", limit=1)
        assert found["memories"][0]["metadata"] == {"source": "tour"}
        assert not mem.recall("where is the office?", agent_id="somebody else")["memories"]
        assert mem.extract([{"role": "user", "content": "I prefer tea."}])["status"] == "accepted"
        assert mem.health()["status"] == "ok"
    with pytest.raises(zerolatency.ZeroLatencyError):
        mem.extract_status("no such job")


def test_what_still_waits_is_learned_at_the_programs_end(tmp_path: Path) -> None:
    services.book().learn("Sarah: We decided to use Redis for caching.", every=50, idle=0.01)
    time.sleep(0.05)
    services.close()
    with commonplace.open(tmp_path / "team.db") as book:
        assert not book.jobs()
        assert book.list(kinds=["decision"]).memories


class Broken:
    """An extractor that cannot."""

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        """Fail."""
        raise RuntimeError("no model here")


def test_an_extraction_that_failed_for_good_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "ATTEMPTS", 1)
    with commonplace.open(tmp_path / "broken.db", extractor=Broken()) as book:
        session = book.learn("Sarah: We decided to use Redis for caching.").session
        until = time.monotonic() + 20
        while (status := zerolatency.extraction_body(book, session))["status"] == "accepted":
            assert time.monotonic() < until
            time.sleep(0.02)
    assert status == {"job_id": session, "status": "failed", "memories_stored": 0, "memory_ids": []}


def test_botwires_memory_gives_back_what_its_client_would() -> None:
    mem = botwire.Memory("my-agent")
    for value, got in (("Pedro", "Pedro"), ({"a": [1, None]}, {"a": [1, None]}), ([], []), (5, "5"), ("5", "5")):
        mem.set("key", value)
        assert mem.get("key") == got
        assert "key" in mem
    assert mem.keys() == ["key"]
    mem.set("key", None)
    assert mem.get("key", "default") == "default"
    assert mem.delete("key") is False
    mem.append("list", {"n": 1}, {"n": 2})
    assert mem.get("list") == [{"n": 1}, {"n": 2}]
    with pytest.raises(ValueError, match="slashes"):
        botwire.Memory("a/b")


def test_botwires_channels_are_for_registered_agents() -> None:
    with pytest.raises(botwire.RegistrationRequired):
        botwire.Channel("trading", agent_id="stranger")
    with pytest.raises(botwire.RegistrationRequired):
        botwire.register("my-bot")
    assert botwire.register("my-bot", accept_terms=True, capabilities=["trade"])["agent_id"] == "my-bot"
    channel = botwire.Channel("trading", agent_id="my-bot")
    botwire.Channel("trading", agent_id="my-bot").post("signal", {"ticker": "NVDA"})
    channel.post("status", "done")
    seen: list[object] = []

    def watch(entry: dict[str, object]) -> None:
        seen.append(entry["data"])
        if len(seen) == 2:
            raise KeyboardInterrupt

    channel.watch(watch, poll_interval=0.01)
    assert seen == [{"ticker": "NVDA"}, "done"]
    assert [entry["type"] for entry in channel.read(type="signal")] == ["signal"]
    with pytest.raises(botwire.InvalidType):
        channel.post("nonsense", {})
    with pytest.raises(botwire.ChannelNotFound):
        botwire.Channel("absent", agent_id="my-bot", auto_create=False).read()


def test_the_book_is_chosen_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_chosen", {})
    monkeypatch.setenv("COMMONPLACE_BOOK", str(tmp_path / "other.db"))
    memstore.remember("The parrot is called Coco")
    assert (tmp_path / "other.db").exists()


def test_a_local_channel_and_a_served_one_are_kept_alike(served: Served, at: str, space: str) -> None:
    with talking(at) as client:
        client.post("/identity/register", json={"name": "my-bot", "capabilities": ["trade"], "accept_terms": True})
        client.post("/channels/trading/create", json={"agent_id": "my-bot"})
        client.post("/channels/trading/join", params={"agent_id": "my-bot"})
        client.post("/channels/trading/post", json={"agent_id": "my-bot", "type": "signal", "data": {"n": 1}})
    botwire.register("my-bot", accept_terms=True, capabilities=["trade"])
    botwire.Channel("trading", agent_id="my-bot").post("signal", {"n": 1})
    here, there = services.book(), served.book(space)
    assert here.namespaces() == there.namespaces()
    assert here.transcripts() == there.transcripts()
    assert all(here.kv(name).keys() == there.kv(name).keys() for name in here.namespaces())
