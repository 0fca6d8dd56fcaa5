"""Spaces, each with a name and a number, and the values that the book holds about itself."""

from __future__ import annotations

from commonplace.store.base import Tx

PLANTED = "commonplace:planted"
"""Holds the memory that proves the embedder at start-up; names with this prefix are not for users."""
RESERVED = "commonplace:"
NEW = 0
"""No space has this number: who makes a space takes it for its turn."""


def find(tx: Tx, name: str) -> int | None:
    """The space's number; None while nothing was written to it."""
    rows = tx.run("SELECT number FROM space WHERE name = :name", {"name": name})
    return int(rows[0][0]) if rows else None


def number(tx: Tx, name: str) -> int:
    """The space's number; a new space gets the next one."""
    found = find(tx, name)
    if found is not None:
        return found
    rows = tx.run(
        f"INSERT INTO space (number, name, epoch) VALUES ({tx.dialect.new_space}, :name, 0) RETURNING number",
        {"name": name},
    )
    return int(rows[0][0])


def names(tx: Tx) -> list[str]:
    """Every space that users made, sorted."""
    rows = tx.run("SELECT name FROM space ORDER BY name")
    return [name for (name,) in rows if not name.startswith(RESERVED)]


def read_value(tx: Tx, name: str) -> str | None:
    """Return one of the book's own values; None if it was never written."""
    rows = tx.run("SELECT value FROM book WHERE name = :name", {"name": name})
    return str(rows[0][0]) if rows else None


def write_value(tx: Tx, name: str, value: str) -> None:
    """Write one of the book's own values."""
    tx.run(
        "INSERT INTO book (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        {"name": name, "value": value},
    )
