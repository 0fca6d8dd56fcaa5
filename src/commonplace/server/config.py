"""Config and Listener: the options of a server."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "COMMONPLACE_SERVER"
"""The environment variable that carries a Config from the command line to its worker processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The options of a server. The defaults are safe on loopback."""

    book: str = "commonplace.db"
    """The path or URL of the store."""
    embedder: str | None = None
    reranker: str | None = None
    reader: str | None = None
    extractor: str | None = None

    space: str = "default"
    """The space of callers without a key that name none."""

    closed: bool = False
    """Whether a key is needed even if the book has none, as on an address that other machines reach."""

    threads: int = 2
    """Worker threads of one process; verbs run in them, never on the event loop. More would only compete for the
    interpreter. Long requests have threads of their own."""

    work: bool = True
    """Whether the server runs the jobs of `learn`; if not, `commonplace work` does."""

    max_body_bytes: int = 64_000_000
    """Largest body of a request; imports have no limit."""

    body_timeout: float = 60.0
    """Seconds in which a request's body must arrive."""

    cors_origins: tuple[str, ...] = ()
    """Origins of web pages that may call, such as "https://console.example.org"."""

    sign_up: str | None = None
    """The plan of keys that anybody may create with the Memstore dialect; None: nobody may."""

    telemetry: bool = False
    """Whether requests are sent to OpenTelemetry, which its own environment variables configure."""

    def dumps(self) -> str:
        """Return the options as text, for the worker processes."""
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> Config:
        """Return the options that `dumps` wrote."""
        fields = json.loads(text)
        return Config(**{**fields, "cors_origins": tuple(fields["cors_origins"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Where the server listens, with how many processes, and its TLS certificate."""

    host: str
    port: int
    workers: int = 1
    certificate: Path | None = None
    private_key: Path | None = None

    @property
    def scheme(self) -> str:
        return "http" if self.certificate is None else "https"
