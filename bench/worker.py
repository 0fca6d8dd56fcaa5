"""One candidate in its own process: reads one command a line, answers one line.

`worker.py serve NAME CORPUS STORE DIMENSION` serves commands; `worker.py import NAME` times the import;
`worker.py cold NAME CORPUS STORE DIMENSION OPERATION` opens a store, recalls once and prints its CPU time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the command line; answers go to the real standard output, everything else to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    mode, *args = sys.argv[1:]
    if mode == "import":
        reply: dict[str, Any] = time_import(*args)
        print(json.dumps(reply), file=answers)
    elif mode == "cold":
        print(json.dumps(cold(*args)), file=answers)
    else:
        serve(answers, *args)
    answers.flush()
    os._exit(0)  # some candidates keep threads that never end


def time_import(name: str) -> dict[str, Any]:
    """Seconds that the import of a candidate takes in a fresh interpreter."""
    import peers  # ours, and light

    wall, cpu = time.perf_counter(), time.process_time()
    peers.load(name)
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def cold(name: str, corpus: str, store: str, dimension: str, operation: str) -> dict[str, Any]:
    """Open a filled store and recall once: all CPU seconds since the process began."""
    import peers
    from corpus import Corpus

    question = Corpus(Path(corpus)).questions()[0]
    peer = peers.load(name)(Path(store), int(dimension))
    peer.prepare([], [question])
    found = len(peer.numbers(getattr(peer, operation)(question)))
    return {"cpu": time.process_time(), "found": found}


def serve(answers: Any, name: str, corpus: str, store: str, dimension: str) -> None:
    """Answer commands until `close`, or until the other side hangs up."""
    from serving import Serving

    serving = Serving(name, Path(corpus), Path(store), int(dimension))
    for line in sys.stdin:
        command = json.loads(line)
        do = command.pop("do")
        try:
            reply = getattr(serving, do)(**command)
        except Exception as error:  # noqa: BLE001  (what a candidate raises is its result)
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(reply), file=answers)
        if do == "close":
            return


if __name__ == "__main__":
    main()
