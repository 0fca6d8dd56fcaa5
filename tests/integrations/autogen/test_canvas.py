"""CanvasMemory: AutoGen's canvas, persistent and shared, with patches that are checked."""

from __future__ import annotations

import asyncio
import difflib
import json
from pathlib import Path

import pytest
from autogen_core import CancellationToken
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import FunctionExecutionResultMessage
from autogen_ext.memory.canvas import TextCanvas, TextCanvasMemory

import commonplace
from commonplace.integrations.autogen import CanvasMemory, SharedCanvas
from commonplace.integrations.autogen.canvas import ApplyPatchArgs, UpdateFileArgs
from tests.integrations.autogen.scripted import agent, asked, call, client, text

STORY = "# The hare\n\nA hare met **a sunflower** in the meadow.\nThey became friends.\n"
NAMED = STORY.replace("a sunflower", "a sunflower called Sunny")


def diff(old: str, new: str, name: str = "story.md") -> str:
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, name))


def test_an_empty_canvas_shows_no_file_and_adds_no_message(book: commonplace.Book) -> None:
    async def main() -> None:
        memory, context = CanvasMemory(book), UnboundedChatCompletionContext()
        assert memory.canvas.list_files() == {}
        assert memory.canvas.get_all_contents_for_context() == TextCanvas().get_all_contents_for_context()
        assert (await memory.update_context(context)).memories.results == []
        assert await context.get_messages() == []

    asyncio.run(main())


