"""Text as HTML: whatever it holds, it stays text."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime, timezone
from functools import lru_cache
from html import escape
from importlib.resources import files

from commonplace.integrations.tasks.pages.levels import INFO, NAMES

MARK = "<!-- commonplace page log -->"

# Longer than this, a text is folded to its first line.
_LONG_LINES = 24
_LONG_TEXT = 4000

# Controls have no place in HTML, and some hide what stands beside them; their pictures have.
_CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys((*range(128, 160), 65534, 65535), 65533)


def text(value: str) -> str:
    """A text that can stand in an element or in a quoted attribute."""
    return escape(value.replace("\r\n", "\n").translate(_CONTROLS))


def name(value: str) -> str:
    """A name within a line: its direction of writing ends where it ends."""
    return f"<bdi>{text(value)}</bdi>"


def block(value: str) -> str:
    """A text of several lines, folded when it is long."""
    shown = f"<pre>\n{text(value)}</pre>"
    lines = len(value.splitlines())
    if lines <= _LONG_LINES and len(value) <= _LONG_TEXT:
        return shown
    first = value.strip().split("\n", 1)[0][:120]
    size = f"{lines:,} lines" if lines > 1 else f"{len(value):,} characters"
    return f"<details><summary>{name(first)} <small>{size}</small></summary>{shown}</details>"


def took(seconds: float) -> str:
    """A duration in the unit that suits it."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 else f"{seconds * 1000:.1f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def now() -> datetime:
    """The time of the machine, with its zone."""
    return datetime.now(timezone.utc).astimezone()


def entry(number: int, markup: str, *, level: int = INFO, kind: str = "line") -> str:
    """One entry of a page; its time is the link to it."""
    at = now()
    word = f'<span class="level">{NAMES[level]}</span>' if level != INFO else ""
    return (
        f'<article class="{kind}" id="e{number}" data-level="{level}"><a class="at" href="#e{number}"'
        f' title="{at.isoformat(" ", "seconds")}">{at:%H:%M:%S}.{at.microsecond // 1000:03}</a>'
        f"<div>{word}{markup}</div></article>\n"
    )


@lru_cache(maxsize=1)
def _assets() -> tuple[str, str, str]:
    """Style, script, and the policy that lets a browser run them and nothing else."""
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
    """A page up to where its entries begin. What follows is only ever added to, so that no end needs to be written."""
    style, script, policy = _assets()
    # The script stands first and waits for the page: a page that was cut off has it all the same.
    return (
        f'<!doctype html>\n{MARK}\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{text(title)}</title><style>{style}</style><script>{script}</script></head>\n<body>{body}\n"
    )
