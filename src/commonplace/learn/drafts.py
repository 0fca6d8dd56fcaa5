"""Findings in the making: more of a sentence, or the next one, may still belong to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.learn import reasons
from commonplace.learn.clauses import Clause, joined
from commonplace.learn.due import due
from commonplace.learn.opening import without_end
from commonplace.learn.persons import Who, retell
from commonplace.values import Kind
from commonplace.values.extraction import Act, Finding

REASONED: tuple[Kind, ...] = ("decision", "failure", "pattern")
"""Kinds of which a memory tells the reason, or what to do instead."""


@dataclass(slots=True)
class FindingDraft:
    """A clause that is worth keeping, and what it is."""

    clause: Clause
    rule: str
    kind: Kind
    importance: float
    owner: str | None
    who: Who
    act: Act = "keep"
    reason: str | None = None
    withdrawn: bool = False
    """Proved wrong by what followed."""

    def covers(self, clause: Clause) -> bool:
        """Tell whether a clause, read before, is a part of this."""
        return self.clause.end >= clause.end

    def has_reason(self) -> bool:
        """Tell whether a reason is known already."""
        return bool(self.reason or reasons.reason(self.clause.text))

    def add(self, more: Clause, between: str | None = None, *, explains: bool = True) -> None:
        """Take up a clause that follows and makes no sense alone."""
        self.clause = joined(self.clause, more, glue(self.clause) if between is None else between)
        if explains and self.kind in REASONED and not self.reason:
            self.reason = without_end(more.text)

    def begin_with(self, before: Clause, between: str | None = None) -> None:
        """Take up the clause before, without which this one makes no sense."""
        self.clause = replace(joined(before, self.clause, glue(before) if between is None else between))

    def finding(self, said_at: datetime) -> Finding:
        """Tell it in the third person."""
        told = without_end(self.clause.text)
        text = retell(told, self.who)
        reasoned = self.kind in REASONED
        return Finding(
            text=text,
            kind=self.kind,
            act=self.act,
            owner=self.owner,
            reason=(self.reason or reasons.reason(told)) if reasoned else None,
            rejected=reasons.rejected(told) if reasoned or self.kind == "preference" else (),
            due=self._due(text, said_at),
            importance=round(min(self.importance, 1.0), 2),
            start=self.clause.start,
            end=self.clause.end,
            rule=self.rule,
        )

    def _due(self, text: str, said_at: datetime) -> datetime | None:
        """Only days to come are due; a day that has passed is when something happened."""
        if self.act == "forget" or self.kind in ("preference", "failure"):
            return None
        found = due(text, said_at)
        return found if found and found.date() >= said_at.date() else None


def glue(before: Clause) -> str:
    """Give what stands between two sentences that become one text."""
    return " " if before.text.rstrip().endswith((".", "!", "?", ":")) else ". "


def between(joint: str) -> str:
    """Give a joint as it is written: ", so ", "; ", " and "."""
    if not joint:
        return ". "
    if joint in (",", ";", ":"):
        return joint + " "
    return f", {joint} " if joint in ("so", "but", "otherwise") else f" {joint} "
