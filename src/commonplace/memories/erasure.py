"""Erasing a person: everything that belongs to a user, an agent, a session or a source, as a durable job.

The job looks for records without holding the writer, and removes them in transactions of a few milliseconds, each of
which notes how far it came. A job that was killed goes on where it stopped. The last transaction writes the receipt.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from commonplace.errors import InvalidInput, JobFailed
from commonplace.memories import receipts
from commonplace.memories.core import Core
from commonplace.memories.forget import add_derived
from commonplace.store.base import Tx
from commonplace.store.tables import jobs, links, memories, persons, requests
from commonplace.store.tables.persons import Owned, Person
from commonplace.values import PERSON_PARTS, Forgotten, Job, Json, Mention, PersonPart, Receipt, checks, times

ERASE = "erase"
"""The kind of the job that erases a person."""
LEASE = 120.0
"""Seconds for which each step holds the job."""
_NO_LIMIT = 2**62
_FOUND = 10_000
"""Records of each table that are looked for at once."""
_MENTIONS = 1_000
"""Mentions that are returned."""
_LEAST, _MOST, _MOST_BYTES = 20, 200, 250_000
"""Records of a step, and the bytes after which it ends: fewer would be slower, since each step has a fixed cost."""
_SHORT, _LONG = 0.006, 0.015
"""Seconds: steps below the first double, steps above the second halve."""
_PARTS = {"memory": "memories", "message": "messages", "entry": "entries", "file": "files", "job": "jobs"}
"""The name of each table in a receipt."""
_ANSWERS = 200
"""Recorded answers that one step removes."""


def find_person(**parts: str | None) -> Person | None:
    """Return the person that a caller names by one of the parts; None if no part is given."""
    named = {part: parts.get(part) for part in PERSON_PARTS}
    given = [Person(part, checks.name(name, part)) for part, name in named.items() if name is not None]
    if len(given) > 1:
        raise InvalidInput("name one person: a user, an agent, a session or a source")
    return given[0] if given else None


@dataclass(slots=True)
class _Tally:
    """Counts and hashes of the records that were erased so far, kept in the job."""

    salt: str
    counts: Counter[str] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    shared: set[str] = field(default_factory=set)
    """Memories that were learned from the person's messages and from others, too."""

    def add(self, table: str, keys: Iterable[Sequence[str | int]]) -> None:
        part = _PARTS[table]
        for key in keys:
            self.counts[part] += 1
            self.sums[part] = (self.sums[part] + receipts.hash_key(self.salt, part, key)) % 2**128

    def dump(self) -> dict[str, Json]:
        sums: dict[str, Json] = {table: f"{each:032x}" for table, each in self.sums.items()}
        return {"counts": dict(self.counts), "sums": sums, "shared": list[Json](sorted(self.shared))}

    @classmethod
    def load(cls, payload: Mapping[str, Any]) -> _Tally:
        sums = Counter({table: int(each, 16) for table, each in payload["sums"].items()})
        return cls(payload["salt"], Counter(payload["counts"]), sums, set(payload["shared"]))


def queue(core: Core, space: int, person: Person, *, by: str | None) -> tuple[int, str]:
    """Queue the erasure of a person; return the number of its job, and the salt that its receipt will have."""
    salt = secrets.token_hex(16)
    empty = _Tally(salt).dump()
    payload = {"part": person.part, "name": person.name, "by": by, "salt": salt, **empty}
    add = partial(jobs.add, space=space, kind=ERASE, payload=payload, most=_NO_LIMIT)
    # A repeated request gets both from the first one.
    return core.store.write(lambda tx: (add(tx), salt), space)


def preview(core: Core, space: int, person: Person) -> Forgotten:
    """Return what an erasure would remove now, and what would stay and concerns the person."""

    def look(tx: Tx) -> tuple[list[Owned], tuple[str, ...], set[str]]:
        owned = persons.find(tx, space, person, limit=_NO_LIMIT)
        going = add_derived(tx, space, tuple(str(each.key[0]) for each in owned if each.table == "memory"))
        return owned, going, {link.id for link in links.find_to(tx, space, going, "learned from")} - set(going)

    owned, ids, shared = core.store.read(look, space)
    keys = {each.table: {one.key for one in owned if one.table == each.table} for each in owned}
    gone = {(table, "/".join(map(str, key))) for table, each in keys.items() for key in each}
    gone |= {("memory", id) for id in ids}
    named = [each for each in _find_mentions(core, space, person, shared) if (each.part, each.place) not in gone]
    return Forgotten(
        ids=ids,
        memories=len(ids),
        entries=len(keys.get("entry", ())),
        files=len(keys.get("file", ())),
        messages=len(keys.get("message", ())),
        mentions=tuple(named[:_MENTIONS]),
    )


