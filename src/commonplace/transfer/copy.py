"""Copy a book from one store to another of any engine, in pages, and verify the result.

Vectors are copied as they are, with the identity of the embedder that made them. The target itself tells what has
arrived, so that a copy that was killed goes on when it is run again.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np

from commonplace.errors import Conflict, EmbedderMismatch, InvalidInput, NotFound, StoreCorrupt, StoreError
from commonplace.memories.core import Identity, read_identity, write_identity
from commonplace.settings import Settings
from commonplace.store.base import Row, Store, Tx
from commonplace.store.sqlite.store import SqliteStore
from commonplace.store.tables import memories, spaces
from commonplace.store.tables.entries import ENTRIES
from commonplace.store.tables.erasures import ERASURES
from commonplace.store.tables.files import FILES
from commonplace.store.tables.links import LINKS
from commonplace.store.tables.messages import MESSAGES
from commonplace.store.tables.table import Copyable, CopyUnit
from commonplace.store.tables.versions import FEEDBACK, MEMORIES
from commonplace.transfer import archive

_TABLES: tuple[Copyable, ...] = (MEMORIES, FEEDBACK, LINKS, ENTRIES, FILES, MESSAGES, ERASURES)
_SHOWN = 5
_LOW = 2**64 - 1
_ANY = 0
"""Stands for the fingerprint of a record that is newer in the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedPart:
    """One kind of record in one space: how it is in the source and in the target."""

    space: str
    part: str
    records: int
    """Records of the source when it was read; a memory with all its versions is one."""
    checksum: str
    """Over the records that the target must hold: blake2b, in any order."""
    copied: int
    """Records that were new or changed, and were written."""
    kept: int
    """Records that are newer in the target and were left alone."""
    removed: int
    extra: int
    """Records that only the target has."""
    missing: int
    differing: int
    examples: tuple[str, ...]
    """Keys of some that differ."""
    found: str
    """The checksum of the same records in the target."""

    @property
    def ok(self) -> bool:
        return self.found == self.checksum and not self.missing and not self.differing

    @property
    def problem(self) -> str:
        """A description of the difference."""
        named = ", ".join(self.examples) + (", …" if self.differing > len(self.examples) else "")
        return (
            f"space {self.space!r}, {self.part}: of {self.records:,} in the source, {self.missing:,} are missing in"
            f" the target and {self.differing:,} differ" + (f" ({named})" if named else "")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The parts of a copy or a comparison."""

    parts: tuple[CopiedPart, ...]

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(part.problem for part in self.parts if not part.ok)


@dataclass(frozen=True, slots=True)
class End:
    """An open store, and its name in messages."""

    store: Store
    name: str


def back_up(source: End, path: Path, settings: Settings) -> None:
    """Copy the whole book into a new SQLite file, which opens as a book of its own."""
    if path.exists():
        raise InvalidInput(f"{path} exists already; a backup never overwrites a file: choose another name")
    if source.store.backup(path):
        return
    target = SqliteStore(path, settings)
    try:
        copied = CopyRun(source, End(target, "the target"), writing=True).run()
        if not copied.ok:
            raise StoreError(f"the backup at {path} differs from the book: {'; '.join(copied.problems)}")
    except BaseException:
        target.close()
        path.unlink(missing_ok=True)
        raise
    target.close()


class _Index:
    """Keys and fingerprints of records, in 16 bytes each."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._prints = array("Q")
        self._sorted: tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], ...] | None = None

    def add(self, key: Row, fingerprint: int) -> None:
        self._keys.append(hash(key) & _LOW)
        self._prints.append(fingerprint & _LOW)
        self._sorted = None

    def find(self, records: Sequence[CopyUnit]) -> list[int | None]:
        """Return the low half of each record's fingerprint as it was added; None for one that was not."""
        if self._sorted is None:
            keys = np.array(self._keys, np.uint64)
            order = np.argsort(keys)
            self._sorted = keys[order], np.array(self._prints, np.uint64)[order]
        keys, prints = self._sorted
        wanted = np.fromiter((hash(record.key) & _LOW for record in records), np.uint64, len(records))
        places = np.searchsorted(keys, wanted)
        return [
            int(prints[place]) if place < len(keys) and keys[place] == key else None
            for place, key in zip(places, wanted, strict=True)
        ]


