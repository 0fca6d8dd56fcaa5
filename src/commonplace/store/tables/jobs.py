"""Durable work in the store: every statement on `job`.

A job is claimed for a while by a token; whoever does not finish in time loses it to another. What it does and that
it is done are one transaction, so that it takes effect once however often it is tried.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from commonplace.errors import QueueFull
from commonplace.store.base import Params, Row, Tx
from commonplace.values import Job, Json, times

_COLUMNS = "number, kind, state, attempts, due_at, created_at, error, payload"
_INSERT = """INSERT INTO job (space, number, kind, state, attempts, due_at, created_at, claim, error, payload)
    VALUES (:space, :number, :kind, 'waiting', 0, :due, :now, :claim, NULL, :payload)"""
_WAITING = "SELECT count(*) FROM job WHERE space = :space AND state <> 'dead'"
# A claim that ran out is due again: its owner has died, or is too late.
_DUE = f"""SELECT {_COLUMNS} FROM job WHERE space = :space AND state <> 'dead' AND due_at <= :now
    {{which}} ORDER BY number LIMIT 1"""
_GATHERING = f"""SELECT {_COLUMNS} FROM job WHERE space = :space AND claim = :claim AND state = 'waiting'
    AND due_at > :now ORDER BY number LIMIT 1"""
_PUT_INTO = "UPDATE job SET payload = :payload, due_at = :due WHERE space = :space AND number = :number"
_HURRY = """UPDATE job SET due_at = :now
    WHERE space = :space AND state = 'waiting' AND claim IS NOT NULL AND due_at > :now"""
_FATAL = """UPDATE job SET state = 'dead', claim = NULL, error = 'whoever tried it came to no end'
    WHERE space = :space AND state = 'running' AND due_at <= :now AND attempts >= :attempts"""
_CLAIM = """UPDATE job SET state = 'running', attempts = attempts + 1, claim = :claim, due_at = :until
    WHERE space = :space AND number = :number"""
_OWNED = "SELECT 1 FROM job WHERE space = :space AND number = :number AND claim = :claim AND state = 'running'"
_DONE = "DELETE FROM job WHERE space = :space AND number = :number"
_FAILED = """UPDATE job SET state = :state, claim = NULL, due_at = :due, error = :error
    WHERE space = :space AND number = :number AND claim = :claim"""
_SPACES = "SELECT DISTINCT space FROM job WHERE state <> 'dead' AND due_at <= :now ORDER BY space"
_NEXT = "SELECT min(due_at) FROM job WHERE state <> 'dead'"
_LIST = f"SELECT {_COLUMNS} FROM job WHERE space = :space ORDER BY number"
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
    """Queue a job for `wait` seconds from now and return its number; QueueFull if `most` wait already.

    `gathers` names what more can be put into it until it is due.
    """
    waiting = int(tx.run(_WAITING, {"space": space})[0][0])
    if waiting >= most:
        raise QueueFull(f"{waiting:,} jobs wait already: let a worker catch up (commonplace work), or raise max_jobs")
    number, written = tx.take(space, 1), json.dumps(payload, ensure_ascii=False)
    now = times.now()
    params: Params = {"space": space, "number": number, "kind": kind, "now": now, "payload": written}
    tx.run(_INSERT, {**params, "due": _due(now, wait), "claim": gathers})
    return number


def gathering(tx: Tx, space: int, gathers: str) -> Job | None:
    """The job that waits for more of what it gathers."""
    rows = tx.run(_GATHERING, {"space": space, "claim": gathers, "now": times.now()})
    return decode(rows[0]) if rows else None


def put_into(tx: Tx, space: int, number: int, payload: Mapping[str, Json], *, wait: float) -> None:
    """Give a job that gathers another load, and wait on; with nothing to wait for, it gathers no more."""
    written = json.dumps(payload, ensure_ascii=False)
    due = _due(times.now(), wait)
    tx.run(_PUT_INTO, {"space": space, "number": number, "payload": written, "due": due})


def _due(now: int, wait: float) -> int:
    """So many seconds from now, at most at the end of all times."""
    return int(min(now + wait * 1e6, times.LAST))


def hurry(tx: Tx, space: int) -> None:
    """Let nothing wait for more."""
    tx.run(_HURRY, {"space": space, "now": times.now()})


def claim(tx: Tx, space: int, token: str, *, lease: float, attempts: int, number: int | None = None) -> Job | None:
    """Take the first job that is due, or this one if it is, for `lease` seconds.

    One that has been tried `attempts` times and never came to an end has killed whoever tried it: it is dead.
    """
    now = times.now()
    tx.run(_FATAL, {"space": space, "now": now, "attempts": attempts})
    which = "" if number is None else "AND number = :number"
    params = {"space": space, "now": now} | ({} if number is None else {"number": number})
    rows = tx.run(_DUE.format(which=which), params)
    if not rows:
        return None
    until = now + int(lease * 1e6)
    tx.run(_CLAIM, {"space": space, "number": rows[0][0], "claim": token, "until": until})
    return decode(rows[0])


def is_owned(tx: Tx, space: int, number: int, token: str) -> bool:
    """Whether the job is still there and still claimed by this token."""
    return bool(tx.run(_OWNED, {"space": space, "number": number, "claim": token}))


def finish(tx: Tx, space: int, number: int) -> None:
    tx.run(_DONE, {"space": space, "number": number})


def fail(tx: Tx, space: int, number: int, token: str, error: str, *, due: int | None) -> None:
    """Give a job back until `due`; None puts it among the dead."""
    state = "dead" if due is None else "waiting"
    params: Params = {"space": space, "number": number, "claim": token, "state": state, "error": error}
    tx.run(_FAILED, {**params, "due": times.now() if due is None else due})


def spaces_with_work(tx: Tx) -> list[int]:
    """The spaces in which a job is due."""
    return [int(row[0]) for row in tx.run(_SPACES, {"now": times.now()})]


def next_due(tx: Tx) -> int | None:
    """When the next job of any space is due."""
    due: int | None = tx.run(_NEXT)[0][0]
    return due


def everything(tx: Tx, space: int) -> list[Job]:
    """The jobs that wait, run, or have failed for good, oldest first."""
    return [decode(row) for row in tx.run(_LIST, {"space": space})]


def find(tx: Tx, space: int, number: int) -> Job | None:
    """The job of that number, unless it is done."""
    rows = tx.run(
        f"SELECT {_COLUMNS} FROM job WHERE space = :space AND number = :number", {"space": space, "number": number}
    )
    return decode(rows[0]) if rows else None


def retry(tx: Tx, space: int, number: int | None) -> list[int]:
    """Queue a dead job again, or all of them; returns their numbers."""
    which = "" if number is None else "AND number = :number"
    params: dict[str, int | str | None] = {"space": space, "now": times.now()}
    if number is not None:
        params["number"] = number
    return sorted(int(row[0]) for row in tx.run(_RETRY.format(which=which), params))


def count(tx: Tx, space: int) -> int:
    """How many jobs wait or run."""
    return int(tx.run(_WAITING, {"space": space})[0][0])


def forget_all(tx: Tx, space: int) -> None:
    """Drop every job of a space."""
    tx.run("DELETE FROM job WHERE space = :space", {"space": space})


def decode(row: Row) -> Job:
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
