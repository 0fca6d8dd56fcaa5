"""Teachability: agents that learn from what they are told, one of them or a whole group chat."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from autogen import ConversableAgent, GroupChat
from autogen.agentchat.contrib.capabilities.agent_capability import AgentCapability

from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.integrations.autogen_classic import hooks, recalling
from commonplace.integrations.autogen_classic.hooks import Messages
from commonplace.integrations.autogen_classic.learning import Learner, logger
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.values import NOBODY, Memory, Recall, Scope, Within

TAG = "teachability"
"""The tag of everything that was learned here: what `reset_db` forgets."""
ABILITY = "\nYou remember earlier conversations: what bears on a message is quoted above it, as data."


class Teachability(AgentCapability):  # type: ignore[misc]  # AutoGen is not installed where types are checked
    """What agents are taught, kept in a book that all of them share; needs no model.

    The first six arguments are those of AutoGen's class. `path_to_db_dir` gets a book of its own in that directory,
    `book` names another one. What is recalled reaches the model, and neither the history nor anything else.
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
                raise InvalidInput("path_to_db_dir and book both say where the memory is: give one of them")
            Path(path_to_db_dir).mkdir(parents=True, exist_ok=True)
            book = Path(path_to_db_dir) / "commonplace.db"
        self.book: Book = open_shared(book, space)
        self.verbosity = verbosity or 0
        self._asked: dict[str, Any] = {
            "k": max_num_retrievals or 10, "threshold": threshold, "max_tokens": max_tokens, "within": within
        }  # fmt: skip
        self._learner = Learner(self.book, every=1, session=None, scope=scope, tags=(TAG,))
        self._taught: list[ConversableAgent] = []
        if reset_db:
            _forget_all(self.book)

    def add_to_agent(self, agent: ConversableAgent) -> None:
        """Let an agent learn from what it hears and recall it; adding twice is the same as once."""
        if any(agent is each for each in self._taught):
            return
        self._taught.append(agent)
        self._learner.listener.add([agent])
        hooks.before_model(agent, self._reminded)
        if agent.client is not None and isinstance(agent.system_message, str):
            agent.update_system_message(agent.system_message + ABILITY)

    def add_to_group(self, groupchat: GroupChat) -> None:
        """Let all agents of a group chat learn together."""
        for agent in groupchat.agents:
            self.add_to_agent(agent)

    def recall(self, query: str, **options: Any) -> Recall:
        """What was learned that bears on a query, with the ids to revise and forget it by."""
        return self.book.recall(query, **{**self._asked, **options})

    def revise(self, id: str, content: str) -> Memory:
        """Correct what was learned; the version before is kept."""
        return self.book.revise(id, content)

    def forget(self, id: str) -> None:
        """Remove what was learned, with all its versions."""
        self.book.forget(id)

    def close(self) -> None:
        """Stop learning, and do what still waits; raises if something could not be stored."""
        self._learner.close()

    def _reminded(self, agent: ConversableAgent, messages: Messages, sender: Any) -> Messages:
        session = self._learner.listener.sessions.of(agent, sender)
        query = recalling.question(messages)
        if not query.strip():
            return messages
        # A conversation is not shown its own messages again.
        found = self.recall(query, filter={"session": {"$ne": session}})
        if self.verbosity:
            logger.info("%s is reminded of %d memories", agent.name, len(found.hits) + len(found.avoid))
        return recalling.reminded(messages, found.text)


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
