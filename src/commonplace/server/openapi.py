"""The OpenAPI document: what the routes say of themselves, and the shape of every problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from commonplace.server.api.answers import Problem

_ABOUT = """A memory for agents: persistent, shared, searchable, and honest about what it does not know.

Errors are `application/problem+json` with a stable `code`. A change may name the version that it is made for
(`If-Match`), and may have a name of its own (`Idempotency-Key`) under which it is carried out only once."""


def documented(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """What makes the document of an application, once."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
            schemas = made.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            for path in made["paths"].values():
                for operation in path.values():
                    _tell_of_validation(operation["responses"])
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            app.openapi_schema = made
        return app.openapi_schema

    return document


def _tell_of_validation(responses: dict[str, Any]) -> None:
    """Take out what FastAPI says of its own validation errors: here they are problems with status 400."""
    told = responses.get("422", {}).get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
    if told.endswith("/HTTPValidationError"):
        del responses["422"]
