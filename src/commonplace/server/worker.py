"""One worker process: opens the book that its environment names, and serves it."""

from __future__ import annotations

import os

from fastapi import FastAPI

from commonplace.opening import open_core
from commonplace.server.app import create_app
from commonplace.server.config import VARIABLE, Config


def app() -> FastAPI:
    """The application of this process; the store is closed when it ends."""
    config = Config.loads(os.environ[VARIABLE])
    core = open_core(
        config.book,
        space=config.space,
        embedder=config.embedder,
        reranker=config.reranker,
        extractor=config.extractor,
    )
    return create_app(core, config, closing=core.close)
