"""A recorded session: the turns of a conversation with a model in a file that people and tests can read."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commonplace.errors import InvalidInput, ReplayMismatch, StoreUnavailable
from commonplace.integrations.tasks.recorder_requests import Request, difference


class Recording:
    """Takes turns down in the order in which they were asked; each is in the file when `keep` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turns: dict[int, str] = {}
        self._begun = 0
        self._written: _Identity | None = None
        self._lock = threading.Lock()

    def begin(self) -> int:
        """The place of a turn that is being asked. One that fails keeps none: it is not part of the session."""
        self._begun += 1
        return self._begun

    def keep(self, turn: int, record: Mapping[str, Any]) -> None:
        """Write a turn, and all before it; whoever reads the file finds it whole."""
        text = json.dumps(record, indent=2, ensure_ascii=False)
        with self._lock:
            self._turns[turn] = text
            self._write()

    def finish(self) -> int:
        """Write the file also where nothing was asked; how many turns it holds."""
        with self._lock:
            self._write()
            return len(self._turns)

    def _write(self) -> None:
        turns = ",\n".join(self._turns[turn] for turn in sorted(self._turns))
        try:
            if self._written is not None and _found(self.path) not in (None, self._written):
                raise InvalidInput(
                    f"{self.path} was changed by another writer during the recording, whose turns would be lost:"
                    " give each recorder its own file and record again"
                )
            self._written = _replace(self.path, f"[\n{turns}\n]\n" if turns else "[]\n")
        except OSError as error:
            raise StoreUnavailable(f"the session cannot be written to {self.path}: {error}") from error


class Replay:
    """Hands out recorded turns one after the other, each to the request that it was recorded for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turns = _load(path)
        self._asked = self._matched = 0

    def begin(self) -> int:
        """The number of the turn that is being asked, from 1."""
        self._asked += 1
        return self._asked

    def answer(self, turn: int, request: Request) -> Mapping[str, Any]:
        """The record of a turn, if the request is the one it was recorded for."""
        if turn > len(self._turns):
            raise ReplayMismatch(
                f"turn {turn} was requested, but {self.path} has only {len(self._turns)}: the program asks more than"
                " during the recording; record it again"
            )
        recorded = self._turns[turn - 1]
        if (diff := difference(recorded, request)) is not None:
            raise ReplayMismatch(
                f"turn {turn} of {len(self._turns)} in {self.path}: the request differs from the recorded one.\n{diff}"
            )
        self._matched += 1
        return recorded

    def finish(self) -> int:
        """How many turns there were; raises if the program asked less or more, or something else and hid the error."""
        if self._matched == self._asked == len(self._turns):
            return self._matched
        raise ReplayMismatch(
            f"{self.path} holds {len(self._turns)} turns: {self._asked} were requested, {self._matched} of them match"
            " the recording"
        )


def _load(path: Path) -> list[Mapping[str, Any]]:
    try:
        turns = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"the session {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the session {path} is not JSON: {error}") from error
    if not isinstance(turns, list) or not all(isinstance(turn, dict) and "messages" in turn for turn in turns):
        raise InvalidInput(f'the session {path} is not a list of turns, each with "mode" and "messages"')
    return turns


_Identity = tuple[int, int, int]
"""What tells one writing of a file from another: its node, its time and its size."""


def _found(path: Path) -> _Identity | None:
    return _identity(path.stat()) if path.exists() else None


def _identity(known: os.stat_result) -> _Identity:
    return known.st_ino, known.st_mtime_ns, known.st_size


def _replace(path: Path, text: str) -> _Identity:
    path = path.resolve()  # a link stays one
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(draft, "wb") as file:
            # What UTF-8 cannot carry stands in a JSON text, and so becomes an escape that JSON reads back.
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
            written = _identity(os.fstat(file.fileno()))
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return written
