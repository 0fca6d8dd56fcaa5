"""CanvasMemory: text files that agents write together, shown to the model in every turn."""

from __future__ import annotations

import difflib
from contextlib import suppress
from itertools import pairwise
from typing import Any

from autogen_core import CancellationToken, Component
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.tools import BaseTool
from pydantic import BaseModel
from typing_extensions import Self

from commonplace import Canvas, File
from commonplace.errors import InvalidInput, InvalidPatch, NotFound, StalePatch
from commonplace.integrations.autogen import contents
from commonplace.integrations.autogen import context as contexts
from commonplace.integrations.autogen.context import run_cancellable
from commonplace.integrations.handle import BookHandle, BookLike

_SHOWN = 8_000
"""Characters of a file that the message about a stale patch shows: enough to patch again, not enough to flood."""
_FENCES = ("```", "~~~")


class SharedCanvas:
    """The files of one canvas of a book, with the methods of TextCanvas; every revision is kept.

    These methods wait for the disk. In an event loop use the tools, or `book.canvas(name)` of an AsyncBook.
    """

    def __init__(self, handle: BookHandle, name: str) -> None:
        self._handle = handle
        self._name = name

    @property
    def files(self) -> Canvas:
        """The canvas itself, with every verb that a canvas has."""
        return self._handle.open().canvas(self._name)

    def list_files(self) -> dict[str, int]:
        """Return the files that exist and the revision that each is at."""
        return self.files.files()

    def get_latest_content(self, filename: str) -> str:
        """Return the text of a file; empty if there is none."""
        return self._content(filename, None)

    def get_revision_content(self, filename: str, revision: int) -> str:
        """Return the text of a file at a revision; empty if there is none."""
        return self._content(filename, revision)

    def get_revision_diffs(self, filename: str) -> list[str]:
        """Return the diff from each revision to the next, oldest first."""
        return [_diff(filename, old, new) for old, new in pairwise(self._revisions(filename).items())]

    def get_diff(self, filename: str, from_revision: int, to_revision: int) -> str:
        """Return the diff from one revision to another; a missing one counts as empty."""
        known = self._revisions(filename)
        return _diff(filename, (from_revision, known.get(from_revision, "")), (to_revision, known.get(to_revision, "")))

    def add_or_update_file(self, filename: str, new_content: str | bytes, *, author: str | None = None) -> None:
        """Write a file as its next revision."""
        self.files.write(filename, _text(new_content), author=author)

    def apply_patch(self, filename: str, patch_data: str | bytes, *, author: str | None = None) -> None:
        """Apply a unified diff to a file, whatever name its header gives; StalePatch shows how the file reads now."""
        lines = [line for line in _text(patch_data).splitlines(keepends=True) if not line.startswith(_FENCES)]
        if lines and lines[0].startswith("@@"):
            lines = ["--- \n", "+++ \n", *lines]
        heads = [at for at in range(len(lines) - 1) if lines[at][:4] == "--- " and lines[at + 1][:4] == "+++ "]
        if heads:  # later pairs may be lines of the file
            lines[heads[0] : heads[0] + 2] = [f"--- {filename}\n", f"+++ {filename}\n"]
        file = self._existing(filename)
        try:
            self.files.apply("".join(lines), author=author, if_version=file.revision)
        except StalePatch as error:
            shown = file.content if len(file.content) <= _SHOWN else f"{file.content[:_SHOWN]}\n[…]"
            message = f"{error}\n{filename!r} is at revision {file.revision} and reads now:\n{shown}"
            raise StalePatch(message, current=file.revision) from error
        except InvalidInput as error:
            if type(error) is InvalidInput and len(heads) > 1:
                message = f"the patch changes several files: send one patch for each, here for {filename!r}"
                raise InvalidPatch(message) from error
            raise

    def clear(self) -> None:
        """Delete every file; the revisions stay readable by number."""
        for path in self.list_files():
            with suppress(NotFound):  # another process was quicker
                self.files.delete(path)

    def get_all_contents_for_context(self) -> str:
        """Return every file with its revision and text, as it is shown to a model."""
        return _snapshot(self.read_all())

    def read_all(self) -> list[File]:
        """Return the files by path, each as it read when they were listed: another process may write or delete."""
        return [self.files.file(path, revision) for path, revision in sorted(self.list_files().items())]

    def _content(self, filename: str, revision: int | None) -> str:
        try:
            return self.files.read(filename, revision)
        except NotFound:
            return ""

    def _revisions(self, filename: str) -> dict[int, str]:
        try:
            return {each.revision: each.content for each in self.files.revisions(filename)}
        except NotFound:
            return {}

    def _existing(self, filename: str) -> File:
        try:
            return self.files.file(filename)
        except NotFound as error:
            names = ", ".join(sorted(self.list_files())) or "none"
            raise NotFound(
                f"there is no file {filename!r} on the canvas; create it with update_file first. Files: {names}"
            ) from error


class UpdateFileArgs(BaseModel):
    """The file and its whole new text."""

    filename: str
    new_content: str


class ApplyPatchArgs(BaseModel):
    """The file and a unified diff for it."""

    filename: str
    patch_text: str


class FileStatus(BaseModel):
    """That the file was changed."""

    status: str


class UpdateFileTool(BaseTool[UpdateFileArgs, FileStatus]):
    """Writes a whole file; earlier revisions are kept."""

    def __init__(self, handle: BookHandle, canvas: SharedCanvas, author: str | None = None) -> None:
        about = "Write a file on the canvas: create it, or replace its whole text."
        super().__init__(UpdateFileArgs, FileStatus, "update_file", about)
        self._handle, self._canvas, self._author = handle, canvas, author

    async def run(self, args: UpdateFileArgs, cancellation_token: CancellationToken) -> FileStatus:
        """Write the file, in a worker thread."""
        work = self._handle.run(self._canvas.add_or_update_file, args.filename, args.new_content, author=self._author)
        await run_cancellable(work, cancellation_token)
        return FileStatus(status="OK")


