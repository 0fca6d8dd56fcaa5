"""attach: learning from agents while they talk, each message once, with its speaker and its conversation."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary, WeakSet

from autogen import ConversableAgent, GroupChat, GroupChatManager

from commonplace import Book, Job
from commonplace.errors import CommonplaceError, InvalidInput, StoreUnavailable
from commonplace.integrations.autogen_classic import hooks
from commonplace.integrations.autogen_classic.hooks import Messages
from commonplace.integrations.autogen_classic.messages import RestoredMessage, find_speaker, spoken_line
from commonplace.integrations.conversation import HeardLines
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.values import NOBODY, Scope

logger = logging.getLogger(__name__)
_PATIENCE = 30.0
"""Seconds that closing waits for a job that is running; the job is finished in any case."""


@dataclass(slots=True)
class _Conversation:
    session: str
    first: object
    """The message that it began with; another one in its place means that the history was cleared."""
    between: object
    """The two agents, or the manager of the group: kept alive, so that no other object gets their id."""


class Sessions:
    """Gives each conversation a session, since AutoGen has no name for one.

    A conversation is two agents, or a group, from one clearing of their history to the next.
    """

    def __init__(self, session: str | None) -> None:
        self._session = session
        self._conversations: dict[tuple[int, ...], _Conversation] = {}
        self._lock = threading.Lock()

    def session(self, agent: Any, partner: Any) -> str:
        """Return the session of what two agents say to each other now."""
        return self._session or self.conversation(agent, partner)

    def conversation(self, agent: Any, partner: Any) -> str:
        """Return the conversation that two agents are in now, whatever its session is called."""
        manager = next((each for each in (agent, partner) if isinstance(each, GroupChatManager)), None)
        if manager is None:
            pair = sorted((agent, partner), key=lambda each: (str(getattr(each, "name", "")), id(each)))
            key, first = tuple(map(id, pair)), _first_message(pair)
        else:
            pair, key, first = [manager], (id(manager),), (manager.groupchat.messages or [None])[0]
        with self._lock:
            known = self._conversations.get(key)
            if known is None or (known.first is not None and known.first is not first):
                known = self._conversations[key] = _Conversation(uuid4().hex, first, pair)
            known.first = first
            return known.session


class AgentListener:
    """Reports what its agents say when they say it, and what they hear from others when they come to answer it.

    `report` takes a line and its session. A chat's manager says nothing of its own: it passes on what members said.
    """

    def __init__(self, report: Callable[[dict[str, str], str], None], session: str | None = None) -> None:
        self.sessions = Sessions(session)
        self.stopped = False
        self._report = report
        self._agents: WeakSet[ConversableAgent] = WeakSet()
        self._names: set[str] = set()
        self._last: WeakKeyDictionary[ConversableAgent, dict[int, Any]] = WeakKeyDictionary()
        self._lines = HeardLines()

    def add(self, agents: Iterable[ConversableAgent]) -> None:
        """Listen to agents from now on; adding one twice has no effect."""
        for agent in agents:
            if agent not in self._agents and not isinstance(agent, GroupChatManager):
                self._agents.add(agent)
                self._names.add(agent.name)
                self._last[agent] = {id(each): held[-1] for each, held in agent.chat_messages.items() if held}
                hooks.before_send(agent, self._on_send)
                hooks.before_reply(agent, partial(self._on_reply, agent))

    def stop(self) -> None:
        """Report what agents heard and nobody answered, then stop listening."""
        for agent in list(self._agents):
            for held in list(agent.chat_messages.values()):
                self._on_reply(agent, held)
        self.stopped = True

    def _on_send(self, sender: Any, message: Any, recipient: Any, silent: bool) -> Any:
        line = spoken_line(message, sender)
        if not self.stopped and line is not None and not isinstance(message, RestoredMessage):
            self._report(line, self.sessions.session(sender, recipient))
        return message

    def _on_reply(self, agent: ConversableAgent, messages: Messages) -> Messages:
        if self.stopped or not messages:
            return messages
        partner = _find_partner(agent, messages)
        # The history itself: another hook may have left its end, or copies.
        history = messages if partner is None else agent.chat_messages[partner]
        start = self._start(agent, partner, history)
        counts: Counter[str] = Counter()
        for at, message in enumerate(history):
            own = message.get("role") == "assistant" or message.get("tool_calls")
            if own or isinstance(message, RestoredMessage):
                continue
            said = str((message.get("name"), message.get("content")))
            counts[said] += 1
            if at >= start:
                self._hear(agent, partner, message, counts[said])
        return messages

    def _hear(self, agent: ConversableAgent, partner: object, message: dict[str, Any], count: int) -> None:
        name = message.get("name") or getattr(partner, "name", None)
        line = spoken_line(message, find_speaker(partner, name), name or "user")
        if line is None or line["name"] in self._names:
            return
        if self._lines.add((self.sessions.conversation(agent, partner), line["name"], line["content"]), count):
            self._report(line, self.sessions.session(agent, partner))

    def _start(self, agent: ConversableAgent, partner: object, history: Messages) -> int:
        """Return where the messages begin that came after the last one heard from this partner; 0 if it is gone."""
        seen = self._last[agent].get(id(partner))
        self._last[agent][id(partner)] = history[-1]
        return next((at + 1 for at in reversed(range(len(history))) if history[at] is seen), 0)


class Learner:
    """Learns from what agents say; each message is on disk before it is sent. Made by `attach`.

    A book that fails does not end the chat, and no message is lost silently: those that could not be stored wait in
    `unlearned`, a warning is logged, the next message tries again, and `close` raises if they still cannot be stored.
    """

    def __init__(self, book: Book, *, every: int, session: str | None, scope: Scope, tags: Sequence[str]) -> None:
        self._book = book
        self._options: dict[str, Any] = {"every": every, "scope": scope, "tags": tuple(tags)}
        self._lock = threading.Lock()
        self._waiting: list[tuple[dict[str, str], str]] = []
        self._refused: list[dict[str, str]] = []
        self._sessions: set[str] = set()
        self._error: CommonplaceError | None = None
        self.listener = AgentListener(self.learn, session)

    @property
    def unlearned(self) -> list[dict[str, str]]:
        """The lines that could not be stored, oldest first."""
        return [*self._refused, *(line for line, _ in self._waiting)]

    def learn(self, line: dict[str, str], session: str) -> None:
        """Store what was said, after what is still waiting."""
        with self._lock:
            self._sessions.add(session)
            self._waiting.append((line, session))
            self._store()

    def close(self) -> None:
        """Stop listening, store what waits, and learn from the rest of the conversation; closing twice is harmless."""
        if self.listener.stopped:
            return
        self.listener.stop()
        with self._lock:
            self._store()
            if self._error is not None and self.unlearned:
                kind = InvalidInput if self._refused else StoreUnavailable
                told = f"{len(self.unlearned)} messages were not learned from, they are in .unlearned: {self._error}"
                raise kind(told) from self._error
        self._book.work(hurry=True)
        # Another thread may be learning from this conversation, and it may be the program's last moment.
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and any(self._is_running(job) for job in self._book.jobs()):
            time.sleep(0.01)

    def __enter__(self) -> Learner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _store(self) -> None:
        while self._waiting:
            line, session = self._waiting[0]
            try:
                self._book.learn([line], session=session, **self._options)
            except InvalidInput as error:
                self._refused.append(line)
                self._warn("what %s said cannot be learned from: %s", line["name"], error)
            except CommonplaceError as error:
                self._warn("the memory failed; %d messages wait to be stored: %s", len(self._waiting), error)
                return
            self._waiting.pop(0)

    def _is_running(self, job: Job) -> bool:
        return job.state == "running" and job.payload.get("session") in self._sessions

    def _warn(self, message: str, what: object, error: CommonplaceError) -> None:
        self._error = error
        logger.warning(message, what, error)


def attach(
    book: BookLike | None,
    agents: Iterable[ConversableAgent] | GroupChat,
    every: int = 10,
    *,
    space: str | None = None,
    session: str | None = None,
    scope: Scope = NOBODY,
    tags: Sequence[str] = (),
) -> Learner:
    """Learn from what agents say while they talk, `every` so many messages; close it when the conversation is over.

    Each message is stored once with its speaker, however many agents hear it. What somebody else says is stored when
    one of the agents answers it. Without a `session` each conversation gets one of its own.
    """
    learner = Learner(open_shared(book, space), every=every, session=session, scope=scope, tags=tags)
    learner.listener.add(getattr(agents, "agents", agents))
    return learner


def _find_partner(agent: Any, messages: Sequence[Any]) -> Any:
    """Return the partner whose conversation with an agent these messages are; None if it is nobody's."""
    held = [(partner, each[-1]) for partner, each in agent.chat_messages.items() if each]
    same = (partner for partner, last in held if last is messages[-1])
    # A hook may have made copies: AutoGen's TransformMessages does.
    return next(same, next((partner for partner, last in held if last == messages[-1]), None))


def _first_message(pair: Sequence[Any]) -> object:
    """Return the first message of a conversation as one of the two has it: each has its own, so the same one's."""
    for one, other in (pair, reversed(pair)):
        histories = getattr(one, "chat_messages", None)
        if histories is not None and histories.get(other):
            return histories[other][0]
    return None
