"""The texts that a pattern can match, derived from the pattern."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

# There is no public way to read a pattern.
if sys.version_info >= (3, 11):
    from re import _constants as code
    from re import _parser as parser
else:
    import sre_constants as code
    import sre_parse as parser

ANYTHING = "\0"
"""Stands for what the pattern leaves open."""
BORDER = "\1"
"""Stands where a word begins or ends."""

_MOST = 5_000


def width(pattern: str) -> tuple[int, int]:
    """Tell how many characters a match has at least and at most."""
    least, most = parser.parse(pattern).getwidth()
    return int(least), int(most)


def spelled(pattern: str, flags: int, enough: Callable[[str], bool]) -> set[str]:
    """Spell out all that a pattern matches, each as far as needed until there is `enough` of it."""
    return {text for text, _ in _sequence(parser.parse(pattern, flags), {("", False)}, enough)}


_Texts = set[tuple[str, bool]]


def _sequence(steps: Any, texts: _Texts, enough: Callable[[str], bool]) -> _Texts:
    for step, value in steps:
        longer: _Texts = set()
        for text, done in texts:
            longer |= {(text, True)} if done or enough(text) else _step(step, value, text, enough)
        texts = longer
        assert len(texts) < _MOST
    return {(text, done or enough(text)) for text, done in texts}


def _step(step: Any, value: Any, text: str, enough: Callable[[str], bool]) -> _Texts:
    if step is code.LITERAL:
        return {(text + chr(value), False)}
    if step is code.IN and all(kind is code.LITERAL for kind, _ in value):
        return {(text + chr(each), False) for _, each in value}
    if step is code.AT:
        return {(text + (BORDER if value in (code.AT_BOUNDARY, code.AT_BEGINNING) else ""), False)}
    if step in (code.ASSERT, code.ASSERT_NOT):
        after_space = step is code.ASSERT and value[0] < 0 and list(value[1])[-1] == (code.LITERAL, ord(" "))
        return {(text + (BORDER if after_space else ""), False)}
    if step is code.SUBPATTERN:
        return _sequence(value[3], {(text, False)}, enough)
    if step is code.BRANCH:
        return set().union(*(_sequence(branch, {(text, False)}, enough) for branch in value[1]))
    if step in (code.MAX_REPEAT, code.MIN_REPEAT):
        least, most, steps = value
        return _repeated(least, most, steps, text, enough)
    return {(text + ANYTHING, False)}


def _repeated(least: int, most: int, steps: Any, text: str, enough: Callable[[str], bool]) -> _Texts:
    if (least, most) == (0, 1):
        return {(text, False)} | _sequence(steps, {(text, False)}, enough)
    texts: _Texts = {(text, False)}
    for _ in range(min(least, 4)):
        texts = _sequence(steps, texts, enough)
    return texts if most == least <= 4 else {(each if done else each + ANYTHING, done) for each, done in texts}
