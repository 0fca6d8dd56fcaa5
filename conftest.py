"""How hard Hypothesis tries, and which tests need a PostgreSQL.

`make test` asks for the profile `ci`, which gives the same verdict on every run; `make quick` for `quick`.
"""

import pytest
from hypothesis import settings

# Timings of a shared machine prove nothing, so that no profile has a deadline.
settings.register_profile("ci", derandomize=True, max_examples=50, deadline=None, database=None, print_blob=True)
settings.register_profile("quick", derandomize=True, max_examples=10, deadline=None, database=None)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile("dev")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a PostgreSQL: the file, the name or the parameter of such a test says so."""
    for item in items:
        if "postgres" in item.nodeid:
            item.add_marker(pytest.mark.postgres)
