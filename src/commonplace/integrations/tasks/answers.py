"""Whether an answer is the expected one, by comparing them in a plain form: without a model."""

from __future__ import annotations

import re
import unicodedata

_MARKED = re.compile(
    r"(?:\\boxed\{(?P<boxed>[^{}\n]{1,500})\}|\b(?:final answer|the answer|answer|result|solution)\b[*_\s]*(?:is|:|=)"
    r"[*_\s:]*(?P<told>[^\n]{1,500}))",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*|[%$€£+\-/*=<>]")
_LEFT_OUT = frozenset("a an the is are was were it its be to of".split())
_NEGATES = frozenset("not no never isn't aren't wasn't cannot can't neither nor than except".split())
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_BEFORE = 3
"""Words before an answer in which it may be denied."""


def grade(response: str, expected: str) -> tuple[bool, str]:
    """Whether a response gives the expected answer, and the answer that was read out of it.

    The answer is what follows the last "answer:" or stands in a box; else the last line; else the whole response.
    """
    wanted = _plain(expected)
    for answer in _candidates(response):
        if wanted and _gives(_plain(answer), wanted):
            return True, answer
        if _MARKED.search(response):
            return False, answer
    return False, next(iter(_candidates(response)), "")


def same(one: str, other: str) -> bool:
    """Whether two answers are the same but for how they are written."""
    return bool(_plain(one)) and _plain(one) == _plain(other)


def _candidates(response: str) -> list[str]:
    marked = [found["boxed"] or found["told"] for found in _MARKED.finditer(response)]
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    return [each.strip() for each in (*marked[-1:], *lines[-1:], response)]


def _gives(answer: list[str], wanted: list[str]) -> bool:
    """Whether the wanted words stand in an answer, one after the other, and are not denied there."""
    for start in range(len(answer) - len(wanted) + 1):
        if answer[start : start + len(wanted)] == wanted:
            before = answer[max(start - _BEFORE, 0) : start]
            denied = [word for word in before if word in _NEGATES and word not in wanted]
            if not denied:
                return True
    return False


def _plain(text: str) -> list[str]:
    shown = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    words = [_number(word) for word in _TOKEN.findall(shown)]
    return [word for word in words if word not in _LEFT_OUT] or words


def _number(word: str) -> str:
    """A number as everybody would write it: 1,000 and 1000.0 and, of words, twelve."""
    if word in _NUMBERS:
        return str(_NUMBERS.index(word))
    if not word[0].isdigit():
        return word
    bare = re.sub(r",(?=\d{3}\b)", "", word)
    return bare.rstrip("0").rstrip(".") if "." in bare else bare
