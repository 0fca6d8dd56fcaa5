"""Receipts of erasures: chained by their hashes, settled when the bytes are gone, and verified.

A receipt holds no content. Its hashes are salted: whoever knows a name, or the ids that were erased, can compute them
and compare; nobody can read a name out of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace import wire
from commonplace.errors import InvalidInput
from commonplace.memories.core import Core
from commonplace.settings import Settings
from commonplace.store.base import Store, Tx
from commonplace.store.tables import erasures
from commonplace.store.tables.erasures import ErasureRow
from commonplace.values import Check, PersonPart, Receipt, times

_OUTSIDE = ("hash", "settled_at", "seal")
"""Fields that the hash does not cover."""
_DAY = 86_400_000_000


def hash_name(salt: str, part: PersonPart, name: str) -> str:
    """Return the salted hash by which a receipt names its person."""
    return hashlib.sha256(json.dumps([salt, part, name]).encode()).hexdigest()


def hash_key(salt: str, part: str, key: Sequence[str | int]) -> int:
    """Return the salted hash of an erased record's key as a number; the sum of all is in the receipt."""
    return int.from_bytes(hashlib.sha256(json.dumps([salt, part, *key]).encode()).digest()[:16], "big")


def make_copies(store: Store, settings: Settings, now: int) -> dict[str, str | None]:
    """Return where copies may be outside the book, and until when."""
    kept = settings.backup_days
    until = None if kept is None else times.from_micros(now + int(kept * _DAY)).isoformat()
    return {**dict.fromkeys(store.copied_to, None), "backups": until}


def append(tx: Tx, space: int, **fields: Any) -> Receipt:
    """Add a receipt to the chain."""
    count, previous = erasures.head(tx, space)
    made = Receipt(number=count + 1, previous=previous, hash="", **fields)
    made = replace(made, hash=_digest(made))
    _store(tx, space, made)
    return made


def _store(tx: Tx, space: int, made: Receipt) -> None:
    at = times.to_micros(made.at)
    settled = None if made.settled_at is None else times.to_micros(made.settled_at)
    changed = at if settled is None else max(at, settled)
    erasures.append(tx, space, ErasureRow(made.number, changed, settled, made.seal, made.hash, _body(made)))


def _body(receipt: Receipt) -> str:
    """Return what the hash covers, always as the same text."""
    shown = {name: value for name, value in wire.plain(receipt).items() if name not in _OUTSIDE}
    return json.dumps(shown, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _digest(receipt: Receipt) -> str:
    return hashlib.sha256(_body(receipt).encode()).hexdigest()


def _seal(hash: str, settled_at: str) -> str:
    return hashlib.sha256(f"{hash} settled {settled_at}".encode()).hexdigest()


def _decode(row: ErasureRow) -> Receipt:
    settled = None if row.settled_at is None else times.from_micros(row.settled_at).isoformat()
    found = {"number": row.number, **json.loads(row.body), "hash": row.hash, "settled_at": settled, "seal": row.seal}
    return wire.read(Receipt, found)


def read_all(tx: Tx, space: int) -> list[Receipt]:
    """Return the receipts of a space, oldest first."""
    return [*map(_decode, erasures.read_all(tx, space))]


def find(tx: Tx, space: int, salt: str) -> Receipt | None:
    """Return the receipt of one erasure."""
    return next((each for each in read_all(tx, space) if each.salt == salt), None)


# -- settling ------------------------------------------------------------------------------------------


def settle(core: Core, space: int, *, thorough: bool) -> list[Receipt]:
    """Remove the bytes of what was erased, and note it in the receipts if nothing is left; return all receipts.

    `thorough` rewrites files and tables of any size, which keeps writers waiting.
    """
    pending = [each for each in core.store.read(lambda tx: read_all(tx, space), space) if each.settled_at is None]
    if pending and not core.store.purge(space, thorough=thorough):
        core.store.write(lambda tx: _note_settled(tx, space, pending), space)
    return core.store.read(lambda tx: read_all(tx, space), space)


def _note_settled(tx: Tx, space: int, pending: Sequence[Receipt]) -> None:
    now = times.now()
    for each in pending:
        seal = _seal(each.hash, times.from_micros(now).isoformat())
        erasures.settle(tx, space, each.number, at=now, seal=seal)


# -- verifying -----------------------------------------------------------------------------------------


def verify(tx: Tx, space: int, known: Sequence[Receipt]) -> Check:
    """Check the chain of a space, and that it holds each receipt that is known from elsewhere."""
    rows = erasures.read_all(tx, space)
    count, last = erasures.head(tx, space)
    problems, found, previous = [], {}, erasures.START
    for number, row in enumerate(rows, start=1):
        problems += _find_wrong(row, number, previous)
        found[row.number], previous = row.hash, row.hash
    if (len(rows), previous) != (count, last):
        problems.append(f"there are {len(rows)} receipts, but {count} were written, or the last one is another")
    for each in known:
        if each.hash != _digest(each):
            problems.append(f"the copy of receipt {each.number} was changed")
        elif found.get(each.number) != each.hash:
            problems.append(f"receipt {each.number} of {each.at.isoformat()} is missing here, or is another one")
    return Check(problems=tuple(dict.fromkeys(problems)), checked={"receipts": len(rows)})


def _find_wrong(row: ErasureRow, number: int, previous: str) -> list[str]:
    """Return what is wrong with one receipt of a chain."""
    try:
        receipt = _decode(row)
    except (InvalidInput, ValueError, TypeError):
        return [f"receipt {row.number} cannot be read"]
    wrong = []
    if receipt.number != number:
        wrong.append(f"receipt {number} is missing")
    if receipt.hash != _digest(receipt) or json.loads(row.body).get("number") != row.number:
        wrong.append(f"receipt {row.number} was changed")
    if receipt.previous != previous:
        wrong.append(f"receipt {row.number} does not follow the one before it")
    settled = receipt.settled_at
    if receipt.seal != (None if settled is None else _seal(receipt.hash, settled.isoformat())):
        wrong.append(f"the settlement of receipt {row.number} was changed")
    return wrong


# -- after a restore -----------------------------------------------------------------------------------


def check_copies(given: Iterable[Receipt]) -> list[Receipt]:
    """Return receipts in their order; raise InvalidInput for one that was changed."""
    found = sorted(given, key=lambda each: each.number)
    for each in found:
        if not isinstance(each, Receipt) or each.hash != _digest(each):
            raise InvalidInput(f"receipt {each.number} was changed: its hash differs; nothing was erased")
    return found


def adopt(tx: Tx, space: int, given: Sequence[Receipt]) -> None:
    """Add the receipts that continue the chain: a restored book has lost those that came after its backup."""
    count, last = erasures.head(tx, space)
    for each in given:
        if each.number == count + 1 and each.previous == last:
            _store(tx, space, replace(each, settled_at=None, seal=None))
            count, last = each.number, each.hash


def match(given: Sequence[Receipt], names: Mapping[PersonPart, Iterable[str]]) -> list[tuple[PersonPart, str]]:
    """Return the names whose hash is in one of the receipts."""
    found: dict[tuple[PersonPart, str], None] = {}
    for part, each in names.items():
        subjects = [(receipt.salt, receipt.subject) for receipt in given if receipt.part == part]
        for name in sorted(each):
            if any(hash_name(salt, part, name) == subject for salt, subject in subjects):
                found[part, name] = None
    return [*found]
