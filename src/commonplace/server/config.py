"""What a server may be told, with the reason for each default."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

VARIABLE = "COMMONPLACE_SERVER"
"""The environment variable that carries a Config from the command line to its worker processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How a server behaves. The defaults are safe on loopback."""

    book: str = "commonplace.db"
    """The path or URL of the store."""
    embedder: str | None = None
    reranker: str | None = None
    extractor: str | None = None

    space: str = "default"
    """The space of callers without a key, and of dialects that name none."""

    closed: bool = False
    """Whether a key is needed even if the book has none, as where the server can be reached from other machines."""

    threads: int = 2
    """Worker threads of one process: verbs run in them, never on the event loop. More take turns at the interpreter,
    which costs more than it gains; what takes long has threads of its own."""

    work: bool = True
    """Whether the server does the jobs that learning leaves; without, `commonplace work` runs beside it."""

    max_body_bytes: int = 64_000_000
    """Largest body of a request; streams of records have no such limit."""

    body_timeout: float = 60.0
    """Seconds in which a request's body must arrive."""

    cors_origins: tuple[str, ...] = ()
    """Origins of pages whose scripts may ask, such as "https://console.example.org"; none by default."""

    sign_up: str | None = None
    """The plan of those who make themselves a key by the Memstore dialect; None: nobody may."""

    telemetry: bool = False
    """Whether requests are told to OpenTelemetry, which its own environment variables configure."""

    def dumps(self) -> str:
        """For the worker processes."""
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> Config:
        """What `dumps` gave."""
        fields = json.loads(text)
        return Config(**{**fields, "cors_origins": tuple(fields["cors_origins"])})
