"""The real packages, unmodified, against a real server: every public method of each."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import RateLimited
from tests.services.serving import Keys, Served, run_client, serving

pytestmark = pytest.mark.clients

BOTWIRE = """
import botwire
from botwire import Memory

mem = Memory("autogen-assistant")
assert mem.get("missing") is None and mem.get("missing", 7) == 7
mem.set("user_name", "Pedro")
assert mem.get("user_name") == "Pedro" and "user_name" in mem and "nobody" not in mem
for key, value in {
    "dict": {"topic": "FastAPI", "key_points": ["async", 1.5, None, True], "ü": "😀"},
    "list": [1, [2, {}], ""],
    "text": "plain {text}",
    "json text": '{"b":1,  "a": 2}',
    "broken": "{not json",
    "empty": "",
    "quoted": '"quoted"',
    "a/b/c": "slashes",
    "unicode ключ 🔑": "names",
}.items():
    mem.set(key, value)
    got = mem.get(key)
    assert got == (value if key != "json text" else {"b": 1, "a": 2}), (key, got)
# The client itself reads only what begins with [ or { as JSON.
mem.set("number", 5)
assert mem.get("number") == "5"
mem.set("flag", False)
assert mem.get("flag") == "false"
assert mem.keys() == sorted(mem.keys()) and all(isinstance(key, str) for key in mem.keys())
assert set(mem.keys()) >= {"user_name", "a/b/c", "unicode ключ 🔑"}
mem.set("user_name", None)
assert mem.get("user_name") is None
assert mem.delete("list") is True and mem.delete("list") is False
assert mem.get("list") is None
assert Memory("empty-namespace").keys() == []
assert "autogen-assistant" in repr(mem)

from botwire import Channel, ChannelNotFound, InvalidType, RegistrationRequired
from botwire.registration import ensure_registered

try:
    Channel("trading", agent_id="stranger")
except RegistrationRequired:
    pass
else:
    raise AssertionError("a stranger joined")
told = botwire.register("my-bot", accept_terms=True, description="trades", capabilities=["trade"])
assert told["agent_id"] == "my-bot"
botwire.registration._registered.clear()  # as another process: it asks the server
ensure_registered("my-bot")
channel = Channel("trading", agent_id="my-bot")
again = Channel("trading", agent_id="my-bot")
first = channel.post("signal", {"ticker": "NVDA", "action": "BUY"})
channel.post("status", "a text")
entries = again.read()
assert [entry["data"] for entry in entries] == [{"ticker": "NVDA", "action": "BUY"}, "a text"]
assert set(entries[0]) == {"id", "agent_id", "type", "data", "timestamp"}
assert entries[0]["agent_id"] == "my-bot" and isinstance(entries[0]["timestamp"], float)
assert [entry["type"] for entry in again.read(type="status")] == ["status"]
assert [entry["type"] for entry in again.read(since=first["timestamp"])] == ["status"]
assert [entry["type"] for entry in again.read(limit=1)] == ["status"]
seen = []
def watch(entry):
    seen.append(entry["type"])
    if len(seen) == 2:
        raise KeyboardInterrupt
again.watch(watch, poll_interval=0.01)
assert seen == ["signal", "status"]
try:
    channel.post("nonsense", {})
except InvalidType:
    pass
else:
    raise AssertionError("an unknown type was posted")
absent = Channel("absent", agent_id="my-bot", auto_create=False)
for call in (absent.read, lambda: absent.post("data", {})):
    try:
        call()
    except ChannelNotFound:
        pass
    else:
        raise AssertionError("there is no such channel")
print("done")
"""

ZEROLATENCY = """
import sys, time
{loading}
memory = Memory("a key", base_url=sys.argv[1] if len(sys.argv) > 1 else "{url}")
assert memory.health()["status"] == "ok"
memory.add("The team deploys with Kubernetes on Fridays", agent_id="agent-123", metadata={{"source": "onboarding"}})
memory.add("The office is in Lisbon")
memory.add("The office dog is called Rex", agent_id="somebody-else")
found = memory.recall("how does the team deploy?", agent_id="agent-123", limit=5)
assert found["memories"][0]["content"] == "The team deploys with Kubernetes on Fridays", found
assert found["memories"][0]["metadata"]["source"] == "onboarding"
assert 0 < found["memories"][0]["relevance"] <= 1
assert found["memories_used"] == len(found["memories"]) == len(found["memory_ids"])
assert "Kubernetes" in found["context_block"] and found["text"] == found["context_block"]
assert found["tokens_used"] > 0
# What belongs to nobody is found by every agent; what belongs to another agent is not.
assert memory.recall("where is the office?", agent_id="agent-123")["memories"]
assert "Rex" not in str(memory.recall("what is the office dog called?", agent_id="agent-123")["memories"])
assert "Rex" in memory.recall("what is the office dog called?")["text"]
job = memory.extract(
    [
        {{"role": "user", "content": "I'm a backend engineer and I prefer FastAPI over Flask."}},
        {{"role": "assistant", "content": "Great! I'll keep that in mind."}},
    ],
    agent_id="agent-123",
)
assert job["status"] == "accepted"
until = time.monotonic() + 20
while (status := memory.extract_status(job["job_id"]))["status"] == "accepted" and time.monotonic() < until:
    time.sleep(0.05)
assert status["status"] == "complete" and status["memories_stored"] == len(status["memory_ids"]) > 0, status
assert "FastAPI" in memory.recall("which framework does the user prefer?", agent_id="agent-123")["text"]
try:
    memory.extract_status("no-such-job")
except ZeroLatencyError as error:
    assert error.status_code == 404 and "no-such-job" in str(error)
