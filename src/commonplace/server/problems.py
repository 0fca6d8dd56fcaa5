"""Errors as HTTP answers: application/problem+json with a stable code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.responses import Response

from commonplace.errors import CommonplaceError, Conflict, LimitReached

MEDIA_TYPE = "application/problem+json"
_NAMES = {
    404: ("NotFound", "not_found"),
    405: ("MethodNotAllowed", "method_not_allowed"),
    413: ("TooLarge", "too_large"),
    415: ("UnsupportedMediaType", "unsupported_media_type"),
    500: ("CommonplaceError", "error"),
}
_STATUSES = {
    400: "The request is invalid; the message says how.",
    401: "No key, or one that is unknown, expired or revoked.",
    403: "The key does not open this space, or does not allow this.",
    404: "There is no such thing in this space.",
    408: "The body took too long to arrive.",
    409: "Another change came first, an id is taken, or the answer of a repeated request is not kept.",
    413: "Larger than the limit.",
    415: "The body has another type.",
    422: "The idempotency key was used before, with another request.",
    429: "A limit of the key is reached, or too many jobs wait: try again later.",
    502: "The embedder or the reranker failed.",
    503: "The store is busy or unavailable: try again.",
    507: "The disk is full; nothing was changed.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": words, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for status, words in _STATUSES.items()
}
"""The errors that every route may answer with, for the OpenAPI document."""


def problem(error: CommonplaceError) -> Response:
    """Return the answer to a request that raised an error."""
    return Response(to_json(problem_body(error)), error.status, headers=error_headers(error), media_type=MEDIA_TYPE)


def problem_body(error: CommonplaceError) -> dict[str, object]:
    """Return an error as the body of a problem."""
    body = _body(error.status, type(error).__name__, error.code, str(error), retryable=error.retryable)
    if isinstance(error, Conflict):
        body["current"] = error.current
    if isinstance(error, LimitReached):
        body["retry_after"] = error.retry_after
    return body


def refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that reached no verb: an unknown route, method or type, or a failure of ours."""
    title, code = _NAMES.get(status, ("InvalidInput", "invalid_input"))
    return Response(to_json(_body(status, title, code, detail)), status, headers=headers, media_type=MEDIA_TYPE)


def error_headers(error: CommonplaceError) -> dict[str, str]:
    """Return the headers that go with an error, whatever the shape of its body."""
    if isinstance(error, LimitReached):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    if error.status == 401:
        return {"WWW-Authenticate": 'Bearer, Basic realm="commonplace"'}
    return {}


def describe_invalid(error: RequestValidationError) -> str:
    """Return what is wrong with a request: each place and what it should be, without quoting what was sent."""
    found = [
        f"{'.'.join(str(part) for part in each['loc'][1:]) or each['loc'][0]}: {each['msg']}" for each in error.errors()
    ]
    return "; ".join(found[:5])


def _body(status: int, title: str, code: str, detail: str, *, retryable: bool = False) -> dict[str, object]:
    return {
        "type": "about:blank",
        "title": title,
        "status": status,
        # A message may quote the request, which need not be valid Unicode.
        "detail": detail.encode("utf-8", "backslashreplace").decode(),
        "code": code,
        "retryable": retryable,
    }
