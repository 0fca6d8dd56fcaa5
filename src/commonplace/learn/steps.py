"""The end of a learning job: what was found is written in steps, so that nobody waits long for a large job.

Each step is one short transaction, which also records how far the job is. A worker that dies between two of them loses
nothing: the next one finds the same again, and goes on behind the last step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from commonplace.memories.core import Core
from commonplace.reconcile.plan import Arrival, Plan, find_about, make_plan
from commonplace.reconcile.settle import MOST_ROWS, Settled, Written, settle, settle_plan
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import jobs, links, memories
from commonplace.text import terms
from commonplace.values import Job, Json, Link, Scope, times

_TOGETHER = 32
"""Arrivals that are planned together."""
_REQUESTS = 2
"""Requests that are done in one step: each takes up to 16 memories out."""


class ForgetRequest(NamedTuple):
    """A speaker's wish that something be forgotten."""

    message: str
    """The id of the message that says so."""
    speaker: str
    subject: str


class Claimed(NamedTuple):
    """A job, and the token and the seconds for which a worker holds it."""

    job: Job
    token: str
    lease: float


class _Lost(Exception):
    """Another worker has the job by now."""


def finish(
    core: Core,
    space: int,
    claimed: Claimed,
    arrivals: Sequence[Arrival],
    requests: Sequence[ForgetRequest],
    scope: Scope,
) -> list[Settled] | None:
    """Write the arrivals that are not written yet, do as was asked, and end the job.

    Return the results of these steps; None if another worker has the job by now.
    """
    work = _Steps(core, space, claimed, _put_in_order(arrivals, claimed.job.payload), requests, scope)
    try:
        return [*work.settle_all(), *work.withdraw_all()]
    except _Lost:
        return None


def _put_in_order(arrivals: Iterable[Arrival], payload: Any) -> list[Arrival]:
    order = {id: place for place, id in enumerate(payload["ids"])}

    def find_order(arrival: Arrival) -> tuple[int, int]:
        message, start = _find_place(arrival)
        return order[message], start

    return sorted(arrivals, key=find_order)


def _find_place(arrival: Arrival) -> tuple[str, int]:
    """Return the message that an arrival was learned from, and where it begins there."""
    learned = arrival.links[0]
    start: Any = learned.detail["start"]
    return learned.other, start


