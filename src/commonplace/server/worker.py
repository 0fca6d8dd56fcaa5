"""One worker process: opens the book that its environment names, and serves it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

from fastapi import FastAPI

from commonplace.location import open_core
from commonplace.server.app import create_app
from commonplace.server.config import VARIABLE, Config


def app() -> FastAPI:
    """The application of this process; the store is closed when it ends."""
    first = multiprocessing.parent_process()
    if first is not None:  # one of several
        threading.Thread(target=_end_with, args=(first,), name="commonplace end", daemon=True).start()
    config = Config.loads(os.environ[VARIABLE])
    core = open_core(
        config.book,
        space=config.space,
        embedder=config.embedder,
        reranker=config.reranker,
        extractor=config.extractor,
    )
    return create_app(core, config, closing=core.close)


def _end_with(first: BaseProcess) -> None:
    """End in good order once the process is gone that started this one: nobody else would, and the port stays taken."""
    first.join()
    os.kill(os.getpid(), signal.SIGTERM)
