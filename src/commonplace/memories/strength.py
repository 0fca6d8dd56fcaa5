"""Strength: what time, importance and feedback make of a memory. They re-order what is relevant and never hide it.

Feedback names one memory, or all that a recall returned by its receipt, which carries their ids and is not stored.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Sequence

from commonplace.errors import InvalidInput, NotFound
from commonplace.memories.core import Core
from commonplace.store.tables import memories
from commonplace.values import SIGNALS, Signal, checks, times

OLDEST = 0.85
"""The recency of a memory without any freshness left: of two that answer about alike, their relevance less than a
seventh apart, the fresher comes first; one that answers better stays ahead at any age."""
WEAKEST = 0.6
STRONGEST = 1.2

_DAY = 86_400.0
_IMPORTANCE = 0.2
"""The most and the least important memory are this far apart."""
_USE = 0.15
"""The most that use adds and being ignored takes."""
_LASTS, _MOST_LASTING = 4, 12
"""Uses that add a half-life's own length to it, and the uses beyond which it grows no more."""
_BLAME = 0.5
"""The most that being called wrong takes; half of it the first time."""

RECEIPT = "rcpt_"
_LONGEST_RECEIPT = 1_000_000


def recency(age: float, half_life: float) -> float:
    """Return the factor for a memory said `age` seconds ago: 1 when new, never under OLDEST."""
    return OLDEST + (1.0 - OLDEST) * freshness(age, half_life)


def stretch(half_life: float, *, used: int, confirmed: int) -> float:
    """Return the half-life of a memory in use: what is used or said again ages up to four times slower."""
    return half_life * (1 + min(used + confirmed, _MOST_LASTING) / _LASTS)


def freshness(age: float, half_life: float) -> float:
    """Return what is left of a memory after `age` seconds, if half of it is gone after `half_life` days."""
    return math.pow(0.5, max(age, 0.0) / (half_life * _DAY))


def strength(importance: float, *, used: int = 0, ignored: int = 0, wrong: int = 0, confirmed: int = 0) -> float:
    """Return the factor for importance, use and repetition: 1 by default, within WEAKEST and STRONGEST."""
    use = math.tanh((used + confirmed - 0.5 * ignored) / 4.0)
    blame = 1.0 - math.pow(0.5, wrong)
    factor = 1.0 + _IMPORTANCE * (importance - 0.5) + _USE * use - _BLAME * blame
    return min(max(factor, WEAKEST), STRONGEST)


def feedback(core: Core, space: int, target: str, signal: Signal) -> int:
    """Count a signal for a memory by its id, or for all that a receipt names; return how many there are."""
    if signal not in SIGNALS:
        raise InvalidInput(f"unknown signal {signal!r}; known: {', '.join(SIGNALS)}")
    name = checks.text(target, "target", limit=_LONGEST_RECEIPT)
    is_receipt = name.startswith(RECEIPT)
    ids = tuple(dict.fromkeys(read_receipt(name) if is_receipt else (checks.name(name, "target"),)))
    touched = core.store.write(lambda tx: memories.count_feedback(tx, space, ids, signal, now=times.now()), space)
    if not touched and not is_receipt:
        raise NotFound(f"no memory with id {target!r} in this space")
    return touched


def make_receipt(ids: Sequence[str]) -> str:
    """Write ids as a receipt that is safe in a URL."""
    body = zlib.compress(json.dumps(list(ids), separators=(",", ":")).encode(), 9)
    checked = zlib.crc32(body).to_bytes(4, "big") + body
    return RECEIPT + base64.urlsafe_b64encode(checked).decode().rstrip("=")


def read_receipt(receipt: str) -> tuple[str, ...]:
    """Return the ids of a receipt; raise InvalidInput if it was cut, mistyped or made elsewhere."""
    try:
        return _read_receipt(receipt)
    except (ValueError, zlib.error) as error:
        raise InvalidInput("this is not a valid receipt of a recall: pass it completely") from error


def _read_receipt(receipt: str) -> tuple[str, ...]:
    if not receipt.startswith(RECEIPT):
        raise ValueError("no prefix")
    written = receipt[len(RECEIPT) :]
    checked = base64.b64decode(written + "=" * (-len(written) % 4), altchars=b"-_", validate=True)
    body = checked[4:]
    if zlib.crc32(body).to_bytes(4, "big") != checked[:4]:
        raise ValueError("checksum")
    opened = zlib.decompressobj()
    ids = json.loads(opened.decompress(body, _LONGEST_RECEIPT))
    if not opened.eof or not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise ValueError("no list of ids")
    return tuple(ids)
