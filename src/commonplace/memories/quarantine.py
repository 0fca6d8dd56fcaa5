"""Quarantine: memories from a doubtful source leave recall, and what they closed, confirmed or reworded is restored.

Links say which memories stand: one that supersedes or withdraws another closes it, unless it is in quarantine itself.
A repetition that is in quarantine takes its strength and words back from the memory that it repeats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.filters import All, Filter, Not, Scalar, Test
from commonplace.filters import Any as Some
from commonplace.guard import redaction
from commonplace.memories.core import Core
from commonplace.memories.forget import ALL, Targets, find_ids
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow, pack_terms
from commonplace.store.tables import links, memories
from commonplace.store.where import Selection
from commonplace.values import Json, Link, Within, checks, times

CLOSING = ("supersedes", "withdraws")
"""Relations by which one memory takes another out of recall."""
HELD = "held"
"""Key in a link's detail: the repetition is in quarantine and does not count."""
_RELEASED = "released from quarantine"
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip
_ABSENT = object()


def quarantine(core: Core, space: int, targets: Targets, reason: str) -> list[str]:
    """Take memories out of recall with what was learned from them alone; return the ids that were not yet.

    Memories that are closed already are marked too, so that nothing reopens them. What they closed, repeated or
    reworded is restored, unless something else says the same.
    """
    why = redaction.redact_text(checks.text(reason, "reason", limit=10_000), core.settings.redact)
    return core.store.write(lambda tx: _quarantine(tx, space, targets, why), space)


def release(core: Core, space: int, targets: Targets) -> list[str]:
    """Let memories in quarantine stand again, and close again what they had closed; return their ids."""
    return core.store.write(lambda tx: _release(tx, space, targets), space)


def _quarantine(tx: Tx, space: int, targets: Targets, reason: str) -> list[str]:
    ids, put = find_ids(tx, space, targets), list[str]()
    while ids:
        known = memories.find_quarantined(tx, space, ids)
        new = [id for id in ids if id not in known]
        put += [id for id in new if memories.confine(tx, space, id, reason=reason, now=times.now())]
        ids = _without_support(tx, space, new)
    for link in sorted(_repetitions(tx, space, put, targets), key=_version, reverse=True):
        if not link.detail.get(HELD):
            links.change(tx, space, replace(link, detail={**link.detail, HELD: True}))
            take_back(tx, space, link, reason="said again in quarantine")
    resettle(tx, space, find_closed(tx, space, put), reason="what closed it is in quarantine")
    return put


def _release(tx: Tx, space: int, targets: Targets) -> list[str]:
    ids, let = find_ids(tx, space, targets), list[str]()
    while ids:
        known = memories.find_quarantined(tx, space, ids)
        new = [id for id in ids if id in known]
        for id in new:
            memories.reopen(tx, space, id, reason=_RELEASED, now=times.now())
        let += new
        ids = tuple({link.id for link in links.find_to(tx, space, new, "learned from")} - set(let)) if new else ()
    for link in sorted(_repetitions(tx, space, let, targets), key=_version):
        if link.detail.get(HELD):
            rest: dict[str, Json] = {name: value for name, value in link.detail.items() if name != HELD}
            links.change(tx, space, replace(link, detail=rest))
            _give_again(tx, space, link)
    resettle(tx, space, [*let, *find_closed(tx, space, let)], reason=_RELEASED)
    return let


def _without_support(tx: Tx, space: int, ids: Sequence[str]) -> tuple[str, ...]:
    """Return what was learned from these memories and has no source left that is not in quarantine."""
    learned = list({link.id for link in links.find_to(tx, space, ids, "learned from")}) if ids else []
    sources = links.find_from(tx, space, learned, "learned from") if learned else []
    doubtful = memories.find_quarantined(tx, space, [link.other for link in sources])
    supported = {link.id for link in sources if link.other not in doubtful}
    return tuple(id for id in sorted(learned) if id not in supported)


def resettle(tx: Tx, space: int, ids: Iterable[str], *, reason: str) -> None:
    """Close or reopen memories as their links say now; those in quarantine stay there."""
    distinct = list(dict.fromkeys(ids))
    doubtful = memories.find_quarantined(tx, space, distinct)
    for row in memories.find_current(tx, space, [id for id in distinct if id not in doubtful]):
        _settle(tx, space, row, reason)


def find_closed(tx: Tx, space: int, ids: Sequence[str]) -> list[str]:
    """Return what these memories close, also through others that are in quarantine."""
    found: dict[str, None] = {}
    left = list(ids)
    while left:
        those = [link.other for relation in CLOSING for link in links.find_from(tx, space, left, relation)]
        new = [id for id in dict.fromkeys(those) if id not in found]
        found |= dict.fromkeys(new)
        left = [*memories.find_quarantined(tx, space, new)]
    return list(found)


def _settle(tx: Tx, space: int, row: MemoryRow, reason: str) -> None:
    memory = memories.decode(row)
    by = _find_closing(tx, space, memory.id)
    if not by:
        # What a memory closed that is forgotten since stays closed: nothing says that it holds again.
        gone = memory.superseded_by is not None and not memories.known_ids(tx, space, [memory.superseded_by])
        if memory.valid_to is not None and not gone:
            memories.reopen(tx, space, memory.id, reason=reason, now=times.now())
    elif memory.valid_to is None or (memory.superseded_by or memory.id) not in {
        _pointer(link, memory.id) for link in by
    }:
        _close(tx, space, row, by[-1])


def _pointer(link: Link, id: str) -> str:
    """Return the `superseded_by` of a memory that this link closes; its own id stands for none."""
    return link.id if link.relation == "supersedes" else id


