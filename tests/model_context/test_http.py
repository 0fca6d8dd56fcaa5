"""MCP on the server: a key is the bearer token, and opens its spaces, its role and its limits, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from commonplace.access import keys
from commonplace.location import open_core
from commonplace.memories.core import Core
from commonplace.server.app import create_app
from commonplace.server.config import Config
from commonplace.testing import HashEmbedder
from tests.model_context.asking import ERAS, data, run, text
from tests.remote.serving import Server

ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

KeyMaker = Callable[..., str]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    opened = open_core(tmp_path_factory.mktemp("mcp") / "book.db", embedder=HashEmbedder(), reader=None)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def url(core: Core) -> Iterator[str]:
    server = Server(create_app(core, Config(closed=True)))
    yield server.url
    server.stop()


@pytest.fixture
def key(core: Core) -> KeyMaker:
    def make(*spaces: str, role: str = "write", **options: Any) -> str:
        return keys.create(core.store, role=role, spaces=list(spaces), **options).token  # type: ignore[arg-type]

    return make


@asynccontextmanager
async def asking(url: str, token: str, era: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_works_over_http(url: str, key: KeyMaker, era: str) -> None:
    token = key(f"work {era}")

    async def ask() -> None:
        async with asking(f"{url}/mcp", token, era) as client:
            assert len((await client.list_tools()).tools) == 7
            made = data(await client.call_tool("remember", {"text": "We deploy on Mondays", "kind": "decision"}))
        async with asking(f"{url}/mcp", token, era) as client:
            found = data(await client.call_tool("recall", {"question": "when do we deploy?"}))
            assert [each["id"] for each in found["memories"]] == [made["id"]]
            await client.call_tool("revise", {"id": made["id"], "text": "We deploy on Tuesdays"})
            assert "We deploy on Tuesdays" in text(await client.call_tool("brief", {}))
            assert (await client.read_resource("commonplace://brief")).contents[0].text  # type: ignore[union-attr]
            assert len((await client.list_prompts()).prompts) == 3

    run(ask)


@pytest.mark.parametrize("era", ERAS)
def test_a_key_of_one_space_sees_nothing_of_another(url: str, key: KeyMaker, era: str) -> None:
    alpha, beta, both = key(f"alpha {era}"), key(f"beta {era}"), key(f"alpha {era}", f"beta {era}")

    async def ask() -> None:
        async with asking(f"{url}/mcp", alpha, era) as client:
            id = data(await client.call_tool("remember", {"text": "Alpha is launched on Monday", "kind": "fact"}))["id"]
            await client.call_tool("files", {"action": "write", "path": "alpha.md", "content": "secret"})
            await client.call_tool("learn", {"messages": [{"content": "a word of alpha"}], "session": "alpha"})
        async with asking(f"{url}/mcp", beta, era) as client:
            assert data(await client.call_tool("recall", {"question": "when is alpha launched?"}))["memories"] == []
            assert data(await client.call_tool("brief", {}))["sections"] == {}
            assert data(await client.call_tool("files", {"action": "list"})) == {"files": {}}
            assert [str(each.uri) for each in (await client.list_resources()).resources] == ["commonplace://brief"]
            for name, given in (
                ("revise", {"id": id, "text": "no"}), ("forget", {"id": id}),
                ("files", {"action": "read", "path": "alpha.md"}),
                ("remember", {"text": "a word", "replaces": [id]}),
            ):  # fmt: skip
                assert data(await client.call_tool(name, given))["error"]["code"] == "not_found"
        async with asking(f"{url}/mcp/beta%20{era}", both, era) as client:
            assert data(await client.call_tool("recall", {"question": "when is alpha launched?"}))["memories"] == []
        async with asking(f"{url}/mcp/alpha%20{era}", both, era) as client:
            assert data(await client.call_tool("recall", {"question": "when is alpha launched?"}))["memories"]

    run(ask)
    for path, token in ((f"/mcp/alpha%20{era}", beta), ("/mcp/commonplace:planted", both)):
        refused = httpx.post(f"{url}{path}", json=LIST, headers={**ACCEPT, "Authorization": f"Bearer {token}"})
        assert refused.status_code == 403


@pytest.mark.parametrize("era", ERAS)
def test_a_key_that_may_read_changes_nothing(url: str, key: KeyMaker, era: str) -> None:
    reader, writer = key(f"roles {era}", role="read"), key(f"roles {era}")

    async def ask() -> None:
        async with asking(f"{url}/mcp", writer, era) as client:
            id = data(await client.call_tool("remember", {"text": "Marta owns billing", "kind": "fact"}))["id"]
            await client.call_tool("files", {"action": "write", "path": "a.md", "content": "text"})
        async with asking(f"{url}/mcp", reader, era) as client:
            assert data(await client.call_tool("recall", {"question": "who owns billing?"}))["memories"]
            assert text(await client.call_tool("files", {"action": "read", "path": "a.md"})) == "text"
            for name, given in (
                ("remember", {"text": "x"}), ("revise", {"id": id, "text": "x"}), ("forget", {"id": id}),
                ("learn", {"messages": [{"content": "x"}]}), ("files", {"action": "delete", "path": "a.md"}),
                ("files", {"action": "edit", "path": "a.md", "old": "t", "new": "x"}),
            ):  # fmt: skip
                assert data(await client.call_tool(name, given))["error"]["code"] == "forbidden"

    run(ask)


def test_a_key_s_limits_hold(url: str, key: KeyMaker) -> None:
    token = key("limited", limits={"recalls_month": 2})

    async def ask() -> None:
        async with asking(f"{url}/mcp", token) as client:
            for _ in range(2):
                assert not (await client.call_tool("recall", {"question": "anything?"})).is_error
            refused = data(await client.call_tool("recall", {"question": "anything?"}))["error"]
            assert (refused["code"], refused["retryable"]) == ("quota_exceeded", True)
            assert refused["retry_after"] > 0

    run(ask)


def test_a_person_is_named_in_the_address(url: str, key: KeyMaker) -> None:
    token = key("persons")

    async def ask() -> None:
        async with asking(f"{url}/mcp?user=ann&agent=coder", token) as client:
            await client.call_tool("remember", {"text": "Ann likes tea", "kind": "preference"})
        async with asking(f"{url}/mcp?user=tom", token) as client:
            assert data(await client.call_tool("brief", {}))["sections"] == {}
        async with asking(f"{url}/mcp?user=ann", token) as client:
            assert "Ann likes tea" in text(await client.call_tool("brief", {}))

    run(ask)


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer cp_000000000000_wrong"}, {"Authorization": "Basic eA=="}]
)
def test_without_a_valid_key_nothing_is_answered(url: str, key: KeyMaker, headers: dict[str, str]) -> None:
    key("some")
    for version in ({}, {"MCP-Protocol-Version": "2025-11-25"}, {"MCP-Protocol-Version": "2026-07-28"}):
        refused = httpx.post(f"{url}/mcp", json=LIST, headers={**ACCEPT, **headers, **version})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert refused.json()["code"] == "unauthorized"


def test_a_revoked_key_is_refused_at_once(url: str, core: Core) -> None:
    made = keys.create(core.store, role="write", spaces=["revoked"])
    headers = {**ACCEPT, "Authorization": f"Bearer {made.token}"}
    assert httpx.post(f"{url}/mcp", json=LIST, headers=headers).status_code == 200
    keys.revoke(core.store, made.key.id)
    assert httpx.post(f"{url}/mcp", json=LIST, headers=headers).status_code == 401


def test_there_is_no_stream_and_no_session(url: str, key: KeyMaker) -> None:
    headers = {**ACCEPT, "Authorization": f"Bearer {key('streams')}"}
    assert httpx.get(f"{url}/mcp", headers=headers).status_code == 405
    assert httpx.delete(f"{url}/mcp", headers=headers).status_code == 405
    bad = httpx.post(f"{url}/mcp?user=", json=LIST, headers=headers)
    assert (bad.status_code, bad.json()["code"]) == (400, "invalid_input")


def test_a_server_without_keys_answers_this_machine_only(tmp_path: Path) -> None:
    core = open_core(tmp_path / "book.db", embedder=HashEmbedder(), reader=None)
    server = Server(create_app(core, Config()))
    try:
        assert httpx.post(f"{server.url}/mcp", json=LIST, headers=ACCEPT).status_code == 200
        rebound = httpx.post(f"{server.url}/mcp", json=LIST, headers={**ACCEPT, "Host": "evil.example.org"})
        assert rebound.status_code == 403
    finally:
        server.stop()
        core.close()
