"""Errors as HTTP has them: application/problem+json with a stable code."""

from __future__ import annotations

import math

from pydantic_core import to_json
from starlette.responses import Response

from commonplace.errors import CommonplaceError, Conflict, LimitReached

MEDIA_TYPE = "application/problem+json"


def problem(error: CommonplaceError) -> Response:
    """The answer that tells of an error."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": type(error).__name__,
        "status": error.status,
        "detail": str(error),
        "code": error.code,
        "retryable": error.retryable,
    }
    if isinstance(error, Conflict):
        body["current"] = error.current
    if isinstance(error, LimitReached):
        body["retry_after"] = error.retry_after
    return Response(to_json(body), error.status, headers=headers(error), media_type=MEDIA_TYPE)


def headers(error: CommonplaceError) -> dict[str, str]:
    """The headers that go with an error, whatever the shape of its body."""
    if isinstance(error, LimitReached):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    if error.status == 401:
        return {"WWW-Authenticate": 'Bearer, Basic realm="commonplace"'}
    return {}
