"""The wire format: every value is encoded as JSON and decoded unchanged."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import wire
from commonplace.errors import InvalidInput
from commonplace.values import (
    ACTIONS,
    KINDS,
    ORIGINS,
    RELATIONS,
    Check,
    Draft,
    Entry,
    File,
    Forgotten,
    Hit,
    Job,
    Learned,
    Link,
    Memory,
    Message,
    Page,
    Recall,
    Revision,
    Scope,
    Score,
    Stats,
    Within,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ZONES = st.sampled_from([timezone.utc, timezone(timedelta(hours=5, minutes=30))])
TIME = st.datetimes(
    timezones=ZONES,
    min_value=datetime(1, 1, 3),  # noqa: DTZ001  # Hypothesis adds the zone
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001
).map(lambda moment: moment.replace(fold=0))
NUMBER = st.integers(0, 2**53)
REAL = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | REAL | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
NAMES = st.lists(TEXT, max_size=3).map(tuple)


def _maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | values


def _tuples(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(values, max_size=2).map(tuple)


SCOPES = st.builds(Scope, user=_maybe(TEXT), agent=_maybe(TEXT), session=_maybe(TEXT))
MEMORIES = st.builds(
    Memory, id=TEXT, version=NUMBER, content=TEXT | st.binary(max_size=30) | OBJECT | st.lists(JSON, max_size=3),
    text=TEXT, mime=TEXT, kind=st.sampled_from(KINDS), tags=NAMES, metadata=OBJECT, importance=REAL, scope=SCOPES,
    source=_maybe(TEXT), origin=st.sampled_from(ORIGINS), said_at=TIME, created_at=TIME, updated_at=TIME,
    expires_at=_maybe(TIME), valid_to=_maybe(TIME), superseded_by=_maybe(TEXT),
)  # fmt: skip
SCORES = st.builds(
    Score, meaning=REAL, words=REAL, relevance=REAL, certainty=REAL, recency=REAL, strength=REAL, reread=_maybe(REAL)
)
HITS = st.builds(Hit, memory=MEMORIES, score=REAL, parts=SCORES)
LINKS = st.builds(
    Link, id=TEXT, relation=st.sampled_from(RELATIONS), other=TEXT, at=TIME, reason=_maybe(TEXT), detail=OBJECT
)
VALUES = {
    Scope: SCOPES,
    Within: st.builds(
        Within, users=_maybe(NAMES), agents=_maybe(NAMES), sessions=_maybe(NAMES), shared=st.booleans()
    ),
    Memory: MEMORIES,
    Revision: st.builds(
        Revision, version=NUMBER, action=st.sampled_from(ACTIONS), at=TIME, reason=_maybe(TEXT), memory=MEMORIES
    ),
    Score: SCORES,
    Hit: HITS,
    Recall: st.builds(
        Recall, query=TEXT, text=TEXT, hits=_tuples(HITS), avoid=_tuples(HITS),
        coverage=st.sampled_from(["known", "partly known", "unknown"]), receipt=TEXT, counted=NUMBER,
    ),
    Page: st.builds(Page, memories=_tuples(MEMORIES), cursor=_maybe(TEXT)),
    Forgotten: st.builds(Forgotten, ids=NAMES, memories=NUMBER, entries=NUMBER, files=NUMBER, messages=NUMBER),
    Entry: st.builds(Entry, key=TEXT, value=JSON, version=NUMBER, updated_at=TIME, expires_at=_maybe(TIME)),
    File: st.builds(
        File, path=TEXT, revision=NUMBER, content=TEXT, at=TIME, author=_maybe(TEXT), deleted=st.booleans()
    ),
    Message: st.builds(
        Message, number=NUMBER, role=TEXT, name=_maybe(TEXT), content=JSON, metadata=OBJECT, said_at=TIME,
        created_at=TIME,
    ),
    Link: LINKS,
    Job: st.builds(
        Job, number=NUMBER, kind=TEXT, state=st.sampled_from(["waiting", "running", "dead"]), attempts=NUMBER,
        due_at=TIME, created_at=TIME, error=_maybe(TEXT), payload=OBJECT,
    ),
    Learned: st.builds(
        Learned, session=TEXT, messages=NAMES, jobs=st.lists(NUMBER, max_size=3).map(tuple),
        memories=_tuples(MEMORIES), links=_tuples(LINKS),
    ),
    Stats: st.builds(
        Stats, space=TEXT, memories=NUMBER, versions=NUMBER, by_kind=st.dictionaries(TEXT, NUMBER, max_size=2),
        entries=NUMBER, files=NUMBER, messages=NUMBER, jobs=NUMBER, embedder=TEXT, dimension=NUMBER, bytes=NUMBER,
        engine=TEXT,
    ),
    Check: st.builds(Check, problems=NAMES, checked=st.dictionaries(TEXT, NUMBER, max_size=2)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_a_value_comes_back_as_it_went_out(kind: type, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    again = wire.read(kind, json.loads(wire.dumps(value)))  # type: ignore[var-annotated]
    assert again == value
    assert repr(again) == repr(value)  # to the zone of each time, and to a tuple that is no list


def test_the_tokens_of_a_recall_are_counted_once() -> None:
    found = Recall(query="q", text="four words of text", hits=(), avoid=(), coverage="unknown", receipt="r")
    assert found.tokens == 4
    assert asdict(found)["counted"] is None  # plain data, whatever encodes it
    sent = json.loads(wire.dumps(found))
    assert sent["tokens"] == found.tokens
    assert wire.read(Recall, {**sent, "tokens": 99}).tokens == 99


def test_a_draft_of_any_content_comes_back() -> None:
    when = datetime(2026, 5, 4, tzinfo=timezone.utc)
    draft = Draft(content=b"\0\xff", text="bytes", tags=("a",), said_at=when, vector=[0.5, 1.0], scope=Scope(user="u"))
    sent = json.loads(wire.dumps(draft))
    assert "content" not in sent
    assert wire.read(Draft, sent) == draft
    assert wire.read(Draft, {"content": {"base64": "AA=="}}).content == {"base64": "AA=="}


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        "text",
        {},
        {"key": "k", "value": 1, "version": 1, "updated_at": "yesterday", "expires_at": None},
        {"key": "k", "value": 1, "version": 1, "updated_at": 5, "expires_at": None},
    ],
)
def test_what_is_no_value_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput):
        wire.read(Entry, wrong)


def test_a_field_of_a_newer_server_is_left_out() -> None:
    sent = {"ids": [], "memories": 1, "entries": 0, "files": 0, "messages": 0}
    assert wire.read(Forgotten, {**sent, "newer": True}) == wire.read(Forgotten, sent)
    with pytest.raises(InvalidInput, match="JSON list"):
        wire.read(Forgotten, {**sent, "ids": "abc"})


def test_a_content_that_is_both_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not as both"):
        wire.read(Draft, {"content": "a", "base64": "AA=="})
    with pytest.raises(InvalidInput, match="base64"):
        wire.read(Draft, {"base64": "*"})
    assert replace(wire.read(Draft, {"base64": ""}), text="t").content == b""
