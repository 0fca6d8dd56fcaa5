"""The brief: what a newcomer or the next session needs to know, without a question.

It is made of what is stored when it is asked for, so that there is one after a crash, too. Each part comes from an
index; nothing reads the whole space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import islice

from commonplace.guard.echo import HEADER, HEADINGS
from commonplace.memories.core import Core
from commonplace.recall.pack import SHORTENED, write_line
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import links, memories, overview
from commonplace.values import BRIEF_PARTS, Brief, BriefPart, BriefSection, Kind, Memory, Scope, times, tokens

_FEWEST_CANDIDATES, _MOST_CANDIDATES = 4, 100
_TOKENS_FOR_ONE = 60
"""Tokens of the budget for which one more memory of each kind is looked at."""
_SHORTEST, _LONGEST = 80, 400
"""Characters that are shown of a memory: a twelfth of the budget, within these bounds."""
_CHARACTERS = 4
"""About as many are a token."""
_FEWEST_TOKENS = 16
"""A line has hardly fewer."""
_MOST_MISSED = 8
"""Memories that do not fit before the rest is not tried."""
_OPEN_FOR = timedelta(days=30)
"""How long a promise without a day is taken for open."""
_PROMISES = (
    " will ", "'ll ", "’ll ", " shall ", " going to ", " plan to ", " plans to ", " agreed to ", " promised ",
    " need to ", " needs to ", " has to ", " have to ", " must ", " todo",
)  # fmt: skip
"""Words by which something is promised, in small letters."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_ROUNDS: dict[BriefPart, int] = {"due": 2, "decided": 2, "known": 3, "avoid": 2, "last": 2}
"""How many of each part are taken in turn until the budget is spent, so that no part leaves nothing to the others."""
_KNOWN: dict[Kind, int] = {"preference": 3, "fact": 3, "pattern": 2, "insight": 1, "note": 2}
"""The kinds of `known` in the order in which they are shown, and how many of each are taken in turn."""


@dataclass(frozen=True, kw_only=True)
class _Item:
    """A memory with the older ones that it replaced. Most are never shown, and not decoded."""

    row: MemoryRow
    replaced: tuple[MemoryRow, ...] = ()
    due: str = ""

    @cached_property
    def memories(self) -> tuple[Memory, ...]:
        """The memory, then what it replaced."""
        return tuple(memories.decode(row) for row in (self.row, *self.replaced))

    def lines(self, most: int) -> list[str]:
        """Return the lines that quote it, with so many characters of each text."""
        line, *replaced = [write_line(each, _shorten(each.text, most)) for each in self.memories]
        if self.due:
            # No label holds a bracket, so the first one ends it.
            label, end, quoted = line.partition("] ")
            line = f"{label}; due = {self.due}{end}{quoted}"
        return [line, *(f"  {each}" for each in replaced)]


_Parts = dict[BriefPart, list[_Item]]
_Chosen = dict[BriefPart, list[tuple[_Item, list[str]]]]
"""Items with their lines."""


