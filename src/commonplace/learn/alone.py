"""Whether a sentence can be read without its neighbours: a small check beside what the reader says. English only."""

from __future__ import annotations

import re

from commonplace.learn.regex import compiled

_SHORT = 4
"""Words of a bare answer."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_POINTS_BACK = compiled(
    r"""(?:
    (?:he|she|they|him|them|its)\b
    |it(?!_(?:is|was|will_be|'s|’s)_(?:\w+_){0,3}(?:that|to|when|because|who)\b)(?!_(?:turns|turned|seems|looks|takes
        |took|rains|snows)\b)\b
    |(?:this|that|these|those)(?:_(?:one|ones|is|was|are|were|isn['’]t|would|will|means?|way|too|also)\b|['’]s\b|[,.!]|$)
    |(?:the_(?:same|other_one|former|latter|first_one|second_one|last_one)|same|both|neither|either|another_one)\b
    |there_(?!is\b|are\b|was\b|were\b|will\b|has\b|have\b)
    )""",
    re.IGNORECASE,
)
_MEANS_ONE = re.compile(r"\b(?:(?:that|this|the other) one|those ones|the (?:former|latter))\b", re.IGNORECASE)
_ANSWERS = re.compile(
    r"(?:yes|yeah|yep|yup|no|nope|nah|not (?:yet|really|any ?more)|never|neither|both|none|correct|exactly|right"
    r"|of course|sure)\b",
    re.IGNORECASE,
)


_REFERS = compiled(
    r"""\b(?:he|she|him|her|his|hers|they|them|their|theirs|it|its|it['’]s|he['’]s|she['’]s|they['’]re|this|these|those|there
    |ones?|same|both|neither|either|instead|then|too|another|other|former|latter|that['’]s
    |that(?=\s*[.,!?;]|\s*$|_(?:is|was|one|would|will|means?|way|too|also|has|had|can|could|should|in|on|at|for|from)\b))\b""",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?:i|we|my|our|the|always|never|please|let['’]?s)\b", re.IGNORECASE)
_FRAGMENT = 5
"""Words up to which a sentence may be only a part of one."""


def may_depend(text: str) -> bool:
    """Return whether a sentence refers to anything, or is so short that it may be a part of another's."""
    return bool(_REFERS.search(text)) or (len(_WORD.findall(text)) <= _FRAGMENT and not _WHOLE.match(text))


def points_back(text: str) -> bool:
    """Return whether a sentence begins with, or means, something that an earlier one names."""
    return bool(_POINTS_BACK.match(text) or _MEANS_ONE.search(text))


def is_bare_answer(text: str) -> bool:
    """Return whether a sentence may be an answer that says nothing without its question."""
    return len(_WORD.findall(text)) <= _SHORT or bool(_ANSWERS.match(text))