@dataclass(slots=True)
class _Steps:
    """The steps of one run of a job."""

    core: Core
    space: int
    claimed: Claimed
    arrivals: Sequence[Arrival]
    """All that was found, in the order of the talk."""
    requests: Sequence[ForgetRequest]
    scope: Scope
    at: int = 0
    """How many of them are written."""
    ended: bool = False

    def settle_all(self) -> list[Settled]:
        """Write the arrivals that no earlier run has written."""
        settled: list[Settled] = []
        self.at = self._find_progress()
        while self.at < len(self.arrivals):
            plan = make_plan(self.core, self.space, self.arrivals[self.at : self.at + _TOGETHER])
            while plan.arrivals:
                written = settle_plan(self.core, self.space, plan, self._settle)
                settled += written.settled
                self.at += written.taken
                plan = replace(plan, arrivals=plan.arrivals[written.taken :])
        return settled

    def _settle(self, tx: Tx, plan: Plan) -> Written:
        self._ensure_owned(tx)
        written = settle(tx, self.core, self.space, plan, most=MOST_ROWS, without=self._find_gone(tx, plan))
        self._record(tx, self.at + written.taken, last=not self.requests)
        return written

    def withdraw_all(self) -> list[Settled]:
        """Take out of recall what speakers asked to forget, and end the job."""
        settled: list[Settled] = []
        for start in range(0, len(self.requests), _REQUESTS):
            asked = [(each, self._find_meant(each)) for each in self.requests[start : start + _REQUESTS]]
            last = start + _REQUESTS >= len(self.requests)
            settled += self.core.store.write(partial(self._withdraw, asked=asked, last=last), self.space)
        if not self.ended:
            self.core.store.write(partial(self._withdraw, asked=(), last=True), self.space)
        return settled

    def _find_meant(self, request: ForgetRequest) -> list[str]:
        return _said_by_same(request, find_about(self.core, self.space, request.subject), self.scope)

    def _withdraw(self, tx: Tx, asked: Sequence[tuple[ForgetRequest, Sequence[str]]], *, last: bool) -> list[Settled]:
        self._ensure_owned(tx)
        settled = [each for request, ids in asked for each in _withdraw(tx, self.space, request, ids)]
        self._record(tx, len(self.arrivals), last=last)
        return settled

    def _ensure_owned(self, tx: Tx) -> None:
        if not jobs.is_owned(tx, self.space, self.claimed.job.number, self.claimed.token):
            raise _Lost

    def _find_gone(self, tx: Tx, plan: Plan) -> set[str]:
        """Return the messages that were forgotten or put in quarantine meanwhile: nothing is learned from them."""
        parents = {_find_place(arrival)[0] for arrival in plan.arrivals}
        return parents - {row.id for row in memories.find_standing(tx, self.space, sorted(parents), now=times.now())}

    def _record(self, tx: Tx, at: int, *, last: bool) -> None:
        """Record in the job that the arrivals up to a place are written, or end it."""
        number, token = self.claimed.job.number, self.claimed.token
        if last and at == len(self.arrivals):
            jobs.finish(tx, self.space, number)
            self.ended = True
        else:
            payload = {**self.claimed.job.payload, "settled": self._describe_progress(at)}
            jobs.advance(tx, self.space, number, token, payload, lease=self.claimed.lease)

    def _describe_progress(self, at: int) -> dict[str, Json]:
        """Return the messages before a place, and where in the next one the place is."""
        ids: Any = self.claimed.job.payload["ids"]
        if at == len(self.arrivals):
            return {"messages": ids}
        first = at
        while first and _find_place(self.arrivals[first - 1]) == _find_place(self.arrivals[at]):
            first -= 1
        message, start = _find_place(self.arrivals[at])
        return {"messages": ids[: ids.index(message)], "message": message, "start": start, "count": at - first}

    def _find_progress(self) -> int:
        """Return the place up to which an earlier run has written the arrivals."""
        settled: Any = self.claimed.job.payload.get("settled") or {"messages": []}
        done = set(settled["messages"])
        for at, arrival in enumerate(self.arrivals):
            message, start = _find_place(arrival)
            if message in done:
                continue
            if message != settled.get("message") or start > settled["start"]:
                return at
            if start == settled["start"]:
                return at + int(settled["count"])
        return len(self.arrivals)


def _said_by_same(request: ForgetRequest, rows: Sequence[MemoryRow], scope: Scope) -> list[str]:
    """Return the memories of the scope that the speaker said and that hold most words of the subject."""
    subject = set(terms.query_terms(request.subject))
    return [
        row.id
        for row in rows
        if row.source == request.speaker
        and replace(row.scope, session=None) == scope
        and 2 * len(subject & set(terms.query_terms(row.text))) > len(subject)
    ]


def _withdraw(tx: Tx, space: int, request: ForgetRequest, ids: Sequence[str]) -> list[Settled]:
    """Take out of recall what somebody asked to forget; not for good, since a message proves nobody's identity."""
    now, by, reason = times.now(), request.message, f"asked to forget: {request.subject}"
    there = set(memories.known_ids(tx, space, [by, *ids]))
    shut = [
        id
        for id in dict.fromkeys(ids)
        if {id, by} <= there and id != by and memories.shut(tx, space, id, action="withdrawn", reason=reason, now=now)
    ]
    made = [Link(id=by, relation="withdraws", other=id, at=times.from_micros(now)) for id in shut]
    links.put(tx, space, made)
    return [Settled(row=None, links=(link,)) for link in made]
