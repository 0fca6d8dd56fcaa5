"""Receipts: which memories a recall gave, in one short string that nobody has to store."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Sequence

from commonplace.errors import InvalidInput

PREFIX = "rcpt_"
_LONGEST = 1_000_000


def make(ids: Sequence[str]) -> str:
    """Write the ids into a receipt that is safe in a URL and that `read` gives back exactly."""
    body = zlib.compress(json.dumps(list(ids), separators=(",", ":")).encode(), 9)
    checked = zlib.crc32(body).to_bytes(4, "big") + body
    return PREFIX + base64.urlsafe_b64encode(checked).decode().rstrip("=")


def read(receipt: str) -> tuple[str, ...]:
    """Give the ids of a receipt; one that was cut, mistyped or made elsewhere raises InvalidInput."""
    try:
        return _read(receipt)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise InvalidInput("this is not a whole receipt of a recall") from error


def _read(receipt: str) -> tuple[str, ...]:
    if not receipt.startswith(PREFIX):
        raise ValueError("no prefix")
    written = receipt[len(PREFIX) :]
    checked = base64.b64decode(written + "=" * (-len(written) % 4), altchars=b"-_", validate=True)
    body = checked[4:]
    if zlib.crc32(body).to_bytes(4, "big") != checked[:4]:
        raise ValueError("checksum")
    opened = zlib.decompressobj()
    ids = json.loads(opened.decompress(body, _LONGEST))
    if not opened.eof or not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise ValueError("no list of ids")
    return tuple(ids)
