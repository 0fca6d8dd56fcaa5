"""ChatCompletionClientRecorder: a model's part in a program, recorded once and replayed in every test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

from autogen_core import CancellationToken
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

from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.integrations.tasks.pages import PageLogger
from commonplace.integrations.tasks.recorder_requests import Request, request
from commonplace.integrations.tasks.recorder_session import Recording, Replay

_NO_TOKENS = {"prompt_tokens": 0, "completion_tokens": 0}


class ChatCompletionClientRecorder(ChatCompletionClient):
    """In mode "record" asks the client and keeps every turn; in mode "replay" answers from what was kept.

    A turn is in the file when its answer is given out. A replay checks that each request, with its tools, output format
    and further arguments, is the one that was recorded, and raises ReplayMismatch with the difference if not.
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
        """The model's answer, or the recorded one, which says that it is cached."""
        arguments = _arguments(tools, tool_choice, json_output, extra_create_args)
        session, turn = self._session, self._session.begin()
        asked = await asyncio.to_thread(request, "create", messages, arguments)
        if isinstance(session, Replay):
            return _result(self._recorded(session, turn, asked).get("response"), turn)
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
        """The same in pieces, the last of which is the whole; recorded and replayed piece by piece."""
        arguments = _arguments(tools, tool_choice, json_output, extra_create_args)
        session, turn = self._session, self._session.begin()
        asked = await asyncio.to_thread(request, "create_stream", messages, arguments)
        if isinstance(session, Replay):
            for piece in self._recorded(session, turn, asked).get("stream") or ():
                yield piece if isinstance(piece, str) else _result(piece, turn)
            return
        pieces: list[Any] = []
        stream = self.base_client.create_stream(messages, **arguments, cancellation_token=cancellation_token)
        try:
            async with aclosing(stream):
                async for each in stream:
                    pieces.append(each if isinstance(each, str) else each.model_dump(mode="json"))
                    if not isinstance(each, str):
                        await asyncio.to_thread(session.keep, turn, _streamed(asked, pieces))
                    yield each
            if not pieces or isinstance(pieces[-1], str):  # a stream without a whole at its end
                await asyncio.to_thread(session.keep, turn, _streamed(asked, pieces))
        except GeneratorExit:
            # Whoever reads no further here will not do so in the replay either.
            await asyncio.to_thread(session.keep, turn, _streamed(asked, pieces))
            raise

    def finalize(self) -> None:
        """Write the session, or raise ReplayMismatch if some of its turns were never asked."""
        try:
            turns = self._session.finish()
        except CommonplaceError as error:
            self.logger.error(str(error))
            raise
        self.logger.info(f"{turns} turns {'recorded in' if self.mode == 'record' else 'replayed from'} the session")

    async def close(self) -> None:
        """Close the client; the session is complete as it is."""
        await self.base_client.close()

    def actual_usage(self) -> RequestUsage:
        """What the client used."""
        return self.base_client.actual_usage()

    def total_usage(self) -> RequestUsage:
        """What the client used altogether."""
        return self.base_client.total_usage()

    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        """As the client counts."""
        return self.base_client.count_tokens(messages, tools=tools)

    def remaining_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        """As the client counts."""
        return self.base_client.remaining_tokens(messages, tools=tools)

    @property
    def capabilities(self) -> ModelCapabilities:
        """Those of the client."""
        return self.base_client.capabilities

    @property
    def model_info(self) -> ModelInfo:
        """That of the client."""
        return self.base_client.model_info

    def _recorded(self, session: Replay, turn: int, asked: Request) -> Mapping[str, Any]:
        try:
            return session.answer(turn, asked)
        except CommonplaceError as error:
            self.logger.error(str(error))
            raise


def _arguments(tools: Any, tool_choice: Any, json_output: Any, extra_create_args: Any) -> dict[str, Any]:
    return {
        "tools": tools,
        "tool_choice": tool_choice,
        "json_output": json_output,
        "extra_create_args": extra_create_args,
    }


def _streamed(asked: Request, pieces: list[Any]) -> Request:
    return {**asked, "response": None, "stream": pieces}


def _result(recorded: object, turn: int) -> CreateResult:
    if not isinstance(recorded, Mapping):
        raise InvalidInput(f"turn {turn} of the session holds no answer: it is damaged; record it again")
    try:
        return CreateResult.model_validate({"finish_reason": "stop", "usage": _NO_TOKENS, **recorded, "cached": True})
    except ValidationError as error:
        raise InvalidInput(f"turn {turn} of the session is no answer of a model: {error}") from error
