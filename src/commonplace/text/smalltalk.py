"""Small talk: the greeting and the thanks around what a turn is about. English only."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]+[\s)\]]*|[^.!?\n]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LONGEST = 12
"""Words of a sentence that may be small talk."""

_MARKS = frozenset(
    """
    hi hello hey hiya yo greetings morning afternoon evening night goodnight thanks thank thx ty cheers bye goodbye cya
    see ok okay k kk sure yes yeah yep yup no nope alright fine cool great good nice perfect awesome amazing wonderful
    excellent lovely brilliant fantastic super sweet gotcha noted understood continue proceed lol haha hahaha lmao wow
    agreed exactly absolutely definitely indeed totally welcome later soon enjoy care appreciate appreciated glad same
    go
    """.split()
)
"""Words of which one must be there: "it is for the team" greets nobody."""
_FILLER = frozenset(
    """
    day weekend tomorrow got on please sorry well so very much many a lot again you your it that this is that's it's
    sounds sound looks look i i'm we me my and to for the all too have had has been be talk take rest of one then now
    there everyone everybody folks guys team friend mate buddy dear really just as always happy love help helping course
    np problem worries worry how are doing hope
    """.split()
)
"""Words that may stand beside them."""


def strip_small_talk(text: str) -> str:
    """Return a turn without sentences that only greet, thank or agree; "" if nothing else is left."""
    kept = [sentence for sentence in _SENTENCE.findall(text) if not is_small_talk(sentence)]
    return "".join(kept).strip()


def is_small_talk(sentence: str) -> bool:
    """Tell whether a sentence only greets, thanks or agrees; it may name somebody."""
    words = _WORD.findall(sentence)
    if not words:
        return bool(sentence.strip()) and not any(letter.isalnum() for letter in sentence)
    if len(words) > _LONGEST or (sentence.rstrip().endswith("?") and len(words) > 4):
        return False
    plain = [word.lower().replace("’", "'") for word in words]
    if not _MARKS & set(plain):
        return False
    # A name: a word with a capital that is not the first one, or the first one before a comma.
    named = [place > 0 and word[0].isupper() for place, word in enumerate(words)]
    return all(word in _MARKS or word in _FILLER or name for word, name in zip(plain, named, strict=True))
