"""How hard Hypothesis tries, and which tests need a PostgreSQL.

`make test` asks for the profile `ci`, which gives the same verdict on every run; `make quick` for `quick`.
"""

import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from commonplace.settings import Settings

# Timings of a shared machine prove nothing, so that no profile has a deadline, nor a check of how fast inputs are made.
PATIENT: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, max_examples=50, database=None, print_blob=True, **PATIENT)
settings.register_profile("quick", derandomize=True, max_examples=10, database=None, **PATIENT)
settings.register_profile("dev", max_examples=50, **PATIENT)
settings.register_profile("thorough", max_examples=2000, **PATIENT)
settings.load_profile("dev")

# The reader stops in time, and so would answer differently on a slow machine.
(Settings.__init__.__kwdefaults__ or {})["read_budget"] = 60.0

# A shell has what it starts in the background ignore SIGINT, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a PostgreSQL: the file, the name or the parameter of such a test says so."""
    for item in items:
        if "postgres" in item.nodeid:
            item.add_marker(pytest.mark.postgres)
