"""What a user's text holds that helps later, found by rules: no question, no order for this one time, no small talk."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from commonplace.guard.echo import strip_recalled
from commonplace.learn.extractor import Rules
from commonplace.learn.segment import sentences
from commonplace.values.extraction import Utterance

_LONGEST = 20_000
_LABEL = re.compile(
    r"^\s*(?:(?:as )?an? )?(?:hint|tip|advice|note|nb|fyi|insight|lesson|rule|reminder"
    r"|for (?:next time|future reference))\s*[:,–—-]\s*",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"^(?:in (?:the )?future|next time|from now on|going forward|always|never|remember|note|keep in mind"
    r"|be (?:aware|sure|careful)|make sure|bear in mind|it helps"
    r"|it(?:'s| is) (?:important|better|best|wrong|safer|easier))\b"
    r"|\byou (?:should|shouldn't|should not|must|must not|need to|have to|ought to|forgot|overlooked|missed"
    r"|can(?:not|'t) assume)\b|^instead of\b"
    r"|\bthe (?:trick|key|right way|correct way|mistake|catch) (?:here )?(?:is|was)\b"
    r"|^(?:try|consider|avoid|don't forget|do not forget)\b|\b(?:is|are) (?:always|never) ",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^(?:(?:can|could|would|will) you|please (?:write|find|give|make|show|tell))\b", re.IGNORECASE)


def advice(text: str) -> str | None:
    """What is worth keeping of a text, in sentences that stand alone; None if nothing is."""
    own, _ = strip_recalled(text[:_LONGEST])
    said = Utterance(text=own, speaker=None, role="user", said_at=datetime.now(timezone.utc))
    findings = [each for each in Rules().extract([said])[0] if each.act != "forget"]
    parts = {each.start: each.text for each in findings}
    for span in sentences(own):
        if not any(span.start <= each.start < span.end for each in findings) and _helps(span.text):
            parts[span.start] = _LABEL.sub("", span.text).strip()
    kept = dict.fromkeys(_sentence(parts[start]) for start in sorted(parts) if parts[start])
    return " ".join(kept) or None


def _helps(sentence: str) -> bool:
    stripped = sentence.strip()
    if stripped.endswith("?") or _ASKS.search(stripped):
        return False
    return bool(_LABEL.match(stripped) or _ADVISES.search(stripped))


def _sentence(text: str) -> str:
    whole = text[:1].upper() + text[1:]
    return whole if whole[-1:] in ".!?…" else f"{whole}."
