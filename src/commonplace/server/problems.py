"""Errors as HTTP has them: application/problem+json with a stable code."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic_core import to_json
from starlette.responses import Response

from commonplace.errors import CommonplaceError, Conflict, LimitReached

MEDIA_TYPE = "application/problem+json"


_WORDS = {
    404: ("NotFound", "not_found"),
    405: ("MethodNotAllowed", "method_not_allowed"),
    413: ("TooLarge", "too_large"),
    415: ("UnsupportedMediaType", "unsupported_media_type"),
}


def problem(error: CommonplaceError) -> Response:
    """The answer that tells of an error."""
    return Response(to_json(told(error)), error.status, headers=headers(error), media_type=MEDIA_TYPE)


def told(error: CommonplaceError) -> dict[str, object]:
    """An error as a problem has it."""
    body = _body(error.status, type(error).__name__, error.code, str(error), retryable=error.retryable)
    if isinstance(error, Conflict):
        body["current"] = error.current
    if isinstance(error, LimitReached):
        body["retry_after"] = error.retry_after
    return body


def refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to what reached no verb: no such route, method or type of body."""
    title, code = _WORDS.get(status, ("InvalidInput", "invalid_input"))
    return Response(to_json(_body(status, title, code, detail)), status, headers=headers, media_type=MEDIA_TYPE)


def broken() -> Response:
    """The answer to a fault of ours, which the log tells of."""
    body = _body(500, "CommonplaceError", "error", "the server failed: its log says why")
    return Response(to_json(body), 500, media_type=MEDIA_TYPE)


def _body(status: int, title: str, code: str, detail: str, *, retryable: bool = False) -> dict[str, object]:
    return {
        "type": "about:blank",
        "title": title,
        "status": status,
        # A message may quote what was sent, which need not be valid Unicode.
        "detail": detail.encode("utf-8", "backslashreplace").decode(),
        "code": code,
        "retryable": retryable,
    }


def headers(error: CommonplaceError) -> dict[str, str]:
    """The headers that go with an error, whatever the shape of its body."""
    if isinstance(error, LimitReached):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    if error.status == 401:
        return {"WWW-Authenticate": 'Bearer, Basic realm="commonplace"'}
    return {}