def test_the_tools_write_and_patch_a_file(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CanvasMemory(book)
        update, patch = memory.get_update_file_tool("writer"), memory.get_apply_patch_tool("editor")
        assert (update.name, patch.name) == ("update_file", "apply_patch")
        written = await update.run(UpdateFileArgs(filename="story.md", new_content=STORY), CancellationToken())
        changed = ApplyPatchArgs(filename="story.md", patch_text=diff(STORY, NAMED))
        patched = await patch.run(changed, CancellationToken())
        assert (written.status, patched.status) == ("OK", "PATCH APPLIED")
        assert memory.canvas.get_latest_content("story.md") == NAMED
        assert memory.canvas.list_files() == {"story.md": 2}
        assert len(memory.canvas.get_revision_diffs("story.md")) == 1
        assert [file.author for file in book.canvas("canvas").revisions("story.md")] == ["writer", "editor"]

    asyncio.run(main())


def test_the_sync_methods_answer_as_autogens_canvas_does(book: commonplace.Book) -> None:
    ours, theirs = CanvasMemory(book).canvas, TextCanvas()
    for canvas in (ours, theirs):
        canvas.add_or_update_file("story.md", STORY)
        canvas.add_or_update_file("story.md", NAMED.encode())
        canvas.apply_patch("story.md", diff(NAMED, STORY))
        canvas.add_or_update_file("other.md", "x")
    assert ours.list_files() == theirs.list_files()
    assert ours.get_revision_diffs("story.md") == theirs.get_revision_diffs("story.md")
    for old, new in ((1, 2), (2, 1), (1, 1), (1, 9), (8, 9)):
        assert ours.get_diff("story.md", old, new) == theirs.get_diff("story.md", old, new)
    for name in ("story.md", "missing.md"):
        assert ours.get_latest_content(name) == theirs.get_latest_content(name)
        assert ours.get_revision_content(name, 2) == theirs.get_revision_content(name, 2)
        assert ours.get_diff(name, 1, 2) == theirs.get_diff(name, 1, 2)


@pytest.mark.parametrize(
    "patch",
    [
        diff(STORY, NAMED, "a/elsewhere.md"),
        "".join(diff(STORY, NAMED).splitlines(True)[2:]),
        f"```diff\n{diff(STORY, NAMED)}```\n",
        diff(STORY, NAMED).rstrip("\n"),
        diff(STORY, NAMED, "story.md@r1"),
    ],
    ids=["another name", "no header", "in a code fence", "no last newline", "names with revisions"],
)
def test_a_patch_is_for_the_file_that_the_tool_was_given(book: commonplace.Book, patch: str) -> None:
    canvas = CanvasMemory(book).canvas
    canvas.add_or_update_file("story.md", STORY)
    canvas.apply_patch("story.md", patch)
    assert canvas.get_latest_content("story.md") == NAMED


@pytest.mark.parametrize(
    ("patch", "kind", "message"),
    [
        ("", commonplace.InvalidPatch, "empty|ends where"),
        ("make it nicer", commonplace.InvalidPatch, "not part of a unified diff"),
        (diff(STORY, NAMED) + diff(STORY, NAMED, "other.md"), commonplace.InvalidPatch, "several files"),
        (diff("Once\n", "Twice\n"), commonplace.StalePatch, "reads now:\n# The hare"),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(
    book: commonplace.Book, patch: str, kind: type[Exception], message: str
) -> None:
    canvas = CanvasMemory(book).canvas
    canvas.add_or_update_file("story.md", STORY)
    with pytest.raises(kind, match=message):
        canvas.apply_patch("story.md", patch)
    assert canvas.list_files() == {"story.md": 1}


def test_lines_of_a_file_may_look_like_the_header_of_a_patch(book: commonplace.Book) -> None:
    canvas = CanvasMemory(book).canvas
    canvas.add_or_update_file("notes.md", "-- one\n")
    canvas.apply_patch("notes.md", diff("-- one\n", "++ two\n", "elsewhere.md"))
    assert canvas.get_latest_content("notes.md") == "++ two\n"


def test_a_patch_for_a_missing_file_says_which_there_are(book: commonplace.Book) -> None:
    canvas = CanvasMemory(book).canvas
    canvas.add_or_update_file("story.md", STORY)
    with pytest.raises(commonplace.NotFound, match=r"update_file first. Files: story\.md"):
        canvas.apply_patch("tale.md", diff(STORY, NAMED))


def test_a_model_that_sent_a_stale_patch_is_told_how_the_file_reads(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CanvasMemory(book)
        memory.canvas.add_or_update_file("story.md", NAMED)
        stale = json.dumps({"filename": "story.md", "patch_text": diff(STORY, STORY.replace("hare", "rabbit"))})
        fresh = json.dumps({"filename": "story.md", "patch_text": diff(NAMED, NAMED.replace("hare", "rabbit"))})
        model = client(call("apply_patch", stale), call("apply_patch", fresh), "Done.")
        tools = [memory.get_apply_patch_tool()]
        writer = agent(memory, model=model, tools=tools, max_tool_iterations=3)
        await writer.run(task="Make it a rabbit.")
        results = [each for each in asked(model) if isinstance(each, FunctionExecutionResultMessage)]
        refused, applied = (each.content[0] for each in results)
        assert refused.is_error
        assert "Nothing was applied" in refused.content
        assert "called Sunny" in refused.content
        assert not applied.is_error
        assert memory.canvas.get_latest_content("story.md") == NAMED.replace("hare", "rabbit")

    asyncio.run(main())


def test_the_model_sees_the_canvas_once(book: commonplace.Book) -> None:
    async def main() -> None:
        memory, model = CanvasMemory(book), client()
        memory.canvas.add_or_update_file("story.md", STORY)
        writer = agent(memory, model=model)
        await writer.run(task="Go on")
        memory.canvas.add_or_update_file("story.md", NAMED)
        await writer.run(task="Go on")
        shown = [str(message.content) for message in asked(model) if "CANVAS FILES" in str(message.content)]
        assert len(shown) == 1
        assert "(rev 2)" in shown[0]

    asyncio.run(main())


def test_a_file_that_another_process_deletes_meanwhile_ends_neither_a_turn_nor_clear(book: commonplace.Book) -> None:
    canvas = CanvasMemory(book).canvas

    class Meanwhile(SharedCanvas):
        def list_files(self) -> dict[str, int]:
            files = super().list_files()
            book.canvas("canvas").delete("story.md")
            return files

    late = Meanwhile(canvas._handle, "canvas")
    for path in ("story.md", "title.md"):
        canvas.add_or_update_file(path, STORY)
    assert [file.path for file in late.read_all()] == ["story.md", "title.md"]
    canvas.add_or_update_file("story.md", STORY)
    late.clear()
    assert canvas.list_files() == {}


def test_tools_write_on_the_same_canvas_after_clear(book: commonplace.Book) -> None:
    async def main() -> None:
        ours, theirs = CanvasMemory(book), TextCanvasMemory()
        seen = []
        for memory in (ours, theirs):
            tool = memory.get_update_file_tool()
            await tool.run_json({"filename": "a.md", "new_content": "before"}, CancellationToken())
            await memory.clear()
            assert memory.canvas.list_files() == {}
            await tool.run_json({"filename": "b.md", "new_content": "after"}, CancellationToken())
            seen.append(memory.canvas.get_latest_content("b.md"))
        assert seen == ["after", ""], "AutoGen's tool writes where nobody looks"
        assert ours.canvas.get_revision_content("a.md", 1) == "before"

    asyncio.run(main())


def test_a_canvas_is_shared_by_processes_and_outlives_them(tmp_path: Path) -> None:
    async def main() -> None:
        one, two = CanvasMemory(tmp_path / "team.db", "plans"), CanvasMemory(tmp_path / "team.db", "plans")
        other = CanvasMemory(tmp_path / "team.db", "drafts")
        await one.add(text("- sail", filename="todo.md"))
        assert [each.content for each in (await two.query("SAIL")).results] == ["- sail"]
        assert (await two.query("fly")).results == []
        assert (await other.query()).results == []
        again = Memory.load_component(json.loads(one.dump_component().model_dump_json()))
        assert isinstance(again, CanvasMemory)
        assert again.canvas.list_files() == {"todo.md": 1}
        assert again.source == one.source != other.source
        for memory in (one, two, other, again):
            await memory.close()

    asyncio.run(main())


def test_a_content_without_a_filename_is_refused(book: commonplace.Book) -> None:
    memory = CanvasMemory(book)
    for content in (text("a text"), MemoryContent(content=b"x", mime_type=MemoryMimeType.BINARY)):
        with pytest.raises(commonplace.InvalidInput, match="filename"):
            asyncio.run(memory.add(content))
    with pytest.raises(commonplace.InvalidInput, match="str or bytes"):
        memory.canvas.add_or_update_file("a.md", 5)