def conclude(core: Core, space: int, person: Person, salt: str, shared: Sequence[str]) -> Forgotten:
    """Remove the bytes as far as that is quick, and return what an erasure removed, with its receipt."""
    everything = receipts.settle(core, space, thorough=False)
    receipt = next((each for each in everything if each.salt == salt), None)
    if receipt is None:
        raise JobFailed("the erasure has no receipt: its job was removed, as by forgetting everything; erase again")
    counts = receipt.counts
    return Forgotten(
        ids=(),
        memories=counts["memories"],
        entries=counts["entries"],
        files=counts["files"],
        messages=counts["messages"],
        mentions=tuple(_find_mentions(core, space, person, shared)[:_MENTIONS]),
        receipt=receipt,
    )


def find_again(core: Core, space: int, given: Iterable[Receipt]) -> list[tuple[PersonPart, str]]:
    """Add receipts that the book has lost, and return the persons of all that are in the book again."""
    checked = receipts.check_copies(given)
    core.store.write(lambda tx: receipts.adopt(tx, space, checked), space)
    names = {
        part: core.store.read(partial(persons.names, space=space, part=part), space)
        for part in dict.fromkeys(each.part for each in checked)
    }
    return receipts.match(checked, names)


# -- the job -------------------------------------------------------------------------------------------


def run(core: Core, space: int, job: Job, token: str) -> list[Any] | None:
    """Erase what belongs to the person that a job names; return None if another worker owns the job by now.

    Otherwise the ids of memories that were learned from the person and from others, too.
    """
    erasure = _Erasure(core, space, job, token)
    return erasure.shared if erasure.run() else None