class ApplyPatchTool(BaseTool[ApplyPatchArgs, FileStatus]):
    """Applies a unified diff to a file; a stale one is refused with the file as it reads now."""

    def __init__(self, handle: BookHandle, canvas: SharedCanvas, author: str | None = None) -> None:
        about = "Change a file on the canvas by a unified diff. The file must be there, and read as the diff expects."
        super().__init__(ApplyPatchArgs, FileStatus, "apply_patch", about)
        self._handle, self._canvas, self._author = handle, canvas, author

    async def run(self, args: ApplyPatchArgs, cancellation_token: CancellationToken) -> FileStatus:
        """Apply the patch, in a worker thread."""
        work = self._handle.run(self._canvas.apply_patch, args.filename, args.patch_text, author=self._author)
        await run_cancellable(work, cancellation_token)
        return FileStatus(status="PATCH APPLIED")


class CanvasMemoryConfig(BaseModel):
    """The config that `dump_component` writes: the place of the canvas, and none of its text."""

    where: str
    space: str = "default"
    canvas: str = "canvas"


class CanvasMemory(Memory, Component[CanvasMemoryConfig]):
    """A canvas that outlives its process and that agents of any process share.

    `canvas` names it: memories of the same name on the same book are the same canvas. The model sees the files once, as
    they read at the start of its turn; an empty canvas adds nothing.
    """

    component_type = "memory"
    component_config_schema = CanvasMemoryConfig
    component_provider_override = "commonplace.integrations.autogen.CanvasMemory"

    def __init__(self, where: BookLike | None = None, canvas: str = "canvas", *, space: str | None = None) -> None:
        super().__init__()
        self._handle = BookHandle(where, space)
        self._name = canvas
        self.canvas = SharedCanvas(self._handle, canvas)

    @property
    def source(self) -> str:
        """The source of this canvas's message in a model context."""
        return contexts.make_source("canvas", self._handle.where, self._handle.space, self._name)

    def get_update_file_tool(self, author: str | None = None) -> UpdateFileTool:
        """Return the tool that writes a whole file; `author` signs its revisions. It works as long as the canvas."""
        return UpdateFileTool(self._handle, self.canvas, author)

    def get_apply_patch_tool(self, author: str | None = None) -> ApplyPatchTool:
        """Return the tool that applies a unified diff; `author` signs its revisions. It works as long as the canvas."""
        return ApplyPatchTool(self._handle, self.canvas, author)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Show the files as they read now, in place of how they read before."""
        files = await self._handle.run(self.canvas.read_all)
        shown = _snapshot(files) if files else ""
        contexts.show(model_context, self.source, shown, await contexts.read_messages(model_context))
        results = [MemoryContent(content=shown, mime_type=MemoryMimeType.TEXT)] if shown else []
        return UpdateContextResult(memories=MemoryQueryResult(results=results))

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Return the files whose path or text contains the query, in any case; an empty query returns them all."""
        sought = contents.query_text(query).casefold()
        files = await run_cancellable(self._handle.run(self.canvas.read_all), cancellation_token)
        found = [file for file in files if sought in f"{file.path}\n{file.content}".casefold()]
        return MemoryQueryResult(results=[_memory_content(file) for file in found])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Write a text as the file that its metadata names under `filename`."""
        filename = (content.metadata or {}).get("filename")
        if not isinstance(filename, str) or not isinstance(content.content, str):
            raise InvalidInput('a canvas keeps texts under names: add a str, with metadata={"filename": "story.md"}')
        work = self._handle.run(self.canvas.add_or_update_file, filename, content.content)
        await run_cancellable(work, cancellation_token)

    async def clear(self) -> None:
        """Delete every file; the revisions stay, and so do the tools."""
        await self._handle.run(self.canvas.clear)

    async def close(self) -> None:
        """Release the book if this memory opened it; the files stay."""
        await self._handle.close()

    def _to_config(self) -> CanvasMemoryConfig:
        return CanvasMemoryConfig(where=self._handle.where, space=self._handle.space, canvas=self._name)

    @classmethod
    def _from_config(cls, config: CanvasMemoryConfig) -> Self:
        return cls(config.where, config.canvas, space=config.space)


def _text(given: str | bytes) -> str:
    if isinstance(given, bytes):
        return given.decode("utf-8")
    if not isinstance(given, str):
        raise InvalidInput(f"a file or a patch is str or bytes, not {type(given).__name__}")
    return given


def _diff(filename: str, old: tuple[int, str], new: tuple[int, str]) -> str:
    (before, was), (after, now) = old, new
    names = (f"{filename}@r{before}", f"{filename}@r{after}")
    return "".join(difflib.unified_diff(was.splitlines(True), now.splitlines(True), *names))


def _snapshot(files: list[File]) -> str:
    """Return every file with its revision and text, in the form that TextCanvas has."""
    shown = [f"File: {file.path} (rev {file.revision}):\n{file.content}\n" for file in files]
    return "\n".join(["=== CANVAS FILES ===", *shown, "=== END OF CANVAS ==="])


def _memory_content(file: File) -> MemoryContent:
    metadata = {"filename": file.path, "revision": file.revision, "author": file.author}
    return MemoryContent(content=file.content, mime_type=MemoryMimeType.TEXT, metadata=metadata)
