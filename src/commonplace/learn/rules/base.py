"""A rule is data: a name, a kind, and the words that make it fit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.learn.regex import compiled
from commonplace.reconcile.claims import verbs
from commonplace.values import Kind


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern that gives a clause its kind."""

    name: str
    kind: Kind
    importance: float
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    triggers: frozenset[str] | None = None
    """Words of which one must be there: most clauses have none, and the pattern need not be tried."""

    def fits(self, low: str) -> bool:
        """Tell whether a clause in lower case is of this kind."""
        return bool(self.pattern.search(low)) and not (self.unless and self.unless.search(low))


def rule(
    name: str, kind: Kind, importance: float, pattern: str, *, unless: str | None = None, triggers: str | None = None
) -> Rule:
    """Write a rule; patterns are in verbose form, where a space is written as a dot or `\\s`."""
    return Rule(
        name,
        kind,
        importance,
        compiled(pattern),
        compiled(unless) if unless else None,
        frozenset(triggers.split()) if triggers else None,
    )


def any_form(names: Iterable[str]) -> str:
    """Give a pattern for every form of some verbs, separated by commas: choose, chooses, chose, chosen, choosing."""
    return either(form for name in names for form in verbs.forms(name))


def past_form(names: Iterable[str]) -> str:
    """Give a pattern for the past and the participle of some verbs."""
    return either(
        _with_rest(name, made(name.split(" ")[0])) for name in names for made in (verbs.past, verbs.participle)
    )


def ing_form(names: Iterable[str]) -> str:
    """Give a pattern for the -ing form of some verbs."""
    return either(_with_rest(name, verbs.ing(name.split(" ")[0])) for name in names)


def base_form(names: Iterable[str]) -> str:
    """Give a pattern for some verbs as they stand after "will" and "to"."""
    return either(names)


def either(phrases: Iterable[str]) -> str:
    """Give a pattern for any of some phrases; the longest first, since the first that fits is taken."""
    ordered = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    return "(?:" + "|".join(phrase.replace(" ", "_") for phrase in ordered) + ")"


def listed(phrases: str) -> list[str]:
    """Read phrases that are separated by commas or line ends."""
    return [" ".join(each.split()) for line in phrases.splitlines() for each in line.split(",") if each.strip()]


def _with_rest(name: str, head: str) -> str:
    return " ".join((head, *name.split(" ")[1:]))
