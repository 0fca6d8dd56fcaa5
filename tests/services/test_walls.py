"""No namespace, key, channel or id leads from one space to another, however it is written."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commonplace.book import Book
from tests.services.serving import Keys, Served, serving, talking

PIECES = st.sampled_from(
    [
        "..",
        ".",
        "/",
        "//",
        "%2e%2e",
        "%2E",
        "%2f",
        "%252F",
        "%5C",
        "\\",
        "spaces",
        "team-b",
        "memory",
        "secrets",
        "v1",
        "k",
        "é",
        "ключ",
        "🔑",
        " ",
        "%20",
        "%",
        "%zz",
        "%ff",
        "?",
        "#",
        ";",
        ":",
        "@",
        "~",
        "+",
        "&",
        "=",
        "*",
        "'",
    ]
)
TRICKY = st.lists(PIECES, min_size=1, max_size=8).map("".join)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30) | TRICKY


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("walled") / "book.db", Keys({"a": "team-a", "b": "team-b"})) as running:
        theirs = running.book("team-b")
        theirs.kv("secrets").set("k", "theirs")
        theirs.remember("The vault opens at nine", id="k")
        yield running


def state(book: Book) -> Any:
    return [{name: book.kv(name).keys() for name in book.namespaces()}, book.transcripts(), book.stats().versions]


def raw(url: str, method: str, path: str, body: object = None) -> tuple[int, bytes]:
    """A request whose path is sent as it is: most clients would tidy it up before."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    try:
        headers = {"Authorization": "Bearer a", "Content-Type": "application/json"}
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.slow
@given(namespace=TRICKY, key=TRICKY)
def test_a_path_sent_as_it_is_stays_in_its_space(walled: Served, namespace: str, key: str) -> None:
    before = state(walled.book("team-b"))
    start, rest = "/spaces/team-a", quote(f"{namespace}/{key}", safe="/%.\\?;:@~+&=*'")
    for method, path, body in (
        ("PUT", f"{start}/memory/{rest}", {"value": "mine"}),
        ("POST", f"{start}/memory/{rest}/append", {"value": "mine"}),
        ("DELETE", f"{start}/memory/{rest}", None),
        ("PUT", f"{start}/memories/{rest}", {"content": "mine"}),
        ("DELETE", f"{start}/v1/memory/forget/{rest}", None),
    ):
        status, told = raw(walled.url, method, path, body)
        assert status < 500, told
    for path in (f"{start}/memory/{rest}", f"{start}/memories/{rest}", f"{start}/memories/{rest}/history"):
        status, told = raw(walled.url, "GET", path)
        assert status < 500, told
        assert b"theirs" not in told
        assert b"vault" not in told
    assert state(walled.book("team-b")) == before


@given(key=TRICKY)
def test_a_path_that_a_client_tidied_up_opens_no_other_space(walled: Served, key: str) -> None:
    before = state(walled.book("team-b"))
    try:
        url = httpx.URL(f"{walled.url}/spaces/team-a/memory/ns/{key}")
    except httpx.InvalidURL:
        assume(False)
    with talking() as client:
        client.headers["X-API-Key"] = "a"
        for method in ("PUT", "DELETE", "GET"):
            answer = client.request(method, url, json={"value": "mine"})
            assert answer.status_code < 500
            assert "theirs" not in answer.text
    assert state(walled.book("team-b")) == before


@given(namespace=NAMES, key=NAMES)
def test_names_of_any_characters_come_back_as_they_were(walled: Served, namespace: str, key: str) -> None:
    path = f"/spaces/team-a/memory/{quote(namespace, safe='')}/{quote(key, safe='/')}"
    status, told = raw(walled.url, "PUT", path, {"value": key})
    if status != 200:
        assert status == 400, told  # what the book itself refuses: names of spaces alone, or too long
        return
    got = json.loads(raw(walled.url, "GET", path)[1])
    assert (got["namespace"], got["key"], got["value"]) == (namespace, key, json.loads(told)["value"])
    assert walled.book("team-a").kv(namespace).entry(key) is not None
    assert key in json.loads(raw(walled.url, "GET", path[: path.index("/memory/")] + f"/memory/{quote(namespace, safe='')}")[1])["keys"]  # fmt: skip  # noqa: E501


def test_a_job_and_a_memory_of_another_space_are_unknown(walled: Served) -> None:
    learned = walled.book("team-b").learn("Sarah: I prefer tea.", wait=True)
    for path in (f"/memories/extract/{learned.session}", "/memories/k", "/memories/k/history"):
        assert raw(walled.url, "GET", path)[0] == 404
        assert raw(walled.url, "GET", f"/spaces/team-b{path}")[0] == 403
    assert raw(walled.url, "DELETE", "/v1/memory/forget/k")[0] == 404
    assert walled.book("team-b").get("k").content == "The vault opens at nine"
