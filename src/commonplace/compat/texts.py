"""Values as a BotWire client sends them: text, which is the JSON of whatever was no text."""

from __future__ import annotations

import json

from commonplace.errors import CommonplaceError
from commonplace.values import Json, checks


def value(sent: Json) -> Json:
    """What a book keeps of what was sent: the value whose JSON it is, or else the text itself.

    A client sends json.dumps of all but texts. What json.dumps would write anew exactly as it came is that value, for
    everybody who reads the book; what it would write otherwise (other spaces, a key twice, 1e5) stays a text. Either
    way `text` gives back what was sent, to the byte. A text "5" and a number 5 cannot be told apart on the wire.
    """
    if not isinstance(sent, str):
        return sent
    try:
        read: Json = json.loads(sent)
        again = json.dumps(read)
        checks.json_text(read, "value", limit=len(again) * 4)
    except (ValueError, RecursionError, CommonplaceError):  # no JSON, or none that a book takes: NaN, too deep, a NUL
        return sent
    return sent if isinstance(read, str) or again != sent else read


def text(kept: Json) -> str:
    """What a client is sent of a value: a text as it is, all else as JSON."""
    return kept if isinstance(kept, str) else json.dumps(kept)
