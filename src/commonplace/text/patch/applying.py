"""Applying a patch, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from commonplace.errors import StalePatch
from commonplace.text.patch.placing import places
from commonplace.text.patch.reading import parse
from commonplace.text.patch.text import quoted, split
from commonplace.text.patch.values import NOWHERE, Change, FilePatch, Revisions


def apply(patch: str, read: Callable[[str], str | None], *, current: Revisions) -> tuple[Change, ...]:
    """Return the new content of every touched path, or raise; there is no partial result.

    `read` gives a path's content, None if there is no such file. `current` gives its revision (a path
    that a mapping lacks has 0), for the `current` of StalePatch. A rename gives two changes: gone, there.
    """
    revision = current if callable(current) else lambda path: current.get(path, 0)
    return tuple(change for file in parse(patch) for change in _changes(file, read, revision))


def apply_file(file: FilePatch, content: str, *, current: int = 0) -> str:
    """Return `content` with every hunk applied, or raise StalePatch; every context line was compared."""
    lines = split(content)
    result: list[str] = []
    end = 0
    for hunk, place in zip(file.hunks, places(file, content, lines, current), strict=True):
        result += lines[end:place]
        result += hunk.new
        end = place + len(hunk.old)
    return "".join(result + lines[end:])


def _changes(file: FilePatch, read: Callable[[str], str | None], revision: Callable[[str], int]) -> Iterator[Change]:
    if file.new is not None and file.new != file.old and read(file.new) is not None:
        raise StalePatch(
            f"{quoted(file.new)} already exists, but the patch makes it as a new file; read it and change "
            "it with --- and +++ lines that both name it. Nothing was applied.",
            current=revision(file.new),
        )
    if file.old is None:
        yield Change(path=file.path, content=apply_file(file, ""))
        return
    after = _after(file, file.old, read, revision)
    if file.new != file.old:
        yield Change(path=file.old, content=None)
    if file.new is not None:
        yield Change(path=file.new, content=after)


def _after(file: FilePatch, path: str, read: Callable[[str], str | None], revision: Callable[[str], int]) -> str:
    content = read(path)
    if content is None:
        raise StalePatch(
            f"there is no file {quoted(path)}; to make a new file, write `--- {NOWHERE}` above its +++ "
            "line. Nothing was applied.",
            current=revision(path),
        )
    after = apply_file(file, content, current=revision(path))
    if file.new is None and after:
        raise StalePatch(
            f"the patch deletes {quoted(path)} but does not remove all of its lines; what would be left "
            f"starts with {quoted(split(after)[0])}. Read the file again and remove every line. "
            "Nothing was applied.",
            current=revision(path),
        )
    return after
