"""Book: the verbs. The only orchestrator; everything that it calls does one thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from os import PathLike
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import Literal, overload

from commonplace import asking, checks, drafts, filters, forgetting, listing, rereading, revising, times
from commonplace.canvas import Canvas
from commonplace.core import Core, Place
from commonplace.errors import InvalidInput, NotFound
from commonplace.kv import KeyValue
from commonplace.recall import question, rank, receipt
from commonplace.recall.types import Floats
from commonplace.store import entries, files, memories, messages, spaces
from commonplace.store.conditions import Selection, compile_where, is_plain
from commonplace.transcript import Transcript
from commonplace.values import (
    NOBODY,
    SIGNALS,
    Check,
    Content,
    Draft,
    Forgotten,
    Json,
    Kind,
    Memory,
    Order,
    Page,
    Recall,
    Revision,
    Scope,
    Signal,
    Stats,
    Within,
)

# Inside the class, `list` is the verb.
Memories = list[Memory]
Revisions = list[Revision]
Names = list[str]
Vector = Sequence[float] | Floats


class Book:
    """A shared, persistent memory: one space of one store. Made by `open`; safe between threads."""

    def __init__(self, core: Core, space: str) -> None:
        self._core = core
        self._store = core.store
        self._settings = core.settings
        self._name = checks.name(space, "space")
        self._place = Place(core.store, self._name)
        if self._name.startswith(spaces.RESERVED):
            raise InvalidInput(f"names of spaces do not begin with {spaces.RESERVED!r}")

    @property
    def space(self) -> str:
        """The name of the space: no verb of this book reaches beyond it."""
        return self._name

    def in_space(self, space: str) -> Book:
        """The same store behind another wall."""
        return Book(self._core, space)

    @overload
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
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
    ) -> Memory: ...

    @overload
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
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
    ) -> Memories: ...

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
        said_at: datetime | None = None,
        ttl: float | None = None,
        text: str | None = None,
        mime: str | None = None,
        id: str | None = None,
        vector: Vector | None = None,
        supersedes: Sequence[str] = (),
        reason: str | None = None,
    ) -> Memory | Memories:
        """Remember a content, or each of a list; when this returns, all of it is on disk, or none.

        A list means many, and the options then apply to each of its plain contents; a Draft brings its own.
        A JSON list to be kept as one memory is `Draft(content=[…])`. Bytes are stored whole and found by
        the `text` given with them. An `id` that is taken raises Conflict. `supersedes` closes older
        memories: they leave recall, keep their history, and point to the new one.
        """
        options = Draft(
            content="", kind=kind, tags=tags, metadata=metadata or {}, importance=importance,
            scope=scope or NOBODY, source=source, said_at=said_at, ttl=ttl, text=text, mime=mime, id=id,
            vector=vector, supersedes=supersedes, reason=reason,
        )  # fmt: skip
        wanted = drafts.expand(content, options)
        identity, now = self._core.identity(), times.now()
        records = drafts.records(
            wanted, embedder=self._core.embedder, dimension=identity.dimension, settings=self._settings, now=now
        )
        space = self._place.make()
        work = partial(memories.insert, space=space, records=records, generation=identity.generation)
        stored = [memories.decode(row) for row in self._store.write(work, space)]
        return stored if isinstance(content, (list, tuple)) else stored[0]

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
        superseded: bool = False,
        vector: Vector | None = None,
    ) -> Recall:
        """Recall what bears on the query, the best first; an empty answer means that nothing does.

        `threshold` is a probability: 0 switches the cut-off off, None takes the calibrated default. The
        answer's text never has more than `max_tokens` tokens. `order="time"` gives the same memories oldest
        first. `as_of` answers as the book stood at that moment. A `vector` replaces the query's own.
        """
        now = times.now()
        selection = self._selection(
            filter=filter, within=within, kinds=kinds, tags=tags, superseded=superseded, as_of=as_of
        )
        request = asking.Request(
            query=checks.text(query, "query", limit=self._settings.max_text_bytes),
            k=checks.count(k, "k", least=1, most=1_000),
            max_tokens=None if max_tokens is None else checks.count(max_tokens, "max_tokens"),
            threshold=rank.THRESHOLD if threshold is None else checks.share(threshold, "threshold"),
            company=rank.COMPANY if threshold is None else threshold,
            order=checks.order(order),
            now=now,
            selection=selection,
        )
        identity = self._core.identity()
        space = self._place.find()
        where = compile_where(self._store.dialect, space, selection, now=now)
        asked = self._asked(request, space)
        probe = asking.probe(
            request,
            asked.subject,
            self._query_vector(asked.about, vector),
            identity.generation,
            depth=self._settings.candidates,
        )
        chooser = asking.chooser(request, asked, probe, identity.background)
        found = self._store.search(space, probe, where, chooser, narrow=not is_plain(selection), as_of=selection.as_of)
        judgement = asking.closer(asked, found, chooser.judgement, self._core.embedder)
        if self._core.reranker is not None:
            judgement = rereading.reread(
                request.query, found, judgement, self._core.reranker, budget=self._settings.rerank_budget
            )
        return asking.assemble(request, found, judgement)

    def _asked(self, request: asking.Request, space: int) -> asking.Asked:
        """The question as it is read here: names in it are speakers' if somebody of that name has spoken."""
        query, past = request.query, request.selection.as_of
        read = question.read(query, times.from_micros(request.now if past is None else past))
        named: frozenset[str] = frozenset()
        if read.names:
            calls = asking.roll_call(read.names)
            heard = self._store.frequencies(space, calls, self._core.identity().generation)
            named = asking.present(read.names, heard)
        about = question.without(query, named)
        return asking.Asked(question=read, named=named, about=about, subject=question.subject(about))

    def get(self, id: str, *, version: int | None = None) -> Memory:
        """The memory as it stands, or as it was at a version; NotFound if there is none."""
        space, name, now = self._place.find(), checks.name(id, "id"), times.now()
        if version is None:
            return memories.decode(self._store.read(lambda tx: memories.current(tx, space, name, now=now), space))
        number = checks.count(version, "version", least=1)
        return memories.decode(self._store.read(lambda tx: memories.version(tx, space, name, number, now=now), space))

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
        """One page of memories by when they were said; its `cursor` fetches the next page."""
        selection = self._selection(filter=filter, within=within, kinds=kinds, tags=tags, superseded=superseded)
        space = self._place.find()
        where = compile_where(self._store.dialect, space, selection, now=times.now())
        newest, after = listing.newest_first(order), listing.after(cursor, order)
        most = checks.count(limit, "limit", least=1, most=10_000)
        rows = self._store.read(lambda tx: memories.page(tx, where, newest=newest, limit=most + 1, after=after), space)
        return listing.page(rows, most, order)

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
        """Give a memory a new version; what is not named stays, and the old version is kept.

        `if_version` is the version that the change was made for: Conflict if another came first.
        """
        change = revising.Change(
            content=content, kind=kind, tags=tags, metadata=metadata, importance=importance, source=source,
            said_at=said_at, ttl=ttl, text=text, mime=mime, vector=vector, reason=reason,
        )  # fmt: skip
        space, name, expected = self._place.find(), checks.name(id, "id"), checks.version(if_version)
        return revising.revise(self._core, space, name, change, expected)

    def forget(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove memories with all their versions, vectors and words, and say what was removed.

        Name ids, or select by scope, filter, kinds and tags together; `everything=True` empties the space,
        key-value entries, canvases and transcripts too. `dry_run` only says what would go.
        """
        selection = self._selection(
            filter=filter, within=scope and checks.only(scope), kinds=kinds, tags=tags, superseded=True, expired=True
        )
        wanted = forgetting.Wanted(
            ids=None if id is None else checks.names([id] if isinstance(id, str) else id, "id"),
            selection=selection,
            everything=everything,
        )
        forgetting.ensure_one_way(wanted)
        space = self._place.find()
        if dry_run:
            return self._store.read(lambda tx: forgetting.preview(tx, space, wanted), space)
        forgotten = self._store.write(lambda tx: forgetting.forget(tx, space, wanted), space)
        self._store.scrub(space)
        return forgotten

    def history(self, id: str) -> Revisions:
        """Every version of a memory, oldest first: what was done, when and why."""
        space, name, now = self._place.find(), checks.name(id, "id"), times.now()
        rows = self._store.read(lambda tx: memories.history(tx, space, name, now=now), space)
        return [memories.decode_revision(row) for row in rows]

    def feedback(self, target: str, signal: Signal) -> int:
        """Tell whether what was recalled was used, ignored or wrong; returns how many memories learned it.

        `target` is a memory's id, or the receipt of a recall, which stands for all that it returned.
        """
        if signal not in SIGNALS:
            raise InvalidInput(f"unknown signal {signal!r}; known: {', '.join(SIGNALS)}")
        name = checks.text(target, "target", limit=1_000_000)
        ids = receipt.read(name) if name.startswith(receipt.PREFIX) else (checks.name(name, "target"),)
        space, now = self._place.find(), times.now()
        named = tuple(dict.fromkeys(ids))
        touched = self._store.write(lambda tx: memories.feedback(tx, space, named, signal, now=now), space)
        if not touched and not name.startswith(receipt.PREFIX):
            raise NotFound(f"no memory with id {target!r} in this space")
        return touched

    def kv(self, namespace: str) -> KeyValue:
        """Plain key-value state under a name."""
        return KeyValue(self._store, self._place, namespace, self._settings)

    def canvas(self, name: str) -> Canvas:
        """Text files that agents write together."""
        return Canvas(self._store, self._place, name, self._settings)

    def transcript(self, session: str) -> Transcript:
        """The messages of one conversation."""
        return Transcript(self._store, self._place, session, self._settings)

    def namespaces(self) -> Names:
        """The key-value namespaces that hold anything."""
        space = self._place.find()
        return self._store.read(lambda tx: entries.namespaces(tx, space, now=times.now()), space)

    def canvases(self) -> Names:
        """The canvases that hold a file."""
        space = self._place.find()
        return self._store.read(lambda tx: files.canvases(tx, space), space)

    def transcripts(self) -> Names:
        """The sessions that have a transcript."""
        space = self._place.find()
        return self._store.read(lambda tx: messages.sessions(tx, space), space)

    def stats(self) -> Stats:
        """How much the space holds, and with what."""
        space, identity = self._place.find(), self._core.identity()
        size, engine = self._store.size(), self._store.engine
        return self._store.read(
            lambda tx: listing.stats(tx, space, self._name, identity, size=size, engine=engine), space
        )

    def check(self, *, deep: bool = False) -> Check:
        """Verify the store and that recall works; `deep` compares every index with the rows."""
        found = self._store.check(deep=deep)
        if found.ok:
            self._core.identity()
        return found

    def export(self, *, vectors: bool = False) -> Iterator[dict[str, Json]]:
        """Everything in the space as JSON-able records that `load` takes back without loss.

        `load` embeds the texts again; vectors that callers gave themselves are kept only with `vectors=True`.
        """
        from commonplace import portable  # few programs export, and it is slow to import

        yield from portable.export(self._store, self._place.find(), self._name, vectors=vectors)

    def load(self, records: Iterable[Mapping[str, Json]]) -> int:
        """Take in what `export` gave, all or nothing; what is there already is left alone. Returns how many."""
        from commonplace import portable  # as above

        return portable.load(self._core, self._place.make(), records)

    def backup(self, path: str | PathLike[str]) -> None:
        """Copy the whole store, every space, to a new file while it is in use."""
        self._store.backup(Path(path))

    def close(self) -> None:
        """Release the store for every book on it; closing twice is harmless."""
        self._store.close()

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Book {self._core.where} space={self._name!r}>"

    def _selection(
        self,
        *,
        filter: Mapping[str, object] | None,
        within: Within | Scope | None,
        kinds: Sequence[str] | None,
        tags: Sequence[str] | None,
        superseded: bool,
        expired: bool = False,
        as_of: datetime | None = None,
    ) -> Selection:
        return Selection(
            filter=filters.parse(filter),
            within=checks.within(within),
            kinds=checks.kinds(kinds),
            tags=checks.names(tags, "tags"),
            superseded=superseded,
            expired=expired,
            as_of=None if as_of is None else times.to_micros(as_of),
        )

    def _query_vector(self, query: str, given: Vector | None) -> Floats | None:
        if given is not None:
            return checks.vector(given, self._core.identity().dimension)
        if not query.strip():
            raise InvalidInput("the query is empty: ask a question, or use list() to see what is there")
        return drafts.embed_query(self._core.embedder, query)
