"""`check`: is the file sound, and does what search uses agree with the rows?"""

from __future__ import annotations

import json
from collections.abc import Iterator

from commonplace.store.base import Tx
from commonplace.store.connection import Connection
from commonplace.store.trace import terms
from commonplace.values import Check

_COUNTED = ("memory", "trace", "tag", "entry", "file", "message")

# Each finds rows that must not exist; the words say what is wrong with them.
_RULES = {
    "memories without a trace: recall cannot find them": """SELECT count(*) FROM memory m
        WHERE NOT EXISTS (SELECT 1 FROM trace t WHERE t.seq = m.seq AND t.space = m.space)""",
    "traces without a memory: something forgotten was left behind": """SELECT count(*) FROM trace t
        WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "tags without a memory": """SELECT count(*) FROM tag t
        WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "memories with more than one current version": """SELECT count(*) FROM (SELECT 1 FROM memory
        WHERE ended_at IS NULL GROUP BY space, id HAVING count(*) > 1)""",
    "memories without a current version": """SELECT count(*) FROM (SELECT 1 FROM memory
        GROUP BY space, id HAVING count(CASE WHEN ended_at IS NULL THEN 1 END) = 0)""",
    "ended versions that mirrors were not told of": """SELECT count(*) FROM memory m WHERE m.ended_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.space = m.space AND e.was = m.seq)""",
    "sequence numbers beyond the counter": """SELECT count(*) FROM memory
        WHERE seq > (SELECT value FROM counter WHERE name = 'seq')""",
    "vectors of the wrong size": """SELECT count(*) FROM trace WHERE length(vector) <>
        2 * (SELECT CAST(value AS INTEGER) FROM book WHERE name = 'dimension')""",
}


def check(tx: Connection, *, deep: bool) -> Check:
    """Every problem found, in words. `deep` reads each page of the file and analyses each text again."""
    problems = list(_engine(tx, deep=deep))
    for words, sql in _RULES.items():
        found = tx.run(sql)[0][0]
        if found:
            problems.append(f"{found:,} {words}")
    if deep:
        problems += _words(tx)
    checked = {table: int(tx.run(f"SELECT count(*) FROM {table}")[0][0]) for table in _COUNTED}
    return Check(problems=tuple(problems), checked=checked)


def _engine(tx: Connection, *, deep: bool) -> Iterator[str]:
    pragma = "integrity_check" if deep else "quick_check"
    for (words,) in tx.run(f"PRAGMA {pragma}"):
        if words != "ok":
            yield f"SQLite: {words}"


def _words(tx: Tx) -> list[str]:
    """Compare the stored words of each current memory with its text."""
    wrong, seq = 0, 0
    while True:
        rows = tx.run(
            "SELECT m.seq, m.text, m.tags, m.source, t.terms FROM memory m JOIN trace t ON t.seq = m.seq"
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
