"""A message in sentences with their exact places; what nobody said in it is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.guard.echo import AVOID, HEADER
from commonplace.learn.regex import compiled

LONGEST = 600
"""Characters of a sentence; nobody says longer ones."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a message and where it stands there."""

    start: int
    end: int
    text: str


_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"[ \t]*(?:[-*•+][ \t]+(?:\[[ xX]\][ \t]*)?|\d{1,3}[.)][ \t]+)")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|(?:[-*•+][ \t]+|\d{1,3}[.)][ \t]+)?(\*\*|__)[^*_\n]{1,200}\1[ \t]*:?[ \t]*$)"
)
"""A line in Markdown that is a heading, or nothing but bold."""
_RECALLED = re.compile(r"\s*- \[\d{4}-\d\d-\d\d, ")
_NOT_PROSE = re.compile(
    r"""\s*(?:
      > | \|                                               # quoted mail, tables
    | (?:https?://|www\.)\S+\s*$                           # nothing but an address
    | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d                      # a log with its time
    | \[?\d\d:\d\d:\d\d
    | \[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL|PASS|FAIL)\b[\]:\s]
    | Traceback\ \(most | File\ "[^"]*",\ line | at\ [\w$.<>]+\ ?\( | \w+(?:Error|Exception)\b:? | Caused\ by:
    | \$\ \S | %\ \S | >>>\  | [\w.-]+@[\w.-]+[:~][^\s]*[$\#]\ | npm\ ERR | error\[
    | (?:diff\ --git|index\ [0-9a-f]{7}|@@\ -|\+\+\+\ |---\ \S)
    | [{}\[\]<();]\s*$ | </?[A-Za-z][^>]*>\s*$ | ["'][\w-]+["']\s*: | [\w.]+\s*=\s*\S+;?\s*$
    | (?:import|from)\ [\w.]+(?:\ import\ .*)?$
    | (?:def|class|function|const|let|var|return|public|private)\ \w.*[:{;)]$
    | (?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\ .*(?:FROM|INTO|SET|TABLE)\b
    | (?:From|To|Subject|Date|Cc|Sent):\ \S
    | On\ .{5,80}\ wrote:\s*$ | -{3,}|={3,}|\*{3,}|_{3,}
    | =+\ .*\ =+\s*$ | \d+\ (?:passed|failed)\b
    )""",
    re.VERBOSE,
)
_NARROW, _WIDE = 60, 100
"""Characters at which text is wrapped."""
_SHORT = 12
"""A line of so few characters may be an answer: "20", "9:45 it is"."""
_SYMBOLS = re.compile(r"[{}()\[\];=<>|\\$&^~]")
_END = re.compile(r"""(?:[.!?]+["”’')\]]*|…)(?=\s)|[!?]+(?=[A-Z])""")
_ABBREVIATED = compiled(
    r"""(?:\b(?:e\.g|i\.e|vs|cf|mr|mrs|ms|dr|prof|st|no|approx|dept|est|inc|ltd|jr|sr|fig|incl|excl|etc|ca|tel|ext|a\.m
        |p\.m)|(?:^|\s)(?-i:[A-Z]))\.$""",
    re.IGNORECASE,
)


def sentences(text: str, *, lists: bool = True) -> list[Span]:
    """Return the sentences that the speaker said: no headings, tables, code, logs, quoted mail or recalled notes.

    `lists` tells whether the items of lists count.
    """
    return [span for start, end in _said(text, lists=lists) for span in _split(text, start, end)]


def _said(text: str, *, lists: bool) -> list[tuple[int, int]]:
    """Return the lines that are prose; a line of wrapped text that goes on in lower case is one with the next."""
    width = _wrapped_at(text)
    lines: list[tuple[int, int]] = []
    fenced = recalled = joins = in_list = False
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        bare = line.strip()
        item = _ITEM.match(line)
        in_list = bool(item) or (in_list and (not bare or line[0].isspace()))
        if _FENCE.match(line):
            fenced = not fenced and bare.count("```") != 2
            joins = False
        elif fenced:
            continue
        elif (recalled := _goes_on(bare, recalled)) or not bare or not _is_prose(line, bare) or (in_list and not lists):
            joins = False
        else:
            begin = item.end() if item else 0
            if joins and not item and bare[0].islower():
                lines[-1] = (lines[-1][0], position)
            else:
                lines.append((start + begin, position))
            joins = len(bare) >= 0.8 * width and bare[-1] not in ".!?:;"
    return lines


def _wrapped_at(text: str) -> float:
    """Return the width at which a text was wrapped, as in a mail; infinity if each line was typed as one."""
    lengths = [len(line) for line in text.splitlines() if line.strip()]
    widest = max(lengths, default=0)
    wrapped = len(lengths) > 3 and _NARROW <= widest <= _WIDE and sum(each >= 0.8 * widest for each in lengths) > 1
    return widest if wrapped else float("inf")


def _goes_on(bare: str, recalled: bool) -> bool:
    """Return whether a line belongs to a block of recalled notes."""
    return bare.endswith(HEADER) or bool(_RECALLED.match(bare)) or (recalled and (not bare or bare == AVOID))


def _is_prose(line: str, bare: str) -> bool:
    if _NOT_PROSE.match(line) or _HEADING.match(line):
        return False
    if len(bare) <= _SHORT:
        return any(map(str.isalnum, bare))
    letters = sum(map(str.isalpha, bare[:200]))
    if letters < 2 or letters < len(bare[:200]) * 0.45:
        return False
    return (
        not (line.startswith(("    ", "\t")) and _SYMBOLS.search(bare))
        and len(_SYMBOLS.findall(bare)) <= len(bare) / 12
    )


def _split(text: str, start: int, end: int) -> list[Span]:
    found: list[Span] = []
    begin = start
    for stop in _END.finditer(text, start, end):
        if stop[0] == "." and (
            _ABBREVIATED.search(text, max(begin, stop.end() - 8), stop.end()) or _is_numeral(text, begin, stop.end())
        ):
            continue
        _add(found, text, begin, stop.end())
        begin = stop.end()
    _add(found, text, begin, end)
    return found


def _is_numeral(text: str, begin: int, end: int) -> bool:
    """Return whether a full stop belongs to a number: "2. Reason", "am 5. mit dem Zug"."""
    number = text[begin : end - 1].strip()
    goes_on = text[end + 1 : end + 2]
    return (number.isdigit() and len(number) < 3) or (text[end - 2 : end - 1].isdigit() and goes_on.islower())


def _add(found: list[Span], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if 1 < end - start <= LONGEST:
        found.append(Span(start, end, text[start:end]))
