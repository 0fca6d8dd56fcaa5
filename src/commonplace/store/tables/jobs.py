"""Statements on `job`: durable work.

A job is claimed by a token for some time; a worker that does not finish in time loses it to another. Each step of the
work is one transaction with the record of how far the job is, the last one with its removal: every step takes effect
exactly once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from commonplace.errors import QueueFull, QuotaExceeded
from commonplace.store.base import Params, Row, Tx
from commonplace.store.tables import keys
from commonplace.values import Job, Json, times

LEARN = "learn"
"""The kind of the jobs that learn from messages."""
_MOST = "most"
"""The field of a payload with the memories that the key of the job allows in a space."""
_LATER = 3600.0
_COLUMNS = "number, kind, state, attempts, due_at, created_at, error, payload"
_INSERT = """INSERT INTO job (space, number, kind, state, attempts, due_at, created_at, claim, error, payload)
    VALUES (:space, :number, :kind, 'waiting', 0, :due, :now, :claim, NULL, :payload)"""
# A job whose claim ran out is due again: its worker has died, or is too late.
_DUE = f"""SELECT {_COLUMNS} FROM job WHERE space = :space AND state <> 'dead' AND due_at <= :now
    {{which}} ORDER BY number LIMIT 1"""
_GATHERING = f"""SELECT {_COLUMNS} FROM job WHERE space = :space AND claim = :claim AND state = 'waiting'
    AND due_at > :now ORDER BY number LIMIT 1"""
_REPLACE = "UPDATE job SET payload = :payload, due_at = :due WHERE space = :space AND number = :number"
_CLEAN = "UPDATE job SET payload = :payload, error = NULL WHERE space = :space AND number = :number"
_HURRY = """UPDATE job SET due_at = :now
    WHERE space = :space AND state = 'waiting' AND claim IS NOT NULL AND due_at > :now"""
_FATAL = """UPDATE job SET state = 'dead', claim = NULL, error = 'every worker that tried it died'
    WHERE space = :space AND state = 'running' AND due_at <= :now AND attempts >= :attempts"""
_CLAIM = """UPDATE job SET state = 'running', attempts = attempts + 1, claim = :claim, due_at = :until
    WHERE space = :space AND number = :number"""
_ADVANCE = """UPDATE job SET payload = :payload, due_at = :until
    WHERE space = :space AND number = :number AND claim = :claim"""
_OWNED = "SELECT 1 FROM job WHERE space = :space AND number = :number AND claim = :claim AND state = 'running'"
_FAILED = """UPDATE job SET state = :state, claim = NULL, due_at = :due, error = :error
    WHERE space = :space AND number = :number AND claim = :claim"""
_SPACES = "SELECT DISTINCT space FROM job WHERE state <> 'dead' AND due_at <= :now ORDER BY space"
_RETRY = """UPDATE job SET state = 'waiting', attempts = 0, due_at = :now, error = NULL, claim = NULL
    WHERE space = :space AND state = 'dead' {which} RETURNING number"""


def add(
    tx: Tx,
    space: int,
    kind: str,
    payload: Mapping[str, Json],
    *,
    most: int,
    gathers: str | None = None,
    wait: float = 0,
) -> int:
    """Queue a job, due in `wait` seconds, and return its number; QueueFull if `most` jobs wait already.

    `gathers` names what can still be added to the job until it is due.
    """
    waiting = count(tx, space)
    if waiting >= most:
        raise QueueFull(f"{waiting:,} jobs are waiting: let a worker catch up (commonplace work), or raise max_jobs")
    number, written = tx.take(space, 1), json.dumps(payload, ensure_ascii=False)
    now = times.now()
    params: Params = {"space": space, "number": number, "kind": kind, "now": now, "payload": written}
    tx.run(_INSERT, {**params, "due": _due(now, wait), "claim": gathers})
    return number


def find_gathering(tx: Tx, space: int, gathers: str) -> Job | None:
    """Return the job that still gathers under this name."""
    return _first(tx.run(_GATHERING, {"space": space, "claim": gathers, "now": times.now()}))


def replace_payload(tx: Tx, space: int, number: int, payload: Mapping[str, Json], *, wait: float) -> None:
    """Give a gathering job a new payload, due in `wait` seconds; with 0 it gathers no more."""
    written = json.dumps(payload, ensure_ascii=False)
    due = _due(times.now(), wait)
    tx.run(_REPLACE, {"space": space, "number": number, "payload": written, "due": due})


def _due(now: int, wait: float) -> int:
    return int(min(now + wait * 1e6, times.LAST))


def hurry(tx: Tx, space: int) -> None:
    """Make every gathering job due now."""
    tx.run(_HURRY, {"space": space, "now": times.now()})


def claim(tx: Tx, space: int, token: str, *, lease: float, attempts: int, number: int | None = None) -> Job | None:
    """Claim the first due job, or the given one if it is due, for `lease` seconds.

    A job that was tried `attempts` times without an end is declared dead: it killed its workers.
    """
    now = times.now()
    tx.run(_FATAL, {"space": space, "now": now, "attempts": attempts})
    which = "" if number is None else "AND number = :number"
    params = {"space": space, "now": now} | ({} if number is None else {"number": number})
    job = _first(tx.run(_DUE.format(which=which), params))
    if job is not None:
        until = now + int(lease * 1e6)
        tx.run(_CLAIM, {"space": space, "number": job.number, "claim": token, "until": until})
    return job


def is_owned(tx: Tx, space: int, number: int, token: str) -> bool:
    """Whether the job is still claimed by this token."""
    return bool(tx.run(_OWNED, {"space": space, "number": number, "claim": token}))


def save(tx: Tx, space: int, number: int, payload: Mapping[str, Json], *, lease: float) -> None:
    """Note how far a running job came, and hold it for `lease` more seconds."""
    replace_payload(tx, space, number, payload, wait=lease)


def clean(tx: Tx, space: int, number: int, payload: Mapping[str, Json]) -> None:
    """Give a job another payload, and remove its error, which may quote the old one."""
    written = json.dumps(payload, ensure_ascii=False)
    tx.run(_CLEAN, {"space": space, "number": number, "payload": written})


def last_number(tx: Tx, space: int) -> int:
    """Return the number of the newest job of a space that is not done."""
    return int(tx.run("SELECT coalesce(max(number), 0) FROM job WHERE space = :space", {"space": space})[0][0])


def hold_to(tx: Tx, space: int, *, after: int, most: int) -> None:
    """Let the jobs of learning after a number end only if the space then holds at most so many memories."""
    for job in read_all(tx, space):
        if job.number > after and job.kind == LEARN:
            written = json.dumps({**job.payload, _MOST: most}, ensure_ascii=False)
            params: Params = {"payload": written, "space": space, "number": job.number}
            tx.run("UPDATE job SET payload = :payload WHERE space = :space AND number = :number", params)


def ensure_room(tx: Tx, space: int, number: int) -> None:
    """Raise QuotaExceeded if the space holds more memories than the key of a job allows."""
    job = find(tx, space, number)
    most = None if job is None else job.payload.get(_MOST)
    if isinstance(most, int) and keys.count_memories(tx, space, now=times.now(), most=most + 1) > most:
        raise QuotaExceeded(
            f"the space may hold {most:,} memories and would hold more: forget some, then `commonplace retry`",
            retry_after=_LATER,
        )


def advance(tx: Tx, space: int, number: int, token: str, payload: Mapping[str, Json], *, lease: float) -> None:
    """Record how far a claimed job is, and hold it for another `lease` seconds; raise QuotaExceeded like `finish`."""
    ensure_room(tx, space, number)
    until = times.now() + int(lease * 1e6)
    written = json.dumps(payload, ensure_ascii=False)
    tx.run(_ADVANCE, {"space": space, "number": number, "claim": token, "payload": written, "until": until})


def finish(tx: Tx, space: int, number: int) -> None:
    """Remove a job that is done; raise QuotaExceeded if it has learned more than the space may hold."""
    ensure_room(tx, space, number)
    tx.run("DELETE FROM job WHERE space = :space AND number = :number", {"space": space, "number": number})


def fail(tx: Tx, space: int, number: int, token: str, error: str, *, due: int | None) -> None:
    """Return a job to the queue until `due`; None declares it dead."""
    state = "dead" if due is None else "waiting"
    params: Params = {"space": space, "number": number, "claim": token, "state": state, "error": error}
    tx.run(_FAILED, {**params, "due": times.now() if due is None else due})


def spaces_with_work(tx: Tx) -> list[int]:
    """Return the spaces with a due job."""
    return [int(space) for (space,) in tx.run(_SPACES, {"now": times.now()})]


def next_due(tx: Tx) -> int | None:
    """Return when the next job of any space is due."""
    due: int | None = tx.run("SELECT min(due_at) FROM job WHERE state <> 'dead'")[0][0]
    return due


def read_all(tx: Tx, space: int) -> list[Job]:
    """Return the jobs that wait, run, or are dead, oldest first."""
    rows = tx.run(f"SELECT {_COLUMNS} FROM job WHERE space = :space ORDER BY number", {"space": space})
    return [*map(_decode, rows)]


def find(tx: Tx, space: int, number: int) -> Job | None:
    """Return a job; None if it is done."""
    params: Params = {"space": space, "number": number}
    return _first(tx.run(f"SELECT {_COLUMNS} FROM job WHERE space = :space AND number = :number", params))


def retry(tx: Tx, space: int, number: int | None) -> list[int]:
    """Queue a dead job again, or all of them, and return their numbers."""
    which = "" if number is None else "AND number = :number"
    params = {"space": space, "now": times.now()} | ({} if number is None else {"number": number})
    return sorted(int(found) for (found,) in tx.run(_RETRY.format(which=which), params))


def count(tx: Tx, space: int) -> int:
    """Return the number of jobs that wait or run."""
    return int(tx.run("SELECT count(*) FROM job WHERE space = :space AND state <> 'dead'", {"space": space})[0][0])


def forget_all(tx: Tx, space: int) -> None:
    """Remove every job of a space."""
    tx.run("DELETE FROM job WHERE space = :space", {"space": space})


def _first(rows: list[Row]) -> Job | None:
    return _decode(rows[0]) if rows else None


def _decode(row: Row) -> Job:
    number, kind, state, attempts, due_at, created_at, error, payload = row
    return Job(
        number=number,
        kind=kind,
        state=state,
        attempts=attempts,
        due_at=times.from_micros(due_at),
        created_at=times.from_micros(created_at),
        error=error,
        payload=json.loads(payload),
    )
