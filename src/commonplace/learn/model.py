"""Extraction with a model, within a budget and checked; the rules read whatever it does not."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.errors import InvalidInput
from commonplace.kv import KeyValue
from commonplace.learn import model_answer, model_prompt
from commonplace.learn.budget import Budget, today
from commonplace.learn.chat import NoReply, Turn, chat
from commonplace.learn.model_answer import Reading, Unreadable
from commonplace.text import tokens
from commonplace.values.extraction import Extractor, Finding, Utterance

_ROLES = ("user", "assistant")
"""Who is listened to; what tools and system messages say is context."""
_CONTEXT = 8
_TOGETHER = 20
"""Messages of one question."""
_CHARACTERS = 24_000
"""Of one question; a longer message is for the rules."""
_ANSWER = 120
"""Tokens that the answer about one message may take: set aside beforehand, settled afterwards."""
_REST = 60.0
"""Seconds for which a model that did not answer is left alone."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Messages that go into one question, and those that they may refer to."""

    at: tuple[int, ...]
    before: tuple[int, ...]
    """Earlier messages, and those between them that are not read."""


class _NotRead(Exception):
    """The model is not to be had for these messages; why is logged where it is known."""


class ModelExtractor:
    """Reads memories out of messages with a model; nothing it says is kept unless the messages bear it out.

    `client` is a text such as "openai:gpt-4o-mini", an OpenAIChat, or an AutoGen ChatCompletionClient that nobody else
    uses. At most `tokens_per_day` tokens are spent on a UTC day; with `ledger`, such as book.kv("model tokens"), the
    count is on disk and shared by all that use it. `fallback` (the rules) reads what the model does not: beyond the
    budget, when it is away, or answers what cannot be used. One `extract` asks for at most `seconds`.
    """

    def __init__(
        self,
        client: object,
        *,
        tokens_per_day: int = 200_000,
        ledger: KeyValue | None = None,
        fallback: Extractor | None = None,
        seconds: float = 60.0,
    ) -> None:
        if not seconds > 0:
            raise InvalidInput(f"seconds is more than 0, not {seconds!r}")
        self._chat = chat(client)
        self._budget = Budget(tokens_per_day, ledger)
        self._fallback = fallback
        self._seconds = seconds
        self._rests_until = 0.0
        self._told_of = ""
        self._telling = threading.Lock()

    def __repr__(self) -> str:
        return f"ModelExtractor({self._chat!r}, tokens_per_day={self._budget.tokens_per_day})"

    @property
    def spent_today(self) -> int:
        """Tokens that were spent on this UTC day, by all who share the ledger."""
        return self._budget.spent

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        """What each message holds, as far as it can be shown to; earlier messages are the context of later ones."""
        found: list[list[Finding]] = [[] for _ in messages]
        until = time.monotonic() + self._seconds
        left: set[int] = {at for at, message in enumerate(messages) if _is_read(message) and _is_long(message)}
        for part in _parts(messages):
            reading = self._read(messages, part, until)
            for at in set(part.at) - reading.unsettled:
                found[at] = reading.found.get(at, [])
            left |= reading.unsettled
        if left:
            by_rules = self._rules().extract(messages)
            for at in left:
                found[at] = by_rules[at]
        return found

    def _read(self, messages: Sequence[Utterance], part: _Part, until: float) -> Reading:
        """What the model finds in some messages; all of them unsettled if it cannot be asked or understood."""
        asked = model_prompt.question(messages, part.before, part.at, model_answer.MOST)
        readings = [Reading(spoiled=set(part.at), complaints=["nothing was answered"])]
        try:
            for _ in range(2):
                answer = self._ask(asked, len(part.at), until)
                try:
                    readings.append(model_answer.read(answer, messages, part.before, part.at))
                    complaint = "; ".join(readings[-1].complaints)
                except Unreadable as error:
                    complaint = str(error)
                if not complaint:
                    break
                asked = model_prompt.again(asked, answer, complaint)
            else:
                _log.warning("the model's answer could not be used, twice: the rules read what is missing")
        except _NotRead:
            pass
        _log_doubts(readings[-1])
        return readings[-1]

    def _ask(self, turns: Sequence[Turn], messages: int, until: float) -> str:
        """The model's answer, paid for; _NotRead if it rests, the day's tokens are spent, or none comes."""
        now = time.monotonic()
        if now < self._rests_until or now >= until:
            raise _NotRead
        question = sum(tokens.count(turn.text) for turn in turns)
        taken = question + messages * _ANSWER
        day = self._budget.take(taken)
        if day is None:
            self._tell_spent()
            raise _NotRead
        used = 0
        try:
            reply = self._chat.ask(turns, within=until - now)
            used = reply.tokens or question + tokens.count(reply.text)
        except NoReply as error:
            used = question if error.paid else 0
            if error.away:
                self._rests_until = time.monotonic() + _REST
            _log.warning("the model did not answer (%s): the rules read %d messages", error.kind, messages)
            raise _NotRead from error
        finally:
            self._budget.settle(day, taken, used)
        return reply.text

    def _tell_spent(self) -> None:
        """Say once a day that the budget is spent."""
        with self._telling:
            if self._told_of != today():
                self._told_of = today()
                limit = self._budget.tokens_per_day
                _log.warning("the model's %d tokens of %s are spent: the rules read until midnight UTC", limit, today())

    def _rules(self) -> Extractor:
        if self._fallback is None:
            from commonplace.learn.extract import Rules  # its patterns take a while to compile

            self._fallback = Rules()
        return self._fallback


def _is_read(message: Utterance) -> bool:
    return message.role in _ROLES and not message.context and bool(message.text.strip())


def _is_long(message: Utterance) -> bool:
    return len(message.text) > _CHARACTERS


def _parts(messages: Sequence[Utterance]) -> Iterator[_Part]:
    """The messages to read, in questions of a size that a model reads with care."""
    part: list[int] = []
    size = 0
    for at, message in enumerate(messages):
        if not _is_read(message) or _is_long(message):
            continue
        if part and (len(part) == _TOGETHER or size + len(message.text) > _CHARACTERS):
            yield _part(messages, part)
            part, size = [], 0
        part.append(at)
        size += len(message.text)
    if part:
        yield _part(messages, part)


def _part(messages: Sequence[Utterance], at: Sequence[int]) -> _Part:
    around = range(max(at[0] - _CONTEXT, 0), at[-1])
    # A system message is for the agent, not from anybody.
    return _Part(
        at=tuple(at), before=tuple(each for each in around if each not in at and messages[each].role != "system")
    )


def _log_doubts(reading: Reading) -> None:
    if reading.doubted:
        count = sum(reading.doubted.values())
        _log.info("left out %d of the model's memories: the messages do not bear them out", count)