def make_brief(core: Core, space: int, owner: Scope, max_tokens: int) -> Brief:
    """Return the brief of an owner; a part of it that is None does not limit it."""
    now, most = times.now(), min(max(max_tokens // _TOKENS_FOR_ONE, _FEWEST_CANDIDATES), _MOST_CANDIDATES)
    parts = core.store.read(lambda tx: _read(tx, space, owner, now=now, most=most), space)
    return _fit(parts, max_tokens)


# -- what is stored ------------------------------------------------------------------------------------


def _read(tx: Tx, space: int, owner: Scope, *, now: int, most: int) -> _Parts:
    """Return the candidates of each part, the most important first; no memory is in two parts."""
    today = times.from_micros(now).date()
    kinds: tuple[Kind, ...] = ("decision", "failure", "message", *_KNOWN)
    rows = overview.find_newest(tx, space, kinds, owner, now=now, limit=most)
    due = overview.find_due(tx, space, owner, today=today.isoformat(), now=now, limit=most)
    seen = _Seen()
    return {
        "due": [*_due(seen, due), *_promised(seen, [*rows["fact"], *rows["note"]], today)],
        "decided": _with_replaced(tx, space, seen.new(rows["decision"])),
        "known": [_Item(row=row) for row in _in_turn(seen, rows, today)],
        "avoid": [_Item(row=row) for row in seen.new(rows["failure"])],
        "last": [_Item(row=row) for row in seen.new(rows["message"])],
    }


class _Seen:
    """Tells which memories are new: none is shown twice, and none with the words of another one of the same person."""

    def __init__(self) -> None:
        self._said: set[tuple[str, str | None, str | None]] = set()

    def new(self, rows: Sequence[MemoryRow]) -> list[MemoryRow]:
        """Return those of the memories that were not shown yet."""
        return [row for row in rows if self.add(row)]

    def add(self, row: MemoryRow) -> bool:
        """Return whether a memory has a text that was not shown yet."""
        said = (row.text, row.scope_user, row.source)
        is_new = bool(row.text) and said not in self._said
        self._said.add(said)
        return is_new


def _due_day(row: MemoryRow) -> date | None:
    """Return the day on which a memory is due; None if its metadata names none, or means something else by the name."""
    if overview.DUE not in row.metadata:
        return None
    found = row.metadata_value.get(overview.DUE)
    if not isinstance(found, str) or not _DAY.match(found):
        return None
    try:
        return date.fromisoformat(found[:10])
    except ValueError:
        return None


def _due(seen: _Seen, rows: Sequence[MemoryRow]) -> Iterator[_Item]:
    for row in rows:
        day = _due_day(row)
        if day is not None and seen.add(row):
            yield _Item(row=row, due=day.isoformat())


def _promised(seen: _Seen, rows: Sequence[MemoryRow], today: date) -> Iterator[_Item]:
    """Yield what was promised lately without a day."""
    for row in rows:
        is_recent = today - times.from_micros(row.said_at).date() <= _OPEN_FOR
        if is_recent and _due_day(row) is None and _is_promise(row.text) and seen.add(row):
            yield _Item(row=row)


def _is_promise(text: str) -> bool:
    low = f" {text.casefold()}"
    return any(each in low for each in _PROMISES)


def _in_turn(seen: _Seen, rows: Mapping[Kind, Sequence[MemoryRow]], today: date) -> list[MemoryRow]:
    """Return what is known so that each kind has its share of every beginning; what a day is over for is left out."""
    placed = [
        ((place + 1) / turn, each)
        for kind, turn in _KNOWN.items()
        for place, each in enumerate(sorted(
            seen.new([row for row in rows[kind] if (_due_day(row) or today) >= today]),
            key=lambda row: row.importance, reverse=True,
        ))
    ]  # fmt: skip
    return [each for _, each in sorted(placed, key=lambda one: one[0])]


def _with_replaced(tx: Tx, space: int, rows: Sequence[MemoryRow]) -> list[_Item]:
    """Return decisions with what each replaced, the newest first."""
    made = links.find_from(tx, space, [row.id for row in rows], "supersedes") if rows else []
    old = {row.id: row for row in memories.find_current(tx, space, [link.other for link in made])} if made else {}
    replaced: dict[str, list[MemoryRow]] = {}
    for link in reversed(made):
        if link.other in old:
            replaced.setdefault(link.id, []).append(old[link.other])
    return [_Item(row=row, replaced=tuple(replaced.get(row.id, ()))) for row in rows]


# -- what fits -----------------------------------------------------------------------------------------


def _fit(parts: _Parts, max_tokens: int, excess: int = 0) -> Brief:
    most = min(max(max_tokens * _CHARACTERS // 12, _SHORTEST), _LONGEST)
    chosen = _choose(parts, max_tokens - excess, most)
    lines = [HEADER] if chosen else []
    for part, heading in zip(BRIEF_PARTS, HEADINGS, strict=True):
        if part in chosen:
            lines += [heading, *(line for _, shown in chosen[part] for line in shown)]
    count = tokens.count_lines(lines)
    if count > max_tokens:
        # Without a line end, the last line may have more tokens than with one.
        return _fit(parts, max_tokens, excess + count - max_tokens)
    sections = tuple(
        BriefSection(name=part, memories=tuple(each for item, _ in chosen[part] for each in item.memories))
        for part in BRIEF_PARTS
        if part in chosen
    )
    return Brief(text="\n".join(lines), sections=sections, tokens=count)


def _choose(parts: _Parts, max_tokens: int, most: int) -> _Chosen:
    """Take of each part in turn while there is room; a line end always ends a token, so costs add up."""
    left = max_tokens - tokens.count(HEADER + "\n")
    headings = dict(zip(BRIEF_PARTS, HEADINGS, strict=True))
    chosen: _Chosen = {}
    missed = 0
    for part, item in _take_turns(parts):
        if left < _FEWEST_TOKENS or missed == _MOST_MISSED:
            break
        heading = [] if part in chosen else [headings[part]]
        lines = item.lines(most)
        cost = sum(tokens.count(line + "\n") for line in (*heading, *lines))
        if cost > left:
            missed += 1
            continue
        chosen.setdefault(part, []).append((item, lines))
        left -= cost
    return {part: _put_in_order(part, items) for part, items in chosen.items()}


def _take_turns(parts: _Parts) -> Iterator[tuple[BriefPart, _Item]]:
    """Yield one item of each part, then several of each in turn."""
    waiting = {part: iter(items) for part, items in parts.items()}
    turns = dict.fromkeys(parts, 1)
    while waiting:
        for part in [*waiting]:
            found = [*islice(waiting[part], turns[part])]
            yield from ((part, item) for item in found)
            if not found:
                del waiting[part]
        turns = _ROUNDS


def _put_in_order(part: BriefPart, items: list[tuple[_Item, list[str]]]) -> list[tuple[_Item, list[str]]]:
    if part == "last":
        return sorted(items, key=lambda one: (one[0].row.said_at, one[0].row.seq))
    if part == "known":
        kinds = [*_KNOWN]
        return sorted(items, key=lambda one: kinds.index(one[0].row.kind))
    return items


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + SHORTENED
