"""Invalid settings are rejected when they are created."""

from __future__ import annotations

import pytest

from commonplace import InvalidInput, Settings


@pytest.mark.parametrize(
    "wrong", [{"durability": "fulll"}, {"durability": "off"}, {"candidates": -5}, {"busy_timeout": 0}]
)
def test_a_setting_that_means_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Settings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0.5, float("inf"), float("nan")])
def test_a_pool_has_a_whole_number_of_connections(size: float) -> None:
    with pytest.raises(InvalidInput, match="pool_size"):
        Settings(pool_size=size)  # type: ignore[arg-type]
