"""CommonplaceMemory implements AutoGen's memory protocol, with every kind of content."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from autogen_core import CancellationToken, ComponentModel, Image
from autogen_core.memory import ListMemory, Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import BufferedChatCompletionContext, UnboundedChatCompletionContext
from PIL import Image as Pillow

import commonplace
from commonplace import Scope, Within
from commonplace.integrations.autogen import CommonplaceMemory
from tests.integrations.autogen.scripted import UserMessage, text


def picture() -> Image:
    return Image.from_pil(Pillow.new("RGB", (3, 2), (10, 20, 30)))


def test_an_empty_memory_finds_nothing_and_adds_nothing(book: commonplace.Book) -> None:
    async def main() -> None:
        context = BufferedChatCompletionContext(buffer_size=3)
        for memory in (CommonplaceMemory(book), CommonplaceMemory(book, order="time")):
            assert (await memory.update_context(context)).memories.results == []
            assert await context.get_messages() == []
            assert (await memory.query(text("anything"))).results == []

    asyncio.run(main())


def test_in_the_order_of_time_it_returns_all_as_a_list_does(book: commonplace.Book) -> None:
    async def main() -> None:
        ours, theirs = CommonplaceMemory(book, order="time"), ListMemory()
        for memory in (ours, theirs):
            await memory.add(text("test1"))
            await memory.add(MemoryContent(content={"key": "value"}, mime_type=MemoryMimeType.JSON))
            await memory.add(MemoryContent(content=b"\xff\x00", mime_type=MemoryMimeType.BINARY))
        for query in ("", "query", text("query")):
            mine, other = await ours.query(query), await theirs.query(query)
            assert [each.content for each in mine.results] == [each.content for each in other.results]
            assert [each.mime_type for each in mine.results] == [each.mime_type for each in other.results]
        await ours.clear()
        assert (await ours.query("query")).results == []

    asyncio.run(main())


def test_the_context_gets_one_message_with_what_was_added(book: commonplace.Book) -> None:
    async def main() -> None:
        memory, context = CommonplaceMemory(book, order="time"), BufferedChatCompletionContext(buffer_size=3)
        await memory.add(text("test1"))
        await memory.add(text("test2"))
        result = await memory.update_context(context)
        (message,) = await context.get_messages()
        assert [each.content for each in result.memories.results] == ["test1", "test2"]
        assert str(message.content).index("test1") < str(message.content).index("test2")

    asyncio.run(main())


@pytest.mark.parametrize("mime", ["text/plain", "text/markdown", "text/html", *MemoryMimeType])
def test_a_mime_type_comes_back_as_it_was_given(book: commonplace.Book, mime: MemoryMimeType | str) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, order="time")
        await memory.add(MemoryContent(content="The harbour opens at six", mime_type=mime))
        (found,) = (await memory.query()).results
        assert (found.content, found.mime_type, type(found.mime_type)) == ("The harbour opens at six", mime, type(mime))

    asyncio.run(main())


@pytest.mark.parametrize("mime", ["image/png", "image/*", MemoryMimeType.IMAGE])
def test_a_picture_is_found_by_its_text_and_comes_back_as_a_picture(
    book: commonplace.Book, mime: MemoryMimeType | str
) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        about = {"text": "The logo: a lighthouse on a blue ground"}
        await memory.add(MemoryContent(content=picture(), mime_type=mime, metadata=about))
        (found,) = (await memory.query("what does the logo look like?")).results
        assert isinstance(found.content, Image)
        assert found.content.image.tobytes() == picture().image.tobytes()
        assert found.mime_type == mime
        assert found.metadata is not None
        assert found.metadata["text"] == about["text"]

    asyncio.run(main())


def test_bytes_of_a_picture_stay_bytes(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, order="time")
        await memory.add(MemoryContent(content=b"\x89PNG", mime_type="image/png"))
        assert [each.content for each in (await memory.query()).results] == [b"\x89PNG"]

    asyncio.run(main())


def test_metadata_comes_back_with_the_id_and_the_score(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        await memory.add(text("The ferry to Procida leaves at noon", category="travel", nested={"line": [1, 2]}))
        (found,) = (await memory.query("when does the ferry leave?")).results
        assert found.metadata is not None
        assert found.metadata["category"] == "travel"
        assert found.metadata["nested"] == {"line": [1, 2]}
        assert 0 < found.metadata["score"] <= 1
        assert book.get(found.metadata["id"]).text == "The ferry to Procida leaves at noon"
        assert found.metadata["commonplace"]["version"] == 1

    asyncio.run(main())


def test_a_callers_own_id_in_metadata_is_not_touched(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, order="time")
        await memory.add(text("Ticket about the ferry", id=7, score="high"))
        (found,) = (await memory.query()).results
        assert found.metadata is not None
        assert (found.metadata["id"], found.metadata["score"]) == (7, "high")
        assert book.get(found.metadata["commonplace"]["id"]).metadata == {"id": 7, "score": "high"}

    asyncio.run(main())


def test_a_result_can_be_added_and_asked_with_again(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        await memory.add(text("The ferry leaves at noon", line=1))
        (found,) = (await memory.query("when does the ferry leave?")).results
        other = CommonplaceMemory(book.in_space("other"), order="time")
        await other.add(found)
        assert [each.metadata for each in book.in_space("other").list()] == [{"line": 1}]
        assert len((await memory.query(found)).results) == 1

    asyncio.run(main())


def test_a_memory_is_revised_and_forgotten_by_its_id(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, order="time")
        await memory.add(text("The ferry leaves at noon", line=1))
        (found,) = (await memory.query()).results
        assert found.metadata is not None
        await memory.revise(found.metadata["id"], text("The ferry leaves at one"), reason="new timetable")
        (revised,) = (await memory.query()).results
        assert revised.metadata is not None
        assert (revised.content, revised.metadata["line"]) == ("The ferry leaves at one", 1)
        assert [step.reason for step in book.history(found.metadata["id"])] == [None, "new timetable"]
        await memory.forget(found.metadata["id"])
        assert (await memory.query()).results == []

    asyncio.run(main())


def test_only_what_bears_on_the_query_is_found(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, k=2)
        for line in ("The ferry leaves at noon", "The ferry costs nine euros", "The ferry has a bar", "Ana likes tea"):
            await memory.add(text(line))
        assert len((await memory.query("tell me about the ferry")).results) == 2
        assert len((await memory.query("tell me about the ferry", k=1)).results) == 1
        assert len((await memory.query("tell me about the ferry", threshold=0, k=10)).results) == 4
        assert (await memory.query("what is the capital of Peru?")).results == []
        assert (await memory.query("  ")).results == []

    asyncio.run(main())


def test_what_failed_is_found_too_so_that_it_can_be_corrected(book: commonplace.Book) -> None:
    async def main() -> None:
        failed = book.remember("The cron approach failed because jobs overlapped", kind="failure")
        memory = CommonplaceMemory(book)
        (found,) = (await memory.query("Should we start the jobs with cron?")).results
        assert found.metadata is not None
        assert found.metadata["commonplace"]["avoid"] is True
        await memory.forget(found.metadata["id"])
        assert failed.id not in {each.id for each in book.list()}

    asyncio.run(main())


def test_a_filter_on_metadata_and_a_scope_narrow_what_is_found(book: commonplace.Book) -> None:
    async def main() -> None:
        hers = CommonplaceMemory(book, scope=Scope(user="ana"), within=Scope(user="ana"), order="time")
        his = CommonplaceMemory(book, scope=Scope(user="bo"), within=Within(users=("bo",), shared=False), order="time")
        await hers.add(text("Ana drinks tea", topic="drinks"))
        await hers.add(text("Ana sails", topic="sport"))
        await his.add(text("Bo drinks coffee", topic="drinks"))
        book.remember("Everybody drinks water")
        assert {each.content for each in (await hers.query()).results} == {
            "Ana drinks tea", "Ana sails", "Everybody drinks water",
        }  # fmt: skip
        found = (await hers.query(filter={"metadata.topic": "drinks"})).results
        assert [each.content for each in found] == ["Ana drinks tea"]
        assert [each.content for each in (await his.query()).results] == ["Bo drinks coffee"]
        await his.clear()
        assert len(book.list()) == 3

    asyncio.run(main())


def test_the_text_for_the_model_stays_within_its_budget(book: commonplace.Book) -> None:
    async def main() -> None:
        from commonplace.values import tokens

        for order in ("relevance", "time"):
            memory = CommonplaceMemory(book, order=order, max_tokens=120, k=50)
            for number in range(20):
                await memory.add(text(f"Ferry number {number} leaves from pier {number}"))
            context = UnboundedChatCompletionContext()
            await context.add_message(UserMessage(content="From which pier do the ferries leave?", source="user"))
            result = await memory.update_context(context)
            injected = str((await context.get_messages())[0].content)
            assert 0 < tokens.count(injected) <= 120
            assert len(result.memories.results) == injected.count("\n- ")
            assert order == "relevance" or "number 19" in injected, "of a list that is too long the newest stay"
            assert len((await memory.query("", order="time")).results) == min(50, len(book.list())), (
                "a query has no budget"
            )

    asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "message"),
    [({"top": 3}, "unknown option 'top'"), ({"order": "random"}, "order is"), ({"distance_threshold": 1}, "threshold")],
)
def test_an_unknown_option_is_refused(book: commonplace.Book, options: dict[str, object], message: str) -> None:
    with pytest.raises(commonplace.InvalidInput, match=message):
        asyncio.run(CommonplaceMemory(book).query("ferry", **options))


def test_a_query_without_words_is_refused(book: commonplace.Book) -> None:
    with pytest.raises(commonplace.InvalidInput, match="a query must be text"):
        asyncio.run(CommonplaceMemory(book).query(MemoryContent(content=b"\x00", mime_type=MemoryMimeType.BINARY)))


def test_a_component_comes_back_as_a_working_object(tmp_path: Path) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(
            tmp_path / "team.db", space="ops", name="ops", scope=Scope(agent="a"), within=Within(agents=("a",)), k=5,
            threshold=0.25, max_tokens=None, filter={"metadata.topic": "ferry"}, kinds=["note"], order="time",
        )  # fmt: skip
        await memory.add(text("The ferry leaves at noon", topic="ferry"))
        dumped = json.loads(memory.dump_component().model_dump_json())
        assert dumped["provider"] == "commonplace.integrations.autogen.CommonplaceMemory"
        assert "ferry leaves" not in json.dumps(dumped)
        loaded = Memory.load_component(ComponentModel.model_validate(dumped))
        assert isinstance(loaded, CommonplaceMemory)
        assert loaded.dump_component() == memory.dump_component()
        assert loaded.source == memory.source
        await loaded.add(text("The ferry is blue", topic="ferry"))
        assert [each.content for each in (await loaded.query()).results] == [
            "The ferry leaves at noon", "The ferry is blue",
        ]  # fmt: skip
        await loaded.close()
        await memory.close()

    asyncio.run(main())


def test_a_cancelled_token_stops_a_call_before_it_begins(book: commonplace.Book) -> None:
    async def main() -> None:
        memory, token = CommonplaceMemory(book), CancellationToken()
        await memory.add(text("Before"), CancellationToken())
        token.cancel()
        with pytest.raises(asyncio.CancelledError):
            await memory.add(text("Cancelled"), token)
        with pytest.raises(asyncio.CancelledError):
            await memory.query("Before", token)
        assert [each.text for each in book.list()] == ["Before"]

    asyncio.run(main())


def test_a_call_under_way_is_cancelled_by_its_token(tmp_path: Path) -> None:
    async def main() -> None:
        memory, token = CommonplaceMemory(tmp_path / "team.db"), CancellationToken()
        waiting = asyncio.create_task(memory.query("anything at all", token))  # opening takes a while
        await asyncio.sleep(0)
        token.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await memory.add(text("After"))
        assert len((await memory.query(order="time")).results) == 1
        await memory.close()

    asyncio.run(main())


def test_closing_keeps_what_is_stored_and_a_book_that_was_given(book: commonplace.Book, tmp_path: Path) -> None:
    async def main() -> None:
        given = CommonplaceMemory(book)
        await given.add(text("Kept"))
        await given.close()
        await given.close()
        assert len(book.list()) == 1
        own = CommonplaceMemory(str(tmp_path / "team.db"), order="time")
        assert [each.content for each in (await own.query()).results] == ["Kept"]
        await own.close()
        with pytest.raises(commonplace.StoreClosed):
            await own.query()

    asyncio.run(main())


def test_an_asynchronous_book_is_accepted(tmp_path: Path) -> None:
    async def main() -> None:
        async with await commonplace.open_async(tmp_path / "team.db", space="ops") as opened:
            memory = CommonplaceMemory(opened, order="time")
            await memory.add(text("The pager rota starts on Mondays"))
            assert len(await opened.list()) == 1
            with pytest.raises(commonplace.InvalidInput, match="in_space"):
                CommonplaceMemory(opened, space="elsewhere")

    asyncio.run(main())


@pytest.mark.parametrize(
    "wrong",
    [{"k": 0}, {"threshold": 5}, {"kinds": "fact"}, {"kinds": ["facct"]}, {"tags": "x"}, {"max_tokens": 0}],
    ids=str,
)
def test_an_invalid_option_is_refused_when_the_memory_is_made(book: commonplace.Book, wrong: dict[str, Any]) -> None:
    with pytest.raises(commonplace.InvalidInput, match=next(iter(wrong)).rstrip("s")):
        CommonplaceMemory(book, **wrong)
