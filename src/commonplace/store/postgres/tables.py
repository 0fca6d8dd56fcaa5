"""The tables that only PostgreSQL has, the partitions, and the second wall."""

from __future__ import annotations

from functools import partial

from commonplace.store.base import Tx
from commonplace.store.schema import Types

DIVIDED = (
    "memory", "tag", "feedback", "entry", "file", "message", "link", "job", "request", "trace", "posting", "reembedded",
)  # fmt: skip
"""Tables that are divided by space, each space whole in one part."""

EVERY_SPACE = -1
"""What `commonplace.space` is while a transaction may touch them all: reindex, check, copy."""

_OWN = (
    # `halfvec` has no length here: a book's dimension may change, and an index names it where it is needed.
    """CREATE TABLE trace (space integer NOT NULL, seq bigint NOT NULL, state smallint NOT NULL,
        session integer NOT NULL, vector halfvec, terms bytea NOT NULL, PRIMARY KEY (space, seq))
        PARTITION BY HASH (space)""",
    # In the row as long as it fits: a vector beside the table costs a scan three times as much.
    "ALTER TABLE trace ALTER COLUMN vector SET STORAGE MAIN",
    """CREATE TABLE posting (space integer NOT NULL, term integer NOT NULL, seq bigint NOT NULL,
        count smallint NOT NULL, length integer NOT NULL, current boolean NOT NULL,
        PRIMARY KEY (space, term, seq) INCLUDE (count, length, current)) PARTITION BY HASH (space)""",
    # How many memories recall may see in each space, since counting them anew would read them all; and the last
    # sequence number, since none is given out twice, even if what had it was forgotten.
    """CREATE TABLE census (space integer PRIMARY KEY, population bigint NOT NULL, last bigint NOT NULL)
        WITH (fillfactor = 50)""",
    # The last commit of each connection: what became of one whose answer was lost is read from here.
    """CREATE TABLE receipt (writer bigint PRIMARY KEY, token bigint NOT NULL, at timestamptz NOT NULL)
        WITH (fillfactor = 50)""",
    """CREATE TABLE reembedded (space integer NOT NULL, seq bigint NOT NULL, vector halfvec, terms bytea NOT NULL,
        PRIMARY KEY (space, seq)) PARTITION BY HASH (space)""",
)

# The space comes from a setting that each transaction makes for itself; without it no row is seen or taken.
# In a sub-select it is worked out once for a statement, not once for a row.
_WALL = """CREATE POLICY wall ON {table} USING
    ((SELECT NULLIF(current_setting('commonplace.space', TRUE), '')::bigint) IN (space, -1))"""


def types(partitions: int) -> Types:
    """How PostgreSQL spells the tables that both engines have."""
    return Types(
        blob="bytea",
        integer="bigint",
        real="double precision",
        text='text COLLATE "C"',
        space="integer",
        sequence="seq bigint NOT NULL",
        sequence_key=", PRIMARY KEY (space, seq)",
        clustered="",
        divided=" PARTITION BY HASH (space)",
        own=partial(_own, partitions=partitions),
    )


def _own(tx: Tx, *, partitions: int) -> None:
    for sql in _OWN:
        tx.run(sql)
    for table in DIVIDED:
        for part in range(partitions):
            tx.run(
                f"CREATE TABLE {table}_{part} PARTITION OF {table}"
                f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part})"
            )
            # Nobody gets past the wall by naming a part: a policy of the whole counts only where the whole is named.
            tx.run(f"ALTER TABLE {table}_{part} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    for table in (*DIVIDED, "census"):
        tx.run(_WALL.format(table=table))
        tx.run(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
