"""A simple, slow and correct book made of dicts and lists, with which a real book is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone

from commonplace.errors import CommonplaceError, Conflict, InvalidInput, NotFound
from commonplace.values import TEXT, Draft, Json, Memory

Place = tuple[str, str]
Record = Mapping[str, object]
"""A memory by the names of its fields, as a filter names them; `metadata` is one of them."""

TIMES = ("said_at", "created_at", "updated_at", "expires_at")

_MISSING = object()


def fields(memory: Memory) -> Record:
    """A memory as the record that a filter sees."""
    return {**asdict(memory), **asdict(memory.scope)}


def matches(filter: Mapping[str, object] | None, record: Record) -> bool:
    """Return whether a valid filter admits a record."""
    return all(_clause(key, value, record) for key, value in (filter or {}).items())


def _clause(key: str, value: object, record: Record) -> bool:
    if isinstance(value, (list, tuple)) and key in ("$and", "$or"):
        parts = [matches(part, record) for part in value]
        return all(parts) if key == "$and" else any(parts)
    if isinstance(value, Mapping):
        if key == "$not":
            return not matches(value, record)
        return all(_test(key, operator, operand, record) for operator, operand in value.items())
    return _test(key, "$eq", value, record)


def _test(key: str, operator: str, operand: object, record: Record) -> bool:
    if operator == "$ne":
        return not _test(key, "$eq", operand, record)
    if operator == "$nin":
        return not _test(key, "$in", operand, record)
    value = _value(key, record)
    if operator == "$exists":
        return (value is not _MISSING) is operand
    if operator == "$contains":
        return _contains(key, value, operand)
    if operator == "$in":
        assert isinstance(operand, (Sequence, set, frozenset))
        return any(_equal(key, value, each) for each in operand)
    if operator == "$eq":
        return _equal(key, value, operand)
    return _ranks(value, operator, _operand(key, operand))


def _value(key: str, record: Record) -> object:
    """The field's value; a column that is None is missing, and so are no tags."""
    head, *path = key.split(".")
    value = record[head]
    if head != "metadata":
        return _MISSING if value is None or value == () else value
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value


def _operand(key: str, operand: object) -> object:
    if key not in TIMES or operand is None:
        return operand.isoformat() if isinstance(operand, datetime) else operand
    if isinstance(operand, str):
        operand = datetime.fromisoformat(operand.replace("Z", "+00:00"))
    assert isinstance(operand, datetime)
    return operand if operand.tzinfo else operand.replace(tzinfo=timezone.utc)


def _equal(key: str, value: object, operand: object) -> bool:
    operand = _operand(key, operand)
    if value is _MISSING:
        return operand is None and not key.startswith("metadata.")
    return _sort(value) == _sort(operand) and value == operand


def _contains(key: str, value: object, operand: object) -> bool:
    if key == "text":
        return str(operand) in str(value)
    return isinstance(value, (list, tuple)) and any(_sort(each) == _sort(operand) and each == operand for each in value)


def _ranks(value: object, operator: str, operand: object) -> bool:
    if _sort(value) != _sort(operand) or _sort(value) not in ("text", "number", "time"):
        return False
    if operator in ("$lt", "$lte"):
        value, operand = operand, value
    if operator in ("$gte", "$lte") and value == operand:
        return True
    return bool(value > operand)  # type: ignore[operator]  # of one sort, which has an order


