"""Print the shape of src/commonplace: sizes, names, imports by layer, and the files that each verb executes.

python tools/shape.py            everything
python tools/shape.py --layers   only the imports that point the wrong way
python tools/shape.py --json     everything as JSON
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import statistics
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "commonplace"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "values", "settings", "filters", "wire"),
    ("text",),
    ("guard", "models"),
    ("store",),
    ("memories",),
    ("recall",),
    ("reconcile",),
    ("learn",),
    ("transfer", "access"),
    ("kv", "canvas", "transcript", "brief"),
    ("book", "local", "aio"),
    ("remote",),
    ("location",),
    ("__init__",),
    ("integrations", "testing"),
    ("server",),
    ("cli",),
    ("__main__",),
)
"""Rooms from the ground up. A room imports from its own layer and from those before it."""
APART = ("guard", "models", "transfer", "access", "integrations", "testing")
"""Rooms that share a layer and do not import one another."""
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and imported room for each import of ours, also inside functions and for types alone."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "commonplace":
            if node.module == "commonplace":
                for alias in node.names:
                    yield node.lineno, alias.name if alias.name in RANK else "__init__"
            else:
                yield node.lineno, node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "commonplace" or alias.name.startswith("commonplace."):
                    yield node.lineno, [*alias.name.split("."), "__init__"][1]


def wrong_imports() -> list[str]:
    """Return each import that points up, or sideways between rooms that do not import one another."""
    found = []
    for path in files():
        room = room_of(path)
        if room in ("__init__", "__main__"):
            continue
        for line, target in imports(path):
            place = f"{path.relative_to(PACKAGE)}:{line}"
            if room not in RANK or target not in RANK:
                found.append(f"{place}: {room} -> {target}: no layer")
            elif RANK[target] > RANK[room]:
                found.append(f"{place}: {room} -> {target}")
            elif RANK[target] == RANK[room] and target != room and room in APART and target in APART:
                found.append(f"{place}: {room} -> {target}: they stand apart")
    return found


def sizes() -> dict[str, Any]:
    lines, functions, broad = [], [], 0
    rooms: Counter[str] = Counter()
    for path in files():
        text = path.read_text("utf-8")
        lines.append(text.count("\n"))
        rooms[room_of(path)] += lines[-1]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.append((node.end_lineno or 0) - node.lineno + 1)
            if isinstance(node, ast.ExceptHandler) and getattr(node.type, "id", "") in (
                "",
                "Exception",
                "BaseException",
            ):
                broad += node.type is None or isinstance(node.type, ast.Name)
    lines.sort()
    functions.sort()
    return {
        "files": len(lines),
        "lines": sum(lines),
        "file median / p90 / max": [int(statistics.median(lines)), lines[len(lines) * 9 // 10], lines[-1]],
        "function median / p95": [int(statistics.median(functions)), functions[len(functions) * 95 // 100]],
        "broad except": broad,
        "modules in the root": len(list(PACKAGE.glob("*.py"))),
        "lines by room": dict(rooms.most_common()),
    }


def names() -> dict[str, Any]:
    classes: Counter[str] = Counter()
    what, gerunds, lazy = 0, 0, 0
    for path in files():
        tree = ast.parse(path.read_text("utf-8"))
        gerunds += path.stem.endswith("ing")
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name] += 1
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                what += (ast.get_docstring(node) or "").startswith("What ")
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lazy += sum(
                    isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("commonplace")
                    for inner in ast.walk(node)
                )
    return {
        "modules whose name ends in -ing": gerunds,
        "class names that occur more than once": sum(count > 1 for count in classes.values()),
        'docstrings that begin with "What"': what,
        "imports of ours inside functions": lazy,
    }


class Trace:
    """Collects our files whose functions run while recording, in every thread that started after `install`."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.frames = 0
        self.recording = False

    def install(self) -> None:
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def remove(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _profile(self, frame: FrameType, event: str, arg: object) -> None:
        if not self.recording:
            return
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            self.files.setdefault(str(Path(frame.f_code.co_filename).relative_to(PACKAGE)))
        elif event == "c_call" and type(getattr(arg, "__self__", None)).__module__ == "apsw":
            self.frames = max(self.frames, _depth(frame))

    def of(self, call: Callable[[], object]) -> dict[str, Any]:
        """Run `call`; return the files in the order of their first use, and our frames at its deepest SQL statement."""
        self.files, self.frames, self.recording = {}, 0, True
        try:
            call()
        finally:
            self.recording = False
        return {"files": len(self.files), "frames": self.frames, "which": list(self.files)}


def _depth(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += frame.f_code.co_filename.startswith(str(PACKAGE))
        frame = frame.f_back
    return depth


def verbs() -> dict[str, dict[str, Any]]:
    """Run each verb on a book in use, each recall right after a write, and return what each executed."""
    import commonplace

    trace = Trace()
    trace.install()
    try:
        with tempfile.TemporaryDirectory() as folder, commonplace.open(Path(folder) / "book.db") as book:
            for number in range(30):
                book.remember(f"The office number {number} is in street {number} of Lisbon", source="ana")
            book.recall("which street?")
            found = {"remember": trace.of(lambda: book.remember("We chose FastAPI over Flask", kind="decision"))}
            found["recall"] = trace.of(lambda: book.recall("did we choose FastAPI or Flask?").hits[0])
            said = [{"role": "user", "name": "Sarah", "content": "I prefer TypeScript now, not Python."}]
            book.learn(said, wait=True)
            found["learn"] = trace.of(lambda: book.learn(said, wait=True))
            found["recall over HTTP"] = trace.of(_over_http(book))
            found["AutoGen update_context"] = trace.of(_update_context(book))
    finally:
        trace.remove()
    return {verb: ran for verb, ran in found.items() if ran["files"]}


def _over_http(book: Any) -> Callable[[], object]:
    try:
        from fastapi.testclient import TestClient

        from commonplace.server.app import create_app
        from commonplace.server.config import Config
    except ImportError:
        return lambda: None
    client = TestClient(create_app(book.core, Config()), "http://127.0.0.1", client=("127.0.0.1", 50000))
    body = {"query": "when does the ferry leave?"}

    def ask() -> object:
        return client.post("/v1/spaces/default/recall", json=body).raise_for_status()

    ask()
    book.remember("The ferry is late on Sundays")
    return ask


def _update_context(book: Any) -> Callable[[], object]:
    try:
        from autogen_core.model_context import BufferedChatCompletionContext
        from autogen_core.models import UserMessage

        from commonplace.integrations.autogen import CommonplaceMemory
    except ImportError:
        return lambda: None

    async def update() -> None:
        context = BufferedChatCompletionContext(buffer_size=5)
        await context.add_message(UserMessage(content="when does the ferry leave?", source="user"))
        await CommonplaceMemory(book).update_context(context)

    asyncio.run(update())
    book.remember("The ferry is early on Mondays")
    return lambda: asyncio.run(update())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", action="store_true", help="only the imports that point the wrong way")
    parser.add_argument("--json", action="store_true", help="for machines")
    options = parser.parse_args()
    wrong = wrong_imports()
    if options.layers:
        print("\n".join(wrong) or "every import points down")
        return
    run = verbs()
    shape = {**sizes(), **names(), "imports that point the wrong way": len(wrong), "executed": run}
    if options.json:
        print(json.dumps(shape, indent=1))
        return
    for name, value in shape.items():
        if name == "executed":
            for verb, found in run.items():
                print(f"{verb}: {found['files']} files, {found['frames']} frames\n    {' '.join(found['which'])}")
        else:
            print(f"{name}: {' / '.join(map(str, value)) if isinstance(value, list) else value}")


if __name__ == "__main__":
    main()