else:
    raise AssertionError("there is no such job")
try:
    memory.recall("")
except ZeroLatencyError as error:
    assert error.status_code == 400 and isinstance(error.message, str)
else:
    raise AssertionError("nothing was asked")
with memory:
    pass
print("done")
"""
PLAIN = "from zerolatency import AuthenticationError, Memory, RateLimitError, ZeroLatencyError"
# 0.2.1 imports the SDKs of three makers of models when it is imported, and installs 261 MB for them. Its client is
# in modules that need none of them; they are imported as they are, past the package's own __init__.
PAST_INIT = """
import importlib.util, sys, types
package = types.ModuleType("zerolatency")
package.__path__ = [next(place + "/zerolatency" for place in sys.path if "zerolatency-0.2.1" in place)]
sys.modules["zerolatency"] = package
from zerolatency.client import Memory
from zerolatency.errors import AuthenticationError, RateLimitError, ZeroLatencyError
"""
VERSIONS = [("zerolatency-0.1.0", PLAIN), ("zerolatency-0.2.1", PAST_INIT)]


def test_botwire_works_unmodified(at: str) -> None:
    assert run_client(BOTWIRE, "botwire-0.2.1", BOTWIRE_URL=at) == "done\n"


@pytest.mark.parametrize(("package", "loading"), VERSIONS, ids=[package for package, _ in VERSIONS])
def test_zerolatency_works_unmodified(at: str, package: str, loading: str) -> None:
    assert run_client(ZEROLATENCY.format(loading=loading, url=at), package) == "done\n"


KEYED = """
{loading}
for key, expected in (("cp_good", None), ("cp_bad", AuthenticationError)):
    memory = Memory(key, base_url="{url}")
    try:
        memory.add("something to remember")
    except AuthenticationError as error:
        assert expected is AuthenticationError and error.response["detail"], error.response
    else:
        assert expected is None
print("done")
"""
LIMITED = """
{loading}
try:
    Memory("cp_good", base_url="{url}").recall("anything")
except RateLimitError as error:
    print(__import__("json").dumps(error.response))
"""


@pytest.mark.parametrize(("package", "loading"), VERSIONS, ids=[package for package, _ in VERSIONS])
def test_zerolatency_raises_its_own_errors(
    tmp_path_factory: pytest.TempPathFactory, package: str, loading: str
) -> None:
    gate = Keys({"cp_good": "team-a"})
    with serving(tmp_path_factory.mktemp("keyed") / "book.db", gate) as served:
        assert run_client(KEYED.format(loading=loading, url=served.url), package) == "done\n"
        gate.refusal = RateLimited("too many recalls: 60 a minute", retry_after=1.5)
        told = json.loads(run_client(LIMITED.format(loading=loading, url=served.url), package))
    assert told["detail"] == {
        "error": "rate_limit_exceeded",
        "message": "too many recalls: 60 a minute",
        "limit": None,
        "retry_after": 1.5,
    }


def test_botwire_sends_its_key_by_the_url(tmp_path_factory: pytest.TempPathFactory) -> None:
    code = """
import httpx
from botwire import Memory
Memory("ns").set("k", "v")
assert Memory("ns").get("k") == "v"
try:
    Memory("ns", base_url="{url}").get("k")
except httpx.HTTPStatusError as error:
    assert error.response.status_code == 401 and error.response.json()["detail"]
    print("done")
"""
    with serving(tmp_path_factory.mktemp("keyed") / "book.db", Keys({"cp_good": "team-a"})) as served:
        keyed = served.url.replace("http://", "http://tenant:cp_good@")
        assert run_client(code.replace("{url}", served.url), "botwire-0.2.1", BOTWIRE_URL=keyed) == "done\n"
        prefixed = keyed + "/spaces/team-a"
        assert run_client(code.replace("{url}", served.url), "botwire-0.2.1", BOTWIRE_URL=prefixed) == "done\n"
        assert served.book("team-a").kv("ns").get("k") == "v"


def test_a_key_that_climbs_out_of_its_namespace_stays_in_the_spaces_of_its_owner(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    code = """
import httpx
from botwire import Memory
mem = Memory("ns")
mem.set("../other/k", "climbed")
assert mem.get("../other/k") == "climbed"
try:
    mem.set("../../../team-b/memory/ns/k", "stolen")
except httpx.HTTPStatusError as error:
    assert error.response.status_code == 403, error.response.status_code
    print("done")
"""
    with serving(tmp_path_factory.mktemp("keyed") / "book.db", Keys({"a": "team-a", "b": "team-b"})) as served:
        url = served.url.replace("http://", "http://tenant:a@") + "/spaces/team-a"
        served.book("team-b").kv("ns").set("k", "theirs")
        assert run_client(code, "botwire-0.2.1", BOTWIRE_URL=url) == "done\n"
        assert served.book("team-a").kv("other").get("k") == "climbed"
        assert served.book("team-b").kv("ns").get("k") == "theirs"


def test_what_a_client_kept_is_read_natively(served: Served, at: str, space: str) -> None:
    code = """
from botwire import Memory
mem = Memory("autogen-researcher")
mem.set("findings", {"topic": "FastAPI", "key_points": ["async"]})
mem.set("count", 5)
mem.set("done", True)
mem.set("name", "Sarah")
"""
    run_client(code, "botwire-0.2.1", BOTWIRE_URL=at)
    entries = served.book(space).kv("autogen-researcher")
    assert entries.get("findings") == {"topic": "FastAPI", "key_points": ["async"]}
    assert [entries.get(key) for key in ("count", "done", "name")] == [5, True, "Sarah"]
