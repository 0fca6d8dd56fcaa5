"""Persons over HTTP: who has something in a space, and the receipts of those who were erased."""

from __future__ import annotations

from typing import Any

from fastapi import Response
from pydantic import Field

from commonplace import wire
from commonplace.book import Book
from commonplace.server.api.routes import Exchange, VerbRouter
from commonplace.values import Receipt

router = VerbRouter(__name__, "persons")
_RECEIPTS = "Receipts as `GET /receipts` returned them."

router.verb(Book.users, "GET", "/users", "users")
router.verb(Book.receipts, "GET", "/receipts", "receipts")


@router.implement(Book.settle_receipts, "POST", "/receipts/settle", "receipts")
async def settle_receipts(http: Exchange, given: dict[str, Any]) -> Response:
    """Remove what is left of the bytes of erased persons; for a key that opens every space, since all wait for it."""
    http = http.having(role="admin", everywhere=True, long=True)
    return await http.answer(lambda book: {"receipts": book.settle_receipts()})


@router.implement(
    Book.verify_receipts, "POST", "/receipts/verify", body="KnownBody", needs_body=False,
    own={"known": (list[dict[str, Any]], Field(default=[], description=_RECEIPTS))}, example={"known": []},
)  # fmt: skip
async def verify_receipts(http: Exchange, given: dict[str, Any]) -> Response:
    """Check that no receipt was changed and none is missing, also of those that are known from elsewhere."""
    known = [wire.read(Receipt, each) for each in given.get("known", [])]
    http = http.having(role="read", operation="read", idempotency_key=None)
    return await http.answer(lambda book: book.verify_receipts(known))


@router.implement(
    Book.erase_again, "POST", "/receipts/again", "receipts", body="AgainBody",
    own={"receipts": (list[dict[str, Any]], Field(description=_RECEIPTS))}, example={"receipts": []},
)  # fmt: skip
async def erase_again(http: Exchange, given: dict[str, Any]) -> Response:
    """Erase the persons of these receipts again, as after a restore or an import; return the new receipts."""
    copies = [wire.read(Receipt, each) for each in given["receipts"]]
    http = http.having(role="admin", long=True)
    return await http.answer(lambda book: {"receipts": book.erase_again(copies)})
