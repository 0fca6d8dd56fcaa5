"""Book: the verbs of a memory, declared once.

LocalBook carries them out in this process, RemoteBook asks a server, and AsyncBook awaits either.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import wraps
from os import PathLike
from types import EllipsisType, TracebackType
from typing import Literal, TypeVar, overload

from commonplace.canvas import Canvas
from commonplace.errors import InvalidInput
from commonplace.kv import KeyValue
from commonplace.store.tables import spaces
from commonplace.transcript import Transcript
from commonplace.values import (
    Brief,
    Check,
    Content,
    Draft,
    Forgotten,
    Job,
    Json,
    Kind,
    Learned,
    Link,
    Memory,
    Order,
    Origin,
    Page,
    Recall,
    Receipt,
    Revision,
    Scope,
    Signal,
    Stats,
    User,
    Within,
    checks,
)
from commonplace.values.arrays import Floats

# Inside the class, `list` is the verb.
Memories = list[Memory]
Revisions = list[Revision]
Names = list[str]
Jobs = list[Job]
Links = list[Link]
Users = list[User]
Receipts = list[Receipt]
Vector = Sequence[float] | Floats
Self = TypeVar("Self", bound="Book")
Made = TypeVar("Made", bound=Callable[..., object])


def copy_declaration(declared: Callable[..., object], made: Made) -> Made:
    """Give a function that implements a declared verb the name, signature and docstring of the declaration."""
    wraps(declared)(made)
    vars(made).pop("__isabstractmethod__", None)
    return made


class Book(ABC):
    """A shared, persistent memory: one space of one store. Made by `open`; safe between threads."""

    def __init__(self, space: str, where: str) -> None:
        self._space = checks.name(space, "space")
        self._where = where
        if self._space.startswith(spaces.RESERVED):
            raise InvalidInput(f"space names must not begin with {spaces.RESERVED!r}")

    @property
    def space(self) -> str:
        """The name of the space: no verb of this book reaches beyond it."""
        return self._space

    @property
    def where(self) -> str:
        """The path or URL of the store or server, without a password."""
        return self._where

    @property
    def served(self) -> bool:
        """Whether a server keeps the book and does its work."""
        return False

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether the book was closed, by this object or another one on the same store."""

    @abstractmethod
    def in_space(self, space: str) -> Book:
        """Return a book on another space of the same store."""

    @overload
    @abstractmethod
    def remember(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
        self,
        content: str | bytes | dict[str, Json] | Draft,
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memory: ...

    @overload
    @abstractmethod
    def remember(
        self,
        content: Sequence[str | bytes | dict[str, Json] | Draft],
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memories: ...

    @abstractmethod
    def remember(
        self,
        content: str | bytes | dict[str, Json] | Draft | Sequence[str | bytes | dict[str, Json] | Draft],
        *,
        kind: Kind = "note",
        tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
        importance: float = 0.5,
        scope: Scope | None = None,
        source: str | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
        reconcile: bool = False,
    ) -> Memory | Memories:
        """Remember one content, or each of a list; when this returns, all of it is on disk, or none.

        With a list, the options apply to each plain content; a Draft has its own. To keep a JSON list as one memory,
        pass `Draft(content=[…])`. Bytes are stored whole and found by the `text` given with them. An `id` that is
        taken raises Conflict. `supersedes` closes older memories: they leave recall, keep their history, and point to
        the new one. `reconcile` compares each content with the memories that are there: a repetition strengthens the
        memory that says the same, which is returned; a contradiction closes the one that was said earlier.
        """

    @abstractmethod
    def learn(
        self,
        conversation: str | Iterable[Mapping[str, object] | str],
        *,
        session: str | None = None,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        origin: Origin | None = None,
        every: int = 1,
        idle: float = 60.0,
        wait: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learned:
        """Keep a conversation word for word, and extract memories from it.

        Messages are mappings with content and optionally role, name, said_at and metadata, or lines of "Name: text".
        When this returns they are on disk and recall finds them. A thread of this process (or of the server, or
        `commonplace work`) then extracts what is worth keeping and reconciles it with the memories that are there.
        `wait` does this before returning, and calls `progress` with the number of messages done and the total; a
        server reports only the end. For a conversation that arrives message by message, `every` sets how many messages
        of a session are read together; fewer are read when nobody has spoken for `idle` seconds.
        """

    @abstractmethod
    def jobs(self) -> Jobs:
        """Return the jobs that wait, run, or have failed for good, oldest first."""

    @abstractmethod
    def work(self, *, hurry: bool = False) -> int:
        """Run the jobs of this space that are due, now, and return how many were tried.

        `hurry` includes those that wait for more messages, as at the end of a conversation.
        """

    @abstractmethod
    def retry(self, number: int | None = None) -> int:
        """Queue a job again that had failed for good, or all of them, and return how many."""

    @abstractmethod
    def links(self, id: str) -> Links:
        """Return how a memory relates to others: what it supersedes, adds to or disputes, and its sources."""

    @abstractmethod
    def undo(self, id: str, other: str) -> Links:
        """Undo what reconciliation did with two memories, so that both are valid on their own again.

        `other` is an id from `links`: a superseded memory, or the message that was taken for a repetition.
        """

    @abstractmethod
    def recall(
        self,
        query: str,
        *,
        k: int = 10,
        max_tokens: int | None = 2000,
        within: Within | Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        threshold: float | None = None,
        order: Order = "relevance",
        as_of: datetime | None = None,
        asked_at: datetime | None = None,
        superseded: bool = False,
        vector: Vector | None = None,
    ) -> Recall:
        """Return the memories that are relevant to the query, best first; no hits means that none is.

        `threshold` is a probability: 0 disables the cut-off, None takes the calibrated default. The answer's text
        never has more than `max_tokens` tokens. `order="time"` returns the same memories oldest first. `as_of` answers
        from the book as it was at that moment. `asked_at` is the moment of the question, from which "last week"
        counts: by default `as_of`, else now. `vector` replaces the query's own embedding.
        """

    @abstractmethod
    def brief(
        self, *, user: str | None = None, agent: str | None = None, session: str | None = None, max_tokens: int = 1000
    ) -> Brief:
        """Return what a newcomer or the next session needs to know, without a question.

        What is due and promised, the decisions that hold and what they replaced, preferences and standing facts, what
        failed and is to be avoided, and what was said last. Each part that is named limits it to what belongs to that
        user, agent or session, or to everybody. The text never has more than `max_tokens` tokens.
        """

    @abstractmethod
    def get(self, id: str, *, version: int | None = None) -> Memory:
        """Return the current version of a memory, or another one; NotFound if there is none."""

    @abstractmethod
    def list(
        self,
        *,
        filter: Mapping[str, object] | None = None,
        within: Within | Scope | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        superseded: bool = False,
        order: Literal["newest", "oldest"] = "newest",
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """Return one page of memories by the time they were said; its `cursor` fetches the next page."""

    @abstractmethod
    def revise(
        self,
        id: str,
        content: Content | EllipsisType = ...,
        *,
        kind: Kind | EllipsisType = ...,
        tags: Sequence[str] | EllipsisType = ...,
        metadata: Mapping[str, Json] | EllipsisType = ...,
        importance: float | EllipsisType = ...,
        source: str | None | EllipsisType = ...,
        said_at: datetime | EllipsisType = ...,
        ttl: float | None | EllipsisType = ...,
        text: str | EllipsisType = ...,
        mime: str | EllipsisType = ...,
        vector: Vector | EllipsisType = ...,
        reason: str | None = None,
        if_version: int | None = None,
    ) -> Memory:
        """Give a memory a new version; fields that are not given stay, and the old version is kept.

        `if_version` is the version that the change was made for: Conflict if another came first.
        """

    @abstractmethod
    def forget(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        source: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Erase memories with all their versions, vectors and words, and return what was erased.

        Name ids, or select by scope, filter, kinds and tags together; `everything=True` empties the space, including
        key-value entries, canvases and transcripts. `dry_run` only returns what would be erased.

        `user`, `agent`, `session` or `source` erases a person: everything that belongs to them, also what was learned
        from it alone, entries, files, messages, jobs and recorded answers. It is a durable job of short transactions.
        The result has a `receipt`, and lists the `mentions` of the person that stayed.
        """

    @abstractmethod
    def users(self) -> Users:
        """Return the users to whom something belongs, by name, with how much it is."""

    @abstractmethod
    def receipts(self) -> Receipts:
        """Return the receipts of the persons who were erased, oldest first."""

    @abstractmethod
    def settle_receipts(self) -> Receipts:
        """Remove what is left of the bytes of erased persons from files and tables, and return the receipts.

        Files and tables are written anew, while writers wait. A receipt has `settled_at` once nothing is left; while
        somebody reads the book as it was before, something is.
        """

    @abstractmethod
    def verify_receipts(self, known: Iterable[Receipt] = ()) -> Check:
        """Check that no receipt was changed and none is missing, also of those that are `known` from elsewhere."""

    @abstractmethod
    def erase_again(self, receipts: Iterable[Receipt]) -> Receipts:
        """Erase the persons of these receipts again, as after a restore or an import; return the new receipts.

        Their names are found by comparing hashes. Receipts that the restored book has lost are added to it.
        """

    @abstractmethod
    def prune(
        self,
        *,
        older_than: float | None = None,
        weaker_than: float | None = None,
        keep: int | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        dry_run: bool = True,
    ) -> Forgotten:
        """Forget the memories that a policy selects, as a durable job; by default only return which they are.

        `older_than` is the number of seconds since a memory was said, used or repeated; `weaker_than` is a bound for
        the strength that time, importance and use leave it, 0 to 1.2; `keep` is how many may stay, the strongest.
        """

    @abstractmethod
    def quarantine(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        reason: str,
    ) -> Names:
        """Take memories and everything learned from them out of recall; what they had superseded is valid again.

        Name them as for `forget`: `filter={"source": "scraper"}` rolls back everything from that source, closed
        memories included. Returns the ids of those that were not in quarantine before; `release` undoes it.
        """

    @abstractmethod
    def release(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> Names:
        """Release memories from quarantine, close again what they had closed, and return their ids."""

    @abstractmethod
    def history(self, id: str) -> Revisions:
        """Return every version of a memory, oldest first: what was done, when and why."""

    @abstractmethod
    def feedback(self, target: str, signal: Signal) -> int:
        """Record whether recalled memories were used, ignored or wrong, and return how many there were.

        `target` is a memory's id, or the receipt of a recall for everything it returned.
        """

    @abstractmethod
    def kv(self, namespace: str) -> KeyValue:
        """Return the key-value entries of a namespace."""

    @abstractmethod
    def canvas(self, name: str) -> Canvas:
        """Return a canvas: text files that agents write together."""

    @abstractmethod
    def transcript(self, session: str) -> Transcript:
        """Return the transcript of a session: the messages of one conversation."""

    @abstractmethod
    def namespaces(self) -> Names:
        """Return the key-value namespaces that hold an entry."""

    @abstractmethod
    def canvases(self) -> Names:
        """Return the canvases that hold a file."""

    @abstractmethod
    def transcripts(self) -> Names:
        """Return the sessions that have a transcript."""

    @abstractmethod
    def stats(self) -> Stats:
        """Return how much the space holds, and its embedder and engine."""

    @abstractmethod
    def check(self, *, deep: bool = False) -> Check:
        """Verify the store and that recall works; `deep` compares every index with the rows."""

    @abstractmethod
    def export(self, *, vectors: bool = False, user: str | None = None) -> Iterator[dict[str, Json]]:
        """Yield everything in the space as JSON-able records that `load` restores without loss.

        `load` embeds the texts again; vectors that callers gave themselves are kept only with `vectors=True`. With a
        `user`, only what belongs to them, as `forget(user=…)` would erase it.
        """

    @abstractmethod
    def load(self, records: Iterable[Mapping[str, Json]]) -> int:
        """Restore exported records, all or nothing, and return how many were new; existing ones are left alone.

        Messages that were waiting to be learned from when they were exported wait here too.
        """

    @abstractmethod
    def backup(self, path: str | PathLike[str]) -> None:
        """Copy the whole store, every space, to a new local file while it is in use."""

    @abstractmethod
    def close(self) -> None:
        """Close the store or the connections for every book on them; closing twice is harmless."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__.removeprefix('Local')} {self._where} space={self._space!r}>"
