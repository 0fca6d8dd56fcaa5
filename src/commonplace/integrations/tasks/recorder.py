"""ChatCompletionClientRecorder: records a program's conversation with a model, and replays it in tests."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import json
import os
import textwrap
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

from autogen_core import CancellationToken, Image
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelCapabilities,
    ModelInfo,
    RequestUsage,
)
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from commonplace.errors import CommonplaceError, InvalidInput, ReplayMismatch, StoreUnavailable
from commonplace.integrations.tasks.pages import PageLogger

Request = dict[str, Any]
FileState = tuple[int, int, int]
"""The inode, time and size of a file, which change when it is written."""

_FIELDS = ("mode", "messages", "tools", "tool_choice", "json_output", "extra_create_args")
"""The fields that are compared, if the record has them: those of AutoGen's own recorder lack some."""
_WIDTH = 100
_MOST_LINES = 80
_NO_TOKENS = {"prompt_tokens": 0, "completion_tokens": 0}


class ChatCompletionClientRecorder(ChatCompletionClient):
    """In mode "record" asks the client and writes every turn to a file; in mode "replay" answers from that file.

    A turn is in the file when its answer is returned. A replay compares each request, with its tools, output format and
    further arguments, to the recorded one, and raises ReplayMismatch with the difference if they are not equal.
    """

    def __init__(
        self,
        client: ChatCompletionClient,
        mode: Literal["record", "replay"],
        session_file_path: str,
        logger: PageLogger | None = None,
    ) -> None:
        if mode not in ("record", "replay"):
            raise InvalidInput(f'mode {mode!r} is neither "record" nor "replay"')
        self.base_client, self.mode = client, mode
        self.session_file_path = str(Path(session_file_path).expanduser())
        self.logger = PageLogger() if logger is None else logger
        path = Path(self.session_file_path)
        self._session: Recording | Replay = Recording(path) if mode == "record" else Replay(path)
        self.logger.info(f"{'Recording to' if mode == 'record' else 'Replaying'} {path}")

    async def create(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Tool | Literal["auto", "required", "none"] = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] = {},
        cancellation_token: CancellationToken | None = None,
    ) -> CreateResult:
        """Return the model's answer, or the recorded one, which is marked as cached."""
        arguments = _collect_arguments(tools, tool_choice, json_output, extra_create_args)
        session, turn = self._session, self._session.begin()
        asked = await asyncio.to_thread(_make_request, "create", messages, arguments)
        if isinstance(session, Replay):
            return _read_result(self._find_record(session, turn, asked).get("response"), turn)
        result = await self.base_client.create(messages, **arguments, cancellation_token=cancellation_token)
        record = {**asked, "response": result.model_dump(mode="json"), "stream": []}
        await asyncio.to_thread(session.keep, turn, record)
        return result

    async def create_stream(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Tool | Literal["auto", "required", "none"] = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] = {},
        cancellation_token: CancellationToken | None = None,
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Yield the answer in pieces, then as a whole; it is recorded and replayed piece by piece."""
        arguments = _collect_arguments(tools, tool_choice, json_output, extra_create_args)
        session, turn = self._session, self._session.begin()
        asked = await asyncio.to_thread(_make_request, "create_stream", messages, arguments)
        if isinstance(session, Replay):
            for piece in self._find_record(session, turn, asked).get("stream") or ():
                yield piece if isinstance(piece, str) else _read_result(piece, turn)
            return
        pieces: list[Any] = []
        stream = self.base_client.create_stream(messages, **arguments, cancellation_token=cancellation_token)
        try:
            async with aclosing(stream):
                async for each in stream:
                    pieces.append(each if isinstance(each, str) else each.model_dump(mode="json"))
                    if not isinstance(each, str):
                        await asyncio.to_thread(session.keep, turn, _add_stream(asked, pieces))
                    yield each
            if not pieces or isinstance(pieces[-1], str):  # a stream without a whole at its end
                await asyncio.to_thread(session.keep, turn, _add_stream(asked, pieces))
        except GeneratorExit:
            # A program that reads no further here does not do so in the replay either.
            await asyncio.to_thread(session.keep, turn, _add_stream(asked, pieces))
            raise

    def finalize(self) -> None:
        """Write the session; when replaying, raise ReplayMismatch if some of its turns were not asked."""
        try:
            turns = self._session.finish()
        except CommonplaceError as error:
            self.logger.error(str(error))
            raise
        self.logger.info(f"{turns} turns {'recorded in' if self.mode == 'record' else 'replayed from'} the session")

    async def close(self) -> None:
        """Close the client; the session is complete without this."""
        await self.base_client.close()

    def actual_usage(self) -> RequestUsage:
        return self.base_client.actual_usage()

    def total_usage(self) -> RequestUsage:
        return self.base_client.total_usage()

    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        return self.base_client.count_tokens(messages, tools=tools)

    def remaining_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        return self.base_client.remaining_tokens(messages, tools=tools)

    @property
    def capabilities(self) -> ModelCapabilities:
        return self.base_client.capabilities

    @property
    def model_info(self) -> ModelInfo:
        return self.base_client.model_info

    def _find_record(self, session: Replay, turn: int, asked: Request) -> Mapping[str, Any]:
        try:
            return session.answer(turn, asked)
        except CommonplaceError as error:
            self.logger.error(str(error))
            raise


def _collect_arguments(tools: Any, tool_choice: Any, json_output: Any, extra_create_args: Any) -> dict[str, Any]:
    return {
        "tools": tools,
        "tool_choice": tool_choice,
        "json_output": json_output,
        "extra_create_args": extra_create_args,
    }


def _add_stream(asked: Request, pieces: list[Any]) -> Request:
    return {**asked, "response": None, "stream": pieces}


def _read_result(recorded: object, turn: int) -> CreateResult:
    if not isinstance(recorded, Mapping):
        raise InvalidInput(f"turn {turn} of the session has no answer: the file is damaged; record it again")
    try:
        return CreateResult.model_validate({"finish_reason": "stop", "usage": _NO_TOKENS, **recorded, "cached": True})
    except ValidationError as error:
        raise InvalidInput(f"turn {turn} of the session is no answer of a model: {error}") from error


class Recording:
    """Writes turns in the order in which they were asked; each is in the file when `keep` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turns: dict[int, str] = {}
        self._begun = 0
        self._written: FileState | None = None
        self._lock = threading.Lock()

    def begin(self) -> int:
        """Return the number of a turn that begins. A turn that fails is not part of the session."""
        self._begun += 1
        return self._begun

    def keep(self, turn: int, record: Mapping[str, Any]) -> None:
        """Write the file with this turn; the file is replaced as a whole."""
        text = json.dumps(record, indent=2, ensure_ascii=False)
        with self._lock:
            self._turns[turn] = text
            self._write()

    def finish(self) -> int:
        """Write the file even if nothing was asked; return the number of turns."""
        with self._lock:
            self._write()
            return len(self._turns)

    def _write(self) -> None:
        turns = ",\n".join(self._turns[turn] for turn in sorted(self._turns))
        try:
            if self._written is not None and self.path.exists() and _read_state(self.path) != self._written:
                raise InvalidInput(
                    f"{self.path} was changed by another writer during the recording, whose turns would be lost:"
                    " give each recorder its own file and record again"
                )
            self._written = _replace_file(self.path, f"[\n{turns}\n]\n" if turns else "[]\n")
        except OSError as error:
            raise StoreUnavailable(f"the session cannot be written to {self.path}: {error}") from error


