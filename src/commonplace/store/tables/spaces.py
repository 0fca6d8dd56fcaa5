"""Statements on `book` and `space`: the book's own values, and a number for each space's name.

Every statement on a space's data carries the space's number.
"""

from __future__ import annotations

from commonplace.store.base import Tx

PLANTED = "commonplace:planted"
"""The space of the memory that verifies the embedder when a book is opened."""
RESERVED = "commonplace:"
"""Prefix of names that users cannot give to a space."""
NEW = 0
"""No space has this number: creating a space locks it instead of a space."""


def read_value(tx: Tx, name: str) -> str | None:
    """Return one of the book's own values."""
    rows = tx.run("SELECT value FROM book WHERE name = :name", {"name": name})
    return str(rows[0][0]) if rows else None


def write_value(tx: Tx, name: str, value: str) -> None:
    """Store one of the book's own values."""
    tx.run(
        "INSERT INTO book (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        {"name": name, "value": value},
    )


def find(tx: Tx, name: str) -> int | None:
    """Return the space's number; None if nothing was written to it yet."""
    rows = tx.run("SELECT number FROM space WHERE name = :name", {"name": name})
    return int(rows[0][0]) if rows else None


def number(tx: Tx, name: str) -> int:
    """Return the space's number; a new space gets one."""
    found = find(tx, name)
    if found is not None:
        return found
    rows = tx.run(
        f"INSERT INTO space (number, name, epoch) VALUES ({tx.syntax.new_space}, :name, 0) RETURNING number",
        {"name": name},
    )
    return int(rows[0][0])


def names(tx: Tx) -> list[str]:
    """Return the names of the users' spaces, sorted."""
    rows = tx.run("SELECT name FROM space ORDER BY name")
    return [name for (name,) in rows if not name.startswith(RESERVED)]
