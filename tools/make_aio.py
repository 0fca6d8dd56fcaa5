"""Writes src/commonplace/aio.py: every verb of Book and its companions, awaited. Run after changing them.

Asynchronous twins written by hand drift apart; these are made from the source, and a test compares the two.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "commonplace"
TARGET = PACKAGE / "aio.py"

CLASSES = (
    ("kv", "KeyValue"),
    ("canvas", "Canvas"),
    ("transcript", "Transcript"),
    ("book", "Book"),
)
COMPANIONS = {"KeyValue", "Canvas", "Transcript"}
# These hand out another object and touch no disk, so they are not awaited.
PLAIN = {"kv", "canvas", "transcript", "in_space"}

OVERLAP = "# type: ignore[overload-overlap]  # a text is a sequence of texts, too"

HEADER = '''"""AsyncBook: the verbs of Book, awaited. Made by tools/make_aio.py; change book.py and run it again.

The synchronous core is the only implementation. It runs in worker threads, so that the event loop never
waits for a disk or a lock; SQLite and numpy release the interpreter while they work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from os import PathLike
from types import EllipsisType, TracebackType
from typing import Literal, ParamSpec, TypeVar, overload

from commonplace.book import Book, Jobs, Links, Memories, Names, Revisions, Vector
from commonplace.canvas import Canvas
from commonplace.errors import StoreClosed
from commonplace.kv import KeyValue
from commonplace.location import EmbedderLike, ExtractorLike
from commonplace.location import open as open_book
from commonplace.remote.address import is_remote
from commonplace.models.rerankers import Reranker
from commonplace.settings import Settings
from commonplace.streaming import stream
from commonplace.transcript import Transcript
from commonplace.values import (
    Check,
    Content,
    Draft,
    Entry,
    File,
    Forgotten,
    Json,
    Kind,
    Learned,
    Memory,
    Message,
    Order,
    Origin,
    Page,
    Recall,
    Scope,
    Signal,
    Stats,
    Within,
)

P = ParamSpec("P")
T = TypeVar("T")
_LOCAL = 4
"""Threads of a book in this process: more would not search faster, and each one that runs may keep the loop waiting."""
_REMOTE = 32
"""Threads of a book behind a server, which only wait for it."""


class _Threads:
    """Runs blocking calls in worker threads of its own, so that other users of the loop's pool cannot delay them."""

    def __init__(self, most: int) -> None:
        self.stopped = False
        self._pool = ThreadPoolExecutor(max_workers=most, thread_name_prefix="commonplace")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.stopped:
            raise StoreClosed("the book was closed")
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *args, **kwargs))

    def stop(self) -> None:
        self.stopped = True
        self._pool.shutdown(wait=False)


def _counted(recall: Callable[P, Recall], *args: P.args, **kwargs: P.kwargs) -> Recall:
    """Recall, with its tokens counted already."""
    answer = recall(*args, **kwargs)
    return replace(answer, counted=answer.tokens)


async def open_async(
    where: str | PathLike[str],
    *,
    space: str = "default",
    embedder: EmbedderLike = None,
    reranker: Reranker | str | None = None,
    settings: Settings | None = None,
    extractor: ExtractorLike = None,
    api_key: str | None = None,
    timeout: float | None = None,
) -> AsyncBook:
    """Open a book as `open` does, for use from an event loop."""
    threads = _Threads(_REMOTE if is_remote(str(where)) else _LOCAL)
    try:
        book = await threads.run(
            open_book, where, space=space, embedder=embedder, reranker=reranker, settings=settings, extractor=extractor,
            api_key=api_key, timeout=timeout,
        )
    except BaseException:
        threads.stop()
        raise
    return AsyncBook(book, threads)
'''

FOOTER = """
    async def __aenter__(self) -> AsyncBook:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncBook {self._sync!r}>"
"""


def main() -> int:
    """Write the module, or with --check say whether it is up to date."""
    made = build()
    if "--check" in sys.argv:
        return 0 if TARGET.read_text() == made else 1
    TARGET.write_text(made)
    return 0


def build() -> str:
    """The module's source."""
    source = HEADER + "".join(_class(module, name) for module, name in CLASSES)
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(ruff, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def _class(module: str, name: str) -> str:
    source = (PACKAGE / f"{module}.py").read_text()
    node = next(n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == name)
    lines = [
        "",
        "",
        f"class Async{name}:",
        f'    """{ast.get_docstring(node, clean=True).splitlines()[0]} Awaited."""',
        "",
        f"    def __init__(self, sync: {name}, threads: _Threads) -> None:",
        "        self._sync = sync",
        "        self._threads = threads",
    ]
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            lines += ["", *_method(item)]
    return "\n".join(lines) + "\n" + (FOOTER if name == "Book" else "")


def _method(item: ast.FunctionDef) -> list[str]:
    decorators = {d.id for d in item.decorator_list if isinstance(d, ast.Name)}
    if "property" in decorators:
        return [
            "    @property",
            *_signature(item, "def"),
            _doc(item),
            f"        return self._sync.{item.name}",
        ]
    if "overload" in decorators:
        return ["    @overload", *_overload(item)]
    if item.name in PLAIN:
        (argument,) = [a.arg for a in item.args.args if a.arg != "self"]
        made = ast.unparse(item.returns)
        call = f"Async{made}(self._sync.{item.name}({argument}), self._threads)"
        return [*_signature(item, "def", returns=f"Async{made}"), _doc(item), f"        return {call}"]
    if item.name == "export":
        body = f"        return stream(self._threads.run, self._sync.export({_arguments(item)}))"
        returns = ast.unparse(item.returns).replace("Iterator", "AsyncIterator")
        return [*_signature(item, "def", returns=returns), _doc(item), body]
    call = f"self._threads.run({', '.join([f'self._sync.{item.name}', *_argument_list(item)])})"
    if item.name == "close":
        body = [
            "        if not self._threads.stopped:",
            f"            await {call}",
            "            self._threads.stop()",
        ]
        return [*_signature(item, "async def"), _doc(item), *body]
    if item.name == "recall":
        # Counting an answer's tokens may read a vocabulary: done in the worker, it is never the loop's to do.
        call = call.replace("self._sync.recall", "_counted, self._sync.recall", 1)
    return [*_signature(item, "async def"), _doc(item), f"        return await {call}"]


def _overload(item: ast.FunctionDef) -> list[str]:
    # The checker complains of the first one only.
    note = f"  {OVERLAP}" if ast.unparse(item.returns) == "Memory" else ""
    return [
        f"    async def {item.name}({note}",
        f"        {ast.unparse(item.args)}",
        f"    ) -> {ast.unparse(item.returns)}: ...",
    ]


def _signature(item: ast.FunctionDef, keyword: str, *, returns: str | None = None) -> list[str]:
    result = returns or ast.unparse(item.returns)
    return [f"    {keyword} {item.name}({ast.unparse(item.args)}) -> {result}:"]


def _doc(item: ast.FunctionDef) -> str:
    doc = ast.get_docstring(item, clean=False)
    return f'        """{doc}"""'


def _argument_list(item: ast.FunctionDef) -> list[str]:
    plain = [a.arg for a in item.args.args if a.arg != "self"]
    rest = [f"*{item.args.vararg.arg}"] if item.args.vararg else []
    return [*plain, *rest, *(f"{a.arg}={a.arg}" for a in item.args.kwonlyargs)]


def _arguments(item: ast.FunctionDef) -> str:
    return ", ".join(_argument_list(item))


if __name__ == "__main__":
    sys.exit(main())