class Replay:
    """Returns recorded turns one after the other, each for the request that it was recorded for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turns = _load_turns(path)
        self._asked = self._matched = 0

    def begin(self) -> int:
        """Return the number of a turn that begins, from 1."""
        self._asked += 1
        return self._asked

    def answer(self, turn: int, request: Request) -> Mapping[str, Any]:
        """Return the record of a turn; raise ReplayMismatch if the request is not the recorded one."""
        if turn > len(self._turns):
            raise ReplayMismatch(
                f"turn {turn} was requested, but {self.path} has only {len(self._turns)}: the program asks more than"
                " during the recording; record it again"
            )
        recorded = self._turns[turn - 1]
        if (diff := _describe_difference(recorded, request)) is not None:
            raise ReplayMismatch(
                f"turn {turn} of {len(self._turns)} in {self.path}: the request differs from the recorded one.\n{diff}"
            )
        self._matched += 1
        return recorded

    def finish(self) -> int:
        """Return the number of turns; raise ReplayMismatch unless each was asked once, as it was recorded."""
        if self._matched == self._asked == len(self._turns):
            return self._matched
        raise ReplayMismatch(
            f"{self.path} holds {len(self._turns)} turns: {self._asked} were requested, {self._matched} of them match"
            " the recording"
        )


def _load_turns(path: Path) -> list[Mapping[str, Any]]:
    try:
        turns = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"the session {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the session {path} is not JSON: {error}") from error
    if not isinstance(turns, list) or not all(isinstance(turn, dict) and "messages" in turn for turn in turns):
        raise InvalidInput(f'the session {path} is not a list of turns, each with "mode" and "messages"')
    return turns


def _read_state(file: Path | int) -> FileState:
    known = os.stat(file)
    return known.st_ino, known.st_mtime_ns, known.st_size


def _replace_file(path: Path, text: str) -> FileState:
    path = path.resolve()  # a link stays one
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(draft, "wb") as file:
            # Lone surrogates can only be inside JSON strings, where an escape is read back.
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
            written = _read_state(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return written


def _make_request(mode: str, messages: Sequence[LLMMessage], arguments: Mapping[str, Any]) -> Request:
    """Return everything that decides the answer, as JSON; an image by its pixels, a tool by its schema."""
    choice, output = arguments["tool_choice"], arguments["json_output"]
    return {
        "mode": mode,
        "messages": [_describe_message(message) for message in messages],
        "tools": [_jsonable(tool if isinstance(tool, Mapping) else tool.schema) for tool in arguments["tools"]],
        "tool_choice": choice if isinstance(choice, str) else {"name": choice.name},
        "json_output": output if output is None or isinstance(output, bool) else output.model_json_schema(),
        "extra_create_args": _jsonable(arguments["extra_create_args"]),
    }


def _describe_difference(recorded: Mapping[str, Any], asked: Request) -> str | None:
    """Describe for a person how a request differs from the recorded one; None if it does not."""
    known = [field for field in _FIELDS if field in recorded]
    before = _simplify({field: recorded[field] for field in known})
    after = _simplify({field: asked[field] for field in known})
    if before == after:
        return None
    # The second form shows differences in white space.
    shown = _diff(_write_lines(before), _write_lines(after)) or _diff(_write_json(before), _write_json(after))
    left = len(shown) - _MOST_LINES
    return "\n".join(shown[:_MOST_LINES] + ([f"… and {left} more lines"] if left > 0 else []))


def _diff(before: Iterator[str], after: Iterator[str]) -> list[str]:
    return list(difflib.unified_diff([*before], [*after], "recorded", "asked", lineterm=""))


def _write_json(value: Any) -> Iterator[str]:
    yield from json.dumps(value, indent=2, sort_keys=True).splitlines()


def _describe_message(message: LLMMessage) -> dict[str, Any]:
    # An image is not encoded: that takes time in every turn, and each version of the encoder writes other bytes.
    content = message.content
    if isinstance(content, list) and any(isinstance(part, Image) for part in content):
        rest = message.model_dump(mode="json", exclude={"content"})
        parts = [_hash_image(part) if isinstance(part, Image) else _jsonable(part) for part in content]
        return {"content": parts, **rest}
    return dict(message.model_dump(mode="json"))


def _hash_image(image: Image) -> dict[str, Any]:
    pixels = image.image
    digest = hashlib.sha256(f"{pixels.mode} {pixels.size}".encode() + pixels.tobytes()).hexdigest()
    return {"image": f"{pixels.width} x {pixels.height}", "sha256": digest}


def _hash_encoded(data: str) -> dict[str, Any] | None:
    """Return the hash of an image that AutoGen's recorder kept whole; None if it is no image."""
    try:
        return _hash_image(Image.from_base64(data))
    except (ValueError, OSError):
        return None