def _sort(value: object) -> str:
    """Return the type with which a value can be compared. True is not a number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "text"
    return "time" if isinstance(value, datetime) else "other"


class Model:
    """Spaces by their name."""

    def __init__(self) -> None:
        self.spaces: dict[str, Space] = {}

    def space(self, name: str) -> Space:
        """The space of a name; one that was never used is empty."""
        return self.spaces.setdefault(name, Space())


class Space:
    """The content of a space: every version of every memory, entries, files and messages, by name."""

    def __init__(self) -> None:
        self.memories: dict[str, list[Record]] = {}
        self.entries: dict[Place, list[tuple[Json] | None]] = {}
        self.files: dict[Place, list[str | None]] = {}
        self.messages: dict[str, list[Json]] = {}

    # -- memories --------------------------------------------------------------------------------

    def remember(self, drafts: Sequence[Draft]) -> None:
        """Add each draft as a new memory and close what it supersedes, all or nothing."""
        if any(draft.id in draft.supersedes for draft in drafts):
            raise InvalidInput("a memory cannot supersede itself")
        before = {id: list(versions) for id, versions in self.memories.items()}
        try:
            for draft in drafts:
                self._add(draft)
            for draft in drafts:
                self._supersede(draft)
        except CommonplaceError:
            self.memories = before
            raise

    def _add(self, draft: Draft) -> None:
        id = str(draft.id)
        if id in self.memories:
            raise Conflict("taken", current=len(self.memories[id]))
        self.memories[id] = [
            {
                "id": id, "version": 1, "text": draft.content, "mime": TEXT, "kind": draft.kind,
                "tags": tuple(draft.tags), "metadata": draft.metadata, "importance": draft.importance,
                "origin": draft.origin, "source": draft.source, "said_at": draft.said_at, "superseded_by": None,
                **asdict(draft.scope),
            }
        ]  # fmt: skip

    def _supersede(self, draft: Draft) -> None:
        for old in draft.supersedes:
            versions = self.history(old)
            if versions[-1]["superseded_by"] is not None:
                raise Conflict("superseded already", current=len(versions))
            self._change(old, {"superseded_by": draft.id})

    def _change(self, id: str, change: Record) -> None:
        versions = self.history(id)
        versions.append({**versions[-1], **change, "version": len(versions) + 1})

    def revise(self, id: str, change: Record, if_version: int | None) -> None:
        """Add a version in which these fields differ."""
        if not change:
            raise InvalidInput("nothing to revise")
        current = len(self.history(id))
        _compare(if_version, current)
        named = {"text" if name == "content" else name: value for name, value in change.items()}
        self._change(id, named)

    def forget(self, ids: Sequence[str]) -> int:
        """Remove memories, all or nothing."""
        for id in ids:
            self.history(id)
        for id in ids:
            del self.memories[id]
        return len(ids)

    def history(self, id: str) -> list[Record]:
        """Every version."""
        if id not in self.memories:
            raise NotFound("no such memory")
        return self.memories[id]

    def version(self, id: str, version: int | None) -> Record:
        """One version, or the newest."""
        versions = self.history(id)
        if version is not None and version > len(versions):
            raise NotFound("no such version")
        return versions[-1 if version is None else version - 1]

    def current(self, id: str) -> Record:
        """The newest version."""
        return self.version(id, None)

    def select(self, filter: Mapping[str, object] | None, *, superseded: bool = False) -> list[str]:
        """The ids that a filter admits, by when they were said."""
        current = [versions[-1] for versions in self.memories.values()]
        admitted = [
            record for record in current if (superseded or record["superseded_by"] is None) and matches(filter, record)
        ]
        return [str(record["id"]) for record in sorted(admitted, key=lambda r: (r["said_at"], r["id"]))]

    # -- state -----------------------------------------------------------------------------------

    def set(self, key: Place, value: Json, if_version: int | None) -> int:
        """Set an entry; its version."""
        versions = self.entries.get(key, [])
        _compare(if_version, len(versions) if versions and versions[-1] is not None else 0)
        self.entries[key] = [*versions, (value,)]
        return len(versions) + 1

    def append(self, key: Place, items: Sequence[Json]) -> list[Json]:
        """Add to an entry that is a list, or is not there."""
        versions = self.entries.get(key, [])
        before = versions[-1][0] if versions and versions[-1] is not None else []
        if not isinstance(before, list):
            raise InvalidInput("not a list")
        self.set(key, [*before, *items], None)
        return [*before, *items]

    def delete(self, key: Place, if_version: int | None) -> bool:
        """Delete an entry; whether there was one."""
        versions = self.entries.get(key, [])
        standing = len(versions) if versions and versions[-1] is not None else 0
        _compare(if_version, standing)
        if standing:
            self.entries[key] = [*versions, None]
        return bool(standing)

    def write(self, file: Place, content: str | None, if_version: int | None) -> int:
        """Write a file, or delete it with None; its revision."""
        revisions = self.files.get(file, [])
        standing = len(revisions) if revisions and revisions[-1] is not None else 0
        _compare(if_version, standing)
        if content is None and not standing:
            raise NotFound("no such file")
        self.files[file] = [*revisions, content]
        return len(revisions) + 1

    def read(self, file: Place, revision: int | None) -> str:
        """A file, or one of its revisions; a deletion reads as nothing."""
        revisions = self.files.get(file, [])
        if revision is None and (not revisions or revisions[-1] is None):
            raise NotFound("no such file")
        if revision is not None and revision > len(revisions):
            raise NotFound("no such revision")
        return revisions[-1 if revision is None else revision - 1] or ""

    def say(self, session: str, contents: Sequence[Json]) -> list[int]:
        """Add messages; their numbers."""
        if not contents:
            return []
        said = self.messages.setdefault(session, [])
        said.extend(contents)
        return list(range(len(said) - len(contents) + 1, len(said) + 1))

    # -- counts ----------------------------------------------------------------------------------

    def count_versions(self) -> int:
        """All versions of all memories."""
        return sum(map(len, self.memories.values()))

    def counts(self) -> tuple[int, int, int]:
        """Return the current entries, files and messages."""
        entries, files = self._standing()
        return len(entries), len(files), sum(map(len, self.messages.values()))

    def names(self) -> tuple[list[str], list[str], list[str]]:
        """Namespaces, canvases and sessions that hold anything."""
        entries, files = self._standing()
        return sorted({key[0] for key in entries}), sorted({file[0] for file in files}), sorted(self.messages)

    def _standing(self) -> tuple[list[Place], list[Place]]:
        entries = [key for key, versions in self.entries.items() if versions[-1] is not None]
        return entries, [file for file, revisions in self.files.items() if revisions[-1] is not None]


def _compare(if_version: int | None, current: int) -> None:
    if if_version is not None and if_version != current:
        raise Conflict("moved on", current=current)
