"""How a memory recalls: the options of CommonplaceMemory, of one query, and of its component config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from pydantic import BaseModel, Field

from commonplace.errors import InvalidInput
from commonplace.integrations.recalling import ensure_options
from commonplace.values import Order, Scope, Within, checks

MOST = {"relevance": 10, "time": 100}
"""Memories that are recalled when `k` is None, by order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to recall; the names and meanings are those of `Book.recall`."""

    within: Within | Scope | None = None
    order: Order = "relevance"
    k: int | None = None
    threshold: float | None = None
    max_tokens: int | None = 2000
    filter: Mapping[str, Any] | None = None
    kinds: Sequence[str] | None = None
    tags: Sequence[str] | None = None

    def __post_init__(self) -> None:
        ensure_options(k=self.k, threshold=self.threshold, max_tokens=self.max_tokens, kinds=self.kinds, tags=self.tags)

    @property
    def most(self) -> int:
        return MOST[self.order] if self.k is None else self.k

    def but(self, given: Mapping[str, Any]) -> Options:
        """These options with others for one query; one that nobody knows is refused."""
        known = {field.name for field in fields(self)}
        for name in given:
            if name not in known:
                raise InvalidInput(f"unknown option {name!r}; known: {', '.join(sorted(known))}")
        return replace(self, **{**given, "order": checks.order(given.get("order", self.order))})

    def config(self, **others: Any) -> CommonplaceMemoryConfig:
        """The config that makes these options again, with what else belongs to a memory."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        # A config is written without what is None, which stands for its default when it is read.
        unlimited = {"max_tokens": "unlimited"} if self.max_tokens is None else {}
        return CommonplaceMemoryConfig.model_validate({**given, **others, **unlimited})


class CommonplaceMemoryConfig(BaseModel):
    """What `dump_component` writes: where the book is, as it was given, and how to recall. It holds no memory."""

    where: str
    space: str = "default"
    name: str | None = None
    scope: Scope = Field(default_factory=Scope)
    within: Within | None = None
    order: Order = "relevance"
    k: int | None = None
    threshold: float | None = None
    max_tokens: int | Literal["unlimited"] = 2000
    filter: dict[str, Any] | None = None
    kinds: list[str] | None = None
    tags: list[str] | None = None
    learn: bool = False
    session: str | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of CommonplaceMemory."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return {**given, "max_tokens": None if self.max_tokens == "unlimited" else self.max_tokens}
