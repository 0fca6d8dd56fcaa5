"""The text of an answer: memories quoted as data, with their provenance, within an exact token budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from commonplace.guard import injection, unseen
from commonplace.guard.echo import AVOID, HEADER
from commonplace.text.dates import Dated, dates_in, spans
from commonplace.values import Hit, Memory, Order, tokens

SHORTENED = " […]"
ORDER = "reads like an instruction"
HIDDEN = "has hidden characters"

_LONGEST_LABEL = 60
_MOST_DATES = 2
_BEGINNING = 1_000
"""Characters of a text in which dates are looked for."""
_KEPT = 16_384
"""Texts whose remarks are cached: the same memories are recalled time after time."""
_LONGEST_KEPT = 1_000
"""Characters of those, so that hostile texts cannot fill the cache."""
_FEWEST_CHARACTERS = 40
_GENEROUS = 8
"""Characters that a token of ordinary text hardly exceeds: a longer beginning is not tried."""

_NOT_PHRASE = re.compile(r"[^a-z0-9]+")
_NOT_LABEL = re.compile(r"[\s\x00-\x1f\[\]\"“”,]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """The hits that fit, in rank order, and the text that quotes them."""

    hits: tuple[Hit, ...]
    avoid: tuple[Hit, ...]
    text: str


def pack(
    hits: Sequence[Hit],
    avoid: Sequence[Hit] = (),
    *,
    max_tokens: int | None = None,
    order: Order = "relevance",
) -> Packed:
    """Keep the best hits that fit: the text never has more than `max_tokens` tokens.

    If not even one fits, the best is shortened, so that a long memory does not look like an empty book.
    """
    lines = {id(hit): write_line(hit.memory) for hit in (*hits, *avoid)}
    if max_tokens is not None and not _surely_fits(lines, max_tokens):
        lines = _choose_lines(hits, avoid, lines, max_tokens)
    shown = tuple(hit for hit in hits if id(hit) in lines)
    avoided = tuple(hit for hit in avoid if id(hit) in lines)
    written = _add_headings([lines[id(hit)] for hit in put_in_order(shown, order)], [lines[id(hit)] for hit in avoided])
    if max_tokens is not None and (excess := _excess(written, max_tokens)):
        # Without a line end, the last line may have more tokens than with one.
        return pack(hits, avoid, max_tokens=max_tokens - excess, order=order)
    return Packed(hits=shown, avoid=avoided, text="\n".join(written))


def _excess(written: list[str], max_tokens: int) -> int:
    """Return by how many tokens lines exceed their budget; few bytes fit without counting."""
    if not written or sum(len(each.encode()) + 1 for each in written) <= max_tokens:
        return 0
    return max(tokens.count_lines(written) - max_tokens, 0)


def _surely_fits(lines: dict[int, str], max_tokens: int) -> bool:
    """Tell without counting whether few bytes fit: a token has at least one byte."""
    ends = len(HEADER) + len(AVOID) + 2 + len(lines)
    return ends + sum(len(each.encode()) for each in lines.values()) <= max_tokens


def write_line(memory: Memory, content: str | None = None) -> str:
    """Write one memory: date, kind, origin, the dates that its text counts from then, and its text as a JSON string."""
    shown = memory.text if content is None else content
    label = [memory.said_at.date().isoformat(), memory.kind]
    if memory.valid_to is not None:
        label.append(f"until {memory.valid_to.date().isoformat()}")
    origin, role = _origin(memory)
    if origin and (name := _NOT_LABEL.sub(" ", _escape(origin)).strip()[:_LONGEST_LABEL]):
        label.append(role + name)
    warn = _warn_again if len(shown) <= _LONGEST_KEPT else _warn
    remarks = (*_reckon_dates(shown[:_BEGINNING], memory.said_at.date()), *warn(shown))
    return f"- [{'; '.join((', '.join(label), *remarks))}] {quote(shown)}"


def _warn(text: str) -> tuple[str, ...]:
    """Warn of a text that reads like an instruction to the model, and of one that hides characters.

    These are hints; the protection is that the text is quoted and escaped.
    """
    order = (ORDER,) if injection.flags(text) else ()
    return (*order, HIDDEN) if not text.isascii() and unseen.HIDDEN.search(text) else order


_warn_again = lru_cache(maxsize=_KEPT)(_warn)


@lru_cache(maxsize=_KEPT)
def _reckon_dates(beginning: str, said: date) -> tuple[str, ...]:
    """Work out the dates that a text counts from the day it was said, except that day itself."""
    dated = [each for each in dates_in(beginning, said) if each.relative and not each.first <= said <= each.last]
    return tuple(dict.fromkeys(map(_write_date, dated)))[:_MOST_DATES]


def _write_date(dated: Dated) -> str:
    """Write what a phrase means; only its letters and digits, so that it cannot pass for anything else."""
    return f"{_NOT_PHRASE.sub(' ', dated.phrase.lower()).strip()} = {spans.write((dated.first, dated.last))}"


def _origin(memory: Memory) -> tuple[str | None, str]:
    """Return who said it or, if unknown, whose it is, with a label for that."""
    if memory.source:
        return memory.source, ""
    if memory.scope.user:
        return memory.scope.user, "user "
    return memory.scope.agent, "agent "


def quote(text: str) -> str:
    """Write text as a JSON string in one line, with invisible characters escaped."""
    return _escape(json.dumps(text, ensure_ascii=False))


def quote_notes(notes: Iterable[Memory | str]) -> str:
    """Quote memories and texts as data, under the header that `strip_recalled` recognises; "" for none."""
    lines = [f"- {quote(each)}" if isinstance(each, str) else write_line(each) for each in notes]
    return "\n".join((HEADER, *lines)) if lines else ""


def _escape(text: str) -> str:
    return unseen.ESCAPED.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _add_headings(shown: list[str], avoided: list[str]) -> list[str]:
    parts = [HEADER] if shown or avoided else []
    parts += shown
    if avoided:
        parts += [AVOID, *avoided]
    return parts


def put_in_order(hits: Sequence[Hit], order: Order) -> tuple[Hit, ...]:
    """Return hits as they are, or by the time that they were said."""
    return tuple(sorted(hits, key=lambda hit: hit.memory.said_at) if order == "time" else hits)


def _choose_lines(hits: Sequence[Hit], avoid: Sequence[Hit], lines: dict[int, str], max_tokens: int) -> dict[int, str]:
    """Choose lines by score until the budget is spent. A line end always ends a token, so costs add up."""
    left = max_tokens - _cost(HEADER)
    warned = {id(hit) for hit in avoid}
    headed = False
    chosen: dict[int, str] = {}
    for hit in sorted((*hits, *avoid), key=lambda hit: -hit.score):
        heading = _cost(AVOID) if id(hit) in warned and not headed else 0
        if (cost := _cost(lines[id(hit)], left) + heading) <= left:
            chosen[id(hit)] = lines[id(hit)]
            left -= cost
            headed = headed or heading > 0
    return chosen or _shorten(hits or avoid, left if hits else left - _cost(AVOID))


def _cost(line: str, limit: int | None = None) -> int:
    """Count a line with its end, unless it surely exceeds the limit: each word has a token of its own."""
    if limit is not None and (len(line) > max(limit, 0) * tokens.LONGEST or len(line.split()) > limit):
        return limit + 1
    return tokens.count(line + "\n")


def _shorten(hits: Sequence[Hit], left: int) -> dict[int, str]:
    """Cut the best hit's text to the longest beginning that fits; return nothing if hardly anything would."""
    if not hits:
        return {}
    memory = hits[0].memory
    low, high = 0, min(len(memory.text), max(left, 0) * _GENEROUS)
    while low < high:
        middle = (low + high + 1) // 2
        fits = _cost(write_line(memory, memory.text[:middle] + SHORTENED)) <= left
        low, high = (middle, high) if fits else (low, middle - 1)
    if low < _FEWEST_CHARACTERS:
        return {}
    return {id(hits[0]): write_line(memory, memory.text[:low] + SHORTENED)}
