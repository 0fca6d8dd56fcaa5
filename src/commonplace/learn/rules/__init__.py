"""Rules by kind: what makes a clause a decision, a preference, a failure. The first that fits names the kind."""

from __future__ import annotations

from commonplace.learn.clauses import Clause
from commonplace.learn.reasons import main_part
from commonplace.learn.rules.base import Rule
from commonplace.learn.rules.decisions import DECISIONS
from commonplace.learn.rules.failures import FAILURES
from commonplace.learn.rules.insights import EFFECTS, INSIGHTS
from commonplace.learn.rules.patterns import PATTERNS, STANDING
from commonplace.learn.rules.plans import PLANS
from commonplace.learn.rules.preferences import PREFERENCES, REQUEST

RULES: tuple[Rule, ...] = (*INSIGHTS, *PREFERENCES, *STANDING, *DECISIONS, *EFFECTS, *FAILURES, *PATTERNS, *PLANS)


def asks_for_a_habit(low: str) -> bool:
    """Tell whether a question is a request in disguise: "can we stop doing flashcards?"."""
    return REQUEST.fits(low)


def first(clause: Clause) -> Rule | None:
    """Give the first rule that fits a clause; None when it is of no kind but perhaps a fact."""
    main = main_part(clause.low)
    for rule in RULES:
        # What is always so in the reason for something does not make that a rule.
        told = main if rule.kind == "pattern" and rule.name != "pattern.otherwise" else clause.low
        if (rule.triggers is None or not rule.triggers.isdisjoint(clause.words)) and rule.fits(told):
            return rule
    return None
