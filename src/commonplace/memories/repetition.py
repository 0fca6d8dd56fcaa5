"""What a repetition gave to a memory, strength and words: taken from it while the repetition is in quarantine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonplace.memories.forget import ALL, Wanted
from commonplace.memories.selection import selects
from commonplace.store import trace
from commonplace.store.base import Tx
from commonplace.store.tables import links, memories
from commonplace.values import Json, Link, times

HELD = "held"
"""In the detail of a link: what it tells of is in quarantine and counts for nothing."""


def hold(tx: Tx, space: int, ids: Sequence[str], wanted: Wanted) -> None:
    """Take back what memories had from repetitions that are doubtful now, the latest first."""
    for link in sorted(_chosen(tx, space, ids, wanted), key=_version, reverse=True):
        if not link.detail.get(HELD):
            links.change(tx, space, replace(link, detail={**link.detail, HELD: True}))
            take_back(tx, space, link, reason="said again in quarantine")


def let_go(tx: Tx, space: int, ids: Sequence[str], wanted: Wanted) -> None:
    """Give memories back what they had from repetitions that are doubtful no more."""
    for link in sorted(_chosen(tx, space, ids, wanted), key=_version):
        if link.detail.get(HELD):
            rest: dict[str, Json] = {name: value for name, value in link.detail.items() if name != HELD}
            links.change(tx, space, replace(link, detail=rest))
            _give_again(tx, space, link)


def take_back(tx: Tx, space: int, link: Link, *, reason: str) -> None:
    """Take from a memory the strength and the words that it had from a repetition."""
    if _confirmed(link):
        memories.unconfirm(tx, space, link.id)
    before = link.detail.get("version")
    if isinstance(before, int):
        _reword(tx, space, link.id, was=str(link.detail.get("text")), version=before, reason=reason)


def _give_again(tx: Tx, space: int, link: Link) -> None:
    if _confirmed(link):
        memories.feedback(tx, space, [link.id], "confirmed", now=times.now())
    before = link.detail.get("version")
    if isinstance(before, int):
        old = _text(tx, space, link.id, before)
        _reword(tx, space, link.id, was=old, version=before + 1, reason="said again in more detail")


def _confirmed(link: Link) -> bool:
    """Whether the repetition counted: one that was trusted less did not. Links of old do not say."""
    return link.detail.get("confirmed") is not False


def _version(link: Link) -> int:
    before = link.detail.get("version")
    return before if isinstance(before, int) else 0


def _text(tx: Tx, space: int, id: str, version: int) -> str | None:
    rows = memories.versions(tx, space, id, [version])
    return rows[0].text if rows else None


def _reword(tx: Tx, space: int, id: str, *, was: str | None, version: int, reason: str) -> None:
    """Give a memory the words of another version of it, unless it has others by now."""
    rows, found = memories.currents(tx, space, [id]), memories.versions(tx, space, id, [version])
    if not rows or not found or rows[0].text != was:
        return
    old, now = memories.record_of(tx, space, found[0]), memories.record_of(tx, space, rows[0])
    restored = replace(
        now, form=old.form, mime=old.mime, text=old.text, content=old.content, vector=old.vector,
        terms=trace.terms(old.text, now.tags, now.source), reason=reason,
    )  # fmt: skip
    memories.revise(tx, space, rows[0], restored, action="revised", now=times.now())


def _chosen(tx: Tx, space: int, ids: Sequence[str], wanted: Wanted) -> list[Link]:
    """The repetitions that came from these memories, and those that a selection names and that were never one."""
    found = {(link.id, link.other): link for link in links.to(tx, space, ids, "repeats")} if ids else {}
    if wanted.ids is None and wanted.selection != ALL:
        for link in links.stated_again(tx, space):
            if selects(wanted.selection, link.detail):
                found[link.id, link.other] = link
    return list(found.values())
