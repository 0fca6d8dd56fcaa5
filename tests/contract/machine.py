"""A state machine that compares a real book with a simple model: random verbs, two handles, two spaces.

from commonplace.testing import HashEmbedder, machine_for

TestMyStore = machine_for(lambda place: commonplace.open(place / "book.db", embedder=HashEmbedder())).TestCase
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

try:
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
except ImportError as error:
    raise ImportError("the state machine needs hypothesis: pip install hypothesis") from error

from commonplace.testing.contract import strategies as some
from commonplace.testing.contract.model import Model, Record, Space, fields

from commonplace.book import Book
from commonplace.errors import CommonplaceError, Conflict, InvalidInput, NotFound
from commonplace.values import Draft, Json, Memory

Open = Callable[[Path], Book]
Call = Callable[[], object]

# Comparing these is comparing clocks: the book decides them, the model does not know.
_BOOKS_OWN = ("created_at", "updated_at", "expires_at", "valid_to", "scope", "content")


def machine_for(open: Open) -> type[BookMachine]:
    """A machine whose books are opened so: the same place again must be the same book."""
    return type("BookMachine", (BookMachine,), {"_opener": staticmethod(open)})


class BookMachine(RuleBasedStateMachine):
    """Every rule does one thing to a real book and to the model, and compares what both say."""

    _opener: ClassVar[Open]

    def open(self, place: Path) -> Book:
        """A further handle on the book of a place."""
        return type(self)._opener(place)

    @initialize()
    def begin(self) -> None:
        """Open two handles on one empty book."""
        self.place = Path(tempfile.mkdtemp(prefix="commonplace-machine-"))
        self.handles = [self.open(self.place) for _ in range(2)]
        self.model = Model()

    def teardown(self) -> None:
        if not hasattr(self, "handles"):
            return
        try:
            self._end()
        finally:
            for book in self.handles:
                book.close()
            shutil.rmtree(self.place, ignore_errors=True)

    def _end(self) -> None:
        """Whatever happened, the book is sound, and an export brings all of it to another space."""
        assert self.handles[0].check(deep=True).problems == ()
        for name in some.SPACES:
            book, copy = self.handles[0].in_space(name), self.handles[1].in_space(f"copy of {name}")
            copy.load(book.export())
            assert list(copy.export())[1:] == list(book.export())[1:]

    def _side(self, where: some.Where) -> tuple[Book, Space]:
        handle, space = where
        return self.handles[handle].in_space(space), self.model.space(space)

    # -- memories --------------------------------------------------------------------------------

    @rule(where=some.where, draft=some.drafts)
    def remember(self, where: some.Where, draft: Draft) -> None:
        book, space = self._side(where)
        memory = same(lambda: book.remember(draft), lambda: space.remember([draft]))
        if isinstance(memory, Memory):
            assert shown(memory) == space.current(memory.id)
            assert memory.content == draft.content

    @rule(where=some.where, drafts=some.batches)
    def remember_many(self, where: some.Where, drafts: list[Draft]) -> None:
        book, space = self._side(where)
        memories = same(lambda: book.remember(drafts), lambda: space.remember(drafts))
        if isinstance(memories, list):
            assert [memory.id for memory in memories] == [draft.id for draft in drafts]

    @rule(where=some.where, id=some.ids, change=some.changes, if_version=some.versions)
    def revise(self, where: some.Where, id: str, change: dict[str, Any], if_version: int | None) -> None:
        book, space = self._side(where)
        memory = same(
            lambda: book.revise(id, **change, if_version=if_version),
            lambda: space.revise(id, change, if_version),
        )
        if isinstance(memory, Memory):
            assert shown(memory) == space.current(id)

    @rule(where=some.where, ids=some.some_ids)
    def forget(self, where: some.Where, ids: list[str]) -> None:
        book, space = self._side(where)
        same(lambda: book.forget(ids).memories, lambda: space.forget(ids))

    @rule(where=some.where, filter=some.selections, really=st.booleans())
    def forget_by_filter(self, where: some.Where, filter: Mapping[str, object], really: bool) -> None:
        book, space = self._side(where)
        wanted = space.select(filter, superseded=True)
        forgotten = book.forget(filter=filter, dry_run=not really)
        assert sorted(forgotten.ids) == sorted(wanted)
        if really:
            space.forget(wanted)

    @rule(where=some.where, id=some.ids, version=st.none() | st.integers(1, 4))
    def get(self, where: some.Where, id: str, version: int | None) -> None:
        book, space = self._side(where)
        memory = same(lambda: book.get(id, version=version), lambda: space.version(id, version))
        if isinstance(memory, Memory):
            assert shown(memory) == space.version(id, version)

    @rule(where=some.where, id=some.ids)
    def history(self, where: some.Where, id: str) -> None:
        book, space = self._side(where)
        steps = same(lambda: book.history(id), lambda: space.history(id))
        if isinstance(steps, list):
            assert [shown(step.memory) for step in steps] == space.history(id)

    @rule(
        where=some.where,
        filter=some.filters,
        superseded=st.booleans(),
        oldest=st.booleans(),
        limit=st.integers(1, 4),
    )
    def list_pages(
        self, where: some.Where, filter: Mapping[str, object], superseded: bool, oldest: bool, limit: int
    ) -> None:
        book, space = self._side(where)
        seen: list[Memory] = []
        cursor = None
        while True:
            page = book.list(
                filter=filter, superseded=superseded, order="oldest" if oldest else "newest", limit=limit,
                cursor=cursor,
            )  # fmt: skip
            seen += page
            cursor = page.cursor
            if cursor is None:
                break
        expected = space.select(filter, superseded=superseded)
        assert [memory.id for memory in seen] == (expected if oldest else expected[::-1])
        assert [shown(memory) for memory in seen] == [space.current(memory.id) for memory in seen]

    @rule(where=some.where, filter=st.none() | some.filters, superseded=st.booleans(), query=some.texts)
    def recall(self, where: some.Where, filter: Mapping[str, object] | None, superseded: bool, query: str) -> None:
        book, space = self._side(where)
        recall = book.recall(query, filter=filter, superseded=superseded, threshold=0, k=100, max_tokens=None)
        expected = space.select(filter, superseded=superseded)
        found = [hit.memory for hit in (*recall.hits, *recall.avoid)]
        assert {memory.id for memory in found} <= set(expected)
        assert [shown(memory) for memory in found] == [space.current(memory.id) for memory in found]
        # What is missing says the same as something that is there.
        assert {memory.text for memory in found} == {space.current(id)["text"] for id in expected}

    # -- state -----------------------------------------------------------------------------------

    @rule(where=some.where, key=some.keys, value=some.values, if_version=some.versions)
    def kv_set(self, where: some.Where, key: some.Place, value: Json, if_version: int | None) -> None:
        book, space = self._side(where)
        same(
            lambda: book.kv(key[0]).set(key[1], value, if_version=if_version).version,
            lambda: space.set(key, value, if_version),
        )

    @rule(where=some.where, key=some.keys, items=st.lists(some.values, max_size=2))
    def kv_append(self, where: some.Where, key: some.Place, items: list[Json]) -> None:
        book, space = self._side(where)
        same(lambda: book.kv(key[0]).append(key[1], *items).value, lambda: space.append(key, items))

    @rule(where=some.where, key=some.keys, if_version=some.versions)
    def kv_delete(self, where: some.Where, key: some.Place, if_version: int | None) -> None:
        book, space = self._side(where)
        same(
            lambda: book.kv(key[0]).delete(key[1], if_version=if_version),
            lambda: space.delete(key, if_version),
        )

    @rule(where=some.where, file=some.files, content=some.contents, if_version=some.versions)
    def canvas_write(self, where: some.Where, file: some.Place, content: str | None, if_version: int | None) -> None:
        book, space = self._side(where)
        canvas = book.canvas(file[0])

        def put() -> int:
            if content is None:
                return canvas.delete(file[1], if_version=if_version).revision
            return canvas.write(file[1], content, if_version=if_version).revision

        same(put, lambda: space.write(file, content, if_version))

    @rule(where=some.where, file=some.files, revision=st.none() | st.integers(1, 3))
    def canvas_read(self, where: some.Where, file: some.Place, revision: int | None) -> None:
        book, space = self._side(where)
        same(lambda: book.canvas(file[0]).read(file[1], revision), lambda: space.read(file, revision))

    @rule(where=some.where, session=some.sessions, said=st.lists(some.values, max_size=3))
    def transcript_extend(self, where: some.Where, session: str, said: list[Json]) -> None:
        book, space = self._side(where)
        same(
            lambda: [m.number for m in book.transcript(session).extend({"content": c} for c in said)],
            lambda: space.say(session, said),
        )

    @rule(where=some.where, session=some.sessions, start=st.integers(1, 5), n=st.integers(0, 5))
    def transcript_read(self, where: some.Where, session: str, start: int, n: int) -> None:
        book, space = self._side(where)
        transcript, said = book.transcript(session), space.messages.get(session, [])
        assert [m.content for m in transcript.read(start=start, limit=n)] == said[start - 1 : start - 1 + n]
        assert [m.content for m in transcript.tail(n)] == said[max(len(said) - n, 0) :]
        assert [m.content for m in transcript.resume(n)] == said[n:]

    # -- the whole -------------------------------------------------------------------------------

    @rule(space=st.sampled_from(some.SPACES), handle=st.integers(0, 1))
    def forget_everything(self, space: str, handle: int) -> None:
        self.handles[handle].in_space(space).forget(everything=True)
        self.model.spaces.pop(space, None)

    @rule(handle=st.integers(0, 1))
    def reopen(self, handle: int) -> None:
        self.handles[handle].close()
        self.handles[handle] = self.open(self.place)

    @invariant()
    def both_handles_count_the_same(self) -> None:
        for name in some.SPACES:
            space = self.model.space(name)
            for handle in getattr(self, "handles", ()):
                book = handle.in_space(name)
                stats = book.stats()
                assert (stats.memories, stats.versions) == (len(space.select(None)), space.count_versions())
                assert (stats.entries, stats.files, stats.messages) == space.counts()
                assert (book.namespaces(), book.canvases(), book.transcripts()) == space.names()


def same(real: Call, model: Call) -> object:
    """Call both: they must raise the same error, or the real one's answer is returned.

    Plain answers must be equal, too; memories are compared by the caller.
    """
    try:
        expected = model()
    except (Conflict, NotFound, InvalidInput) as error:
        refused(real, error)
        return None
    answer = real()
    if isinstance(expected, (bool, int, str)) or (isinstance(expected, list) and not _of_records(expected)):
        assert (answer, type(answer)) == (expected, type(expected))
    return answer


def refused(real: Call, expected: CommonplaceError) -> None:
    """Fail unless the call raises what the model raised."""
    try:
        answer = real()
    except CommonplaceError as error:
        raised = error
    else:
        raise AssertionError(f"{expected!r} was due, but it answered {answer!r}")
    assert type(raised) is type(expected), f"{raised!r}, expected {expected!r}"
    assert getattr(raised, "current", None) == getattr(expected, "current", None), str(raised)


def shown(memory: Memory) -> Record:
    """A memory as the model stores it."""
    return {name: value for name, value in fields(memory).items() if name not in _BOOKS_OWN}


def _of_records(values: list[Any]) -> bool:
    return bool(values) and isinstance(values[0], Mapping) and "superseded_by" in values[0]
