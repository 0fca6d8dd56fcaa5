"""SharedCanvas: AutoGen's TextCanvas, kept in a book."""

from __future__ import annotations

import difflib
from contextlib import suppress
from itertools import pairwise

from commonplace.canvas import Canvas
from commonplace.errors import NotFound
from commonplace.integrations.autogen.canvas_text import apply, snapshot, text
from commonplace.integrations.door import Door
from commonplace.values import File


class SharedCanvas:
    """The files of one canvas of a book, with the methods of TextCanvas; every revision is kept.

    These methods wait for the disk. In an event loop use the tools, or `book.canvas(name)` of an AsyncBook.
    """

    def __init__(self, door: Door, name: str) -> None:
        self._door = door
        self._name = name

    @property
    def files(self) -> Canvas:
        """The canvas itself, with every verb that a canvas has."""
        return self._door.open().canvas(self._name)

    def list_files(self) -> dict[str, int]:
        """The files that stand and the revision that each is at."""
        return self.files.files()

    def get_latest_content(self, filename: str) -> str:
        """The text of a file; empty if there is none."""
        return self._content(filename, None)

    def get_revision_content(self, filename: str, revision: int) -> str:
        """The text of a file at a revision; empty if there is none."""
        return self._content(filename, revision)

    def get_revision_diffs(self, filename: str) -> list[str]:
        """The change from each revision to the next, oldest first."""
        revisions = [(each.revision, each.content) for each in self._revisions(filename)]
        return [_diff(filename, old, new) for old, new in pairwise(revisions)]

    def get_diff(self, filename: str, from_revision: int, to_revision: int) -> str:
        """The change from one revision to another; one that is missing counts as empty, and two have no change."""
        known = {each.revision: each.content for each in self._revisions(filename)}
        return _diff(filename, (from_revision, known.get(from_revision, "")), (to_revision, known.get(to_revision, "")))

    def add_or_update_file(self, filename: str, new_content: str | bytes, *, author: str | None = None) -> None:
        """Write a file as its next revision."""
        self.files.write(filename, text(new_content), author=author)

    def apply_patch(self, filename: str, patch_data: str | bytes, *, author: str | None = None) -> None:
        """Apply a unified diff to a file, its context checked; StalePatch shows how the file reads now."""
        apply(self.files, filename, text(patch_data), author)

    def clear(self) -> None:
        """Delete every file; the revisions stay readable by number."""
        for path in self.list_files():
            with suppress(NotFound):  # another process was quicker
                self.files.delete(path)

    def get_all_contents_for_context(self) -> str:
        """Every file with its revision and text, as it is shown to a model."""
        return snapshot(self.read_all())

    def read_all(self) -> list[File]:
        """The files that stand, by path, each as it read when they were listed: another process may write or delete."""
        return [self.files.file(path, revision) for path, revision in sorted(self.list_files().items())]

    def _content(self, filename: str, revision: int | None) -> str:
        try:
            return self.files.read(filename, revision)
        except NotFound:
            return ""

    def _revisions(self, filename: str) -> list[File]:
        try:
            return self.files.revisions(filename)
        except NotFound:
            return []


def _diff(filename: str, old: tuple[int, str], new: tuple[int, str]) -> str:
    (before, was), (after, now) = old, new
    names = (f"{filename}@r{before}", f"{filename}@r{after}")
    return "".join(difflib.unified_diff(was.splitlines(True), now.splitlines(True), *names))
