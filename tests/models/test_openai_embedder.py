"""OpenAIEmbedder against a real HTTP server on loopback."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import numpy as np
import pytest

from commonplace.errors import EmbedderFailed, InvalidInput
from commonplace.models.embedders import Embedder, OpenAIEmbedder, load_embedder
from commonplace.models.openai import HttpAnswer, pause_after
from tests.models.service import Reply, Service, vector

KEY = "sk-very-secret-0123456789"


def embedder(service: Service, **options: object) -> OpenAIEmbedder:
    return OpenAIEmbedder("small", **{"base_url": service.url, "retries": 2, "timeout": 5.0, **options})  # type: ignore[arg-type]


def expected(text: str) -> np.ndarray:
    row: np.ndarray = np.array(vector(text))
    row /= np.linalg.norm(row)
    return row


def test_each_text_gets_its_own_unit_row_across_batches(service: Service) -> None:
    texts = [f"text number {n} {'x' * n}" for n in range(7)]
    rows = embedder(service, batch=3).embed(texts)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [expected(text) for text in texts], atol=1e-6)
    assert [len(request.body["input"]) for request in service.requests] == [3, 3, 1]
    assert {request.path for request in service.requests} == {"/v1/embeddings"}
    assert {request.body["model"] for request in service.requests} == {"small"}


def test_a_query_is_embedded_like_a_passage(service: Service) -> None:
    row = embedder(service).embed_query("why?")
    assert row.shape == (3,)
    np.testing.assert_allclose(row, expected("why?"), atol=1e-6)


def test_rows_are_put_in_the_order_of_their_index(service: Service) -> None:
    service.change = lambda rows: rows[::-1]
    rows = embedder(service).embed(["a", "bb", "ccc"])
    np.testing.assert_allclose(rows, [expected(text) for text in ("a", "bb", "ccc")], atol=1e-6)


def test_rows_without_an_index_are_taken_in_order(service: Service) -> None:
    service.change = lambda rows: [{"embedding": row["embedding"]} for row in rows]
    np.testing.assert_allclose(embedder(service).embed(["a", "bb"])[1], expected("bb"), atol=1e-6)


def test_blank_texts_get_zeros_and_are_not_sent(service: Service) -> None:
    rows = embedder(service).embed(["", "a", " \n"])
    assert not rows[0].any()
    assert not rows[2].any()
    assert service.requests[0].body["input"] == ["a"]


def test_the_dimension_is_asked_for_once_even_by_many_threads(service: Service) -> None:
    one = embedder(service)
    assert service.requests == []
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: one.dimension, range(16))) == {3}
    assert len(service.requests) == 1


def test_a_given_dimension_costs_no_request(service: Service) -> None:
    assert embedder(service, dimension=3).dimension == 3
    assert embedder(service, dimension=3).embed([]).shape == (0, 3)
    assert service.requests == []


def test_loading_an_embedder_does_not_ask_it_anything(service: Service) -> None:
    one = embedder(service)
    assert load_embedder(one) is one
    assert service.requests == []
    assert isinstance(one, Embedder)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_temporary_failure_is_retried(service: Service, status: int) -> None:
    service.script = [Reply(status, {"error": {"message": "busy"}}, {"Retry-After": "0"})]
    assert embedder(service).embed(["a"]).shape == (1, 3)
    assert len(service.requests) == 2


@pytest.mark.slow
def test_500_without_a_hint_is_retried_after_a_pause(service: Service) -> None:
    service.script = [Reply(500, b"oops")]
    embedder(service).embed(["a"])
    assert service.requests[1].at - service.requests[0].at >= 0.24


@pytest.mark.slow
def test_retry_after_in_seconds_is_honoured(service: Service) -> None:
    service.script = [Reply(429, {}, {"Retry-After": "0.8"})]
    embedder(service).embed(["a"])
    assert service.requests[1].at - service.requests[0].at >= 0.8


@pytest.mark.slow
def test_retry_after_as_a_date_is_honoured(service: Service) -> None:
    later = datetime.now(timezone.utc) + timedelta(seconds=2)
    service.script = [Reply(429, {}, {"Retry-After": format_datetime(later, usegmt=True)})]
    embedder(service).embed(["a"])
    # The header carries whole seconds, so that up to one of the two may be lost.
    assert service.requests[1].at - service.requests[0].at >= 0.8


def test_a_service_that_asks_for_an_hour_is_not_waited_for(service: Service) -> None:
    service.script = [Reply(429, {"error": {"message": "quota"}}, {"Retry-After": "3600"})]
    with pytest.raises(EmbedderFailed, match=r"answered 429 \(try again in 3600 s\): quota"):
        embedder(service).embed(["a"])
    assert len(service.requests) == 1


def test_after_the_last_try_the_failure_is_raised(service: Service) -> None:
    service.script = [Reply(503, {"error": {"message": "down"}}, {"Retry-After": "0"})] * 3
    with pytest.raises(EmbedderFailed, match="/v1/embeddings answered 503: down"):
        embedder(service).embed(["a"])
    assert len(service.requests) == 3


def test_a_refusal_is_not_retried(service: Service) -> None:
    service.script = [Reply(400, {"error": {"message": "too long"}})]
    with pytest.raises(EmbedderFailed, match="answered 400: too long"):
        embedder(service).embed(["a"])
    assert len(service.requests) == 1


def test_401_without_a_key_says_how_to_give_one(service: Service) -> None:
    service.script = [Reply(401, {"error": "who are you?"})]
    with pytest.raises(EmbedderFailed, match="set OPENAI_API_KEY or pass api_key: who are you"):
        embedder(service).embed(["a"])


def test_a_redirect_is_not_followed_with_the_key(service: Service) -> None:
    service.script = [Reply(302, b"", {"Location": f"{service.url}/elsewhere"})]
    with pytest.raises(EmbedderFailed, match="answered 302"):
        embedder(service, api_key=KEY).embed(["a"])
    assert len(service.requests) == 1


def test_a_silent_service_times_out(service: Service) -> None:
    service.script = [Reply(delay=60.0)]
    started = time.monotonic()
    with pytest.raises(EmbedderFailed, match=r"did not answer: nothing came for 0.2 s"):
        embedder(service, timeout=0.2, retries=0).embed(["a"])
    assert time.monotonic() - started < 30


@pytest.mark.slow
def test_a_time_out_is_retried(service: Service) -> None:
    service.script = [Reply(delay=1.0)]
    assert embedder(service, timeout=0.3, retries=1).embed(["a"]).shape == (1, 3)


@pytest.mark.slow
def test_an_answer_that_breaks_off_is_retried(service: Service) -> None:
    service.script = [Reply(200, b'{"data": [', {"Content-Length": "1000"})]
    assert embedder(service, retries=1).embed(["a"]).shape == (1, 3)


def test_a_closed_port_is_a_failure_in_plain_words() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(EmbedderFailed, match=r"did not answer: .*refused"):
            OpenAIEmbedder("small", base_url=url, retries=0).embed(["a"])


def test_vectors_of_another_dimension_are_refused(service: Service) -> None:
    with pytest.raises(EmbedderFailed, match="vectors of 3 numbers, not 4"):
        embedder(service, dimension=4).embed(["a"])


def test_a_dimension_that_changes_is_refused(service: Service) -> None:
    one = embedder(service)
    one.embed(["a"])
    service.change = lambda rows: [{**row, "embedding": [1.0, 2.0]} for row in rows]
    with pytest.raises(EmbedderFailed, match="vectors of 2 numbers, not 3"):
        one.embed(["a"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[:1], "1 vectors for 2 texts"),
        (lambda rows: [*rows, rows[0]], "3 vectors for 2 texts"),
        (lambda rows: [rows[0], rows[0]], "indexes are not 0 to 1"),
        (lambda rows: [rows[0], {**rows[1], "index": "1"}], "indexes are not 0 to 1"),
        (lambda rows: [rows[0], {**rows[1], "embedding": [1.0, float("nan"), 2.0]}], "not finite"),
        (lambda rows: [rows[0], {**rows[1], "embedding": [1.0, float("inf"), 2.0]}], "not finite"),
        (lambda rows: [rows[0], {**rows[1], "embedding": [1.0, None, 2.0]}], "not finite|matrix"),
        (lambda rows: [rows[0], {**rows[1], "embedding": [1.0]}], "matrix of numbers"),
        (lambda rows: [rows[0], {**rows[1], "embedding": "AAAA"}], 'without a list "embedding"'),
        (lambda rows: [{**row, "embedding": []} for row in rows], "shape"),
        (lambda rows: "none", 'without a list "data"'),
    ],
)
def test_an_answer_that_is_no_embedding_is_refused(service: Service, change: object, words: str) -> None:
    service.change = change  # type: ignore[assignment]
    with pytest.raises(EmbedderFailed, match=words):
        embedder(service).embed(["a", "b"])


def test_an_answer_that_is_no_json_is_refused(service: Service) -> None:
    service.script = [Reply(200, b"<html>")]
    with pytest.raises(EmbedderFailed, match="not return JSON"):
        embedder(service).embed(["a"])


def test_the_key_is_sent_and_never_shown(service: Service) -> None:
    one = embedder(service, api_key=KEY, headers={"X-Tenant": "tenant-secret"})
    service.script = [Reply(401, {"error": {"message": f"wrong key {KEY} of tenant-secret"}})]
    with pytest.raises(EmbedderFailed) as caught:
        one.embed(["a"])
    assert service.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert service.requests[0].headers["X-Tenant"] == "tenant-secret"
    for shown in (str(caught.value), repr(caught.value), repr(one)):
        assert KEY not in shown
        assert "tenant-secret" not in shown


def test_the_key_comes_from_the_environment_without_its_line_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + "\n")
    embedder(service).embed(["a"])
    assert service.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_no_authorization_is_sent(service: Service) -> None:
    embedder(service).embed(["a"])
    assert "Authorization" not in service.requests[0].headers


def test_a_key_that_http_cannot_carry_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAIEmbedder("small", base_url="http://localhost", api_key="secret\nkey")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["localhost:8080", "file:///etc/passwd", "ftp://host/v1", "http://user:hidden@host", "http://h/v1?key=hidden"],
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAIEmbedder("small", base_url=url)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("options", [{"batch": 0}, {"retries": -1}, {"timeout": 0}, {"dimension": 0}])
def test_options_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(InvalidInput):
        OpenAIEmbedder("small", base_url="http://localhost", **options)  # type: ignore[arg-type]


def test_another_client_may_send_the_requests() -> None:
    sent: list[object] = []

    def client(url: str, body: bytes, headers: object, timeout: float) -> HttpAnswer:
        sent.append((url, json.loads(body), timeout))
        return HttpAnswer(status=200, body=b'{"data": [{"index": 0, "embedding": [3, 4]}]}')

    one = OpenAIEmbedder("small", base_url="https://example.test/v1/", client=client)
    np.testing.assert_allclose(one.embed(["a"]), [[0.6, 0.8]])
    assert sent == [("https://example.test/v1/embeddings", {"model": "small", "input": ["a"]}, 30.0)]


def test_threads_share_one_embedder(service: Service) -> None:
    one = embedder(service)
    texts = [f"text {n}" for n in range(20)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(one.embed_query, texts))
    np.testing.assert_allclose(rows, [expected(text) for text in texts], atol=1e-6)


def test_pauses_double_are_spread_and_have_a_limit() -> None:
    for attempt, longest in [(0, 0.5), (1, 1.0), (2, 2.0), (20, 20.0)]:
        pauses = {pause_after(attempt, None) for _ in range(50)}
        assert longest / 2 <= min(pauses) < max(pauses) <= longest
    assert pause_after(0, 10.0) >= 10.0
