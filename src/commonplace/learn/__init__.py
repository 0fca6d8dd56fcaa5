"""Learning: conversations to memories. The names below are public; the modules are not."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.learn.chat import OpenAIChat, Turn, make_chat
    from commonplace.learn.extractor import ModelExtractor, StatementExtractor
    from commonplace.learn.model import find_json
    from commonplace.learn.segment import sentences

__all__ = ["ModelExtractor", "OpenAIChat", "StatementExtractor", "Turn", "find_json", "make_chat", "sentences"]

_HOMES = {
    "chat": ("OpenAIChat", "Turn", "make_chat"),
    "extractor": ("ModelExtractor", "StatementExtractor"),
    "model": ("find_json",),
}


def __getattr__(name: str) -> object:
    """Import a name when it is first used: few programs learn."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "segment")
    return getattr(import_module(f"{__name__}.{home}"), name)
