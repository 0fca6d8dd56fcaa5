"""Statements on `file`: canvas files. A revision is never changed."""

from __future__ import annotations

from typing import NamedTuple

from commonplace.errors import Conflict, NotFound
from commonplace.store.base import Params, Tx
from commonplace.store.row import make_scope
from commonplace.store.tables.table import Table
from commonplace.values import NOBODY, File, Scope, times


class FileRow(NamedTuple):
    """A revision of a file; a deletion has no content."""

    canvas: str
    path: str
    revision: int
    content: str | None
    at: int
    author: str | None
    scope_user: str | None = None
    scope_agent: str | None = None
    scope_session: str | None = None

    def decode(self) -> File:
        return File(
            path=self.path,
            revision=self.revision,
            content=self.content or "",
            at=times.from_micros(self.at),
            author=self.author,
            deleted=self.content is None,
            scope=make_scope(self.scope_user, self.scope_agent, self.scope_session),
        )


FILES = Table(
    name="files",
    table="file",
    start=("", "", 0),
    columns=FileRow._fields,
    make=FileRow._make,
    size="octet_length(content)",
)
_OF_PATH = "space = :space AND canvas = :canvas AND path = :path"
_STANDING = """FROM file f WHERE f.space = :space AND f.content IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM file n WHERE n.space = f.space AND n.canvas = f.canvas AND n.path = f.path
    AND n.revision > f.revision)"""


def latest(tx: Tx, space: int, canvas: str, path: str) -> File | None:
    """Return the newest revision, which may be a deletion; None if there never was one."""
    params: Params = {"space": space, "canvas": canvas, "path": path}
    rows = FILES.select(tx, f"{_OF_PATH} ORDER BY revision DESC LIMIT 1", params)
    return rows[0].decode() if rows else None


def revision(tx: Tx, space: int, canvas: str, path: str, number: int | None) -> File:
    """Return a revision, by default the newest; NotFound if there is none or the newest is a deletion."""
    if number is None:
        found = latest(tx, space, canvas, path)
        if found is None or found.deleted:
            raise NotFound(f"no file {path!r} on canvas {canvas!r}")
        return found
    params: Params = {"space": space, "canvas": canvas, "path": path, "revision": number}
    rows = FILES.select(tx, f"{_OF_PATH} AND revision = :revision", params)
    if not rows:
        raise NotFound(f"file {path!r} on canvas {canvas!r} has no revision {number}")
    return rows[0].decode()


def revisions(tx: Tx, space: int, canvas: str, path: str) -> list[File]:
    """Return every revision, oldest first."""
    params: Params = {"space": space, "canvas": canvas, "path": path}
    rows = FILES.select(tx, f"{_OF_PATH} ORDER BY revision", params)
    if not rows:
        raise NotFound(f"no file {path!r} on canvas {canvas!r}")
    return [row.decode() for row in rows]


def write(
    tx: Tx,
    space: int,
    canvas: str,
    path: str,
    content: str | None,
    *,
    author: str | None,
    now: int,
    if_version: int | None,
    scope: Scope | None = None,
) -> File:
    """Add a revision (None deletes the file); Conflict if the newest is not `if_version` (0: no file).

    Without a scope the file keeps its owner.
    """
    newest = latest(tx, space, canvas, path)
    standing = newest.revision if newest is not None and not newest.deleted else 0
    if if_version is not None and if_version != standing:
        raise Conflict(
            f"{path!r} on canvas {canvas!r} is at revision {standing}, not {if_version}: read it again",
            current=standing,
        )
    if content is None and not standing:
        raise NotFound(f"no file {path!r} on canvas {canvas!r}")
    number = 1 if newest is None else newest.revision + 1
    owner = scope or (NOBODY if newest is None else newest.scope)
    row = FileRow(canvas, path, number, content, now, author, owner.user, owner.agent, owner.session)
    tx.run(FILES.insert, FILES.params(space, row))
    return row.decode()


def standing(tx: Tx, space: int, canvas: str) -> dict[str, int]:
    """Return the revision of each file by path, without deleted ones."""
    rows = tx.run(
        f"SELECT f.path, f.revision {_STANDING} AND f.canvas = :canvas ORDER BY f.path",
        {"space": space, "canvas": canvas},
    )
    return dict(rows)


def canvases(tx: Tx, space: int) -> list[str]:
    """Return the canvases with files, sorted."""
    rows = tx.run(f"SELECT DISTINCT f.canvas {_STANDING} ORDER BY f.canvas", {"space": space})
    return [name for (name,) in rows]


def count(tx: Tx, space: int) -> int:
    """Return the number of files, without deleted ones."""
    return int(tx.run(f"SELECT count(*) {_STANDING}", {"space": space})[0][0])


def forget(tx: Tx, space: int, canvas: str, path: str) -> int:
    """Remove every revision of a file and return how many there were."""
    erased = len(revisions(tx, space, canvas, path))
    tx.run(f"DELETE FROM file WHERE {_OF_PATH}", {"space": space, "canvas": canvas, "path": path})
    return erased
