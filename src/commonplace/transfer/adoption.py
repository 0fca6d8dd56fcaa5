"""Messages that wait to be learned from, in another book: their jobs are made anew where the messages came to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonplace.store.base import Tx
from commonplace.store.tables import jobs, links, memories
from commonplace.values import Job, Json

KIND = "learn"
_NO_LIMIT = 2**62
Payload = dict[str, Json]


def waiting(tx: Tx, space: int) -> list[Job]:
    """The jobs of a space that have messages to learn from, those that failed for good too."""
    return [job for job in jobs.read_all(tx, space) if job.kind == KIND]


def ids_of(payload: Any) -> list[str]:
    """The messages of a job."""
    return [str(id) for id in payload["ids"]]


def adopt(tx: Tx, space: int, wanted: Sequence[Payload]) -> int:
    """Queue jobs for messages that are here, were not learned from yet and wait in no other job; returns how many.

    What a book already knows how to learn is never learned twice, however often it is brought.
    """
    queued = {id for job in waiting(tx, space) for id in ids_of(job.payload)}
    made = 0
    for payload in wanted:
        here = set(memories.known_ids(tx, space, ids_of(payload)))
        ids = [id for id in ids_of(payload) if id in here and id not in queued]
        if ids and not links.find_to(tx, space, ids, "learned from"):
            jobs.add(tx, space, KIND, {**payload, "ids": list[Json](ids)}, most=_NO_LIMIT)
            queued |= set(ids)
            made += 1
    return made


def settle(tx: Tx, space: int, theirs: Sequence[Payload], *, mirror: bool) -> None:
    """Bring a copy's jobs to where the source's are: what was learned there meanwhile has come along."""
    still = {id for payload in theirs for id in ids_of(payload)}
    for job in waiting(tx, space):
        ids = ids_of(job.payload)
        learned = bool(links.find_to(tx, space, ids, "learned from"))
        if not still & set(ids) and (learned or mirror):
            jobs.finish(tx, space, job.number)
    adopt(tx, space, theirs)
