"""The settings of a bank and of a controller, by AutoGen's names and with its defaults; an unknown name is refused."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict, TypeVar

from commonplace.errors import InvalidInput
from commonplace.values import checks


class MemoryBankConfig(TypedDict, total=False):
    """What `MemoryBank` takes; `space`, `name` and `threshold` are commonplace's own."""

    path: str
    relevance_conversion_threshold: float
    n_results: int
    distance_threshold: int
    space: str
    name: str
    threshold: float


class MemoryControllerConfig(TypedDict, total=False):
    """What `MemoryController` takes."""

    generalize_task: bool
    revise_generalized_task: bool
    generate_topics: bool
    validate_memos: bool
    max_memos_to_retrieve: int
    max_train_trials: int
    max_test_trials: int
    MemoryBank: MemoryBankConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class BankSettings:
    """A bank's settings, checked."""

    path: str | None = None
    relevance_conversion_threshold: float = 1.7
    n_results: int = 25
    distance_threshold: float = 100
    space: str | None = None
    name: str = "default"
    threshold: float | None = None

    def __post_init__(self) -> None:
        checks.count(self.n_results, "n_results", least=1, most=1_000)
        checks.name(self.name, "name")
        if self.threshold is not None:
            checks.share(self.threshold, "threshold")
        for name, usual in (("relevance_conversion_threshold", 1.7), ("distance_threshold", 100)):
            if getattr(self, name) != usual:
                warnings.warn(
                    f"{name} is a distance between vectors of another program and changes nothing here: memos are "
                    "chosen by a calibrated probability, for which `threshold` sets the bound",
                    stacklevel=5,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """A controller's settings, checked."""

    generalize_task: bool = True
    revise_generalized_task: bool = True
    generate_topics: bool = True
    validate_memos: bool = True
    max_memos_to_retrieve: int = 10
    max_train_trials: int = 10
    max_test_trials: int = 3
    MemoryBank: MemoryBankConfig | None = None

    def __post_init__(self) -> None:
        for name in ("max_memos_to_retrieve", "max_train_trials", "max_test_trials"):
            checks.count(getattr(self, name), name, least=1, most=1_000)


S = TypeVar("S", BankSettings, ControllerSettings)


def settings(kind: type[S], given: Mapping[str, Any] | None, of: str) -> S:
    """The settings that a config gives; InvalidInput for a name that nobody knows."""
    known = {field.name for field in fields(kind)}
    for name in given or {}:
        if name not in known:
            raise InvalidInput(f"{of} has no setting {name!r}; known: {', '.join(sorted(known))}")
    return kind(**(given or {}))
