"""The history provider returns every message in any process, and two writers lose nothing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Content, InMemoryHistoryProvider, Message

import commonplace
from commonplace import Settings
from commonplace.integrations.agent_framework import CommonplaceHistoryProvider
from tests.integrations.agent_framework.scripted import agent, call
from tests.integrations.processes import ran, start

CALL = Content.from_function_call("c1", "add", arguments={"a": [1, 2.5, None], "b": "é"})
PICTURE = Content.from_data(b"\x89PNG\0\xff", "image/png")
CONTENTS = [
    Content.from_text("hello", annotations=[{"type": "citation", "title": "T", "url": "https://example.com"}]),
    Content.from_text_reasoning(text="because", protected_data="xyz"),
    PICTURE,
    Content.from_uri("https://example.com/a.pdf", media_type="application/pdf"),
    Content.from_error(message="broke", error_code="E1", error_details="all of it"),
    CALL,
    Content.from_function_result("c1", result={"sum": 3, "of": ["x", {"y": None}]}),
    Content.from_function_result("c2", result=[Content.from_text("part"), PICTURE]),
    Content.from_search_tool_call("s1", tool_name="web", arguments={"query": "x"}),
    Content.from_search_tool_result("s1", tool_name="web", result=[{"title": "X"}]),
    Content.from_usage({"input_token_count": 3, "output_token_count": 4}),
    Content.from_hosted_file("file-1", media_type="text/plain", name="a.txt"),
    Content.from_hosted_vector_store("vs-1"),
    Content.from_code_interpreter_tool_call(call_id="i1", inputs=[Content.from_text("print(1)")]),
    Content.from_code_interpreter_tool_result(call_id="i1", outputs=[Content.from_text("1"), PICTURE]),
    Content.from_image_generation_tool_call(image_id="g1"),
    Content.from_image_generation_tool_result(image_id="g1", outputs=PICTURE),
    Content.from_shell_tool_call(call_id="h1", commands=["ls"], timeout_ms=5),
    Content.from_shell_tool_result(
        call_id="h1", outputs=[Content.from_shell_command_output(stdout="a\n", exit_code=0)]
    ),
    Content(
        "computer_tool_call",
        id="k",  # its maker warns that it is experimental
        call_id="k1",
        actions=[{"type": "click", "x": 1}],
    ),
    Content("computer_tool_result", call_id="k1", screenshot=PICTURE),
    Content.from_shell_command_output(stdout="a\n", stderr="", exit_code=0, timed_out=False),
    Content.from_mcp_server_tool_call("m1", "tool", server_name="srv", arguments={"q": 1}),
    Content.from_mcp_server_tool_result("m1", output=[Content.from_text("out")]),
    Content.from_function_approval_request("a1", CALL),
    Content.from_function_approval_response(True, "a1", CALL),
    Content.from_oauth_consent_request("https://example.com/consent"),
    Content.from_text("NUL \0 and half a pair \ud83d", additional_properties={"deep": {"er": [True, float("inf")]}}),
    Content.from_text('{"json": "not ours"}'),
]


def plain(messages: Any) -> list[dict[str, Any]]:
    return [message.to_dict() for message in messages]


def test_every_kind_of_content_comes_back_as_it_was(tmp_path: Path) -> None:
    known = {name for name in vars(Content) if name.startswith("from_")} - {"from_dict"}
    made = {f"from_{content.type}" for content in CONTENTS} | {"from_uri"}
    assert known - made == set(), "Agent Framework has a kind of content that is not tested here"
    first = Message("user", CONTENTS, author_name="Ana", message_id="1", additional_properties={"topic": {"a": [1]}})
    second = Message("assistant", CONTENTS[:3])

    async def main() -> None:
        provider = CommonplaceHistoryProvider(tmp_path / "team.db")
        await provider.save_messages("s", [first, second])
        await provider.close()
        again = CommonplaceHistoryProvider(tmp_path / "team.db")
        read = await again.get_messages("s")
        assert plain(read) == plain([first, second])
        assert [content == other for content, other in zip(read[0].contents, CONTENTS, strict=True)] == [True] * len(
            CONTENTS
        )
        await again.close()
        await again.close()

    asyncio.run(main())


def test_a_session_continues_with_all_messages_and_without_memory(book: commonplace.Book) -> None:
    from commonplace.integrations.agent_framework import CommonplaceContextProvider, memory_tools

    book.remember("The ferry to Procida leaves at noon")

    async def main() -> None:
        history, memory = CommonplaceHistoryProvider(book), CommonplaceContextProvider(book)
        tools = memory_tools(book)
        answers = [call("recall", '{"question": "When does the ferry leave?"}'), "At noon."]
        first = agent(memory, history, answers=answers, tools=tools)
        session = first.create_session(session_id="ana/1")
        await first.run("When does the ferry leave?", session=session)
        assert "noon" not in json.dumps(session.to_dict()), "the session holds nothing"
        second = agent(memory, history, tools=tools)
        await second.run("Thank you so much", session=second.create_session(session_id="ana/1"))
        roles = [(message.role, message.text) for message in second.client.calls[0]]
        assert roles == [("user", "When does the ferry leave?"), ("assistant", ""), ("tool", ""),
                         ("assistant", "At noon."), ("user", "Thank you so much")]  # fmt: skip
        kept = await history.get_messages("ana/1")
        assert len(kept) == 6
        assert not any("Recalled notes" in message.text for message in kept)
        assert await history.get_messages("ana") == []
        assert await CommonplaceHistoryProvider(book, name="other").get_messages("ana/1") == []
        assert await CommonplaceHistoryProvider(book.in_space("other")).get_messages("ana/1") == []
        assert [each.text for each in await CommonplaceHistoryProvider(book, max_messages=2).get_messages("ana/1")] == [
            "Thank you so much", "noted",
        ]  # fmt: skip
        await history.clear("ana/1")
        assert await history.get_messages("ana/1") == []

    asyncio.run(main())


def test_a_window_begins_with_no_result_of_a_call_that_is_outside(book: commonplace.Book) -> None:
    result = Message("tool", [Content.from_function_result("c1", result="3")])
    told = [Message("user", ["add"]), Message("assistant", [CALL]), result, result, Message("assistant", ["3"])]

    async def main() -> None:
        await CommonplaceHistoryProvider(book).save_messages("ana", told)
        for most, shown in [(5, 5), (4, 4), (3, 1), (2, 1), (1, 1), (0, 0)]:
            window = await CommonplaceHistoryProvider(book, max_messages=most).get_messages("ana")
            assert len(window) == shown
        with pytest.raises(commonplace.InvalidInput, match="max_messages"):
            CommonplaceHistoryProvider(book, max_messages=-1)

    asyncio.run(main())


def test_only_repetitions_with_ids_are_left_out(book: commonplace.Book) -> None:
    told = [Message("user", ["hi"], message_id="1"), Message("assistant", ["hello"], message_id="2")]
    again = [Message("user", ["yes"]), Message("assistant", ["ok"])]

    async def texts(provider: Any, batches: list[list[Message]]) -> list[str]:
        state: dict[str, Any] = {}
        for batch in batches:
            await provider.save_messages("s", batch, state=state)
        return [message.text for message in await provider.get_messages("s", state=state)]

    async def main() -> None:
        replayed = [told, [*told, *again]]
        for provider in (InMemoryHistoryProvider(), CommonplaceHistoryProvider(book)):
            assert await texts(provider, replayed) == ["hi", "hello", "yes", "ok"]
        # Said twice in the same words: Agent Framework's own provider loses the second time.
        assert await texts(InMemoryHistoryProvider(), [again, again]) == ["yes", "ok"]
        repeated = CommonplaceHistoryProvider(book, name="repeated")
        assert await texts(repeated, [again, again]) == ["yes", "ok", "yes", "ok"]

    asyncio.run(main())


def test_a_history_may_outgrow_an_entry(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "small.db", settings=Settings(max_content_bytes=3_000)) as book:

        async def main() -> None:
            provider = CommonplaceHistoryProvider(book)
            for number in range(60):
                await provider.save_messages("s", [Message("user", [f"message {number}"])])
            assert [each.text for each in await provider.get_messages("s")] == [f"message {n}" for n in range(60)]
            assert len(book.kv("agent_framework history").keys()) > 1
            with pytest.raises(commonplace.TooLarge):
                await provider.save_messages("s", [Message("user", ["x" * 5_000])])
            assert len(await provider.get_messages("s")) == 60

        asyncio.run(main())


def test_any_text_is_a_session_id(book: commonplace.Book) -> None:
    async def main() -> None:
        provider = CommonplaceHistoryProvider(book)
        odd = ["", "a\nb", "a\0b", "\ud83d", "x" * 3_000, "x" * 3_001, "../up", " "]
        for number, name in enumerate(odd):
            await provider.save_messages(name, [Message("user", [str(number)])])
        read = [[each.text for each in await provider.get_messages(name)] for name in odd]
        assert read == [[str(number)] for number in range(len(odd))]
        await provider.save_messages(None, [Message("user", ["nowhere"])])
        assert plain(await provider.get_messages(None)) == plain([Message("user", ["nowhere"])])

    asyncio.run(main())


WRITE = """
import asyncio, sys
from agent_framework import Message
from commonplace.integrations.agent_framework import CommonplaceHistoryProvider

async def main(path, name):
    provider = CommonplaceHistoryProvider(path)
    await provider.get_messages("s")
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(20):
        await provider.save_messages("s", [Message("user", [f"{name} {number}"]), Message("assistant", ["ok"])])

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
def test_two_processes_write_one_session_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    commonplace.open(path).close()
    with start(WRITE, path, "one") as one, start(WRITE, path, "two") as two:
        for process in (one, two):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in (one, two):
            ran(process)
    read = [message.text for message in asyncio.run(CommonplaceHistoryProvider(path).get_messages("s"))]
    for name in ("one", "two"):
        assert [text for text in read if text.startswith(name)] == [f"{name} {number}" for number in range(20)]
    assert read[1::2] == ["ok"] * 40, "what is saved together stays together"
