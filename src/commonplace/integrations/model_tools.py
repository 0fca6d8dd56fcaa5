"""What a model may do with a book by tools: remember, recall and forget, each answered in words for the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, ParamSpec

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.values import NOBODY, Scope, Within

P = ParamSpec("P")

Noted = Literal["note", "fact", "preference", "decision", "pattern", "failure", "insight"]

REMEMBER = "Keep something for later conversations and for other agents."
RECALL = "Find what is known from earlier conversations and from other agents."
FORGET = "Remove something that was remembered and is wrong or not wanted."

TEXT = "One thing worth keeping, in a sentence that makes sense on its own"
KIND = "What sort of thing it is; failure for what was tried and did not work"
QUESTION = "What you want to know, as a question"
ID = "The id of the memory, as recall gave it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTools:
    """The three tools on one book: they write into `scope`, look `within`, and forget only what is of their scope.

    What a model remembers has the origin `agent`: it never overrules what a person said. `book` is asked with each
    call, so that a book is opened when it is first needed.
    """

    book: Callable[[], Book]
    scope: Scope = NOBODY
    within: Within | Scope | None = None
    k: int = 10
    max_tokens: int = 2000

    def remember(self, text: str, kind: Noted = "note") -> str:
        """Remember a text; when this returns it is on disk."""
        memory = self.book().remember(text, kind=kind, scope=self.scope, origin="agent", reconcile=True)
        return f"Remembered as {memory.id}."

    def recall(self, question: str) -> str:
        """What bears on the question with the ids to forget it by, or that nothing does."""
        answer = self.book().recall(question, k=self.k, max_tokens=self.max_tokens, within=self.within)
        if not answer.text:
            return "Nothing that bears on this is known."
        ids = ", ".join(hit.memory.id for hit in (*answer.hits, *answer.avoid))
        return f"{answer.text}\nTheir ids, in this order: {ids}"

    def forget(self, id: str) -> str:
        """Forget a memory of this scope; one of another scope is refused."""
        book = self.book()
        if book.get(id).scope != self.scope:
            raise InvalidInput(
                f"memory {id} belongs to somebody else: say that it is wrong, and let its owner forget it"
            )
        book.forget(id)
        return f"Forgot {id}."


def told(tool: Callable[P, str], *args: P.args, **kwargs: P.kwargs) -> str:
    """What a tool answers, or why it refuses: for frameworks that would show a model a stack trace, or nothing."""
    try:
        return tool(*args, **kwargs)
    except (InvalidInput, NotFound) as error:
        return f"Refused: {error}"
