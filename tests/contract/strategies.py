"""The values that the state machine draws: few names, so that they collide, and values that are easily confused."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from commonplace.values import KINDS, Draft, Json, Scope

Where = tuple[int, str]
"""A handle and a space."""
Place = tuple[str, str]
"""A namespace and a key, or a canvas and a path."""

SPACES = ("left", "right")
WORDS = ("anchor", "beacon", "cargo", "dinghy", "estuary", "ferry", "gull")
START = datetime(2026, 3, 1, tzinfo=timezone.utc)

where: st.SearchStrategy[Where] = st.tuples(st.integers(0, 1), st.sampled_from(SPACES))
ids = st.sampled_from(["a", "b", "c", "d", "e"])
some_ids = st.lists(ids, min_size=1, max_size=3, unique=True)
versions = st.none() | st.integers(0, 4)

scalars: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, False, 0, 1, -1, 2, 0.5, 1.0, 2**53 + 1, "", "0", "1", "a", "A", "ä", "true", "null", "b"]
)
values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=4,
)
metadata = st.dictionaries(st.sampled_from("xyz"), values, max_size=3)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True).map(" ".join)
tags = st.lists(st.sampled_from(["t", "u", "ä"]), max_size=2, unique=True)
names = st.none() | st.sampled_from(["ada", "bob"])
moments = st.integers(0, 3).map(lambda day: START + timedelta(days=day))
importances = st.sampled_from([0.0, 0.25, 0.5, 1.0])
kinds = st.sampled_from(KINDS)

drafts: st.SearchStrategy[Draft] = st.builds(
    Draft,
    content=texts,
    id=ids,
    kind=kinds,
    tags=tags,
    metadata=metadata,
    importance=importances,
    scope=st.builds(Scope, user=names, agent=names, session=names),
    source=names,
    said_at=moments,
    supersedes=st.just([]) | some_ids,
)
batches = st.lists(drafts, min_size=0, max_size=3, unique_by=lambda draft: draft.id)

changes: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "content": texts,
        "kind": kinds,
        "tags": tags.map(tuple),
        "metadata": metadata,
        "importance": importances,
        "source": names,
        "said_at": moments,
    },
)

keys: st.SearchStrategy[Place] = st.tuples(st.sampled_from(["n", "o"]), st.sampled_from(["k", "l"]))
files: st.SearchStrategy[Place] = st.tuples(st.sampled_from(["c", "d"]), st.sampled_from(["a.md", "b/c.md"]))
contents = st.none() | st.sampled_from(["", "one\n", "two", "ä\r\n"])
sessions = st.sampled_from(["s", "t"])

_PATHS = st.sampled_from(["metadata.x", "metadata.y", "metadata.x.y", "metadata.z.x", "metadata.none"])
_RANKED = scalars.filter(lambda value: value is not None and not isinstance(value, bool))


def _operators(operand: st.SearchStrategy[Any], ranked: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A plain value, or one or two operators with theirs."""
    several = st.lists(operand, max_size=3)
    optional = {
        "$eq": operand, "$ne": operand, "$in": several, "$nin": several, "$gt": ranked, "$gte": ranked, "$lt": ranked,
        "$lte": ranked, "$exists": st.booleans(),
    }  # fmt: skip
    one = st.sampled_from(sorted(optional)).flatmap(lambda name: st.fixed_dictionaries({name: optional[name]}))
    return operand | one | st.tuples(one, one).map(lambda pair: {**pair[0], **pair[1]})


def _on(field: str, operand: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, object]]:
    return _operators(operand.filter(lambda value: value is not None), operand).map(lambda test: {field: test})


_texts_or_none = st.sampled_from(["ada", "bob", "", "note", "fact", "a", "b", "anchor"])
_contains = st.one_of(
    st.sampled_from(["t", "u", "ä", "T"]).map(lambda tag: {"tags": {"$contains": tag}}),
    st.sampled_from([*WORDS, "a", "anchor b", ""]).map(lambda part: {"text": {"$contains": part}}),
    st.tuples(_PATHS, scalars).map(lambda pair: {pair[0]: {"$contains": pair[1]}}),
    st.booleans().map(lambda there: {"tags": {"$exists": there}}),
)
_tests: st.SearchStrategy[dict[str, object]] = st.one_of(
    st.sampled_from(["id", "kind", "source", "user", "agent", "session", "mime", "text"]).flatmap(
        lambda field: _on(field, _texts_or_none)
    ),
    st.sampled_from(["source", "user", "agent"]).map(lambda field: {field: None}),
    st.tuples(st.sampled_from(["importance", "version"]), st.sampled_from([0, 0.25, 0.5, 1, 2, 1.0])).flatmap(
        lambda pair: _on(pair[0], st.sampled_from([0, 0.25, 0.5, 1, 2, 1.0]))
    ),
    _on("said_at", moments | moments.map(datetime.isoformat)),
    _PATHS.flatmap(lambda path: _operators(scalars, _RANKED).map(lambda test: {path: test})),
    _contains,
)

filters: st.SearchStrategy[dict[str, object]] = st.recursive(
    _tests,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: {"$and": parts}),
        st.lists(inner, max_size=3).map(lambda parts: {"$or": parts}),
        inner.map(lambda part: {"$not": part}),
        st.tuples(inner, inner).map(lambda pair: {**pair[0], **pair[1]}),
    ),
    max_leaves=4,
)
"""Well-formed filters, in all combinations."""

selections = st.tuples(_tests, filters).map(lambda pair: {"$and": list(pair)})
"""Filters with at least one condition: `forget` refuses one that has none."""
