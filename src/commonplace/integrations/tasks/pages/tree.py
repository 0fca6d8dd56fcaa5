"""The two indexes, of the runs and of the calls of one run: rows are added as things begin, marks as they end.

A row names the row that it belongs below, and a mark the row that it is about. The script of the page puts them
together; without it the rows are a list in the order of time, which is readable as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.levels import INFO

LEVEL_CHOICE = (
    '<label>Level <select class="choose"><option value="0">all</option><option value="20">info and above</option>'
    '<option value="30">warning and above</option><option value="40">error and above</option></select></label>'
)


def tools(what: str, *, levels: bool = True) -> str:
    """The controls above a list; the script shows them, since they are its own."""
    return (
        '<div class="tools" hidden><input type="search" class="search" aria-label="Search"'
        f' placeholder="Search {what}">{LEVEL_CHOICE if levels else ""}'
        '<button type="button" class="unfold">Expand all</button>'
        '<button type="button" class="fold">Collapse all</button><output class="shown"></output></div>'
    )


def runs_head() -> str:
    """The index of runs up to its first row."""
    return markup.head("Runs", '<main><header><h1>Runs</h1></header><ol class="tree runs">')


def run_head(facts: Sequence[str], level: str) -> str:
    """The call tree of a run up to its first row."""
    shown = "".join(f"<li>{markup.name(fact)}</li>" for fact in (*facts, f"level {level}"))
    return markup.head(
        f"Call tree, {facts[0]}",
        '<main><nav><a href="../index.html">All runs</a></nav><header><h1>Call tree</h1>'
        f'<ul class="facts">{shown}<li id="run"><span class="took"></span></li></ul>'
        '<p class="unfinished">No end was written yet: the run goes on, or it was cut off.</p></header>'
        f'{tools("calls")}<ol class="tree">',
    )


def run_row(directory: str, facts: Sequence[str]) -> str:
    """A row of the index of runs."""
    rest = " · ".join(markup.name(fact) for fact in facts[1:])
    return (
        f'<li id="{directory}"><a href="{directory}/index.html">{markup.name(facts[0])}</a>'
        f' <small>{rest}</small> <span class="took"></span></li>\n'
    )


def call_row(number: int, name: str, *, kind: str, note: str, below: int | None) -> str:
    """A row of the call tree."""
    home = "" if below is None else f' data-in="p{below}"'
    return (
        f'<li id="p{number}"{home} class="{kind}" data-level="{INFO}"><details open>'
        f'<summary><a href="{number:04}.html">{markup.name(name)}</a> <span class="took">{markup.text(note)}</span>'
        "</summary><ul></ul></details></li>\n"
    )


def note_row(entry: str) -> str:
    """A line that was logged outside any call, as a row of the call tree."""
    return f'<li class="note">{entry.rstrip()}</li>\n'


def ended(row: str, said: str, state: str = "done") -> str:
    """The mark that what a row tells of is over."""
    return f'<li hidden data-of="{row}" data-state="{state}">{markup.text(said)}</li>\n'


def rose(row: str, level: int) -> str:
    """The mark that something of a higher level was logged there."""
    return f'<li hidden data-of="{row}" data-rose="{level}"></li>\n'
