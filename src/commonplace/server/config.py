"""What a server may be told, with the reason for each default."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How a server behaves. The defaults are safe on loopback."""

    host: str = "127.0.0.1"
    port: int = 8420
    space: str = "default"
    """The space of callers without a key, and of dialects that name none."""

    threads: int = 4
    """Worker threads of one process: verbs run in them, never on the event loop."""

    max_body_bytes: int = 64_000_000
    """Largest body of a request; streams of records have no such limit."""

    body_timeout: float = 60.0
    """Seconds in which a request's body must arrive."""

    cors_origins: tuple[str, ...] = ()
    """Origins of pages whose scripts may ask, such as "https://console.example.org"; none by default."""
