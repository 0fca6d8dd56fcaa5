"""Addresses, keys and options of a book behind a server, and its errors."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace import errors
from commonplace.remote import address, transport
from commonplace.remote.transport import path_part, query_string
from commonplace.settings import Settings


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://localhost:8420", "http://localhost:8420"),
        ("http://localhost:80/", "http://localhost"),
        ("https://memory.example", "https://memory.example"),
        ("https://memory.example:8443/team/a/", "https://memory.example:8443/team/a"),
        ("http://[::1]:8420", "http://[::1]:8420"),
        ("https://ada:secret@memory.example", "https://memory.example"),
        ("http://a:8420,https://ada:se,cret@b/x/", "http://a:8420,https://b/x"),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str) -> None:
    with commonplace.open(url) as book:
        assert repr(book) == f"<RemoteBook {shown} space='default'>"
    assert commonplace.location.label(url) == shown
    assert "cret" not in repr(address.parse_all(url))


@pytest.mark.parametrize(
    "url",
    [
        "http://", "http://:8420", "http://host:port", "http://host:0", "http://host:99999", "http://[::1",
        "https://a b", "https://gedächtnis.example",
        "http://host?x=1", "http://host#x", "http://host/\n", "http://ada@host", "http://ada:@host",
        "http://ada:secret@host:port", "http://ada:secret@host?x",
        "http://a,b:8420", "http://a:8420,", "http://a:8420,b:8420", "http://a,http://b?x", "http://a,http://ada@b",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(commonplace.InvalidInput) as caught:
        commonplace.open(url)
    assert "secret" not in str(caught.value)


def test_a_key_comes_from_the_caller_else_the_address_else_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address.parse("http://localhost").authorization is None
    monkeypatch.setenv("COMMONPLACE_API_KEY", "cp_environment")
    assert address.parse("http://localhost").authorization == "Bearer cp_environment"
    assert address.parse("http://localhost", "cp_given").authorization == "Bearer cp_given"
    assert address.parse("http://a:b%40c@localhost").authorization == "Basic YTpiQGM="
    with pytest.raises(commonplace.InvalidInput, match="not both"):
        address.parse("http://a:b@localhost", "cp_given")


@pytest.mark.parametrize("key", ["", " ", "secret words", "secret\nbreak", "секрет", 5])
def test_what_is_no_key_is_refused_without_repeating_it(key: Any) -> None:
    with pytest.raises(commonplace.InvalidInput, match="api_key") as caught:
        commonplace.open("http://localhost", api_key=key)
    assert "secret" not in str(caught.value)


def test_a_key_that_travels_unencrypted_to_another_machine_is_warned_of() -> None:
    with pytest.warns(address.UnencryptedKey, match="unencrypted") as told:
        commonplace.open("http://memory.example", api_key="cp_secret")
    assert "cp_secret" not in str(told[0].message)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for url in ("http://localhost", "http://127.0.0.1:1", "http://[::1]", "https://memory.example"):
            commonplace.open(url, api_key="cp_secret")
        commonplace.open("http://memory.example")


@pytest.mark.parametrize(
    "option",
    [
        {"embedder": "none"},
        {"reranker": "none"},
        {"reader": "none"},
        {"settings": Settings()},
        {"read_url": "x"},
        {"extractor": "reader"},
    ],
    ids=lambda option: next(iter(option)),
)
def test_what_belongs_to_the_store_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(commonplace.InvalidInput, match=f"{next(iter(option))} is a setting of the store"):
        commonplace.open("http://localhost", **option)


@pytest.mark.parametrize("option", [{"api_key": "cp_x"}, {"timeout": 1.0}], ids=["api_key", "timeout"])
def test_what_belongs_to_a_server_is_refused_for_a_file(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(commonplace.InvalidInput, match="behind a server"):
        commonplace.open(tmp_path / "book.db", **option)
    assert not (tmp_path / "book.db").exists()


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), True, "1"])
def test_a_timeout_is_a_number_of_seconds_above_0(timeout: Any) -> None:
    with pytest.raises(commonplace.InvalidInput, match="timeout"):
        commonplace.open("http://localhost", timeout=timeout)


def test_nothing_is_imported_before_a_server_is_asked_for() -> None:
    code = "import sys, commonplace; sys.exit('urllib3' in sys.modules or 'commonplace.remote.book' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ), check=False).returncode == 0


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.location.find_spec", lambda name: None)
    with pytest.raises(commonplace.ServerUnavailable, match=r'pip install "commonplace-memory\[remote\]"'):
        commonplace.open("http://localhost")


def test_a_name_is_one_part_of_a_path_whatever_it_holds() -> None:
    assert path_part("a/b c?#%ü") == "a%2Fb%20c%3F%23%25%C3%BC"
    assert [path_part(name) for name in (".", "..", "a.b", "...")] == ["%2E", "%2E%2E", "a.b", "..."]
    assert query_string({"a": None, "b": True, "c": "x y", "d": 3}) == "?b=true&c=x+y&d=3"
    assert query_string({"a": None}) == ""


def tree(kind: type[errors.CommonplaceError]) -> Iterator[type[errors.CommonplaceError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from tree(below)


EVERY = [kind for kind in tree(errors.CommonplaceError) if kind.__module__ == "commonplace.errors"]


def made(kind: type[errors.CommonplaceError]) -> errors.CommonplaceError:
    if issubclass(kind, errors.Conflict):
        return kind("it was told so", current=7)
    if issubclass(kind, errors.LimitReached):
        return kind("it was told so", retry_after=12.5)
    return kind("it was told so")


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_error_comes_back_as_what_it_was(kind: type[errors.CommonplaceError]) -> None:
    from commonplace.server.problems import problem

    error = made(kind)
    sent = problem(error)
    headers = {"Content-Type": sent.headers["content-type"]}
    answer = transport.Answer(status=sent.status_code, headers=headers, body=bytes(sent.body))
    back = transport.failure(answer, "http://localhost")
    assert type(back) is kind
    assert str(back) == "it was told so"
    assert vars(back) == vars(error)


def test_every_code_is_one_errors_own() -> None:
    assert len({kind.code for kind in EVERY}) == len(EVERY) == len(transport.ERRORS)
