"""The same on a server and in PostgreSQL: only the URL changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken, Image
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType
from PIL import Image as Pillow

import commonplace
from commonplace.integrations.autogen import CanvasMemory, CommonplaceMemory, PersistentTeam
from tests.integrations.autogen.scripted import agent, asked, client, text
from tests.services.serving import serving
from tests.support.postgres import SCHEMAS


@pytest.fixture(params=["server", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "server":
        with serving(tmp_path / "served.db") as served:
            yield served.url
    else:
        yield SCHEMAS.url(tmp_path / "book.db")
        SCHEMAS.release()


def test_memory_canvas_and_team_work_at_a_url(url: str) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(url, space="autogen", learn=True)
        about = {"text": "The logo: a lighthouse"}
        picture = Image.from_pil(Pillow.new("RGB", (2, 2), (1, 2, 3)))
        await memory.add(text("The ferry leaves at noon"))
        await memory.add(MemoryContent(content=picture, mime_type=MemoryMimeType.IMAGE, metadata=about))
        (found,) = (await memory.query("what does the logo look like?")).results
        assert isinstance(found.content, Image)

        again = Memory.load_component(memory.dump_component())
        model = client(*["At noon."] * 3)
        canvas = CanvasMemory(url, space="autogen")
        await canvas.get_update_file_tool().run_json({"filename": "a.md", "new_content": "one\n"}, CancellationToken())
        members = [agent(again, canvas, model=model, name="ana")]
        team = PersistentTeam(RoundRobinGroupChat(members, max_turns=1), url, "crew", space="autogen")
        await team.run(task="When does the ferry leave?")
        assert "The ferry leaves at noon" in str(asked(model))
        assert "File: a.md (rev 1)" in str(asked(model))
        assert (await team.transcript())[0].name == "user"
        with pytest.raises(commonplace.StalePatch, match="reads now:\none"):
            canvas.canvas.apply_patch("a.md", "@@ -1 +1 @@\n-two\n+three\n")
        several = "".join(f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-one\n+two\n" for name in ("a.md", "b.md"))
        with pytest.raises(commonplace.InvalidPatch, match="several files"):
            canvas.canvas.apply_patch("a.md", several)
        canvas.canvas.apply_patch("a.md", "@@ -1 +1,2 @@\n one\n+two\n")
        assert canvas.canvas.get_latest_content("a.md") == "one\ntwo\n"
        await memory.clear()
        for each in (memory, again, canvas, team):
            await each.close()

    asyncio.run(main())
