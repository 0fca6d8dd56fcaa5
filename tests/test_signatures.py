"""Book declares the verbs; LocalBook, RemoteBook and AsyncBook, and their companions, have the same ones."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.aio import AsyncBook, AsyncCanvas, AsyncKeyValue, AsyncTranscript
from commonplace.book import Book
from commonplace.canvas import Canvas, LocalCanvas
from commonplace.kv import KeyValue, LocalKeyValue
from commonplace.local import LocalBook
from commonplace.remote.book import RemoteBook, RemoteCanvas, RemoteKeyValue, RemoteTranscript
from commonplace.transcript import LocalTranscript, Transcript

FAMILIES: list[tuple[type, list[type], type]] = [
    (Book, [LocalBook, RemoteBook], AsyncBook),
    (KeyValue, [LocalKeyValue, RemoteKeyValue], AsyncKeyValue),
    (Canvas, [LocalCanvas, RemoteCanvas], AsyncCanvas),
    (Transcript, [LocalTranscript, RemoteTranscript], AsyncTranscript),
]
SYNC = [(declared, made) for declared, kinds, _ in FAMILIES for made in kinds]
ASYNC = [(declared, made) for declared, _, made in FAMILIES]
NOT_AWAITED = {"kv", "canvas", "transcript", "in_space", "export"}


def verbs(kind: type) -> dict[str, object]:
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


@pytest.mark.parametrize(("declared", "made"), SYNC + ASYNC, ids=lambda kind: kind.__name__)
def test_every_verb_has_the_declared_signature_and_docstring(declared: type, made: type) -> None:
    for name, verb in verbs(declared).items():
        found = getattr(made, name)
        assert inspect.getdoc(found) == inspect.getdoc(verb), name
        if inspect.isfunction(verb):
            assert inspect.signature(found).parameters == inspect.signature(verb).parameters, name


@pytest.mark.parametrize(("declared", "made"), SYNC, ids=lambda kind: kind.__name__)
def test_every_declared_verb_is_implemented_and_no_other(declared: type, made: type) -> None:
    assert issubclass(made, declared)
    assert not made.__abstractmethods__  # type: ignore[attr-defined]
    assert verbs(made).keys() - {"over"} <= verbs(declared).keys()  # the server gives each request a store of its own


@pytest.mark.parametrize(("declared", "made"), ASYNC, ids=lambda kind: kind.__name__)
def test_every_verb_that_may_wait_is_awaited(declared: type, made: type) -> None:
    assert list(verbs(made)) == list(verbs(declared))
    for name, verb in verbs(made).items():
        if callable(verb) and name not in NOT_AWAITED:
            assert inspect.iscoroutinefunction(verb), name


@pytest.mark.slow
def test_a_type_checker_sees_every_parameter_and_result(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import commonplace\n"
        "from commonplace.remote.book import RemoteBook\n"
        "async def main(book: commonplace.AsyncBook, remote: RemoteBook) -> None:\n"
        "    reveal_type(await book.recall('x', k=3))\n"
        "    reveal_type(await book.remember('x'))\n"
        "    reveal_type(await book.remember(['x'], kind='fact'))\n"
        "    reveal_type(await book.kv('n').append('k', 1, 2))\n"
        "    reveal_type(await book.canvas('c').files())\n"
        "    reveal_type(remote.remember(['x']))\n"
        "    reveal_type(remote.recall('x'))\n"
        "    reveal_type(remote.kv('n').set('k', 1))\n"
        "    reveal_type(await commonplace.open_async('x', space='y'))\n"
        "    await book.recall('x', limit=3)\n"
        "    await book.remember(3)\n"
        "    remote.recall('x', limit=3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)], capture_output=True, text=True
    )
    told = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    revealed = [line.split('"')[1].replace("commonplace.values.", "") for line in told if "Revealed" in line]
    awaited = ["Recall", "Memory", "list[Memory]", "Entry", "dict[str, int]"]
    assert revealed == [*awaited, "list[Memory]", "Recall", "Entry", "commonplace.aio.AsyncBook"], done.stdout
    wrong = [line for line in told if line.startswith("error")]
    assert [line.rpartition("[")[2] for line in wrong] == ["call-arg]", "call-overload]", "call-arg]"], done.stdout
