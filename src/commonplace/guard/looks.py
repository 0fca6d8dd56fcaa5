"""The look of a value: made at random, chosen as a password, a word, or a placeholder for a value."""

from __future__ import annotations

import re
from collections.abc import Callable

from commonplace.guard.patterns import Pattern

Look = Callable[[str], bool]

_UUID = Pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = Pattern(r"(?:0x)?[0-9a-fA-F]{24,}")
_PIECE = Pattern(r"[A-Za-z0-9]{8,}")
_TURN = Pattern(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])|(?<=[A-Z]{2})(?=[a-z])")

_STAND_IN = Pattern(
    r"<.*|\$[A-Za-z_]\w*|\$[({].*|\{\{.*|%\w+%|\{[\w.]*\}|[*•.…x\-_?]+|X+|\[redacted.*|required\b.*"
    r"|(?:your|some|example|dummy|insert|enter|put)[-_ ].*|(?:my|the|new)[-_](?:password|secret|token|key|api).*"
    r"|\(?(?:hidden|masked|redacted)\)?",
    re.DOTALL | re.IGNORECASE,
)
# An expression that gives the value when it runs, a type or a call.
_CODE = Pattern(r"[A-Za-z_][\w.]*[(\[].*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w*(?:::\w+)+.*", re.DOTALL)
_PATH = Pattern(r"(?:~|\.{1,2})?/.*|[A-Za-z]:\\.*|[a-z._-]+(?:/(?:[a-z_.-]+|v?\d{1,4}))+")
_ADDRESS = Pattern(r"[a-z][a-z0-9+.-]*://.*|arn:.*|[a-z]+(?::[a-z0-9_.-]+){2,}")
_MEASURE = Pattern(
    r"v?\d+(?:\.\d+)+\S*|\d+(?:-\d+)?-?(?:char|digit|bit|byte|day|month|week|hour|min)\w*|\d+[hdsxm%]"
    r"|(?:sha|md|aes|rsa|utf|base|argon|pbkdf|hs|rs|es|ed)[-_]?\d+\S*|1password\S*|2fa|\d{4}-\d\d-\d\d\S*",
    re.IGNORECASE,
)
_WORD = Pattern(r"[^\W\d_]+(?:[-_'’][^\W\d_]+)*")
_ENDING = Pattern(r".+(?:ed|ing|able|ible|ive|ory|ful|less|ary|al|ous|ly|ic|ent|en)")
_CAPITAL_INSIDE = Pattern(r"[a-z][A-Z]")
_LETTER = Pattern(r"[A-Za-z]")
_DIGIT_OR_CAPITAL_INSIDE = Pattern(r"[0-9]|[a-z][A-Z]")
_MARK = Pattern(r"[^A-Za-z0-9\-_'.,/:()]")

# Words about a password, or names of its type.
_REMARKS = frozenset(
    """
    a about after again already also always an and any anonymous as asked at auto bad be because been before blank bool
    boolean both broken but by bytes case char char[] check common compromised confirm correct credential credentials
    default different disabled due easy empty encrypted enough env expired expires false fine first for forgotten from
    generated gone good hash hashed here hidden how identical if in incorrect insecure int invalid is it just kept key
    known leaked long longer lost mandatory mine missing more must my n/a never new nil no none not now null number
    object off ok okay old on one only optional or our out over pass passcode passphrase passwd password passwords
    pending plain plaintext policy present prompt protected public pw pwd really required reset right safe salted same
    secret secrets secure self sensitive set shared short shown simple so some something still stored str strict string
    strong sub such text that the their them then there they this to today token too true type undefined under
    unique unknown unsafe unset until up used user username valid value var varchar very via wait weak what when where
    which who why will with without wrong yes yet you your yours
    abgelaufen falsch richtig nicht im in der die das bei noch zu obligatoire incorrect dans le la les trop
    obligatoria obligatorio en el incorrecta obrigatória errada no na sbagliata nel nella obbligatoria
    """.split()
)

_JUDGED = 128
"""Characters of a long value that are looked at."""


def is_placeholder(value: str) -> bool:
    """Return whether it is a placeholder, a variable, an expression, a path or an address."""
    return any(each.fullmatch(value) for each in (_STAND_IN, _CODE, _PATH, _ADDRESS))


def is_random(value: str) -> bool:
    """Return whether a machine made it at random; words, names, numbers and versions are not."""
    if _UUID.fullmatch(value) or _HEX.fullmatch(value):
        return len(set(value)) > 5
    return any(map(_is_random_piece, _PIECE.findall(value))) and not _MEASURE.fullmatch(value)


def _is_random_piece(piece: str) -> bool:
    # Words and dates change between letters and digits once or twice, random text all the time.
    if len(set(piece)) < 5:
        return False
    turns = len(_TURN.findall(piece))
    return turns >= 3 and turns * 9 >= len(piece) and not piece.isdigit()


def is_mixed(value: str) -> bool:
    """Return whether it is a password as people choose them: letters with digits, marks or capitals inside."""
    if len(value) < 5 or _MEASURE.fullmatch(value):
        return False
    value = value[:_JUDGED]
    if value.isascii():
        return bool(_LETTER.search(value) and (_DIGIT_OR_CAPITAL_INSIDE.search(value) or _MARK.search(value[:-1])))
    has_letter = any(each.isalpha() for each in value)
    has_digit = any(each.isdigit() for each in value)
    has_mark = any(not each.isalnum() and each not in "-_'’.,/:()" for each in value[:-1])
    return has_letter and (has_digit or has_mark or bool(_CAPITAL_INSIDE.search(value)))


def is_number(value: str) -> bool:
    """Return whether it is a code of digits."""
    return value.isdigit() and 4 <= len(value) <= 16


def is_word(value: str) -> bool:
    """Return whether it is a word that may be a password."""
    return len(value) > 2 and bool(_WORD.fullmatch(value)) and value.casefold() not in _REMARKS


def is_name(value: str) -> bool:
    """Return whether it is a word that no sentence says of a password, as "broken" and "mandatory" are said."""
    return is_word(value) and value.isascii() and not _ENDING.fullmatch(value.casefold())


def is_remark(value: str) -> bool:
    """Return whether it is a word about passwords, or a name of their type."""
    return value.casefold().strip(".!?") in _REMARKS
