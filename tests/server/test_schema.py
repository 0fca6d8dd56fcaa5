"""The OpenAPI document is true: no request makes the server fail, and every answer conforms to the document."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from commonplace.access import keys
from tests.server.server_harness import Running, start

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A separate server, because the first key closes it to requests without one."""
    served = start(tmp_path_factory.mktemp("schema") / "book.db")
    yield served
    served.stop()


@pytest.fixture(scope="module")
def key(running: Running) -> str:
    return keys.create(running.core.store, role="admin", spaces=["*"]).token


@pytest.fixture
def http(running: Running, key: str) -> Iterator[httpx.Client]:
    """A client of a space of the test's own."""
    base, given = f"{running.url}/v1/spaces/{uuid.uuid4().hex}", {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=base, headers=given, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def document(running: Running) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{running.url}/openapi.json").json()
    return found


@schemathesis.serializer("application/x-ndjson")
def _lines(ctx: Any, value: Any) -> bytes:
    return value.encode("utf-8", "replace") if isinstance(value, str) else json.dumps(value).encode()


@pytest.mark.slow
def test_every_answer_is_as_documented(running: Running, key: str, document: dict[str, Any]) -> None:
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=running.url)
    tried = 0
    found: Any
    for found in schema.get_all_operations():
        _hammer(found.ok(), key)
        tried += 1
    assert tried == sum(len(operations) for operations in document["paths"].values())


def _hammer(operation: Any, key: str) -> None:
    """Send what the document allows, and some of what it does not."""
    # Where all that is sent is names in a path, nothing can be wrong with it that the document knows of.
    modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE] if operation.body else [GenerationMode.POSITIVE]
    for mode in modes:

        @settings(
            max_examples=3,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: Any) -> None:
            case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {key}"}, timeout=30)

        send()


def test_every_operation_has_a_name_words_and_examples(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    names = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            names.append(operation["operationId"])
            assert operation["description"], where
            assert {"400", "401", "403", "404", "409", "413", "415", "429", "503"} <= set(operation["responses"]), where
            for content in _json_contents(operation):
                assert schemas[content["schema"]["$ref"].rsplit("/", 1)[1]].get("examples"), where
    assert len(names) == len(set(names))


def _json_contents(operation: dict[str, Any]) -> list[dict[str, Any]]:
    sent = operation.get("requestBody", {}).get("content", {})
    answers = [answer.get("content", {}) for answer in operation["responses"].values()]
    found = [content[kind] for content in (sent, *answers) for kind in content if kind.endswith("json")]
    return [each for each in found if "$ref" in each.get("schema", {})]


def test_the_examples_of_bodies_are_accepted(running: Running, document: dict[str, Any], http: httpx.Client) -> None:
    """Each but those that name a memory which is not there."""
    for path, operations in document["paths"].items():
        body = operations.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json")
        if body is None or "$ref" not in body["schema"]:
            continue
        example = document["components"]["schemas"][body["schema"]["$ref"].rsplit("/", 1)[1]]["examples"][0]
        place = path.removeprefix("/v1/spaces/{space}").replace("{key}", "k").replace("{namespace}", "n")
        place = place.replace("{canvas}", "c").replace("{session}", "s").replace("{id}", "nobody")
        answer = http.post(f"{running.url}{place}" if place == path else place, json=example)
        assert answer.status_code < 300 or answer.status_code in (404, 409), (path, answer.text)
