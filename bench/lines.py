"""The lines of the table, each defined once."""

from __future__ import annotations

from results import Line

RECALLS = {
    "vector": "recall, vector alone",
    "both": "recall, vector and text",
    "space_vector": "recall in 1 of 100 spaces, vector",
    "space_both": "recall in 1 of 100 spaces, both",
}
IMPORT = Line(key="import", title="import", unit="s", figures=("p50", "max"), floor=False)
PACKAGES = Line(key="packages", title="packages installed", unit="", rows=("",), figures=(), floor=False)
MEGABYTES = Line(key="megabytes", title="installed", unit="MB", rows=("",), figures=("all", "no model"), floor=False)


def filled(size: int) -> Line:
    """How fast a store was filled; candidates fill in different ways, so they are not ranked."""
    title = "brought to size"
    return Line(key=f"fill@{size}", title=title, unit="/s", size=size, figures=("mean",), higher=True, ranked=False)


def cold(size: int) -> Line:
    """From the start of a process to its first recall."""
    return Line(key=f"cold@{size}", title="cold start to first recall", unit="s", size=size, figures=("p50", "max"))


def recall(operation: str, size: int) -> Line:
    """One kind of recall."""
    return Line(key=f"{operation}@{size}", title=RECALLS[operation], unit="ms", size=size)


def found(size: int) -> Line:
    """How many of the true ten nearest were found, to show speed gained by missing some."""
    title = "share of the ten nearest found"
    return Line(
        key=f"found@{size}",
        title=title,
        unit="",
        size=size,
        rows=("",),
        figures=(),
        higher=True,
        ranked=False,
    )


def embedded(size: int) -> Line:
    """Recall by text alone, with the default embedder; the others include none, so they are not ranked."""
    return Line(key=f"embedded@{size}", title="recall, query embedded too", unit="ms", size=size, ranked=False)


def embedder(size: int) -> Line:
    """The default embedder's share of it."""
    return Line(key=f"embedder@{size}", title="of it, the embedder", unit="ms", size=size, ranked=False)


def memory(size: int) -> Line:
    """Memory of the process after its recalls."""
    return Line(
        key=f"memory@{size}",
        title="resident memory",
        unit="MB",
        size=size,
        rows=("",),
        figures=("all", "not files"),
    )


def add(size: int) -> Line:
    """One acknowledged add."""
    return Line(key=f"add@{size}", title="durable single add", unit="ms", size=size)


def batch(size: int, rows: int) -> Line:
    """Adds a second, in batches."""
    title = f"batch add ({rows} at once)"
    return Line(key=f"batch@{size}", title=title, unit="/s", size=size, figures=("mean",), higher=True)


def idle(size: int) -> Line:
    """How late a heartbeat is when nothing else runs: the machine's own noise."""
    return _loop(f"idle@{size}", "event loop at rest", size, ranked=False)


def loop(size: int) -> Line:
    """How late a heartbeat is during adds and recalls."""
    return _loop(f"loop@{size}", "event loop, longest stall", size, ranked=True)


def _loop(key: str, title: str, size: int, *, ranked: bool) -> Line:
    return Line(
        key=key,
        title=title,
        unit="ms",
        size=size,
        rows=("late", "loop's CPU"),
        figures=("max", "p99"),
        ranked=ranked,
        judged=1,
        floor=False,
    )
