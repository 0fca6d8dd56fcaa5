"""LocalBook: the verbs carried out in this process, on an open store."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from os import PathLike
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal

from commonplace import filters
from commonplace.book import Book, Jobs, Links, Names, Revisions, Vector
from commonplace.canvas import LocalCanvas
from commonplace.errors import InvalidInput, NotFound, StoreClosed
from commonplace.guard import redaction
from commonplace.kv import LocalKeyValue
from commonplace.memories import forget as forgetting
from commonplace.memories import pages, write
from commonplace.memories import revise as revising
from commonplace.memories.core import Core, Place
from commonplace.recall import answer, question, rank, receipt, second_reading
from commonplace.recall import links as relating
from commonplace.store.base import Tx
from commonplace.store.tables import entries, files, jobs, links, memories, messages
from commonplace.store.where import Selection, compile_where, is_plain
from commonplace.transcript import LocalTranscript
from commonplace.values import (
    NOBODY,
    SIGNALS,
    Check,
    Content,
    Draft,
    Forgotten,
    Json,
    Kind,
    Learned,
    Memory,
    Order,
    Origin,
    Page,
    Recall,
    Scope,
    Signal,
    Stats,
    Within,
    checks,
    times,
)
from commonplace.values.arrays import Floats
from commonplace.values.ids import new_id

if TYPE_CHECKING:
    from commonplace.reconcile.plan import Settled


class LocalBook(Book):
    """A book whose store this process has opened. The verbs are described in Book."""

    def __init__(self, core: Core, space: str) -> None:
        super().__init__(space, core.where)
        self.core = core
        self._store = core.store
        self._settings = core.settings
        self._place = Place(core.store, self._space)

    @property
    def closed(self) -> bool:
        try:
            self._store.read(lambda tx: None, None)
        except StoreClosed:
            return True
        return False

    def in_space(self, space: str) -> LocalBook:
        return LocalBook(self.core, space)

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
    ) -> Any:
        options = Draft(
            content="", kind=kind, tags=tags, metadata=metadata or {}, importance=importance,
            scope=scope or NOBODY, source=source, origin=origin, said_at=said_at, ttl=ttl, text=text, mime=mime, id=id,
            vector=vector, supersedes=supersedes, reason=reason,
        )  # fmt: skip
        wanted = write.expand(content, options)
        identity, now = self.core.identity(), times.now()
        records = write.records(
            wanted, embedder=self.core.embedder, dimension=identity.dimension, settings=self._settings, now=now
        )
        space = self._place.make()
        if reconcile:
            rows = [each.row for each in self._reconciled(space, records) if each.row is not None]
        else:
            work = partial(memories.insert, space=space, records=records, generation=identity.generation)
            rows = self._store.write(work, space)
        stored = [memories.decode(row) for row in rows]
        return stored if isinstance(content, (list, tuple)) else stored[0]

    def _reconciled(self, space: int, records: Sequence[memories.Record]) -> Sequence[Settled]:
        from commonplace.reconcile import plan  # few books reconcile, and it is slow to import

        arrivals = [plan.Arrival(record=record) for record in records]
        planned = plan.plan(self.core, space, arrivals)
        return self._store.write(lambda tx: plan.settle(tx, self.core, space, planned), space)

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
        from commonplace.learn import ingest
        from commonplace.memories import messages as saying  # few books learn, and it is slow to import

        now = times.now()
        given = checks.scope(scope or NOBODY)
        if given.session is not None:
            raise InvalidInput("what is learned belongs to no session: name the conversation with session=")
        lines = saying.conversation(conversation, now=now, settings=self._settings)
        if not lines:
            raise InvalidInput("the conversation is empty: there is nothing to learn from")
        said = ingest.Conversation(
            session=new_id() if session is None else checks.name(session, "session"),
            lines=lines,
            scope=given,
            tags=checks.tags(tags),
            origin=None if origin is None else checks.origin(origin),
            every=1 if wait else checks.count(every, "every", least=1, most=ingest.TOGETHER),
            idle=checks.amount(idle, "idle"),
        )
        space = self._place.make()
        taken = ingest.take_in(self.core, space, said)
        if wait:
            return ingest.learned(self.core, space, taken, progress or (lambda done, total: None))
        self.core.wake()
        return Learned(session=taken.session, messages=taken.ids, jobs=taken.jobs)

    def jobs(self) -> Jobs:
        space = self._place.find()
        return self._store.read(lambda tx: jobs.everything(tx, space), space)

    def work(self, *, hurry: bool = False) -> int:
        from commonplace.learn import jobs as working  # as for learn

        space, done = self._place.find(), 0
        if hurry:
            self._store.write(lambda tx: jobs.hurry(tx, space), space)
        while working.run_one(self.core, space) is not None:
            done += 1
        return done

    def retry(self, number: int | None = None) -> int:
        space = self._place.find()
        wanted = None if number is None else checks.count(number, "number", least=1)
        again = self._store.write(lambda tx: jobs.retry(tx, space, wanted), space)
        if wanted is not None and not again:
            raise NotFound(f"no job {wanted} has failed for good in this space")
        if again:
            self.core.wake()
        return len(again)

    def links(self, id: str) -> Links:
        space, name, now = self._place.find(), checks.name(id, "id"), times.now()

        def work(tx: Tx) -> Links:
            memories.current(tx, space, name, now=now)
            return links.of(tx, space, name)

        return self._store.read(work, space)

    def undo(self, id: str, other: str) -> Links:
        from commonplace.reconcile import undo as undoing  # as for learn

        space = self._place.find()
        return undoing.undo(self.core, space, checks.name(id, "id"), checks.name(other, "other"))

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
        now = times.now()
        selection = self._selection(
            filter=filter, within=within, kinds=kinds, tags=tags, superseded=superseded, as_of=as_of
        )
        request = answer.Request(
            query=checks.text(query, "query", limit=self._settings.max_text_bytes),
            k=checks.count(k, "k", least=1, most=1_000),
            max_tokens=None if max_tokens is None else checks.count(max_tokens, "max_tokens"),
            threshold=None if threshold is None else checks.share(threshold, "threshold"),
            company=rank.COMPANY if threshold is None else threshold,
            apart=rank.APART if threshold is None else math.inf,
            order=checks.order(order),
            now=now,
            half_lives=self._settings.half_lives,
            selection=selection,
        )
        identity = self.core.identity()
        space = self._place.find()
        where = compile_where(self._store.dialect, space, selection, now=now)
        asked = self._asked(request, space)
        probe = answer.probe(
            request,
            asked.subject,
            self._query_vector(asked.about, vector),
            identity.generation,
            depth=self._settings.candidates,
        )
        choose = partial(answer.choose, request=request, asked=asked, probe=probe, background=identity.background)
        found = self._store.search(space, probe, where, choose, narrow=not is_plain(selection), as_of=selection.as_of)
        judgement = answer.closer(asked, found, self.core.embedder)
        if self.core.reranker is not None:
            judgement = second_reading.reread(
                request.query, found, judgement, self.core.reranker, budget=self._settings.rerank_budget
            )
        return answer.assemble(request, found, judgement, partial(self._related, space, selection))

    def _related(self, space: int, selection: Selection, said: Sequence[str], decided: Sequence[str]) -> answer.Related:
        where = compile_where(self._store.dialect, space, replace(selection, superseded=True), now=times.now())
        return self._store.read(lambda tx: relating.related(tx, space, said, decided, where), space)

    def _asked(self, request: answer.Request, space: int) -> answer.Asked:
        """The question as it is read here: names in it are speakers' if somebody of that name has spoken."""
        query, past = request.query, request.selection.as_of
        read = question.read(query, times.from_micros(request.now if past is None else past))
        named: frozenset[str] = frozenset()
        if read.names:
            calls = answer.roll_call(read.names)
            heard = self._store.frequencies(space, calls, self.core.identity().generation)
            named = answer.present(read.names, heard)
        about = question.without(query, named)
        return answer.Asked(question=read, named=named, about=about, subject=question.subject(about))

    def get(self, id: str, *, version: int | None = None) -> Memory:
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
        selection = self._selection(filter=filter, within=within, kinds=kinds, tags=tags, superseded=superseded)
        space = self._place.find()
        where = compile_where(self._store.dialect, space, selection, now=times.now())
        newest, after = pages.newest_first(order), pages.after(cursor, order)
        most = checks.count(limit, "limit", least=1, most=10_000)
        rows = self._store.read(lambda tx: memories.page(tx, where, newest=newest, limit=most + 1, after=after), space)
        return pages.page(rows, most, order)

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
        change = revising.Change(
            content=content, kind=kind, tags=tags, metadata=metadata, importance=importance, source=source,
            said_at=said_at, ttl=ttl, text=text, mime=mime, vector=vector, reason=reason,
        )  # fmt: skip
        space, name, expected = self._place.find(), checks.name(id, "id"), checks.version(if_version)
        return revising.revise(self.core, space, name, change, expected)

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
        wanted = self._wanted(id, scope=scope, filter=filter, kinds=kinds, tags=tags, everything=everything)
        space = self._place.find()
        if dry_run:
            return self._store.read(lambda tx: forgetting.preview(tx, space, wanted), space)
        forgotten = self._store.write(lambda tx: forgetting.forget(tx, space, wanted), space)
        self._store.scrub(space)
        return forgotten

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
        from commonplace.learn import jobs as working  # as for learn
        from commonplace.memories import prune as pruning

        policy = pruning.Policy(
            older_than=None if older_than is None else checks.amount(older_than, "older_than"),
            weaker_than=None if weaker_than is None else checks.amount(weaker_than, "weaker_than"),
            keep=None if keep is None else checks.count(keep, "keep"),
            kinds=checks.kinds(kinds),
            tags=checks.names(tags, "tags"),
        )
        pruning.ensure_limits(policy)
        space = self._place.find()
        going = self._store.read(lambda tx: pruning.preview(tx, space, policy, self._settings.half_lives), space)
        if not dry_run and going.ids:
            most = self._settings.max_jobs
            add = partial(jobs.add, space=space, kind=pruning.KIND, payload=policy.plain(), most=most)
            working.run_now(self.core, space, self._store.write(add, space))
        return going

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
        from commonplace.memories import quarantine as quarantining  # as for learn

        wanted = self._wanted(id, scope=scope, filter=filter, kinds=kinds, tags=tags)
        why, space = checks.text(reason, "reason", limit=10_000), self._place.find()
        why = redaction.text(why, self.core.settings.redact)
        return [*self._store.write(lambda tx: quarantining.quarantine(tx, space, wanted, why), space)]

    def release(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> Names:
        from commonplace.memories import quarantine as quarantining  # as for learn

        wanted = self._wanted(id, scope=scope, filter=filter, kinds=kinds, tags=tags)
        space = self._place.find()
        return [*self._store.write(lambda tx: quarantining.release(tx, space, wanted), space)]

    def history(self, id: str) -> Revisions:
        space, name, now = self._place.find(), checks.name(id, "id"), times.now()
        rows = self._store.read(lambda tx: memories.history(tx, space, name, now=now), space)
        return [memories.decode_revision(row) for row in rows]

    def feedback(self, target: str, signal: Signal) -> int:
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

    def kv(self, namespace: str) -> LocalKeyValue:
        return LocalKeyValue(self._store, self._place, namespace, self._settings)

    def canvas(self, name: str) -> LocalCanvas:
        return LocalCanvas(self._store, self._place, name, self._settings)

    def transcript(self, session: str) -> LocalTranscript:
        return LocalTranscript(self._store, self._place, session, self._settings)

    def namespaces(self) -> Names:
        space = self._place.find()
        return self._store.read(lambda tx: entries.namespaces(tx, space, now=times.now()), space)

    def canvases(self) -> Names:
        space = self._place.find()
        return self._store.read(lambda tx: files.canvases(tx, space), space)

    def transcripts(self) -> Names:
        space = self._place.find()
        return self._store.read(lambda tx: messages.sessions(tx, space), space)

    def stats(self) -> Stats:
        space, identity = self._place.find(), self.core.identity()
        size, engine = self._store.size(), self._store.engine
        return self._store.read(
            lambda tx: pages.stats(tx, space, self._space, identity, size=size, engine=engine), space
        )

    def check(self, *, deep: bool = False) -> Check:
        found = self._store.check(deep=deep)
        if found.ok:
            self.core.identity()
        return found

    def export(self, *, vectors: bool = False) -> Iterator[dict[str, Json]]:
        from commonplace.transfer import export as portable  # few programs export, and it is slow to import

        yield from portable.export(self._store, self._place.find(), self._space, vectors=vectors)

    def load(self, records: Iterable[Mapping[str, Json]]) -> int:
        from commonplace.transfer import export as portable  # as above

        space = self._place.make()
        count = portable.load(self.core, space, records)
        if count and self._store.read(lambda tx: jobs.count(tx, space), space):
            self.core.wake()
        return count

    def backup(self, path: str | PathLike[str]) -> None:
        self._store.backup(Path(path))

    def close(self) -> None:
        self.core.close()

    def _wanted(
        self,
        id: str | Sequence[str] | None,
        *,
        scope: Scope | None,
        filter: Mapping[str, object] | None,
        kinds: Sequence[str] | None,
        tags: Sequence[str] | None,
        everything: bool = False,
    ) -> forgetting.Wanted:
        """What a verb is to remove or take out, said in one way only."""
        selection = self._selection(
            filter=filter, within=scope and checks.only(scope), kinds=kinds, tags=tags, superseded=True, expired=True
        )
        wanted = forgetting.Wanted(
            ids=None if id is None else checks.names([id] if isinstance(id, str) else id, "id"),
            selection=selection,
            everything=everything,
        )
        forgetting.ensure_one_way(wanted)
        return wanted

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
            return checks.vector(given, self.core.identity().dimension)
        if not query.strip():
            raise InvalidInput("the query is empty: ask a question, or use list() to see what is there")
        return write.embed_query(self.core.embedder, query)
