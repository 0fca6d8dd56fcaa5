"""The tools with which a model writes on a canvas."""

from __future__ import annotations

from autogen_core import CancellationToken
from autogen_core.tools import BaseTool
from pydantic import BaseModel

from commonplace.integrations.autogen.cancelling import cancellable
from commonplace.integrations.autogen.canvas import SharedCanvas
from commonplace.integrations.door import Door


class UpdateFileArgs(BaseModel):
    """The file and its whole new text."""

    filename: str
    new_content: str


class UpdateFileResult(BaseModel):
    """That it was written."""

    status: str


class ApplyPatchArgs(BaseModel):
    """The file and a unified diff for it."""

    filename: str
    patch_text: str


class ApplyPatchResult(BaseModel):
    """That it was applied."""

    status: str


class UpdateFileTool(BaseTool[UpdateFileArgs, UpdateFileResult]):
    """Writes a whole file; the revisions before are kept."""

    def __init__(self, door: Door, canvas: SharedCanvas, author: str | None = None) -> None:
        about = "Write a file on the canvas: create it, or replace its whole text."
        super().__init__(UpdateFileArgs, UpdateFileResult, "update_file", about)
        self._door, self._canvas, self._author = door, canvas, author

    async def run(self, args: UpdateFileArgs, cancellation_token: CancellationToken) -> UpdateFileResult:
        """Write the file, in a worker thread."""
        work = self._door.run(self._canvas.add_or_update_file, args.filename, args.new_content, author=self._author)
        await cancellable(work, cancellation_token)
        return UpdateFileResult(status="OK")


class ApplyPatchTool(BaseTool[ApplyPatchArgs, ApplyPatchResult]):
    """Applies a unified diff to a file; a stale one is refused with the file as it reads now."""

    def __init__(self, door: Door, canvas: SharedCanvas, author: str | None = None) -> None:
        about = "Change a file on the canvas by a unified diff. The file must be there, and read as the diff expects."
        super().__init__(ApplyPatchArgs, ApplyPatchResult, "apply_patch", about)
        self._door, self._canvas, self._author = door, canvas, author

    async def run(self, args: ApplyPatchArgs, cancellation_token: CancellationToken) -> ApplyPatchResult:
        """Apply the patch, in a worker thread."""
        work = self._door.run(self._canvas.apply_patch, args.filename, args.patch_text, author=self._author)
        await cancellable(work, cancellation_token)
        return ApplyPatchResult(status="PATCH APPLIED")
