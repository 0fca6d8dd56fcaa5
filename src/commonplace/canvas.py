"""Canvas: named text files that agents write together, every revision kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from commonplace.errors import Conflict, InvalidInput
from commonplace.memories.core import Place
from commonplace.settings import Settings
from commonplace.store.base import Store, Tx
from commonplace.store.tables import files, requests
from commonplace.values import File, Scope, checks, times


class Canvas(ABC):
    """One canvas of a space. Made by `Book.canvas`."""

    @abstractmethod
    def write(
        self,
        path: str,
        content: str,
        *,
        author: str | None = None,
        if_version: int | None = None,
        scope: Scope | None = None,
    ) -> File:
        """Write a file as its next revision; `if_version=0` only if there is no such file.

        `scope` is whom the file belongs to: it is erased and exported with that person. Without one, a file keeps its
        owner, and a new one belongs to nobody.
        """

    @abstractmethod
    def delete(self, path: str, *, author: str | None = None, if_version: int | None = None) -> File:
        """Delete a file; its revisions stay readable by number. NotFound if there is no such file."""

    @abstractmethod
    def forget(self, path: str) -> int:
        """Erase a file with every revision and return how many there were; NotFound if there never was one.

        `delete` keeps the revisions; this keeps nothing, not even the number that the next file continues from.
        """

    def read(self, path: str, revision: int | None = None) -> str:
        """Return the text of a file, or of one of its revisions."""
        return self.file(path, revision).content

    @abstractmethod
    def file(self, path: str, revision: int | None = None) -> File:
        """Return a file with its revision number, time and author."""

    @abstractmethod
    def files(self) -> dict[str, int]:
        """Return the files that exist by path, with the number of each one's newest revision."""

    @abstractmethod
    def revisions(self, path: str) -> list[File]:
        """Return every revision of a file, oldest first."""

    @abstractmethod
    def diff(self, path: str, old: int, new: int | None = None) -> str:
        """Return a unified diff from one revision to another, or to the newest; `apply` accepts it."""

    @abstractmethod
    def apply(
        self, text: str, *, author: str | None = None, if_version: int | Mapping[str, int] | None = None
    ) -> list[File]:
        """Apply a unified diff to one or several files, all or nothing, after checking its context.

        StalePatch names the line that differs from what the patch expects. `if_version` is the revision that the
        patched file must be at, or a mapping of paths to revisions.
        """


class LocalCanvas(Canvas):
    """A canvas in a store that this process has opened."""

    def __init__(self, store: Store, place: Place, name: str, settings: Settings) -> None:
        self._store = store
        self._place = place
        self._name = checks.name(name, "canvas name")
        self._limit = settings.max_content_bytes

    def write(
        self,
        path: str,
        content: str,
        *,
        author: str | None = None,
        if_version: int | None = None,
        scope: Scope | None = None,
    ) -> File:
        text = checks.text(content, "content", limit=self._limit)
        return self._put(path, text, author, if_version, checks.owner(scope))

    def delete(self, path: str, *, author: str | None = None, if_version: int | None = None) -> File:
        return self._put(path, None, author, if_version)

    def forget(self, path: str) -> int:
        space, place = self._place.find(), checks.path(path)

        def work(tx: Tx) -> int:
            erased = files.forget(tx, space, self._name, place)
            requests.purge(tx, space)
            return erased

        erased = self._store.write(work, space)
        self._store.scrub(space)
        return erased

    def file(self, path: str, revision: int | None = None) -> File:
        space, place = self._place.find(), checks.path(path)
        number = None if revision is None else checks.count(revision, "revision", least=1)
        return self._store.read(lambda tx: files.revision(tx, space, self._name, place, number), space)

    def files(self) -> dict[str, int]:
        space = self._place.find()
        return self._store.read(lambda tx: files.standing(tx, space, self._name), space)

    def revisions(self, path: str) -> list[File]:
        space, place = self._place.find(), checks.path(path)
        return self._store.read(lambda tx: files.revisions(tx, space, self._name, place), space)

    def diff(self, path: str, old: int, new: int | None = None) -> str:
        from commonplace.text import patch  # slow to import, and most books never patch

        return patch.diff(self.read(path, old), self.read(path, new), path, path)

    def apply(
        self, text: str, *, author: str | None = None, if_version: int | Mapping[str, int] | None = None
    ) -> list[File]:
        space = self._place.make()
        checks.text(text, "patch", limit=self._limit)
        signed = checks.optional_name(author, "author")
        return self._store.write(lambda tx: self._apply(tx, space, text, signed, if_version), space)

    def _put(
        self, path: str, text: str | None, author: str | None, if_version: int | None, owner: Scope | None = None
    ) -> File:
        space, place = self._place.make(), checks.path(path)
        signed, expected = checks.optional_name(author, "author"), checks.version(if_version)
        return self._store.write(
            lambda tx: files.write(
                tx, space, self._name, place, text, author=signed, now=times.now(), if_version=expected, scope=owner
            ),
            space,
        )

    def _apply(
        self, tx: Tx, space: int, text: str, author: str | None, if_version: int | Mapping[str, int] | None
    ) -> list[File]:
        from commonplace.text import patch  # as above

        def read(path: str) -> str | None:
            newest = files.latest(tx, space, self._name, checks.path(path))
            return None if newest is None or newest.deleted else newest.content

        standing = files.standing(tx, space, self._name)
        if if_version is not None:
            _ensure_versions([path for file in patch.parse(text) for path in file.paths], if_version, standing)
        now = times.now()
        changes = patch.apply(text, read, current=standing)
        for change in changes:
            checks.text(change.content or "", change.path, limit=self._limit)
        return [
            files.write(
                tx, space, self._name, checks.path(change.path), change.content,
                author=author, now=now, if_version=None,
            )
            for change in changes
        ]  # fmt: skip


def _ensure_versions(paths: list[str], if_version: int | Mapping[str, int], standing: Mapping[str, int]) -> None:
    if isinstance(if_version, int):
        if len(paths) != 1:
            raise InvalidInput("the patch changes several files: pass if_version as a mapping of paths")
        if_version = {paths[0]: if_version}
    for path, expected in if_version.items():
        current = standing.get(path, 0)
        if current != checks.version(expected):
            raise Conflict(f"{path!r} is at revision {current}, not {expected}: read it again", current=current)
