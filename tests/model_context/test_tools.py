"""The tools, resources and prompts, asked by the SDK's own client in process, in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

import commonplace
from commonplace import Book, Scope
from commonplace.integrations.handle import BookHandle
from commonplace.integrations.mcp import Local, make_server, tools
from commonplace.testing import HashEmbedder
from commonplace.values import NOBODY, tokens
from tests.model_context.asking import ERAS, data, run, text

MOST_TOKENS = 1_500


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder(), reader=None) as opened:
        yield opened


@asynccontextmanager
async def asking(book: Book, era: str = "auto", scope: Scope = NOBODY) -> AsyncIterator[Client]:
    connection = Local(BookHandle(book, None), scope)
    async with Client(make_server(lambda request: connection), mode=era) as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_cost_few_tokens_and_tell_what_they_do(book: Book, era: str) -> None:
    async def ask() -> None:
        async with asking(book, era) as client:
            listed = (await client.list_tools()).tools
            told = json.dumps([tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed])
            count = tokens.count(told) + tokens.count(tools.INSTRUCTIONS)
            print(f"{len(listed)} tools, {count} tokens")
            assert len(listed) <= 7
            assert count < MOST_TOKENS
            hints = {tool.name: tool.annotations for tool in listed}
            assert {name for name, each in hints.items() if each and each.read_only_hint} == {"recall", "brief"}
            assert {name for name, each in hints.items() if each and each.destructive_hint} == {"forget", "files"}
            assert all(each is not None and each.idempotent_hint is not None for each in hints.values())

    run(ask)


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_that_has_only_mcp_learns_recalls_corrects_and_briefs(tmp_path: Path, era: str) -> None:
    def open_book() -> Book:
        return commonplace.open(tmp_path / "book.db", embedder=HashEmbedder(), reader=None)

    async def learn(book: Book) -> str:
        async with asking(book, era) as client:
            said = [{"role": "user", "name": "Sarah", "content": "We decided to deploy on Fridays."}]
            assert len(data(await client.call_tool("learn", {"messages": said, "session": "one"}))["messages"]) == 1
            made = await client.call_tool(
                "remember", {"text": "Bob reviews the export", "kind": "fact", "due": "2099-05-04"}
            )
            return str(data(made)["id"])

    async def go_on(book: Book, id: str) -> None:
        async with asking(book, era) as client:
            brief = await client.call_tool("brief", {})
            assert "Bob reviews the export" in text(brief)
            assert "deploy on Fridays" in text(brief)
            found = await client.call_tool("recall", {"question": "who reviews the export?"})
            assert id in [each["id"] for each in data(found)["memories"]]
            assert id in text(found)
            corrected = await client.call_tool(
                "revise", {"id": id, "text": "Marta reviews the export", "reason": "Bob is away", "if_version": 1}
            )
            assert data(corrected)["version"] == 2
            again = await client.call_tool("brief", {"max_tokens": 200})
            assert "Marta reviews the export" in text(again)
            assert "due = 2099-05-04" in text(again)
            assert data(again)["tokens"] <= 200

    with open_book() as book:
        id = run(lambda: learn(book))
    with open_book() as book:
        book.work(hurry=True)
        run(lambda: go_on(book, id))
        assert book.history(id)[0].memory.text == "Bob reviews the export"


def test_what_an_agent_stores_has_its_name_and_its_trust(book: Book) -> None:
    async def ask() -> None:
        async with asking(book, scope=Scope(user="ann", agent="coder")) as client:
            made = data(await client.call_tool("remember", {"text": "Ann likes tea", "kind": "preference"}))
            memory = book.get(made["id"])
            assert (memory.origin, memory.source, memory.scope) == ("agent", "mcp", Scope(user="ann", agent="coder"))

    run(ask)


def test_a_replaced_memory_leaves_the_brief_s_decisions(book: Book) -> None:
    async def ask() -> None:
        async with asking(book) as client:
            old = data(await client.call_tool("remember", {"text": "We use Flask", "kind": "decision"}))["id"]
            await client.call_tool("remember", {"text": "We use FastAPI", "kind": "decision", "replaces": [old]})
            decided = data(await client.call_tool("brief", {}))["sections"]["decided"]
            assert [each["text"] for each in decided] == ["We use FastAPI", "We use Flask"]

    run(ask)


def test_a_person_s_agent_sees_and_changes_nothing_of_another_person(book: Book) -> None:
    id = book.remember("Tom has a cat", kind="fact", scope=Scope(user="tom")).id

    async def ask() -> None:
        async with asking(book, scope=Scope(user="ann")) as client:
            assert data(await client.call_tool("recall", {"question": "who has a cat?"}))["memories"] == []
            assert data(await client.call_tool("brief", {}))["sections"] == {}
            for name, given in (("forget", {"id": id}), ("revise", {"id": id, "text": "no cat"})):
                refused = await client.call_tool(name, given)
                assert refused.is_error
                assert data(refused)["error"]["code"] == "not_found"
            with pytest.raises(MCPError):
                await client.read_resource(f"commonplace://memory/{id}")

    run(ask)
    assert book.get(id).text == "Tom has a cat"


def test_forgetting_erases(book: Book) -> None:
    async def ask() -> None:
        async with asking(book) as client:
            id = data(await client.call_tool("remember", {"text": "a mistake"}))["id"]
            assert data(await client.call_tool("forget", {"id": id})) == {"ids": [id]}
            assert data(await client.call_tool("forget", {"id": id}))["error"]["code"] == "not_found"

    run(ask)


def test_files_lose_no_update(book: Book) -> None:
    async def ask() -> None:
        async with asking(book) as one, asking(book) as two:
            made = await one.call_tool("files", {"action": "write", "path": "plan.md", "content": "# Plan\none\ntwo\n"})
            assert data(made)["revision"] == 1
            blind = await two.call_tool("files", {"action": "write", "path": "plan.md", "content": "mine"})
            assert data(blind)["error"]["code"] == "conflict"
            await one.call_tool("files", {"action": "edit", "path": "plan.md", "old": "one", "new": "ONE"})
            await two.call_tool("files", {"action": "edit", "path": "plan.md", "old": "two", "new": "TWO"})
            read = await one.call_tool("files", {"action": "read", "path": "plan.md"})
            assert text(read) == "# Plan\nONE\nTWO\n"
            stale = {"action": "write", "path": "plan.md", "content": "mine", "revision": 2}
            assert data(await two.call_tool("files", stale))["error"]["current"] == 3
            twice = await one.call_tool("files", {"action": "edit", "path": "plan.md", "old": "O", "new": "0"})
            assert data(twice)["error"]["code"] == "invalid_input"
            assert data(await one.call_tool("files", {"action": "list"})) == {"files": {"plan.md": 3}}
            await one.call_tool("files", {"action": "delete", "path": "plan.md"})
            assert text(await one.call_tool("files", {"action": "list"})) == "There are no files."

    run(ask)


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("recall", {}, "invalid_input"),
        ("recall", {"question": 5}, "invalid_input"),
        ("recall", {"question": "x", "kinds": ["wish"]}, "invalid_input"),
        ("recall", {"question": "a\0"}, "invalid_text"),
        ("remember", {"text": ""}, "invalid_input"),
        ("remember", {"text": "x", "due": "tomorrow"}, "invalid_input"),
        ("remember", {"text": "x", "replaces": ["none"]}, "not_found"),
        ("remember", {"text": "x" * 2_000_000}, "too_large"),
        ("revise", {"id": "none", "text": "x"}, "not_found"),
        ("learn", {"messages": [{"role": "user"}]}, "invalid_input"),
        ("brief", {"max_tokens": 1}, "invalid_input"),
        ("files", {"action": "read"}, "invalid_input"),
        ("files", {"action": "read", "path": "../secret"}, "invalid_input"),
        ("files", {"action": "read", "path": "none.md"}, "not_found"),
        ("sing", {}, "not_found"),
    ],
)
def test_an_error_is_an_answer_with_its_code(book: Book, name: str, given: dict[str, Any], code: str) -> None:
    async def ask() -> None:
        async with asking(book) as client:
            answer = await client.call_tool(name, given)
            assert answer.is_error
            assert data(answer)["error"]["code"] == code
            assert text(answer).startswith(f"{code}: ")
            assert "Traceback" not in text(answer)

    run(ask)


def test_a_failure_of_ours_shows_no_stack(book: Book, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        scope = Scope()

        async def run(self, operation: str, verb: object) -> Any:
            raise RuntimeError("a secret of the server")

    async def ask() -> None:
        async with Client(make_server(lambda request: Broken())) as client:
            answer = await client.call_tool("brief", {})
            assert (answer.is_error, text(answer)) == (True, "error: the server failed: its log says why")

    run(ask)
    assert "a secret of the server" in caplog.text


@pytest.mark.parametrize("era", ERAS)
def test_resources_are_the_brief_memories_files_and_transcripts(book: Book, era: str) -> None:
    id = book.remember("Marta owns billing", kind="fact").id
    book.revise(id, "Marta and Ann own billing")
    book.canvas("files").write("notes/a b.md", "# Notes")
    book.transcript("one/two").append("Good morning", name="sarah")

    async def ask() -> None:
        async with asking(book, era) as client:
            uris = [str(each.uri) for each in (await client.list_resources()).resources]
            assert uris == [
                "commonplace://brief", "commonplace://file/notes/a%20b.md", "commonplace://transcript/one%2Ftwo"
            ]  # fmt: skip
            templates = (await client.list_resource_templates()).resource_templates
            assert {each.name for each in templates} == {"memory", "file", "transcript"}
            read = [(await client.read_resource(uri)).contents[0].text for uri in uris]  # type: ignore[union-attr]
            assert "Marta and Ann own billing" in read[0]
            assert read[1] == "# Notes"
            assert json.loads(read[2])["messages"][0]["content"] == "Good morning"
            memory = (await client.read_resource(f"commonplace://memory/{id}")).contents[0].text  # type: ignore[union-attr]
            assert [step["version"] for step in json.loads(memory)["history"]] == [1, 2]
            for uri in ("commonplace://memory/none", "commonplace://", "commonplace://brief/x", "file:///etc/passwd",
                        "commonplace://file/none.md"):  # fmt: skip
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                assert refused.value.data["code"] in ("not_found", "invalid_input")

    run(ask)


@pytest.mark.parametrize("era", ERAS)
def test_prompts_put_the_memory_into_the_conversation(book: Book, era: str) -> None:
    book.remember("We deploy on Mondays", kind="decision")

    async def ask() -> None:
        async with asking(book, era) as client:
            assert [each.name for each in (await client.list_prompts()).prompts] == ["brief", "recall", "keep"]
            for name, given, part in (
                ("brief", {}, "We deploy on Mondays"),
                ("recall", {"question": "when do we deploy?"}, "We deploy on Mondays"),
                ("keep", {}, "remember"),
            ):
                (message,) = (await client.get_prompt(name, given)).messages
                assert part in message.content.text  # type: ignore[union-attr]
            for name in ("recall", "none"):
                with pytest.raises(MCPError):
                    await client.get_prompt(name, {})

    run(ask)