def _close(tx: Tx, space: int, row: MemoryRow, by: Link) -> None:
    now, withdrawn = times.now(), by.relation == "withdraws"
    closed = replace(
        memories.record_of(tx, space, row),
        valid_to=now if withdrawn else memories.find_current(tx, space, [by.id])[0].said_at,
        superseded_by=None if withdrawn else by.id,
        reason=by.reason,
    )
    memories.revise(tx, space, row, closed, action="withdrawn" if withdrawn else "superseded", now=now)


def _find_closing(tx: Tx, space: int, id: str) -> list[Link]:
    """Return the links that close a memory, the latest last.

    A closing memory in quarantine does not count; the one that superseded it does, since it is about the same thing.
    """
    found: list[Link] = []
    seen, left = {id}, [id]
    while left:
        leading = links.find_to(tx, space, left, "supersedes")
        leading += links.find_to(tx, space, left, "withdraws") if left == [id] else []
        new = {link.id for link in leading} - seen
        doubtful = memories.find_quarantined(tx, space, list(new))
        there = {row.id for row in memories.find_current(tx, space, list(new - doubtful))}
        found += [link for link in leading if link.id in there]
        seen |= new
        left = sorted(doubtful)
    return sorted(found, key=lambda link: link.at)


def take_back(tx: Tx, space: int, link: Link, *, reason: str) -> None:
    """Take back the strength and the words that a memory got from a repetition."""
    if _was_confirmed(link):
        memories.unconfirm(tx, space, link.id)
    before = link.detail.get("version")
    if isinstance(before, int):
        _reword(tx, space, link.id, was=str(link.detail.get("text")), version=before, reason=reason)


def _give_again(tx: Tx, space: int, link: Link) -> None:
    if _was_confirmed(link):
        memories.count_feedback(tx, space, [link.id], "confirmed", now=times.now())
    before = link.detail.get("version")
    if isinstance(before, int):
        rows = memories.versions(tx, space, link.id, [before])
        was = rows[0].text if rows else None
        _reword(tx, space, link.id, was=was, version=before + 1, reason="said again in more detail")


def _was_confirmed(link: Link) -> bool:
    """Tell whether the repetition counted; a less trusted one did not, and old links do not say."""
    return link.detail.get("confirmed") is not False


def _version(link: Link) -> int:
    before = link.detail.get("version")
    return before if isinstance(before, int) else 0


def _reword(tx: Tx, space: int, id: str, *, was: str | None, version: int, reason: str) -> None:
    """Give a memory the words of another of its versions, unless they have changed since."""
    rows, found = memories.find_current(tx, space, [id]), memories.versions(tx, space, id, [version])
    if not rows or not found or rows[0].text != was:
        return
    old, now = memories.record_of(tx, space, found[0]), memories.record_of(tx, space, rows[0])
    restored = replace(
        now, form=old.form, mime=old.mime, text=old.text, content=old.content, vector=old.vector,
        terms=pack_terms(old.text, now.tags, now.source), reason=reason,
    )  # fmt: skip
    memories.revise(tx, space, rows[0], restored, action="revised", now=times.now())


def _repetitions(tx: Tx, space: int, ids: Sequence[str], targets: Targets) -> list[Link]:
    """Return the repetitions by these memories, and those that a selection names and that never became memories."""
    found = {(link.id, link.other): link for link in links.find_to(tx, space, ids, "repeats")} if ids else {}
    if targets.ids is None and targets.selection != ALL:
        for link in links.find_stated_again(tx, space):
            if _selects(targets.selection, link.detail):
                found[link.id, link.other] = link
    return list(found.values())


def _selects(selection: Selection, said: Mapping[str, Json]) -> bool:
    """Tell whether a selection would name a memory with the fields of a repetition, as its link records them."""
    tags = said.get("tags")
    return (
        _is_within(selection.within, said)
        and (not selection.kinds or said.get("kind") in selection.kinds)
        and set(selection.tags) <= set(map(str, tags if isinstance(tags, list) else []))
        and _holds(selection.filter, said)
    )


def _is_within(within: Within | None, said: Mapping[str, Json]) -> bool:
    if within is None:
        return True
    wanted = {"user": within.users, "agent": within.agents, "session": within.sessions}
    return all(
        names is None or said.get(name) in names or (within.shared and said.get(name) is None)
        for name, names in wanted.items()
    )


def _holds(node: Filter, said: Mapping[str, Json]) -> bool:
    if isinstance(node, All):
        return all(_holds(part, said) for part in node.parts)
    if isinstance(node, Some):
        return any(_holds(part, said) for part in node.parts)
    if isinstance(node, Not):
        return not _holds(node.part, said)
    return _test(node, said)


def _test(test: Test, said: Mapping[str, Json]) -> bool:
    found: object = said.get(test.field.name, _ABSENT)
    for step in test.field.path:
        found = found.get(step, _ABSENT) if isinstance(found, Mapping) else _ABSENT
    wanted = test.values[0] if test.values else None
    if test.operator == "$exists":
        return (found is not _ABSENT and found is not None) == bool(wanted)
    if test.operator == "$contains":
        if isinstance(found, str):
            return isinstance(wanted, str) and wanted.casefold() in found.casefold()
        return isinstance(found, list) and wanted in found
    if test.operator == "$in":
        return any(_compare("$eq", found, value) for value in test.values)
    return _compare(test.operator, found, wanted)


def _compare(sign: str, found: object, wanted: Scalar) -> bool:
    if found is _ABSENT or found is None or wanted is None:
        return sign == "$eq" and wanted is None
    if isinstance(found, bool) != isinstance(wanted, bool) or isinstance(found, str) != isinstance(wanted, str):
        return False
    try:
        return _COMPARISONS[sign](found, wanted)
    except TypeError:
        return False
