"""What a server answered: a value, or the error that it tells of, of the same class as in process."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from commonplace import errors
from commonplace.errors import CommonplaceError, Conflict, LimitReached, ServerFailed, ServerUnavailable
from commonplace.values import times

PROBLEM = "application/problem+json"
AWAY = (502, 503, 504)
"""What a proxy answers while the server behind it is away."""
_SHOWN = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether it is what was asked for, and no error."""
        return 200 <= self.status < 300


def value(answer: Answer, shown: str) -> Any:
    """The JSON of an answer; ServerFailed if it holds none."""
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ServerFailed(_strange(answer, shown)) from error


def failure(answer: Answer, shown: str) -> CommonplaceError:
    """The error that an answer tells of."""
    if _kind(answer) == PROBLEM:
        try:
            told = json.loads(answer.body)
            return problem(told)
        except (ValueError, KeyError, TypeError, RecursionError):
            return ServerFailed(_strange(answer, shown))
    if answer.status in AWAY:
        return ServerUnavailable(f"{shown} is away: something before it answered {answer.status}{_extract(answer)}")
    return ServerFailed(_strange(answer, shown))


def problem(told: Mapping[str, Any]) -> CommonplaceError:
    """A problem as the error of its class."""
    detail = str(told["detail"])
    kind = CLASSES.get(told["code"])
    if kind is None:
        return ServerFailed(
            f"the server tells of an error that this commonplace does not know, {told['code']!r}: {detail}"
        )
    if issubclass(kind, Conflict):
        return kind(detail, current=int(told["current"]))
    if issubclass(kind, LimitReached):
        return kind(detail, retry_after=float(told["retry_after"]))
    return kind(detail)


def retry_after(answer: Answer, error: CommonplaceError) -> float:
    """The seconds that a server asks to wait before the next try; 0 if it asks for none."""
    if isinstance(error, LimitReached):
        return error.retry_after
    given = answer.headers.get("Retry-After")
    if not given:
        return 0.0
    try:
        seconds = float(given)
    except ValueError:
        return _until(given)
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _until(moment: str) -> float:
    try:
        return max(0.0, (times.to_micros(parsedate_to_datetime(moment)) - times.now()) / 1e6)
    except ValueError:
        return 0.0


def _strange(answer: Answer, shown: str) -> str:
    if 300 <= answer.status < 400:
        return f"{shown} sends on to another address ({answer.status}): open the book at that one"
    return (
        f"{shown} answered {answer.status} with something that no commonplace server says{_extract(answer)};"
        " is the address right?"
    )


def _extract(answer: Answer) -> str:
    """The beginning of a text, on one line and without control characters; nothing of what is no text."""
    if not _kind(answer).startswith("text/") and "json" not in _kind(answer):
        return ""
    text = answer.body[: 4 * _SHOWN].decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f" ({line[:_SHOWN]}{'…' if len(line) > _SHOWN else ''})" if line else ""


def _kind(answer: Answer) -> str:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _tree(kind: type[CommonplaceError]) -> Iterator[type[CommonplaceError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _tree(below)


CLASSES: dict[str, type[CommonplaceError]] = {
    kind.code: kind for kind in _tree(CommonplaceError) if kind.__module__ == errors.__name__
}
"""Every error of the tree by its code."""
