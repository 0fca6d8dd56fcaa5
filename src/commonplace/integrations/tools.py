"""The functions remember, recall and forget that a model calls as tools; each framework wraps them in its own class.

Annotations are values here, since not every framework can resolve those of a nested function from text.
"""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Annotated, Any, Literal, TypedDict

from commonplace import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.values import NOBODY, Scope, Within

NoteKind = Literal["note", "fact", "preference", "decision", "pattern", "failure", "insight"]

_TEXT = "One thing worth keeping, in a sentence that makes sense on its own"
_KIND = "What sort of thing it is; failure for what was tried and did not work"
_QUESTION = "What you want to know, as a question"
_ID = "The id of the memory, as recall gave it"


class ToolOptions(TypedDict, total=False):
    """Where the tools read and write, and how much `recall` returns."""

    scope: Scope
    """The scope that `remember` writes into, and the only one that `forget` removes from."""
    within: Within | Scope | None
    """Where `recall` looks."""
    k: int
    max_tokens: int


def make_functions(
    open_book: Callable[[], Book],
    *,
    scope: Scope = NOBODY,
    within: Within | Scope | None = None,
    k: int = 10,
    max_tokens: int = 2000,
    describe: Callable[[str], object] = str,
) -> tuple[Callable[..., str], ...]:
    """Return remember, recall and forget on one book; their docstrings are for the model.

    What a model remembers has the origin `agent`: it never overrules what a person said. `describe` makes of a text the
    annotation in which the framework looks for the description of a parameter.
    """

    def remember(text: Annotated[str, describe(_TEXT)], kind: Annotated[NoteKind, describe(_KIND)] = "note") -> str:
        """Keep something for later conversations and for other agents."""
        memory = open_book().remember(text, kind=kind, scope=scope, origin="agent", reconcile=True)
        return f"Remembered as {memory.id}."

    def recall(question: Annotated[str, describe(_QUESTION)]) -> str:
        """Find what is known from earlier conversations and from other agents."""
        answer = open_book().recall(question, k=k, max_tokens=max_tokens, within=within)
        if not answer.text:
            return "Nothing is known about this."
        ids = ", ".join(hit.memory.id for hit in (*answer.hits, *answer.avoid))
        return f"{answer.text}\nTheir ids, in this order: {ids}"

    def forget(id: Annotated[str, describe(_ID)]) -> str:
        """Remove something that was remembered and is wrong or not wanted."""
        book = open_book()
        if book.get(id).scope != scope:
            raise InvalidInput(
                f"memory {id} belongs to another owner and cannot be forgotten from here: report it as wrong instead"
            )
        book.forget(id)
        return f"Forgot {id}."

    return remember, recall, forget


def make_async_functions(
    where: BookLike | None, *, explain: bool, space: str | None = None, **options: Any
) -> list[Callable[..., Coroutine[Any, Any, str]]]:
    """Return the functions awaited; with `explain` a refusal is returned as text instead of raised.

    A book that is opened here stays open as long as the program runs.
    """
    handle = BookHandle(where, space)

    def make_async(function: Callable[..., str]) -> Callable[..., Coroutine[Any, Any, str]]:
        @wraps(function)
        async def run(*args: Any, **kwargs: Any) -> str:
            try:
                return await handle.run(function, *args, **kwargs)
            except (InvalidInput, NotFound) as error:
                if explain:
                    return f"Refused: {error}"
                raise

        return run

    return [make_async(function) for function in make_functions(handle.open, **options)]
