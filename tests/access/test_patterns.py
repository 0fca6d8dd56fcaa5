"""A key opens the spaces that match its patterns, and no other."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.access import patterns as globs
from commonplace.server.auth import Caller

# Few letters, so that patterns and names meet; those that fnmatch would read as something else among them.
NAMES = st.text(alphabet="ab*?[]!-.\\\n", max_size=8)


def as_regex(pattern: str) -> str:
    """The same pattern in the words of another engine."""
    return "".join(".*" if letter == "*" else re.escape(letter) for letter in pattern)


@given(NAMES, NAMES)
def test_only_a_star_is_a_wildcard(pattern: str, space: str) -> None:
    assert globs.matches(pattern, space) == bool(re.fullmatch(as_regex(pattern), space, re.DOTALL))


@given(st.lists(NAMES, max_size=3), NAMES)
def test_a_key_never_opens_a_space_outside_of_its_patterns(patterns: list[str], space: str) -> None:
    caller = Caller(key="k", role="admin", spaces=tuple(patterns), home="a")
    named = any(re.fullmatch(as_regex(pattern), space, re.DOTALL) for pattern in patterns)
    assert caller.opens(space) == named


@given(NAMES, NAMES, NAMES)
def test_what_is_covered_opens_nothing_more(pattern: str, other: str, space: str) -> None:
    if globs.covers(pattern, other) and globs.matches(other, space):
        assert globs.matches(pattern, space)


@given(st.text(alphabet="ab*", max_size=6), st.text(alphabet="ab*", max_size=6))
def test_what_is_not_covered_would_open_more(pattern: str, other: str) -> None:
    # A name with something new in the place of each star is opened by the other, and by us only if we cover it.
    opened = other.replace("*", "\u2022")
    assert globs.covers(pattern, other) == globs.matches(pattern, opened)


@pytest.mark.parametrize("pattern", ["*", "c*", "commonplace*", "commonplace:*", "commonplace:planted"])
def test_no_pattern_names_a_space_that_commonplace_keeps_for_itself(pattern: str) -> None:
    assert not globs.matches(pattern, "commonplace:planted")


@pytest.mark.parametrize("hostile", ["a?", "a[bc]", "[!x]*", "team-a\n", "TEAM-A", "../team-a", "team-a/../x"])
def test_a_name_is_no_pattern(hostile: str) -> None:
    assert not globs.matches("team-a", hostile)
    assert not globs.matches(hostile.replace("*", ""), "ab")
