"""Extractors: they choose what to keep, by the reader of statements or by a language model on a budget."""

from __future__ import annotations

import inspect
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from commonplace.errors import Conflict, InvalidInput
from commonplace.learn import model
from commonplace.learn.alone import may_depend, points_back
from commonplace.learn.chat import NoReply, Turn, make_chat
from commonplace.learn.compose import Mark, compose
from commonplace.learn.talk import ROLES, Place, Talk, is_nameless_assistant, make_talk, reports
from commonplace.models import statements
from commonplace.values import Entry, times, tokens
from commonplace.values.extraction import TEAM, Extractor, Finding, Utterance

READER = "reader"
"""How the findings of the reader of statements say that they were found."""
_CONTEXT = 8
_LAST_WORDS = 2
_READ_BEFORE = 240
"""Characters of earlier messages after which no more of them are read again."""
_TOGETHER = 20
"""Messages of one question."""
_CHARACTERS = 24_000
"""Characters of one question; longer messages are left to the fallback."""
_ANSWER = 120
"""Tokens that are set aside for the answer about one message, until its cost is known."""
_REST = 60.0
"""Seconds for which a model that did not answer is not asked."""
_KEPT = 40 * 86_400.0
"""Seconds for which a ledger keeps a day: long enough to look back on a month."""
_TRIES = 200
_GLANCE = 0.01

_log = logging.getLogger(__name__)


class TalkReader(Protocol):
    """Tells of each sentence of a talk whether it is worth keeping: a StatementReader, or a script in its place."""

    def read_talk(self, turns: Sequence[statements.TalkTurn]) -> list[list[statements.Told]]:
        """Return what is told of each sentence of each turn."""


class StatementExtractor:
    """Keeps the sentences that the reader of statements finds worth keeping, as they were said.

    `reader` is "default" for the one that ships with commonplace, None for none: then, as without onnxruntime, only
    explicit commands ("remember that …", "forget …") are found, and the log says so once.
    """

    def __init__(self, reader: TalkReader | Literal["default"] | None = "default") -> None:
        self._reader = reader

    def __repr__(self) -> str:
        return f"StatementExtractor({self._reader!r})"

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        """Return the findings of each message; earlier messages are the context of later ones."""
        talk = make_talk(messages)
        load = statements.find_statements()
        reader = (load and load()) if self._reader == "default" else self._reader
        if reader is None:
            _say_once()
            return compose(talk, {}, READER)
        return compose(talk, _choose(talk, reader), READER)


def _choose(talk: Talk, reader: TalkReader) -> dict[Place, Mark]:
    """Return what a reader tells of the sentences that it is shown."""
    shown = _show(talk)
    turns = [
        turn._replace(sentences=[turn.sentences[at] for at in places])
        for turn, places in zip(talk.turns(), shown, strict=True)
    ]
    chosen = {}
    for number, (places, told) in enumerate(zip(shown, reader.read_talk(turns), strict=True)):
        for sentence, each in zip(places, told, strict=True):
            text = talk.spans[number][sentence].text
            needs = tuple((message, shown[message][at]) for message, at in each.needs)
            owner = _find_owner(talk, number, text, each.owner)
            kept = _find_needs(talk, text, each.act, needs)
            chosen[number, sentence] = Mark(each.kind, owner, each.act, kept, each.keep, each.time == "past")
    return chosen


def _show(talk: Talk) -> list[list[int]]:
    """Return the sentences of each message that a reader is shown: none that are far back and only context, and of an
    assistant without a name its reports and its last words, which the user answers."""
    shown: list[list[int]] = []
    seen = 0
    for message, spans in zip(reversed(talk.messages), reversed(talk.spans), strict=True):
        places = list(range(len(spans)))
        if message.context and seen > _READ_BEFORE:
            places = []
        elif is_nameless_assistant(message):
            places = [at for at in places if reports(spans[at].text) or at >= len(spans) - _LAST_WORDS]
        if message.context:
            seen += sum(len(spans[at].text) for at in places)
        shown.append(places)
    return shown[::-1]


def _find_needs(talk: Talk, text: str, act: str, needs: tuple[Place, ...]) -> tuple[Place, ...]:
    """Return the nearest sentence that the reader says is needed, and one more if that one refers to another.

    The reader often names what is merely related, so that nothing is joined to a sentence that refers to nothing.
    """
    if not needs or not (may_depend(text) or act in ("correct", "withdraw", "remember", "forget")):
        return ()
    number, sentence = needs[-1]
    return needs[-2:] if points_back(talk.spans[number][sentence].text) else needs[-1:]


def _find_owner(talk: Talk, message: int, text: str, owner: str) -> str | None:
    if owner == "speaker":
        return talk.name(message)
    return TEAM if owner == "team" else talk.find_other(message, text)


@cache
def _say_once() -> None:
    _log.warning("there is no reader of statements: messages are stored, and only explicit commands are learned from")


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
    """Lets a language model choose the sentences to keep; they are kept as they were said.

    `client` is a text such as "openai:gpt-4o-mini", an OpenAIChat, or an AutoGen ChatCompletionClient that nobody else
    uses. At most `tokens_per_day` tokens are spent on a UTC day; with `ledger`, such as book.kv("model tokens"), the
    count is on disk and shared by all that use it. `fallback` (a StatementExtractor) reads the rest: beyond the budget,
    and when the model does not answer or answers in the wrong form. One `extract` asks for at most `seconds`.
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
        self._fallback = StatementExtractor() if fallback is None else fallback
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
        """Return the findings of each message; earlier messages are the context of later ones."""
        talk = make_talk(messages)
        until = time.monotonic() + self._seconds
        left = {at for at, message in enumerate(messages) if _is_read(message) and len(message.text) > _CHARACTERS}
        chosen: dict[Place, Mark] = {}
        for part in _parts(messages):
            reading = self._read(model.Question(talk, part.before, part.at), part.at, until)
            chosen |= reading.chosen
            left |= reading.spoiled
        found = compose(talk, chosen, model.RULE)
        if left:
            instead = self._fallback.extract(messages)
            for at in left:
                found[at] = instead[at]
        return found

    def _read(self, question: model.Question, part: Sequence[int], until: float) -> model.Reading:
        """Return what the model chooses; all of the part is spoiled if it cannot be asked or understood."""
        asked = question.turns()
        reading = model.Reading(spoiled=set(part))
        try:
            for _ in range(2):
                answer = self._ask(asked, len(part), until)
                try:
                    reading = question.read(answer)
                    complaint = "; ".join(reading.complaints)
                except model.Unreadable as error:
                    complaint = str(error)
                if not complaint:
                    break
                asked = model.ask_again(asked, answer, complaint)
            else:
                _log.warning("two answers of the model could not be used: the fallback reads what is missing")
        except _NotRead:
            pass
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
            _log.warning("the model did not answer (%s): the fallback reads %d messages", error.kind, messages)
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
                _log.warning("all %d tokens of %s are spent: the fallback reads until midnight UTC", limit, today())


def _is_read(message: Utterance) -> bool:
    return message.role in ROLES and not message.context and bool(message.text.strip())


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
