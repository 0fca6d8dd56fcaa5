"""CanvasMemory: files that agents write together, before the model in every turn."""

from __future__ import annotations

from typing import Any

from autogen_core import CancellationToken, Component
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from pydantic import BaseModel
from typing_extensions import Self

from commonplace.errors import InvalidInput
from commonplace.integrations.autogen import contents, injecting
from commonplace.integrations.autogen.cancelling import cancellable
from commonplace.integrations.autogen.canvas import SharedCanvas
from commonplace.integrations.autogen.canvas_text import snapshot
from commonplace.integrations.autogen.canvas_tools import ApplyPatchTool, UpdateFileTool
from commonplace.integrations.door import Door, Where
from commonplace.values import File


class CanvasMemoryConfig(BaseModel):
    """What `dump_component` writes: where the canvas is. It holds none of its text."""

    where: str
    space: str = "default"
    canvas: str = "canvas"


class CanvasMemory(Memory, Component[CanvasMemoryConfig]):
    """A canvas that outlives its process and that agents of any process share.

    `canvas` names it: memories of the same name on the same book are the same canvas. The files stand before the model
    once, as they read at the start of its turn; an empty canvas adds nothing.
    """

    component_type = "memory"
    component_config_schema = CanvasMemoryConfig
    component_provider_override = "commonplace.integrations.autogen.CanvasMemory"

    def __init__(self, where: Where | None = None, canvas: str = "canvas", *, space: str | None = None) -> None:
        self._door = Door(where, space)
        self._name = canvas
        self.canvas = SharedCanvas(self._door, canvas)

    @property
    def source(self) -> str:
        """The source of this canvas's message in a model context."""
        return injecting.source("canvas", self._door.where, self._door.space, self._name)

    def get_update_file_tool(self, author: str | None = None) -> UpdateFileTool:
        """The tool that writes a whole file; `author` signs its revisions. It works as long as the canvas does."""
        return UpdateFileTool(self._door, self.canvas, author)

    def get_apply_patch_tool(self, author: str | None = None) -> ApplyPatchTool:
        """The tool that applies a unified diff; `author` signs its revisions. It works as long as the canvas does."""
        return ApplyPatchTool(self._door, self.canvas, author)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Show the files as they read now, in place of how they read before."""
        files = await self._door.run(self.canvas.read_all)
        shown = snapshot(files) if files else ""
        injecting.show(model_context, self.source, shown, await injecting.messages_of(model_context))
        results = [MemoryContent(content=shown, mime_type=MemoryMimeType.TEXT)] if shown else []
        return UpdateContextResult(memories=MemoryQueryResult(results=results))

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """The files whose path or text contains the query, in any case; an empty query gives them all."""
        sought = contents.text_of(query).casefold()
        files = await cancellable(self._door.run(self.canvas.read_all), cancellation_token)
        found = [file for file in files if sought in f"{file.path}\n{file.content}".casefold()]
        return MemoryQueryResult(results=[_content(file) for file in found])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Write a text as the file that its metadata names under `filename`."""
        filename = (content.metadata or {}).get("filename")
        if not isinstance(filename, str) or not isinstance(content.content, str):
            raise InvalidInput('a canvas keeps texts under names: add a str, with metadata={"filename": "story.md"}')
        work = self._door.run(self.canvas.add_or_update_file, filename, content.content)
        await cancellable(work, cancellation_token)

    async def clear(self) -> None:
        """Delete every file; the revisions stay, and so do the tools."""
        await self._door.run(self.canvas.clear)

    async def close(self) -> None:
        """Release the book if this memory opened it; the files stay."""
        await self._door.close()

    def _to_config(self) -> CanvasMemoryConfig:
        return CanvasMemoryConfig(where=self._door.where, space=self._door.space, canvas=self._name)

    @classmethod
    def _from_config(cls, config: CanvasMemoryConfig) -> Self:
        return cls(config.where, config.canvas, space=config.space)


def _content(file: File) -> MemoryContent:
    known = {"filename": file.path, "revision": file.revision, "author": file.author}
    return MemoryContent(content=file.content, mime_type=MemoryMimeType.TEXT, metadata=known)
