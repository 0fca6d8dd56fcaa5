"""Canvas files in the store: every statement on `file`. A revision is never changed, only followed."""

from __future__ import annotations

from commonplace.errors import Conflict, NotFound
from commonplace.store.base import Params, Row, Tx
from commonplace.values import File, times

_COLUMNS = "path, revision, content, at, author"
_LATEST = f"""SELECT {_COLUMNS} FROM file WHERE space = :space AND canvas = :canvas AND path = :path
    ORDER BY revision DESC LIMIT 1"""
_REVISION = f"""SELECT {_COLUMNS} FROM file
    WHERE space = :space AND canvas = :canvas AND path = :path AND revision = :revision"""
_REVISIONS = f"""SELECT {_COLUMNS} FROM file WHERE space = :space AND canvas = :canvas AND path = :path
    ORDER BY revision"""
_INSERT = """INSERT INTO file (space, canvas, path, revision, content, at, author)
    VALUES (:space, :canvas, :path, :revision, :content, :at, :author)"""
_STANDING = """FROM file f WHERE f.space = :space AND f.content IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM file n WHERE n.space = f.space AND n.canvas = f.canvas AND n.path = f.path
    AND n.revision > f.revision)"""
_ALL = """SELECT canvas, path, revision, content, at, author FROM file WHERE space = :space
    ORDER BY canvas, path, revision"""


def latest(tx: Tx, space: int, canvas: str, path: str) -> File | None:
    """The newest revision, which may say that the file was deleted; None if there never was one."""
    rows = tx.run(_LATEST, {"space": space, "canvas": canvas, "path": path})
    return decode(rows[0]) if rows else None


def revision(tx: Tx, space: int, canvas: str, path: str, number: int | None) -> File:
    """One revision, or with None the newest; NotFound if there is none or the newest is a deletion."""
    if number is None:
        found = latest(tx, space, canvas, path)
        if found is None or found.deleted:
            raise NotFound(f"no file {path!r} on canvas {canvas!r}")
        return found
    rows = tx.run(_REVISION, {"space": space, "canvas": canvas, "path": path, "revision": number})
    if not rows:
        raise NotFound(f"file {path!r} on canvas {canvas!r} has no revision {number}")
    return decode(rows[0])


def revisions(tx: Tx, space: int, canvas: str, path: str) -> list[File]:
    """Every revision, oldest first."""
    rows = tx.run(_REVISIONS, {"space": space, "canvas": canvas, "path": path})
    if not rows:
        raise NotFound(f"no file {path!r} on canvas {canvas!r}")
    return [decode(row) for row in rows]


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
) -> File:
    """Add a revision (None deletes the file); Conflict if the newest is not `if_version` (0: no file)."""
    newest = latest(tx, space, canvas, path)
    standing = newest.revision if newest is not None and not newest.deleted else 0
    if if_version is not None and if_version != standing:
        raise Conflict(
            f"{path!r} on canvas {canvas!r} is at revision {standing}, not {if_version}: read it again",
            current=standing,
        )
    if content is None and not standing:
        raise NotFound(f"no file {path!r} on canvas {canvas!r}")
    number = (newest.revision if newest is not None else 0) + 1
    row = (path, number, content, now, author)
    insert(tx, space, canvas, row)
    return decode(row)


def insert(tx: Tx, space: int, canvas: str, row: Row) -> None:
    """Store one revision as it is given."""
    path, number, content, at, author = row
    tx.run(
        _INSERT,
        {
            "space": space,
            "canvas": canvas,
            "path": path,
            "revision": number,
            "content": content,
            "at": at,
            "author": author,
        },
    )


def restore(tx: Tx, space: int, canvas: str, row: Row) -> bool:
    """Put back one revision; False if it is there already."""
    if tx.run(_REVISION, {"space": space, "canvas": canvas, "path": row[0], "revision": row[1]}):
        return False
    insert(tx, space, canvas, row)
    return True


def standing(tx: Tx, space: int, canvas: str) -> dict[str, int]:
    """The files that stand and the revision that each is at, by path."""
    rows = tx.run(
        f"SELECT f.path, f.revision {_STANDING} AND f.canvas = :canvas ORDER BY f.path",
        {"space": space, "canvas": canvas},
    )
    return dict(rows)


def canvases(tx: Tx, space: int) -> list[str]:
    """The canvases that hold a file, sorted."""
    rows = tx.run(f"SELECT DISTINCT f.canvas {_STANDING} ORDER BY f.canvas", {"space": space})
    return [row[0] for row in rows]


def count(tx: Tx, space: int) -> int:
    """How many files stand."""
    return int(tx.run(f"SELECT count(*) {_STANDING}", {"space": space})[0][0])


def everything(tx: Tx, space: int) -> list[Row]:
    """Every revision of every file: canvas, path, revision, content, at, author."""
    return tx.run(_ALL, {"space": space})


def forget(tx: Tx, space: int, canvas: str, path: str) -> int:
    """Remove every revision of a file; returns how many."""
    place: Params = {"space": space, "canvas": canvas, "path": path}
    erased = len(revisions(tx, space, canvas, path))
    tx.run("DELETE FROM file WHERE space = :space AND canvas = :canvas AND path = :path", place)
    return erased


def forget_all(tx: Tx, space: int) -> None:
    """Remove every file of a space with all its revisions."""
    tx.run("DELETE FROM file WHERE space = :space", {"space": space})


def decode(row: Row) -> File:
    path, number, content, at, author = row
    return File(
        path=path,
        revision=number,
        content=content or "",
        at=times.from_micros(at),
        author=author,
        deleted=content is None,
    )
