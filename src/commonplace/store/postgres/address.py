"""The address of a book in PostgreSQL: a postgresql:// URL with options of the driver and of ours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from commonplace.errors import InvalidInput

SCHEMES = ("postgresql", "postgres")
PARTITIONS = 8
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_MOST_PARTITIONS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseAddress:
    """Where a book is in PostgreSQL."""

    url: str
    """For the driver, with the password."""
    shown: str
    """For messages: without the password and options."""
    schema: str
    partitions: int
    """Number of partitions of a new book's tables."""

    @property
    def quoted(self) -> str:
        """The schema's name quoted for SQL, since it may be a keyword."""
        return f'"{self.schema}"'


def parse(url: str) -> DatabaseAddress:
    """Parse a URL; `schema` and `partitions` in its query are ours, other options are the driver's."""
    try:
        parts = urlsplit(url)
    except ValueError:  # its message holds the password
        raise InvalidInput(f"{_show(url)} is not a PostgreSQL URL: write postgresql://user@host/database") from None
    if parts.netloc.count("@") > 1:
        raise InvalidInput(f"in the URL of {_show(url)}, write an @ in a user or password as %40")
    options = [option for option in parts.query.split("&") if option]
    ours = dict(option.split("=", 1) for option in options if option.startswith(("schema=", "partitions=")))
    theirs = [option for option in options if option.partition("=")[0] not in ours]  # as they are written
    schema = ours.get("schema", "commonplace")
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise InvalidInput(f"schema is a plain lower-case name such as commonplace, not {schema!r}")
    place = _show(url)
    return DatabaseAddress(
        url=urlunsplit((parts.scheme, parts.netloc, parts.path, "&".join(theirs), "")),
        shown=place if schema == "commonplace" else f"{place}?schema={schema}",
        schema=schema,
        partitions=_partitions(ours.get("partitions")),
    )


def _show(url: str) -> str:
    """Return a URL without anything that may be a password, even in a malformed URL."""
    scheme, _, rest = url.partition("://")
    head, tail = re.split(r"(?=[?#])|$", rest, maxsplit=1)
    if "@" in tail and "@" not in head:  # part of an option or of a password
        return f"{scheme}://…"
    return f"{scheme}://{head.rpartition('@')[2]}"


def _partitions(text: str | None) -> int:
    if text is None:
        return PARTITIONS
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_PARTITIONS:
        raise InvalidInput(f"partitions is a number from 1 to {_MOST_PARTITIONS}, not {text!r}")
    return int(text)