@dataclass(slots=True)
class _Tally:
    """Counts of one part while it is copied."""

    before: _Index = field(default_factory=_Index)
    expected: _Index = field(default_factory=_Index)
    records: int = 0
    checksum: int = 0
    copied: int = 0
    kept: int = 0
    removed: int = 0
    extra: int = 0
    matched: int = 0
    found: int = 0
    differing: int = 0
    examples: list[str] = field(default_factory=list)

    def sort(self, records: Sequence[CopyUnit]) -> tuple[list[CopyUnit], list[CopyUnit]]:
        """Return the records that the target lacks, and those that differ there."""
        known = list(zip(records, self.before.find(records), strict=True))
        new = [record for record, was in known if was is None]
        return new, [record for record, was in known if was is not None and was != record.fingerprint & _LOW]

    def expect(self, records: Sequence[CopyUnit], kept: Iterable[CopyUnit]) -> None:
        """Note records of the source; the target must hold them all, except for those that are newer there."""
        left = {record.key for record in kept}
        for record in records:
            self.expected.add(record.key, _ANY if record.key in left else record.fingerprint)
            self.checksum += 0 if record.key in left else record.fingerprint
        self.records += len(records)
        self.kept += len(left)

    def verify(self, records: Sequence[CopyUnit]) -> list[CopyUnit]:
        """Compare records of the target with those of the source; return those that only the target has."""
        extra = []
        for record, expected in zip(records, self.expected.find(records), strict=True):
            if expected is None:
                extra.append(record)
            elif expected == record.fingerprint & _LOW:
                self.matched += 1
                self.found += record.fingerprint
            elif expected != _ANY:
                self.differing += 1
                self.examples += [record.name] if len(self.examples) < _SHOWN else []
        return extra

    def part(self, space: str, name: str) -> CopiedPart:
        counts = {name: getattr(self, name) for name in ("records", "copied", "kept", "removed", "extra", "differing")}
        return CopiedPart(
            space=space,
            part=name,
            checksum=f"{self.checksum % 2**128:032x}",
            missing=max(self.records - self.kept - self.matched - self.differing, 0),
            examples=tuple(self.examples),
            found=f"{self.found % 2**128:032x}",
            **counts,
        )


@dataclass(slots=True)
class CopyRun:
    """One copy from one store to another, or one comparison if `writing` is False.

    `progress` is called with how many steps are done and how many there are.
    """

    source: End
    target: End
    _: KW_ONLY
    writing: bool
    mirror: bool = False
    progress: Callable[[int, int], None] | None = None
    done: int = field(default=0, init=False)
    total: int = field(default=0, init=False)
    generations: tuple[int, int] = field(default=(0, 0), init=False)

    def run(self, names: Sequence[str] | None = None) -> Copied:
        """Copy or compare every space, or those named."""
        chosen = _choose_spaces(self.source, names)
        self.generations = _bind(self.source, self.target, writing=self.writing)
        # A step for each record that is read: in the source, and in the target before and after.
        there, before = (self._count(end, chosen) for end in (self.source, self.target))
        self.total = there + before + (max(there, before) if self.writing else before)
        self._step(0)
        return Copied(parts=tuple(part for name in chosen for part in self._copy_space(name)))

    def _count(self, end: End, names: Sequence[str]) -> int:
        def work(tx: Tx) -> int:
            numbers = [spaces.find(tx, name) or 0 for name in names]
            return sum(table.count(tx, number) for table in _TABLES for number in numbers)

        return end.store.read(work, None)

    def _copy_space(self, name: str) -> list[CopiedPart]:
        source = self.source.store.read(lambda tx: spaces.find(tx, name), None) or 0
        target = self._target_number(name)
        tallies = {table.name: _Tally() for table in _TABLES}
        for table in _TABLES if self.writing else ():
            for page in self._pages(self.target, table, target):
                for record in page:
                    tallies[table.name].before.add(record.key, record.fingerprint)
        try:
            self._copy_memories(source, target, tallies)
            for table in _TABLES[2:]:
                for page in self._pages(self.source, table, source):
                    self._put(target, [(table, tallies[table.name], page)])
        except Conflict as error:
            raise Conflict(
                f"{self.target.name}, space {name!r}: {error}; copy into a new book, or mirror the source"
                " (--mirror), which also removes what only the target has",
                current=error.current,
            ) from error
        if self.writing:
            self._copy_jobs(source, target)
        for table in _TABLES:
            self._verify(target, table, tallies[table.name])
        if self.mirror:
            self.target.store.scrub(target)
        return [tallies[table.name].part(name, table.name) for table in _TABLES]

    def _target_number(self, name: str) -> int:
        """Return the space's number in the target; 0 if there is none and nothing may be written."""
        if self.writing:
            return self.target.store.write(lambda tx: spaces.number(tx, name), spaces.NEW)
        return self.target.store.read(lambda tx: spaces.find(tx, name), None) or 0

    def _copy_memories(self, source: int, target: int, tallies: dict[str, _Tally]) -> None:
        """Copy memories with their feedback, both from one snapshot: feedback never comes without its memory."""
        after = MEMORIES.start
        while True:
            page, beside = self.source.store.read(partial(self._read_memories, space=source, after=after), source)
            if not page:
                return
            feedback = (FEEDBACK, tallies[FEEDBACK.name], beside)
            self._put(target, [(MEMORIES, tallies[MEMORIES.name], page), feedback])
            self._step(len(page) + len(beside))
            after = page[-1].key

    def _copy_jobs(self, source: int, target: int) -> None:
        """Queue in the target what the source has not learned yet; job numbers are an engine's own."""
        theirs = self.source.store.read(partial(archive.waiting_jobs, space=source), source)
        ours = self.target.store.read(partial(archive.waiting_jobs, space=target), target)
        if theirs or ours:
            payloads = [job.payload for job in theirs]
            follow = partial(archive.follow_jobs, space=target, theirs=payloads, mirror=self.mirror)
            self.target.store.write(follow, target)

    def _read_memories(self, tx: Tx, space: int, after: Row) -> tuple[list[CopyUnit], list[CopyUnit]]:
        _ensure_generation(tx, self.generations[0], self.source)
        page = MEMORIES.page(tx, space, after)
        for record in page:
            if not record.vectors:
                raise StoreCorrupt(
                    f"memory {record.name!r} in {self.source.name} has lost its vector: run `commonplace check`"
                    " and restore a backup"
                )
        return page, FEEDBACK.units(tx, space, [record.key for record in page])

    def _pages(self, end: End, table: Copyable, space: int) -> Iterator[list[CopyUnit]]:
        after = table.start
        while page := end.store.read(partial(table.page, space=space, after=after), space):
            yield page
            self._step(len(page))
            after = page[-1].key

    def _put(self, space: int, batches: Sequence[tuple[Copyable, _Tally, list[CopyUnit]]]) -> None:
        """Write the records that the target lacks, in one transaction."""
        wanted = []
        for table, tally, records in batches:
            new, changed = tally.sort(records) if self.writing else ([], [])
            wanted.append((table, table.ready(new), table.ready(changed)))

        def work(tx: Tx) -> list[list[CopyUnit]]:
            if self.generations[1]:  # 0 if neither end has a memory
                _ensure_generation(tx, self.generations[1], self.target)
            return [table.put(tx, space, new, changed, overwrite=self.mirror) for table, new, changed in wanted]

        needed = any(new or changed for _, new, changed in wanted)
        kept: list[list[CopyUnit]] = self.target.store.write(work, space) if needed else [[] for _ in batches]
        for (_, tally, records), (_, new, changed), left in zip(batches, wanted, kept, strict=True):
            tally.expect(records, left)
            tally.copied += len(new) + len(changed) - len(left)

    def _verify(self, space: int, table: Copyable, tally: _Tally) -> None:
        """Read the target back; a mirror loses what only it has."""
        for page in self._pages(self.target, table, space):
            extra = tally.verify(page)
            if extra and self.mirror:
                keys = [record.key for record in extra]
                self.target.store.write(partial(table.remove, space=space, keys=keys), space)
                tally.removed += len(extra)
            else:
                tally.extra += len(extra)

    def _step(self, count: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, self.total)