class _Erasure:
    """One run of an erasure."""

    def __init__(self, core: Core, space: int, job: Job, token: str) -> None:
        self._core, self._space, self._token = core, space, token
        self._job = job
        payload: Any = job.payload
        self._payload: dict[str, Json] = payload
        self._person = Person(payload["part"], payload["name"])
        self._tally = _Tally.load(payload)
        self._size = _LEAST

    @property
    def shared(self) -> list[str]:
        """Memories that were learned from the person's messages and from others, too."""
        return sorted(self._tally.shared)

    def run(self) -> bool:
        """Remove everything and write the receipt; return False if another worker owns the job by now."""
        while owned := self._read(persons.find, person=self._person, limit=_FOUND):
            ids = [str(each.key[0]) for each in owned if each.table == "memory"]
            if not self._remove_jobs(ids) or not all(map(self._remove_all, _by_table(owned))):
                return False
        return self._remove_jobs([]) and self._remove_answers() and self._finish()

    def _read(self, work: Any, **options: Any) -> Any:
        return self._core.store.read(lambda tx: work(tx, self._space, **options), self._space)

    def _step(self, work: Any) -> bool:
        """Do one piece of the work, and note it in the job; return False if another worker owns the job by now."""
        tally = _Tally.load({**self._payload, **self._tally.dump()})

        def step(tx: Tx) -> tuple[_Tally, float] | None:
            started = time.perf_counter()
            done = _Tally.load({**self._payload, **tally.dump()})  # the transaction may run again
            if not jobs.is_owned(tx, self._space, self._job.number, self._token):
                return None
            work(tx, done)
            payload = {**self._payload, **done.dump()}
            jobs.save(tx, self._space, self._job.number, payload, lease=LEASE)
            return done, time.perf_counter() - started

        found = self._core.store.write(step, self._space)
        if found is None:
            return False
        self._tally, took = found
        if took > _LONG:
            self._size = max(self._size // 2, _LEAST)
        elif took < _SHORT:
            self._size = min(self._size * 2, _MOST)
        return True

    def _remove_all(self, owned: list[Owned]) -> bool:
        """Remove records of one table, some in each step."""
        while owned:
            count = size = 0
            for each in owned[: self._size]:
                count, size = count + 1, size + each.size
                if size >= _MOST_BYTES:
                    break
            some, owned = owned[:count], owned[count:]
            if not self._step(partial(self._remove, some=some)):
                return False
        return True

    def _remove(self, tx: Tx, tally: _Tally, some: list[Owned]) -> None:
        table, keys = some[0].table, [each.key for each in some]
        if table == "memory":
            self._remove_memories(tx, tally, [str(id) for (id,) in keys])
        elif table == "message":
            numbers = [(str(session), int(number)) for session, number in keys]
            tally.add(table, persons.remove_messages(tx, self._space, numbers, now=times.now()))
        else:
            remove = persons.remove_entry if table == "entry" else persons.remove_file
            for key in keys:
                place, name = map(str, key)
                rows = remove(tx, self._space, place, name)
                tally.add(table, [key] if rows else [])
                if table == "file":
                    tally.counts["revisions"] += rows

    def _remove_memories(self, tx: Tx, tally: _Tally, ids: list[str]) -> None:
        """Remove memories with what was learned from them alone, and the messages that they were said in."""
        space = self._space
        owned = persons.still_owned(tx, space, self._person, ids)
        going = add_derived(tx, space, owned)
        if not going:
            return
        tally.shared |= {link.id for link in links.find_to(tx, space, going, "learned from")} - set(going)
        said = [(link.other, link.detail.get("number")) for link in links.find_from(tx, space, going, "said in")]
        numbers = [(session, number) for session, number in said if isinstance(number, int)]
        tally.counts.update(persons.count_beside(tx, space, going))
        tally.counts["learned"] += len(going) - len(owned)
        persons.blank_reasons(tx, space, going)
        memories.forget(tx, space, going)
        tally.add("memory", [(id,) for id in going])
        tally.add("message", persons.remove_messages(tx, space, numbers, now=times.now()))

    def _remove_jobs(self, ids: list[str]) -> bool:
        """Remove the jobs that would learn from the person, and the person's messages from other jobs."""
        known = set(ids)
        for job in self._read(jobs.read_all):
            concerned = job.kind == jobs.LEARN and (_is_of(job, self._person) or not known.isdisjoint(_ids_of(job)))
            if concerned and not self._step(partial(self._remove_job, number=job.number, known=known)):
                return False
        return True

    def _remove_job(self, tx: Tx, tally: _Tally, number: int, known: set[str]) -> None:
        job = jobs.find(tx, self._space, number)
        if job is None:
            return
        rest = [id for id in _ids_of(job) if id not in known]
        if rest and not _is_of(job, self._person):
            jobs.clean(tx, self._space, number, {**job.payload, "ids": list[Json](rest)})
            return
        jobs.finish(tx, self._space, number)
        tally.add("job", [(number,)])

    def _remove_answers(self) -> bool:
        """Remove the recorded answers of the space, which may hold what was erased; the requests stay known."""
        left = True

        def remove(tx: Tx, tally: _Tally) -> None:
            nonlocal left
            removed = requests.purge_some(tx, self._space, limit=_ANSWERS)
            tally.counts["answers"] += removed
            left = removed == _ANSWERS

        while left:
            if not self._step(remove):
                return False
        return True

    def _finish(self) -> bool:
        core, person, space = self._core, self._person, self._space
        mentions = len(_find_mentions(core, space, person, self._tally.shared))

        def finish(tx: Tx) -> bool:
            if not jobs.is_owned(tx, space, self._job.number, self._token):
                return False
            now, salt, by = times.now(), self._tally.salt, self._payload["by"]
            kept = dict.fromkeys(_PARTS.values(), 0)
            receipts.append(
                tx, space, at=times.from_micros(now), by=by, part=person.part, salt=salt,
                subject=receipts.hash_name(salt, person.part, person.name),
                counts={**kept, **self._tally.counts, "mentions": mentions},
                hashes={table: f"{each:032x}" for table, each in self._tally.sums.items()},
                copies=receipts.make_copies(core.store, core.settings, now),
            )  # fmt: skip
            jobs.finish(tx, space, self._job.number)
            return True

        return core.store.write(finish, space)


def _by_table(owned: list[Owned]) -> list[list[Owned]]:
    return [list(group) for _, group in groupby(owned, key=lambda each: each.table)]


def _ids_of(job: Job) -> list[str]:
    """Return the ids of the messages that a job learns from, in their order."""
    ids: Any = job.payload["ids"]
    return list(ids)


def _is_of(job: Job, person: Person) -> bool:
    return job.payload.get(person.part) == person.name


# -- mentions ------------------------------------------------------------------------------------------


def _find_mentions(core: Core, space: int, person: Person, shared: Iterable[str]) -> list[Mention]:
    """Return what holds a person's name as a word, and memories that were learned from their messages among others."""
    found = core.store.read(lambda tx: persons.find_named(tx, space, person.name, limit=_FOUND), space)
    word = re.compile(rf"(?<!\w){re.escape(person.name)}(?!\w)", re.IGNORECASE)
    named = [each.mention for each in found if any(map(word.search, each.texts))]
    learned = [Mention(part="memory", place=id, reason="learned from") for id in sorted(shared)]
    there = {row.id for row in core.store.read(lambda tx: memories.find_current(tx, space, sorted(shared)), space)}
    return list(dict.fromkeys([*named, *(each for each in learned if each.place in there)]))
