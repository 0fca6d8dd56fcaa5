"""The HTML of a page log. Text stays text, whatever it holds.

Pages are only appended to. In the two indexes, of runs and of the calls of one run, a row is added when something
begins and a mark when it ends. A row names its parent row and a mark its row; the script of the page puts them
together. Without the script the rows are a readable list in the order of time.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import lru_cache
from html import escape
from importlib.resources import files

LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50, "NONE": 100}
DEBUG, INFO, WARNING, ERROR, CRITICAL, NONE = LEVELS.values()
LEVEL_NAMES = {number: name.lower() for name, number in LEVELS.items()}
MARK = "<!-- commonplace page log -->"

# A longer text is folded to its first line.
_LONG_LINES = 24
_LONG_TEXT = 4000

# Control characters are shown by their pictures: they are invalid in HTML, and some hide their neighbours.
_CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys((*range(128, 160), 65534, 65535), 65533)
_LEVEL_CHOICE = (
    '<label>Level <select class="choose"><option value="0">all</option><option value="20">info and above</option>'
    '<option value="30">warning and above</option><option value="40">error and above</option></select></label>'
)


def text(value: str) -> str:
    """Return a text for an element or a quoted attribute."""
    return escape(value.replace("\r\n", "\n").translate(_CONTROLS))


def name(value: str) -> str:
    """Return a name within a line; its direction of writing ends with it."""
    return f"<bdi>{text(value)}</bdi>"


def block(value: str) -> str:
    """Return a text of several lines, folded if it is long."""
    shown = f"<pre>\n{text(value)}</pre>"
    lines = len(value.splitlines())
    if lines <= _LONG_LINES and len(value) <= _LONG_TEXT:
        return shown
    first = value.strip().split("\n", 1)[0][:120]
    size = f"{lines:,} lines" if lines > 1 else f"{len(value):,} characters"
    return f"<details><summary>{name(first)} <small>{size}</small></summary>{shown}</details>"


def duration(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 else f"{seconds * 1000:.1f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def now() -> datetime:
    """Return the local time with its zone."""
    return datetime.now(timezone.utc).astimezone()


def entry(number: int, markup: str, *, level: int = INFO, kind: str = "line") -> str:
    """Return one entry of a page; its time is the link to it."""
    at = now()
    word = f'<span class="level">{LEVEL_NAMES[level]}</span>' if level != INFO else ""
    return (
        f'<article class="{kind}" id="e{number}" data-level="{level}"><a class="at" href="#e{number}"'
        f' title="{at.isoformat(" ", "seconds")}">{at:%H:%M:%S}.{at.microsecond // 1000:03}</a>'
        f"<div>{word}{markup}</div></article>\n"
    )


def thumbnail(file: str, description: str = "") -> str:
    """Return an image that opens in full when clicked."""
    shown = f'<a href="{file}"><img src="{file}" alt="{text(description) or "image"}" loading="lazy"></a>'
    return f"<figure>{shown}{f'<figcaption>{name(description)}</figcaption>' if description else ''}</figure>"


@lru_cache(maxsize=1)
def _assets() -> tuple[str, str, str]:
    """Return the style, the script, and the policy that lets a browser run them and nothing else."""
    here = files("commonplace.integrations.tasks.pages")
    style, script = (here.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    policy = (
        f"default-src 'none'; img-src 'self' file:; style-src {_digest(style)}; script-src {_digest(script)};"
        " base-uri 'none'; form-action 'none'"
    )
    return style, script, policy


def _digest(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def head(title: str, body: str) -> str:
    """Return a page up to its first entry. Entries are appended, so no end is written."""
    style, script, policy = _assets()
    # The script comes first and waits for the page: a page that was cut off has it, too.
    return (
        f'<!doctype html>\n{MARK}\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{text(title)}</title><style>{style}</style><script>{script}</script></head>\n<body>{body}\n"
    )


def controls(subject: str, *, levels: bool = True) -> str:
    """Return the controls above a list; the script shows them."""
    return (
        '<div class="tools" hidden><input type="search" class="search" aria-label="Search"'
        f' placeholder="Search {subject}">{_LEVEL_CHOICE if levels else ""}'
        '<button type="button" class="unfold">Expand all</button>'
        '<button type="button" class="fold">Collapse all</button><output class="shown"></output></div>'
    )


def runs_head() -> str:
    """Return the index of runs up to its first row."""
    return head("Runs", '<main><header><h1>Runs</h1></header><ol class="tree runs">')


def run_head(facts: Sequence[str], level: str) -> str:
    """Return the call tree of a run up to its first row."""
    shown = "".join(f"<li>{name(fact)}</li>" for fact in (*facts, f"level {level}"))
    return head(
        f"Call tree, {facts[0]}",
        '<main><nav><a href="../index.html">All runs</a></nav><header><h1>Call tree</h1>'
        f'<ul class="facts">{shown}<li id="run"><span class="took"></span></li></ul>'
        '<p class="unfinished">No end was written yet: the run continues, or it was interrupted.</p></header>'
        f'{controls("calls")}<ol class="tree">',
    )


def run_row(directory: str, facts: Sequence[str]) -> str:
    """Return a row of the index of runs."""
    rest = " · ".join(name(fact) for fact in facts[1:])
    return (
        f'<li id="{directory}"><a href="{directory}/index.html">{name(facts[0])}</a>'
        f' <small>{rest}</small> <span class="took"></span></li>\n'
    )


def call_row(number: int, title: str, *, kind: str, note: str, parent: int | None) -> str:
    """Return a row of the call tree."""
    home = "" if parent is None else f' data-in="p{parent}"'
    return (
        f'<li id="p{number}"{home} class="{kind}" data-level="{INFO}"><details open>'
        f'<summary><a href="{number:04}.html">{name(title)}</a> <span class="took">{text(note)}</span>'
        "</summary><ul></ul></details></li>\n"
    )


def line_row(entry: str) -> str:
    """Return a line that was logged outside any call as a row of the call tree."""
    return f'<li class="note">{entry.rstrip()}</li>\n'


def end_mark(row: str, result: str, state: str = "done") -> str:
    """Return the mark that a row's call or run ended."""
    return f'<li hidden data-of="{row}" data-state="{state}">{text(result)}</li>\n'


def level_mark(row: str, level: int) -> str:
    """Return the mark that something of a higher level was logged in a row's call."""
    return f'<li hidden data-of="{row}" data-rose="{level}"></li>\n'
