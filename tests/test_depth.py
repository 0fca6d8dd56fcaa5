"""How far a call travels: at most 6 frames and 6 files of the library between a verb and its SQL."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import apsw
import pytest

import commonplace
from commonplace import Book
from commonplace.testing import HashEmbedder

LIBRARY = str(Path(commonplace.__file__).parent)
MOST_FRAMES = 6
MOST_FILES = 6
ENGINE = {apsw.Connection.execute.__name__, apsw.Connection.executemany.__name__}


def stacks_at_sql(call: Callable[[], object], outermost: CodeType) -> list[list[CodeType]]:
    """The library's own frames at each SQL statement of a call, from the verb down to the one that runs it."""
    stacks: list[list[CodeType]] = []

    def profile(frame: FrameType, event: str, arg: object) -> None:
        called = getattr(arg, "__self__", None)
        if event == "c_call" and isinstance(called, apsw.Connection) and arg.__name__ in ENGINE:  # type: ignore[attr-defined]
            stacks.append(_library_frames(frame, outermost))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return stacks


def _library_frames(frame: FrameType | None, outermost: CodeType) -> list[CodeType]:
    frames: list[CodeType] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(LIBRARY):
            frames.append(frame.f_code)
        if frame.f_code is outermost:
            return frames[::-1]
        frame = frame.f_back
    raise AssertionError(f"SQL outside {outermost.co_name}: {[code.co_name for code in frames]}")


VERBS: dict[str, tuple[Callable[[Book], object], CodeType]] = {
    "remember": (lambda book: book.remember("The ferry leaves at noon"), Book.remember.__code__),
    "remember many": (lambda book: book.remember(["One ferry", "Two ferries"]), Book.remember.__code__),
    "recall": (lambda book: book.recall("when does the ferry leave?"), Book.recall.__code__),
}


def stacks_of(verb: str, path: Path) -> list[list[CodeType]]:
    """The stacks of a verb's second call: the first proves the embedder and finds the space's number."""
    call, outermost = VERBS[verb]
    with commonplace.open(path, embedder=HashEmbedder()) as book:
        call(book)
        stacks = stacks_at_sql(lambda: call(book), outermost)
    assert stacks, "no SQL was seen: the test is blind"
    return stacks


def ensure_near(verb: str, stack: list[CodeType]) -> None:
    names, files = [f"{Path(code.co_filename).name}:{code.co_name}" for code in stack], {c.co_filename for c in stack}
    print(f"\n{verb}: {len(stack)} frames, {len(files)} files: {' > '.join(names)}")
    assert len(stack) <= MOST_FRAMES, names
    assert len(files) <= MOST_FILES, names


@pytest.mark.parametrize("verb", VERBS)
def test_the_first_sql_call_is_at_most_six_frames_and_six_files_away(tmp_path: Path, verb: str) -> None:
    ensure_near(verb, stacks_of(verb, tmp_path / "book.db")[0])


@pytest.mark.parametrize("verb", VERBS)
def test_every_statement_is_at_most_six_frames_and_six_files_away(tmp_path: Path, verb: str) -> None:
    """The first call of a write is only BEGIN; what does the work must not be far behind it."""
    ensure_near(verb, max(stacks_of(verb, tmp_path / "book.db"), key=len))
