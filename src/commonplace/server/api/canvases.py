"""Canvases over HTTP: text files that agents write together."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ConfigDict, Field

from commonplace.server.api import answers
from commonplace.server.api.answering import Body, Route, answered, expected
from commonplace.server.asking import READ, WRITE
from commonplace.server.callers import Ask
from commonplace.server.paths import Name

router = APIRouter(tags=["canvases"], route_class=Route)
Reading = Annotated[Ask, Depends(READ)]
Writing = Annotated[Ask, Depends(WRITE)]


class Written(Body):
    """A file's next revision."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "Once upon a time…", "author": "writer"}]})

    content: str
    author: str | None = None


class Patch(Body):
    """A unified diff over one or several files."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"patch": "--- a/story.md\n+++ b/story.md\n@@ -1 +1 @@\n-Once\n+Once upon a time\n", "author": "editor"}
            ]
        }
    )

    patch: str
    author: str | None = None
    if_version: int | dict[str, int] | None = Field(
        default=None, description="The revision that the file must be at, or an object of paths and revisions."
    )


class Path(Body):
    """A file's path."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"path": "story.md"}]})

    path: str


@router.get("/canvases", response_model=answers.Canvases, operation_id="canvases")
async def canvases(request: Request, ask: Reading) -> Response:
    """The canvases that hold a file."""
    return await answered(request, ask, lambda book: {"canvases": book.canvases()})


@router.get("/canvases/{canvas}", response_model=answers.Standing, operation_id="files")
async def files(request: Request, ask: Reading, canvas: Name) -> Response:
    """The files that stand and the revision that each is at."""
    return await answered(request, ask, lambda book: {"files": book.canvas(canvas).files()})


@router.get("/canvases/{canvas}/files/{path:path}", response_model=answers.File, operation_id="read_file")
async def read(
    request: Request,
    ask: Reading,
    canvas: Name,
    path: Name,
    revision: Annotated[int | None, Query(description="The newest, if absent.")] = None,
) -> Response:
    """A file, or one of its revisions."""
    return await answered(request, ask, lambda book: book.canvas(canvas).file(path, revision))


@router.put("/canvases/{canvas}/files/{path:path}", response_model=answers.File, operation_id="write_file")
async def write(request: Request, ask: Writing, canvas: Name, path: Name, body: Written) -> Response:
    """Write a file as its next revision; `If-Match` and `If-None-Match: *` as for entries."""
    version = expected(request)
    return await answered(
        request,
        ask,
        lambda book: book.canvas(canvas).write(path, body.content, author=body.author, if_version=version),
    )


@router.delete("/canvases/{canvas}/files/{path:path}", response_model=answers.File, operation_id="delete_file")
async def delete(
    request: Request,
    ask: Writing,
    canvas: Name,
    path: Name,
    author: Annotated[str | None, Query(description="Who deletes it.")] = None,
) -> Response:
    """Delete a file; its revisions stay readable by number."""
    version = expected(request)
    return await answered(
        request, ask, lambda book: book.canvas(canvas).delete(path, author=author, if_version=version)
    )


@router.post("/canvases/{canvas}/patch", response_model=answers.Files, operation_id="apply_patch")
async def apply(request: Request, ask: Writing, canvas: Name, body: Patch) -> Response:
    """Apply a unified diff over one or several files, all or nothing."""
    return await answered(
        request,
        ask,
        lambda book: {"files": book.canvas(canvas).apply(body.patch, author=body.author, if_version=body.if_version)},
    )


@router.get("/canvases/{canvas}/revisions/{path:path}", response_model=answers.Revisions, operation_id="file_revisions")
async def revisions(request: Request, ask: Reading, canvas: Name, path: Name) -> Response:
    """Every revision of a file, oldest first."""
    return await answered(request, ask, lambda book: {"revisions": book.canvas(canvas).revisions(path)})


@router.get("/canvases/{canvas}/diff/{path:path}", response_model=answers.Diff, operation_id="diff")
async def diff(
    request: Request,
    ask: Reading,
    canvas: Name,
    path: Name,
    old: Annotated[int, Query(description="The revision to begin with.")],
    new: Annotated[int | None, Query(description="The newest, if absent.")] = None,
) -> Response:
    """A unified diff from one revision to another, or to the newest."""
    return await answered(request, ask, lambda book: {"diff": book.canvas(canvas).diff(path, old, new)})


@router.post("/canvases/{canvas}/forget", response_model=answers.Erased, operation_id="forget_file")
async def forget(request: Request, ask: Writing, canvas: Name, body: Path) -> Response:
    """Erase a file with every revision."""
    return await answered(request, ask, lambda book: {"revisions": book.canvas(canvas).forget(body.path)})
