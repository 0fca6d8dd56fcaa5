"""`check`: is the file sound, and does what search uses agree with the rows?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from commonplace.store.base import Tx
from commonplace.store.sqlite.connection import Connection
from commonplace.store.trace import terms
from commonplace.values import Check

_COUNTED = ("memory", "trace", "tag", "entry", "file", "message")

# Each finds rows that must not exist; the words say what is wrong with them.
RULES = {
    "memories without a trace: recall cannot find them": """SELECT count(*) FROM memory m
        WHERE NOT EXISTS (SELECT 1 FROM trace t WHERE t.seq = m.seq AND t.space = m.space)""",
    "traces without a memory: something forgotten was left behind": """SELECT count(*) FROM trace t
        WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "tags without a memory": """SELECT count(*) FROM tag t
        WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "memories of spaces that are not there": """SELECT count(*) FROM memory m
        WHERE NOT EXISTS (SELECT 1 FROM space s WHERE s.number = m.space)""",
    "memories with more than one current version": """SELECT count(*) FROM (SELECT 1 FROM memory
        WHERE ended_at IS NULL GROUP BY space, id HAVING count(*) > 1) found""",
    "memories without a current version": """SELECT count(*) FROM (SELECT 1 FROM memory
        GROUP BY space, id HAVING count(CASE WHEN ended_at IS NULL THEN 1 END) = 0) found""",
}

_SQLITE_RULES = {
    "ended versions that mirrors were not told of": """SELECT count(*) FROM memory m WHERE m.ended_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.space = m.space AND e.was = m.seq)""",
    "sequence numbers beyond the counter": """SELECT count(*) FROM memory
        WHERE seq > (SELECT value FROM counter WHERE name = 'seq')""",
    "vectors of the wrong size": """SELECT count(*) FROM trace WHERE length(vector) <>
        2 * (SELECT CAST(value AS INTEGER) FROM book WHERE name = 'dimension')""",
}


def check(tx: Connection, *, deep: bool) -> Check:
    """Every problem found, in words. `deep` reads each page of the file and analyses each text again."""
    problems = [*_engine(tx, deep=deep), *broken(tx, {**RULES, **_SQLITE_RULES})]
    if deep:
        problems += words(tx)
    return Check(problems=tuple(problems), checked=counted(tx))


def broken(tx: Tx, rules: Mapping[str, str]) -> list[str]:
    """The rules that do not hold, each with how many rows break it."""
    found = {text: int(tx.run(sql)[0][0]) for text, sql in rules.items()}
    return [f"{count:,} {text}" for text, count in found.items() if count]


def counted(tx: Tx) -> dict[str, int]:
    """How many rows of each table were looked at."""
    return {table: int(tx.run(f"SELECT count(*) FROM {table}")[0][0]) for table in _COUNTED}


def _engine(tx: Connection, *, deep: bool) -> Iterator[str]:
    pragma = "integrity_check" if deep else "quick_check"
    for (words,) in tx.run(f"PRAGMA {pragma}"):
        if words != "ok":
            yield f"SQLite: {words}"


def words(tx: Tx) -> list[str]:
    """Compare the stored words of each current memory with its text."""
    wrong, seq = 0, 0
    while True:
        rows = tx.run(
            "SELECT m.seq, m.text, m.tags, m.source, t.terms FROM memory m"
            " JOIN trace t ON t.seq = m.seq AND t.space = m.space"
            " WHERE m.seq > :seq AND m.ended_at IS NULL ORDER BY m.seq LIMIT 1000",
            {"seq": seq},
        )
        if not rows:
            break
        wrong += sum(terms(text, _tags(tags), source) != stored for _, text, tags, source, stored in rows)
        seq = rows[-1][0]
    return [f"{wrong:,} memories whose stored words differ from their text: run `commonplace reindex`"] if wrong else []


def _tags(text: str) -> list[str]:
    return list(json.loads(text))