def _choose_spaces(source: End, names: Sequence[str] | None) -> list[str]:
    """Return the spaces to copy: all that users made if none is named."""
    known = source.store.read(spaces.names, None)
    for name in names or ():
        if name not in known:
            raise NotFound(f"{source.name} has no space {name!r}; it has: {', '.join(known) or 'none'}")
    return known if names is None else list(dict.fromkeys(names))


def _bind(source: End, target: End, *, writing: bool) -> tuple[int, int]:
    """Ensure that the vectors of both ends come from one embedder; return the generation of each.

    A target without vectors adopts the source's identity and planted memory; any other keeps its own generation, which
    counts how often it was re-embedded.
    """
    theirs = source.store.read(read_identity, None)
    ours = target.store.read(read_identity, None)
    if theirs is not None and ours is None and writing:
        ours = _adopt(source, target, theirs)
    alike = attrgetter("name", "version", "dimension")
    if theirs is not None and ours is not None and alike(theirs) != alike(ours):
        raise EmbedderMismatch(
            f"{source.name} was written with embedder {theirs.name} {theirs.version} ({theirs.dimension} numbers),"
            f" {target.name} with {ours.name} {ours.version} ({ours.dimension}): copy into a new book, or re-embed"
            " one of the two first with `commonplace reindex`, or use `export` and `import`, which embed again"
        )
    return (theirs.generation if theirs else 0), (ours.generation if ours else 0)


def _adopt(source: End, target: End, theirs: Identity) -> Identity:
    def planted(tx: Tx) -> list[CopyUnit]:
        return MEMORIES.page(tx, spaces.find(tx, spaces.PLANTED) or 0, MEMORIES.start)

    def work(tx: Tx) -> Identity:
        already = read_identity(tx)
        if already is not None:  # another process was first
            return already
        write_identity(tx, theirs)
        MEMORIES.put(tx, spaces.number(tx, spaces.PLANTED), records, [], overwrite=True)
        return theirs

    records = MEMORIES.ready(source.store.read(planted, None))
    if not records:
        raise StoreCorrupt(f"{source.name} has lost its planted memory: run `commonplace check` and restore a backup")
    return target.store.write(work, None)


def _ensure_generation(tx: Tx, expected: int, end: End) -> None:
    """Raise EmbedderMismatch if an end was re-embedded meanwhile."""
    if memories.current_generation(tx) != expected:
        raise EmbedderMismatch(f"{end.name} was re-embedded during the copy: run the copy again")
