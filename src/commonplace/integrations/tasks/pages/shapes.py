"""What messages are made of, whoever made them: fields of objects, or of mappings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any


def usage(*results: object) -> tuple[int, int]:
    """Prompt and completion tokens, summed over what carries a usage."""
    found = [get(each, "usage") or get(each, "models_usage") for each in results]
    return sum(_count(each, "prompt_tokens") for each in found), sum(
        _count(each, "completion_tokens") for each in found
    )


def _count(usage: object, name: str) -> int:
    value = get(usage, name)
    return value if isinstance(value, int) else 0


def get(value: object, name: str) -> Any:
    """A field of an object or a mapping; None where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def has(value: object, *names: str) -> bool:
    """Whether it has all of these fields."""
    return all(name in value if isinstance(value, Mapping) else hasattr(value, name) for name in names)


def plain(value: object) -> object:
    """What JSON has a form for, if the value can be taken apart."""
    if callable(dump := getattr(value, "model_dump", None)):
        return dump()
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def as_json(value: object) -> str:
    """A value as indented JSON; what JSON has no form for is shown as Python does."""
    try:
        return json.dumps(plain(value), indent=2, ensure_ascii=False, default=repr)
    except Exception:  # noqa: BLE001 - values may be anything, and a log must not stop what it tells of
        return _shown(value)


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - as above
        return f"<{type(value).__name__} that cannot be shown>"


def parsed(arguments: object) -> object:
    """The arguments of a tool call, which models write as JSON; as they are if it is none."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
