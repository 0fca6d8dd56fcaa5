"""A postgresql:// URL: what is the server's, what is ours, and how it may be shown."""

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
class Address:
    """Where a book is in PostgreSQL."""

    url: str
    """For the driver, with the password."""
    shown: str
    """For people and messages: without the password and without options."""
    schema: str
    partitions: int
    """Into how many parts a new book's tables are divided."""

    @property
    def quoted(self) -> str:
        """The schema as SQL names it: a plain name may still be one of SQL's words."""
        return f'"{self.schema}"'


def parse(url: str) -> Address:
    """Read a URL; `schema` and `partitions` in its query are ours, everything else is the driver's."""
    try:
        parts = urlsplit(url)
    except ValueError:  # its words hold the password
        raise InvalidInput(f"{_shown(url)} is not a PostgreSQL URL: write postgresql://user@host/database") from None
    if parts.netloc.count("@") > 1:
        raise InvalidInput(f"in the URL of {_shown(url)}, write an @ in a user or password as %40")
    options = [option for option in parts.query.split("&") if option]
    ours = dict(option.split("=", 1) for option in options if option.startswith(("schema=", "partitions=")))
    theirs = [option for option in options if option.partition("=")[0] not in ours]  # as they are written
    schema = ours.get("schema", "commonplace")
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise InvalidInput(f"schema is a plain lower-case name such as commonplace, not {schema!r}")
    place = _shown(url)
    return Address(
        url=urlunsplit((parts.scheme, parts.netloc, parts.path, "&".join(theirs), "")),
        shown=place if schema == "commonplace" else f"{place}?schema={schema}",
        schema=schema,
        partitions=_partitions(ours.get("partitions")),
    )


def _shown(url: str) -> str:
    """A URL for people: all that may be a password is cut, also where one was not written as a URL wants it."""
    scheme, _, rest = url.partition("://")
    head, tail = re.split(r"(?=[?#])|$", rest, maxsplit=1)
    if "@" in tail and "@" not in head:  # whose it is, an option's or a password's, cannot be told
        return f"{scheme}://…"
    return f"{scheme}://{head.rpartition('@')[2]}"


def _partitions(text: str | None) -> int:
    if text is None:
        return PARTITIONS
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_PARTITIONS:
        raise InvalidInput(f"partitions is a number from 1 to {_MOST_PARTITIONS}, not {text!r}")
    return int(text)
