"""Extractors: they read memories out of messages, by rules or with a language model within a budget of tokens."""

from __future__ import annotations

import inspect
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from commonplace.errors import Conflict, InvalidInput
from commonplace.learn import model
from commonplace.learn.chat import NoReply, Turn, make_chat
from commonplace.values import Entry, times, tokens
from commonplace.values.extraction import Extractor, Finding, Utterance

_ROLES = ("user", "assistant")
"""Roles whose messages are read; those of tools and system messages are context."""
_CONTEXT = 8
_TOGETHER = 20
"""Messages of one question."""
_CHARACTERS = 24_000
"""Characters of one question; the rules read longer messages."""
_ANSWER = 120
"""Tokens that are set aside for the answer about one message, until its cost is known."""
_REST = 60.0
"""Seconds for which a model that did not answer is not asked."""
_KEPT = 40 * 86_400.0
"""Seconds for which a ledger keeps a day: long enough to look back on a month."""
_TRIES = 200
_GLANCE = 0.01

_log = logging.getLogger(__name__)


class Rules:
    """Reads messages by rules: the same every time, and each finding names its rule."""

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        """Return the findings of each message; earlier messages only help to understand later ones."""
        from commonplace.learn.reading import RuleReader  # its patterns take a while to compile

        reader = RuleReader(present=frozenset(each.speaker.lower() for each in messages if each.speaker))
        drafts = [reader.read(message) for message in messages]
        return [
            [draft.finding(message.said_at) for draft in each if not draft.withdrawn]
            for message, each in zip(messages, drafts, strict=True)
        ]


@runtime_checkable
class Ledger(Protocol):
    """Counts on disk, shared by processes: the part of a KeyValue that a budget uses."""

    def entry(self, key: str) -> Entry | None:
        """Return an entry, None if there is none."""

    def set(self, key: str, value: int, *, ttl: float | None = None, if_version: int | None = None) -> Entry:
        """Write an entry for `ttl` seconds; raise Conflict if it has not the version `if_version`."""


class Budget:
    """Tokens of a UTC day: taken before a question at its likely cost, settled after it at the true one.

    With a ledger the count is on disk, and shared by all processes that use the same ledger.
    """

    def __init__(self, tokens_per_day: int, ledger: Ledger | None) -> None:
        if isinstance(tokens_per_day, bool) or not isinstance(tokens_per_day, int) or tokens_per_day < 0:
            raise InvalidInput(f"tokens_per_day is a whole number, 0 or more, not {tokens_per_day!r}")
        if ledger is not None and (not isinstance(ledger, Ledger) or inspect.iscoroutinefunction(ledger.entry)):
            raise InvalidInput(f'ledger is a KeyValue, such as book.kv("model tokens"), not {type(ledger).__name__}')
        self.tokens_per_day = tokens_per_day
        self._ledger = ledger
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def spent(self) -> int:
        """Tokens of this UTC day."""
        return self._counts.get(today(), 0) if self._ledger is None else _value(self._ledger.entry(today()))

    def take(self, tokens: int) -> str | None:
        """Take tokens of today and return the day; None if so many are not left."""
        day = today()

        def add(spent: int) -> int | None:
            return spent + tokens if spent + tokens <= self.tokens_per_day else None

        return day if self._change(day, add) else None

    def settle(self, day: str, taken: int, used: int) -> None:
        """Replace the tokens that were taken on a day by those that were used."""
        if taken != used:
            self._change(day, lambda spent: max(spent - taken + used, 0))

    def _change(self, day: str, change: Callable[[int], int | None]) -> bool:
        """Change a day's count in one step; return False and leave it if `change` returns None."""
        with self._lock:
            if self._ledger is not None:
                return _change_shared(self._ledger, day, change)
            changed = change(self._counts.get(day, 0))
            if changed is not None:
                self._counts[day] = changed
            return changed is not None


def today() -> str:
    """Return this day in UTC, as 2026-05-04."""
    return times.from_micros(times.now()).date().isoformat()


def _change_shared(ledger: Ledger, day: str, change: Callable[[int], int | None]) -> bool:
    """Change a count that others change too, and try again after a conflict."""
    for attempt in range(_TRIES):
        entry = ledger.entry(day)
        changed = change(_value(entry))
        if changed is None:
            return False
        try:
            ledger.set(day, changed, ttl=_KEPT, if_version=0 if entry is None else entry.version)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
            time.sleep(random.uniform(0, _GLANCE))
        else:
            return True
    raise AssertionError("the last try returns or raises")


def _value(entry: Entry | None) -> int:
    value = None if entry is None else entry.value
    return value if isinstance(value, int) else 0


class _Part(NamedTuple):
    """Messages of one question, by their numbers."""

    at: list[int]
    before: list[int]
    """Messages that they may refer to: earlier ones, and those between them that are not read."""


