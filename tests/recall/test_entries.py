"""Short entries of a list replace one another."""

from __future__ import annotations

from pathlib import Path

import commonplace


def test_a_short_entry_is_replaced_by_a_later_one(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "book.db") as book:
        old = book.remember("party budget: 500", reconcile=True)
        other = book.remember("guests: 40", reconcile=True)
        new = book.remember("party budget: 900", reconcile=True)
        assert book.get(old.id).superseded_by == new.id
        assert book.get(other.id).superseded_by is None
