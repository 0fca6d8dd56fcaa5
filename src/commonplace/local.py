"""LocalBook: the verbs carried out in this process, on an open store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import EllipsisType
from typing import Any, Literal

from commonplace.book import Book, Jobs, Links, Names, Receipts, Revisions, Users, Vector
from commonplace.canvas import LocalCanvas
from commonplace.errors import InvalidInput, NotFound, StoreClosed
from commonplace.kv import LocalKeyValue
from commonplace.memories import erasure, forget, read, receipts, revise, strength, write
from commonplace.memories.core import Core, Place
from commonplace.recall import answer
from commonplace.recall.request import make_request
from commonplace.store.base import Store
from commonplace.store.tables import entries, files, messages, persons
from commonplace.store.tables import jobs as job_table
from commonplace.store.tables.persons import Person
from commonplace.store.where import select
from commonplace.transcript import LocalTranscript
from commonplace.values import (
    NOBODY,
    Brief,
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
    Receipt,
    Scope,
    Signal,
    Stats,
    Within,
    checks,
    times,
)


class LocalBook(Book):
    """A book whose store this process has opened. The verbs are described in Book."""

    def __init__(self, core: Core, space: str) -> None:
        super().__init__(space, core.where)
        self.core = core
        self._store = core.store
        self._settings = core.settings
        self._place = Place(core.store, self._space)
        self._by: str | None = None

    @property
    def closed(self) -> bool:
        try:
            self._store.read(lambda tx: None, None)
        except StoreClosed:
            return True
        return False

    def in_space(self, space: str) -> LocalBook:
        return LocalBook(self.core, space)

    def over(self, store: Store, *, by: str | None = None) -> LocalBook:
        """Return this book on another store of the same data, such as one bound to a request.

        `by` is the id of the key under which it is used.
        """
        view = copy(self)
        view._by = by
        view.core = self.core.over(store)
        view._store = store
        return view

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
        drafts = write.expand(content, options)
        if reconcile:
            from commonplace.reconcile import settle  # few books reconcile, and it is slow to import

            stored = settle.remember(self.core, self._place, drafts)
        else:
            stored = write.remember(self.core, self._place, drafts)
        return stored if isinstance(content, (list, tuple)) else stored[0]

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
        from commonplace.learn import ingest, jobs  # few books learn, and they are slow to import

        said = ingest.make_conversation(
            conversation, session=session, scope=scope, tags=tags, origin=origin, every=1 if wait else every, idle=idle,
            settings=self._settings,
        )  # fmt: skip
        return jobs.learn(self.core, self._place, said, wait=wait, progress=progress)

    def jobs(self) -> Jobs:
        space = self._place.find()
        return self._store.read(lambda tx: job_table.read_all(tx, space), space)

    def work(self, *, hurry: bool = False) -> int:
        from commonplace.learn import jobs  # as for learn

        return jobs.run_all(self.core, self._place.find(), hurry=hurry)

    def retry(self, number: int | None = None) -> int:
        space = self._place.find()
        wanted = None if number is None else checks.count(number, "number", least=1)
        again = self._store.write(lambda tx: job_table.retry(tx, space, wanted), space)
        if wanted is not None and not again:
            raise NotFound(f"there is no permanently failed job {wanted} in this space")
        if again:
            self.core.wake()
        return len(again)

    def links(self, id: str) -> Links:
        return read.find_links(self.core, self._place.find(), id)

    def undo(self, id: str, other: str) -> Links:
        from commonplace.reconcile import undo  # as for learn

        space = self._place.find()
        return undo.undo(self.core, space, checks.name(id, "id"), checks.name(other, "other"))

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
        request = make_request(
            self._settings, query, k=k, max_tokens=max_tokens, within=within, filter=filter, kinds=kinds, tags=tags,
            threshold=threshold, order=order, as_of=as_of, asked_at=asked_at, superseded=superseded, vector=vector,
        )  # fmt: skip
        return answer.recall(self.core, self._place.find(), request)

    def brief(
        self, *, user: str | None = None, agent: str | None = None, session: str | None = None, max_tokens: int = 1000
    ) -> Brief:
        from commonplace.brief import make_brief  # few programs ask for one

        owner = checks.scope(Scope(user=user, agent=agent, session=session))
        return make_brief(self.core, self._place.find(), owner, checks.count(max_tokens, "max_tokens"))

    def get(self, id: str, *, version: int | None = None) -> Memory:
        return read.get(self.core, self._place.find(), id, version)

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
        selection = select(filter=filter, within=within, kinds=kinds, tags=tags, superseded=superseded)
        return read.page(self.core, self._place.find(), selection, order=order, limit=limit, cursor=cursor)

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
        change = revise.MemoryChange(
            content=content, kind=kind, tags=tags, metadata=metadata, importance=importance, source=source,
            said_at=said_at, ttl=ttl, text=text, mime=mime, vector=vector, reason=reason,
        )  # fmt: skip
        return revise.revise(self.core, self._place.find(), id, change, if_version)

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
        person = erasure.find_person(user=user, agent=agent, session=session, source=source)
        if person is not None:
            if id is not None or everything or any((scope, filter, kinds, tags)):
                raise InvalidInput("erase a person as a whole, or select memories: not both in one call")
            return self._erase(person, dry_run=dry_run)
        wanted = forget.make_targets(id, scope=scope, filter=filter, kinds=kinds, tags=tags, everything=everything)
        return forget.forget(self.core, self._place.find(), wanted, dry_run=dry_run)

    def _erase(self, person: Person, *, dry_run: bool) -> Forgotten:
        from commonplace.learn import jobs  # as for learn

        if dry_run:
            return erasure.preview(self.core, self._place.find(), person)
        space = self._place.make()
        number, salt = erasure.queue(self.core, space, person, by=self._by)
        shared: Any = jobs.run_now(self.core, space, number) or ()
        return erasure.conclude(self.core, space, person, salt, shared)

    def users(self) -> Users:
        space = self._place.find()
        return self._store.read(lambda tx: persons.users(tx, space), space)

    def receipts(self) -> Receipts:
        space = self._place.find()
        return self._store.read(lambda tx: receipts.read_all(tx, space), space)

    def settle_receipts(self) -> Receipts:
        return receipts.settle(self.core, self._place.find(), thorough=True)

    def verify_receipts(self, known: Iterable[Receipt] = ()) -> Check:
        space, given = self._place.find(), list(known)
        return self._store.read(lambda tx: receipts.verify(tx, space, given), space)

    def erase_again(self, receipts: Iterable[Receipt]) -> Receipts:
        again = []
        for part, name in erasure.find_again(self.core, self._place.make(), receipts):
            receipt = self._erase(Person(part, name), dry_run=False).receipt
            again += [] if receipt is None else [receipt]
        return again

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
        from commonplace.learn import jobs  # as for learn

        policy = forget.make_policy(older_than=older_than, weaker_than=weaker_than, keep=keep, kinds=kinds, tags=tags)
        space = self._place.find()
        going = forget.preview_prune(self.core, space, policy)
        if not dry_run and going.ids:
            jobs.run_now(self.core, space, forget.queue_prune(self.core, space, policy))
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
        from commonplace.memories import quarantine  # as for learn

        wanted = forget.make_targets(id, scope=scope, filter=filter, kinds=kinds, tags=tags)
        return quarantine.quarantine(self.core, self._place.find(), wanted, reason)

    def release(
        self,
        id: str | Sequence[str] | None = None,
        *,
        scope: Scope | None = None,
        filter: Mapping[str, object] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> Names:
        from commonplace.memories import quarantine  # as for learn

        wanted = forget.make_targets(id, scope=scope, filter=filter, kinds=kinds, tags=tags)
        return quarantine.release(self.core, self._place.find(), wanted)

    def history(self, id: str) -> Revisions:
        return read.history(self.core, self._place.find(), id)

    def feedback(self, target: str, signal: Signal) -> int:
        return strength.feedback(self.core, self._place.find(), target, signal)

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
        return read.stats(self.core, self._place.find(), self._space)

    def check(self, *, deep: bool = False) -> Check:
        found = self._store.check(deep=deep)
        if found.ok:
            self.core.identity()
        return found

    def export(self, *, vectors: bool = False, user: str | None = None) -> Iterator[dict[str, Json]]:
        from commonplace.transfer import archive  # few programs export, and it is slow to import

        space, whose = self._place.find(), erasure.find_person(user=user)
        yield from archive.export_records(self._store, space, self._space, vectors=vectors, whose=whose)

    def load(self, records: Iterable[Mapping[str, Json]]) -> int:
        from commonplace.transfer import archive  # as above

        space = self._place.make()
        count = archive.load_records(self.core, space, records)
        if count and self._store.read(lambda tx: job_table.count(tx, space), space):
            self.core.wake()
        return count

    def backup(self, path: str | PathLike[str]) -> None:
        from commonplace.transfer.copy import End, back_up  # few programs back up

        back_up(End(self._store, "the source"), Path(path), self.core.settings)

    def close(self) -> None:
        self.core.close()