def _jsonable(value: Any) -> Any:
    # Other values are named by their type: their repr may hold an address of this process.
    return to_jsonable_python(value, fallback=lambda each: f"<{type(each).__qualname__}>")


def _simplify(value: Any) -> Any:
    """Drop empty fields, which versions of AutoGen add, and replace images that were kept whole by their hashes."""
    if isinstance(value, Mapping):
        if list(value) == ["data"] and isinstance(value["data"], str):
            return _hash_encoded(value["data"]) or value
        return {key: _simplify(item) for key, item in value.items() if item is not None}
    return [_simplify(item) for item in value] if isinstance(value, (list, tuple)) else value


def _write_lines(value: Any, label: str = "", indent: str = "") -> Iterator[str]:
    """Yield a value as lines in which a difference is small: one for each plain value, texts as they read."""
    inner = indent if not label else indent + "  "
    if isinstance(value, Mapping) and value:
        if label:
            yield f"{indent}{label}:"
        for key in sorted(value):
            yield from _write_lines(value[key], str(key), inner)
    elif isinstance(value, list) and value:
        for place, item in enumerate(value, 1):
            yield from _write_lines(item, f"{label} {place}", indent)
    elif isinstance(value, str) and (len(value) > _WIDTH or "\n" in value):
        yield f"{indent}{label}:"
        for line in value.splitlines():
            yield from (f"{inner}{part}" for part in textwrap.wrap(line, _WIDTH) or [""])
    else:
        yield f"{indent}{label}: {value!r}" if isinstance(value, str) else f"{indent}{label}: {value}"
