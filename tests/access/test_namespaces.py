"""Limits count for the namespace in the path, whatever characters it has."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from commonplace.server.api.routes import Name, WriteExchange
from commonplace.server.middleware import RawPath
from tests.access.keys_serving import served


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "expected"), [("a%2Fb", "a/b"), ("a%20b", "a b"), ("%C3%BC", "ü"), ("plain", "plain")]
)
def test_the_namespace_is_decoded_as_the_route_has_it(path: str, expected: str) -> None:
    app = FastAPI()
    app.add_middleware(RawPath)

    @app.put("/v1/spaces/{space}/kv/{namespace}")
    def put(namespace: Name, http: WriteExchange) -> list[str | None]:
        return [namespace, http.call.namespace]

    with served(app) as client:
        assert client.put(f"/v1/spaces/default/kv/{path}").json() == [expected, expected]
