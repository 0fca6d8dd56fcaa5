"""The candidates: one small adapter each, written as its own users would write it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from peers.base import Peer


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How a candidate is called, where its adapter is, and what `pip install` takes to get it."""

    title: str
    module: str
    distribution: str | None


OURS = "commonplace"
BARE = "bare"
EMBEDDED = "embedded"
"""Ours with its own embedder at work; no column, but lines of its own."""
PEERS = {
    OURS: Entry(title="commonplace", module="peers.ours", distribution=None),
    BARE: Entry(title="bare SQLite", module="peers.bare", distribution=None),
    "chroma": Entry(title="chromadb", module="peers.chroma", distribution="chromadb"),
    "langgraph": Entry(
        title="langgraph-sqlite",
        module="peers.langgraph",
        distribution="langgraph-checkpoint-sqlite",
    ),
    "mem0": Entry(title="mem0ai", module="peers.mem0", distribution="mem0ai"),
    EMBEDDED: Entry(title="commonplace with its embedder", module="peers.embedded", distribution=None),
}
COLUMNS = tuple(name for name in PEERS if name != EMBEDDED)


def load(name: str) -> type[Peer]:
    """Import a candidate's adapter, and with it the candidate."""
    adapter: type[Peer] = importlib.import_module(PEERS[name].module).Adapter
    return adapter