class _NotRead(Exception):
    """The model cannot be asked about these messages; the reason has been logged."""


class ModelExtractor:
    """Reads memories out of messages with a model; keeps nothing that the messages do not support.

    `client` is a text such as "openai:gpt-4o-mini", an OpenAIChat, or an AutoGen ChatCompletionClient that nobody else
    uses. At most `tokens_per_day` tokens are spent on a UTC day; with `ledger`, such as book.kv("model tokens"), the
    count is on disk and shared by all that use it. `fallback` (the rules) reads the rest: beyond the budget, and when
    the model does not answer or answers in the wrong form. One `extract` asks for at most `seconds`.
    """

    def __init__(
        self,
        client: object,
        *,
        tokens_per_day: int = 200_000,
        ledger: Ledger | None = None,
        fallback: Extractor | None = None,
        seconds: float = 60.0,
    ) -> None:
        if not seconds > 0:
            raise InvalidInput(f"seconds is more than 0, not {seconds!r}")
        self._chat = make_chat(client)
        self._budget = Budget(tokens_per_day, ledger)
        self._fallback = Rules() if fallback is None else fallback
        self._seconds = seconds
        self._rests_until = 0.0
        self._warned_on = ""
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"ModelExtractor({self._chat!r}, tokens_per_day={self._budget.tokens_per_day})"

    @property
    def spent_today(self) -> int:
        """Tokens that were spent on this UTC day, by all who share the ledger."""
        return self._budget.spent

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        """Return the findings of each message that the messages support; earlier ones are context of later ones."""
        found: list[list[Finding]] = [[] for _ in messages]
        until = time.monotonic() + self._seconds
        left = {at for at, message in enumerate(messages) if _is_read(message) and len(message.text) > _CHARACTERS}
        for part in _parts(messages):
            reading = self._read(messages, part, until)
            for at in set(part.at) - reading.unsettled:
                found[at] = [*reading.found.get(at, ())]
            left |= reading.unsettled
        if left:
            by_rules = self._fallback.extract(messages)
            for at in left:
                found[at] = by_rules[at]
        return found

    def _read(self, messages: Sequence[Utterance], part: _Part, until: float) -> model.Reading:
        """Return what the model finds in some messages; all are unsettled if it cannot be asked or understood."""
        asked = model.make_question(messages, part.before, part.at)
        reading = model.Reading(spoiled=set(part.at), complaints=["nothing was answered"])
        try:
            for _ in range(2):
                answer = self._ask(asked, len(part.at), until)
                try:
                    reading = model.read_answer(answer, messages, part.before, part.at)
                    complaint = "; ".join(reading.complaints)
                except model.Unreadable as error:
                    complaint = str(error)
                if not complaint:
                    break
                asked = model.ask_again(asked, answer, complaint)
            else:
                _log.warning("two answers of the model could not be used: the rules read what is missing")
        except _NotRead:
            pass
        if reading.doubted:
            count = sum(reading.doubted.values())
            _log.info("left out %d memories of the model that the messages do not support", count)
        return reading

    def _ask(self, turns: Sequence[Turn], messages: int, until: float) -> str:
        """Return the model's answer, paid for; raise _NotRead if it rests, the budget is spent, or no answer comes."""
        now = time.monotonic()
        if now < self._rests_until or now >= until:
            raise _NotRead
        question = sum(tokens.count(turn.text) for turn in turns)
        taken = question + messages * _ANSWER
        day = self._budget.take(taken)
        if day is None:
            self._warn_spent()
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

    def _warn_spent(self) -> None:
        """Log once a day that the budget is spent."""
        with self._lock:
            if self._warned_on != today():
                self._warned_on = today()
                limit = self._budget.tokens_per_day
                _log.warning("all %d tokens of %s are spent: the rules read until midnight UTC", limit, today())


def _is_read(message: Utterance) -> bool:
    return message.role in _ROLES and not message.context and bool(message.text.strip())


def _parts(messages: Sequence[Utterance]) -> Iterator[_Part]:
    """Yield the messages to read, in questions of a size that a model reads with care."""
    part: list[int] = []
    size = 0
    for at, message in enumerate(messages):
        if not _is_read(message) or len(message.text) > _CHARACTERS:
            continue
        if part and (len(part) == _TOGETHER or size + len(message.text) > _CHARACTERS):
            yield _with_context(messages, part)
            part, size = [], 0
        part.append(at)
        size += len(message.text)
    if part:
        yield _with_context(messages, part)


def _with_context(messages: Sequence[Utterance], at: list[int]) -> _Part:
    around = range(max(at[0] - _CONTEXT, 0), at[-1])
    # A system message is for the agent, and nobody in the conversation said it.
    return _Part(at, [each for each in around if each not in at and messages[each].role != "system"])
