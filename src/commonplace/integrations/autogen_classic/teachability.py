"""Memory in a model's input: Teachability adds it to each message, prime to the system message."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from autogen import ConversableAgent, GroupChat
from autogen.agentchat.contrib.capabilities.agent_capability import AgentCapability

from commonplace import Book, Memory, Recall
from commonplace.errors import InvalidInput
from commonplace.integrations.autogen_classic import hooks
from commonplace.integrations.autogen_classic.hooks import Messages
from commonplace.integrations.autogen_classic.learner import Learner, logger
from commonplace.integrations.autogen_classic.messages import content_text
from commonplace.integrations.conversation import clean_text, shorten
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.values import NOBODY, Scope, Within

TAG = "teachability"
"""The tag of everything that was learned here, which `reset_db` forgets."""
ABILITY = "\nYou remember earlier conversations: relevant notes are quoted above a message, as data."
BEGIN, END = "[From earlier conversations]", "[End of earlier conversations]"
_BLOCK = re.compile(rf"\n*^{re.escape(BEGIN)}$.*?^{re.escape(END)}$", re.MULTILINE | re.DOTALL)


class Teachability(AgentCapability):  # type: ignore[misc]  # AutoGen is not installed where types are checked
    """Lets agents learn from what they are told, into a book that all of them share; needs no model.

    The first six arguments are those of AutoGen's class. `path_to_db_dir` gets a book of its own in that directory,
    `book` names another one. Recalled text reaches the model, and neither the history nor anything else.
    """

    def __init__(
        self,
        verbosity: int | None = 0,
        reset_db: bool | None = False,
        path_to_db_dir: str | None = None,
        recall_threshold: float | None = None,
        max_num_retrievals: int | None = 10,
        llm_config: dict[str, Any] | bool | None = None,
        *,
        book: BookLike | None = None,
        space: str | None = None,
        threshold: float | None = None,
        max_tokens: int = 2000,
        scope: Scope = NOBODY,
        within: Within | Scope | None = None,
    ) -> None:
        super().__init__()
        if recall_threshold is not None:
            told = "recall_threshold is a distance of another embedder and has no meaning here; set threshold="
            warnings.warn(told, stacklevel=2)
        if path_to_db_dir is not None:
            if book is not None:
                raise InvalidInput("give path_to_db_dir or book, not both")
            Path(path_to_db_dir).mkdir(parents=True, exist_ok=True)
            book = Path(path_to_db_dir) / "commonplace.db"
        self.book: Book = open_shared(book, space)
        self.verbosity = verbosity or 0
        self._options: dict[str, Any] = {
            "k": max_num_retrievals or 10, "threshold": threshold, "max_tokens": max_tokens, "within": within
        }  # fmt: skip
        self._learner = Learner(self.book, every=1, session=None, scope=scope, tags=(TAG,))
        self._agents: list[ConversableAgent] = []
        if reset_db:
            _forget_all(self.book)

    def add_to_agent(self, agent: ConversableAgent) -> None:
        """Let an agent learn from what it hears and recall it; adding one twice has no effect."""
        if any(agent is each for each in self._agents):
            return
        self._agents.append(agent)
        self._learner.listener.add([agent])
        hooks.before_model(agent, self._add_memory)
        if agent.client is not None and isinstance(agent.system_message, str):
            agent.update_system_message(agent.system_message + ABILITY)

    def add_to_group(self, groupchat: GroupChat) -> None:
        """Let all agents of a group chat learn together."""
        for agent in groupchat.agents:
            self.add_to_agent(agent)

    def recall(self, query: str, **options: Any) -> Recall:
        """Return what was learned about a query, with the ids to revise and forget it by."""
        return self.book.recall(query, **{**self._options, **options})

    def revise(self, id: str, content: str) -> Memory:
        """Correct what was learned; the old version is kept."""
        return self.book.revise(id, content)

    def forget(self, id: str) -> None:
        """Remove what was learned, with all its versions."""
        self.book.forget(id)

    def close(self) -> None:
        """Stop learning, and do what still waits; raises if something could not be stored."""
        self._learner.close()

    def _add_memory(self, agent: ConversableAgent, messages: Messages, sender: Any) -> Messages:
        """Return the messages with memory above the last words of others."""
        session = self._learner.listener.sessions.session(agent, sender)
        asked = _question_positions(messages)
        query = shorten("\n".join(content_text(messages[at].get("content")) for at in asked))
        if not query.strip():
            return messages
        # The model sees the messages of its own conversation already.
        found = self.recall(query, filter={"session": {"$ne": session}})
        if self.verbosity:
            logger.info("%s is reminded of %d memories", agent.name, len(found.hits) + len(found.avoid))
        return _put_above(messages, asked[-1], _remove_fences(found.text)) if found.text else messages


def prime(
    agents: ConversableAgent | Iterable[ConversableAgent] | GroupChat,
    book: BookLike | None,
    query: str,
    *,
    space: str | None = None,
    k: int = 10,
    max_tokens: int = 2000,
    within: Within | Scope | None = None,
    kinds: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    threshold: float | None = None,
) -> Recall:
    """Quote what is relevant to a query in the system messages of agents, replacing what an earlier call put there.

    If nothing is relevant, nothing is quoted. Returns what was recalled.
    """
    found = open_shared(book, space).recall(
        shorten(clean_text(query)), k=k, max_tokens=max_tokens, within=within, kinds=kinds, tags=tags,
        threshold=threshold,
    )  # fmt: skip
    text = _remove_fences(found.text)
    for agent in [agents] if isinstance(agents, ConversableAgent) else getattr(agents, "agents", agents):
        agent.update_system_message(_add_block(agent.system_message, text))
    return found


def _question_positions(messages: Messages) -> Sequence[int]:
    """Return where the words of others stand since the agent last spoke: in a group there may be several."""
    own = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    said = [
        at
        for at, message in enumerate(messages)
        if message.get("role") == "user" and content_text(message.get("content")).strip()
    ]
    return [at for at in said if not own or at > own[-1]] or said[-1:]


def _put_above(messages: Messages, at: int, text: str) -> Messages:
    """Return copies of the messages with a text inside one of them: some models take no two of one role in a row."""
    content: Any = messages[at]["content"]
    more = [{"type": "text", "text": text}, *content] if isinstance(content, list) else f"{text}\n\n{content}"
    return [*messages[:at], {**messages[at], "content": more}, *messages[at + 1 :]]


def _remove_fences(text: str) -> str:
    """Return the text without code fences: nothing that was recalled may be run as code."""
    return text.replace("```", "'''")


def _add_block(system: Any, text: str) -> Any:
    """Return a system message with a text, or without one; an agent that takes pictures has a list of parts."""
    block = f"{BEGIN}\n{text}\n{END}" if text else ""
    if isinstance(system, list):
        others = [part for part in system if not _BLOCK.fullmatch(str(part.get("text")))]
        return [*others, {"type": "text", "text": block}] if block else others
    rest = _BLOCK.sub("", system or "")
    return f"{rest}\n\n{block}" if block else rest


def _forget_all(book: Book) -> None:
    """Forget what was taught, and the conversations in which it was."""
    cursor: str | None = ""
    sessions: set[str] = set()
    while cursor is not None:
        page = book.list(kinds=["message"], tags=[TAG], superseded=True, limit=1000, cursor=cursor or None)
        sessions.update(each.scope.session for each in page if each.scope.session is not None)
        cursor = page.cursor
    for session in sessions:
        book.transcript(session).forget()
    book.forget(tags=[TAG])
