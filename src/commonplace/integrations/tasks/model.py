"""Asking the model, if there is one: one question, one JSON object; the rules answer what it does not."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.integrations.conversation import clean_text
from commonplace.integrations.tasks.logs import Pages
from commonplace.learn.chat import Chat, NoReply, Turn, make_chat
from commonplace.learn.model import Unreadable, find_json

_WITHIN = 120.0
"""Seconds that a model may take for one answer."""
_REST = 60.0
"""Seconds for which a model that did not answer is left alone."""
_NO_SYSTEM = ("o1",)
"""Families of models that take no system message."""

_log = logging.getLogger("commonplace.integrations.tasks")

T = TypeVar("T")


class Model:
    """A model behind an AutoGen client, an OpenAIChat, or a name such as "openai:gpt-4o-mini"; or none.

    `calls` counts what it was asked. None of its failures ends a turn: they are logged, the rules answer, and for a
    minute it is not asked again.
    """

    def __init__(self, client: object | None, logger: Pages) -> None:
        self.client = client
        self.calls = 0
        self._logger = logger
        self._asleep_until = 0.0
        awaited = inspect.iscoroutinefunction(getattr(client, "create", None))
        self._chat: Chat | None = None if client is None or awaited else make_chat(client)

    @property
    def there(self) -> bool:
        """Whether there is a model to ask, and it is not known to be away."""
        return self.client is not None and time.monotonic() >= self._asleep_until

    async def ask(
        self, summary: str, prompt: str, asked: Mapping[str, object], read: Callable[[dict[str, Any]], T]
    ) -> T | None:
        """What is read from the object that the model answers; None if there is no model, or no answer to be used."""
        if not self.there:
            return None
        self.calls += 1
        turns = [Turn(role="system", text=prompt), Turn(role="user", text=json.dumps(asked, ensure_ascii=False))]
        try:
            answer = await asyncio.wait_for(self._answer(summary, turns), _WITHIN)
            return read(_object(answer))
        except Unreadable as error:
            self._say(f"{summary}: the model's answer cannot be used ({error}); the rules answer instead")
        except CommonplaceError:  # a replay that does not match, or wrong use: nothing that a rule could make good
            raise
        except Exception as error:  # noqa: BLE001 - clients raise whatever their service's package does
            self._asleep_until = time.monotonic() + _REST
            kind = error.kind if isinstance(error, NoReply) else type(error).__name__
            self._say(f"{summary}: no answer from the model ({kind}); for a minute the rules answer instead")
        return None

    async def say(self, summary: str, content: Any, system: str | None) -> str:
        """The model's answer in plain text; its failures are the caller's."""
        if self.client is None:
            raise InvalidInput("this needs a model: pass a client")
        parts = [content] if isinstance(content, str) else list(content)
        if not all(isinstance(each, str) for each in parts):
            raise InvalidInput("only text can be sent to the model here: remove images, or call the client directly")
        self.calls += 1
        text = "\n".join(parts)
        turns = [Turn(role="system", text=system or "You are a careful assistant."), Turn(role="user", text=text)]
        return await self._answer(summary, turns, plain=True)

    async def _answer(self, summary: str, turns: list[Turn], *, plain: bool = False) -> str:
        if self._chat is not None:
            reply = await asyncio.to_thread(self._chat.ask, turns, within=_WITHIN)
            return reply.text
        messages, options = _for_autogen(self.client, turns)
        client: Any = self.client  # an AutoGen client, whose package need not be here
        result = await client.create(messages, **({} if plain else options))
        self._logger.log_model_call(summary=summary, input_messages=messages, response=result)
        if not isinstance(result.content, str):
            raise Unreadable("it is a tool call")
        return result.content

    def _say(self, line: str) -> None:
        _log.warning(line)
        self._logger.warning(line)


def _for_autogen(client: Any, turns: list[Turn]) -> tuple[list[Any], dict[str, Any]]:
    from autogen_core.models import SystemMessage, UserMessage

    info = getattr(client, "model_info", None)
    told = info if isinstance(info, dict) else {}
    texts = [clean_text(turn.text) for turn in turns]
    options = {"json_output": True} if told.get("json_output") is True else {}
    if told.get("family") in _NO_SYSTEM:
        return [UserMessage(content="\n\n".join(texts), source="memory")], options
    return [SystemMessage(content=texts[0]), UserMessage(content=texts[1], source="memory")], options


def _object(answer: str) -> dict[str, Any]:
    found = find_json(answer)
    if not isinstance(found, dict):
        raise Unreadable("it is not a JSON object")
    return found
