"""What search keeps in the SQLite file: traces for the mirrors to load, and notes of what ended."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.store.base import Indexed, Row, Tx

_ADD = "INSERT INTO trace (seq, space, head, vector, terms) VALUES (:seq, :space, :head, :vector, :terms)"
_END = "INSERT INTO ended (space, seq, was) VALUES (:space, :seq, :was)"
_READ = "SELECT vector, terms FROM trace WHERE seq = :seq AND space = :space"
_REMOVE = "DELETE FROM {table} WHERE space = :space AND seq = :seq"
_KEEP = """INSERT INTO reembedded (seq, space, vector, terms) VALUES (:seq, :space, :vector, :terms)
    ON CONFLICT DO NOTHING"""
_PUT = """UPDATE trace SET vector = r.vector, terms = r.terms FROM reembedded r
    WHERE r.seq = trace.seq AND r.space = trace.space"""
# A search graph holds vectors of what was forgotten: the book no longer names it, so that nobody opens it.
_UNREGISTER = "DELETE FROM book WHERE name = :name"


class SqliteIndex:
    """An Index whose readers keep it in memory and catch up by sequence number."""

    __slots__ = ("_tx",)

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def add(self, space: int, added: Sequence[Indexed]) -> None:
        self._tx.many(
            _ADD,
            (
                {"seq": each.seq, "space": space, "head": each.head, "vector": each.vector, "terms": each.terms}
                for each in added
            ),
        )

    def end(self, space: int, was: int, *, by: int) -> None:
        self._tx.run(_END, {"space": space, "seq": by, "was": was})

    def read(self, space: int, seq: int) -> tuple[bytes | None, bytes]:
        ((vector, terms),) = self._tx.run(_READ, {"space": space, "seq": seq})
        return vector, terms

    def remove(self, space: int, versions: Sequence[tuple[int, bool]]) -> None:
        for table in ("trace", "reembedded"):
            self._tx.many(_REMOVE.format(table=table), [{"space": space, "seq": seq} for seq, _ in versions])
        # Mirrors that hold one of these learn it from here; only the number stays.
        first = self._tx.take(space, 1)
        self._tx.many(_END, [{"space": space, "seq": first, "was": seq} for seq, current in versions if current])
        self._tx.run(_UNREGISTER, {"name": f"segment {space}"})

    def clear(self, space: int) -> None:
        for table in ("trace", "reembedded", "ended"):
            self._tx.run(f"DELETE FROM {table} WHERE space = :space", {"space": space})
        self._tx.run(_UNREGISTER, {"name": f"segment {space}"})

    def keep_reembedded(self, rows: Sequence[Row]) -> None:
        self._tx.many(
            _KEEP,
            ({"seq": seq, "space": space, "vector": vector, "terms": terms} for seq, space, vector, terms in rows),
        )

    def put_reembedded(self) -> None:
        self._tx.run(_PUT)
