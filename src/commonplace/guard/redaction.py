"""Redaction of texts and of the values stored with them, as the settings say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from commonplace.errors import InvalidInput
from commonplace.guard import personal, secrets
from commonplace.settings import Redact
from commonplace.values import Json, Scope


def redact_text(value: str, redact: Redact) -> str:
    """Return a text without its secrets, and on request without personal data."""
    if redact == "nothing":
        return value
    clean = secrets.redact(value).text
    return personal.redact_personal(clean).text if redact == "personal" else clean


def json_value(value: Json, redact: Redact, called: str = "") -> Json:
    """Return a JSON value with every text in it redacted; `called` is its key, which may say that it is a secret."""
    if redact == "nothing":
        return value
    if isinstance(value, Mapping):
        return _items(value, redact)
    if isinstance(value, list):
        return [json_value(item, redact, called) for item in value]
    if not isinstance(value, str):
        return value
    label = f"{called}: "
    named = redact_text(label + value, redact)
    return named.removeprefix(label) if called and named.startswith(label) else redact_text(value, redact)


def _items(value: Mapping[str, Json], redact: Redact) -> dict[str, Json]:
    """Return a mapping with its keys redacted, too; keys that become equal are numbered, so that no value is lost."""
    out: dict[str, Json] = {}
    for key, item in value.items():
        clean = named = name(key, redact)
        while clean != key and named in out:
            named = f"{clean} {len(out)}"
        out[named] = json_value(item, redact, key)
    return out


@lru_cache(maxsize=4096)
def name(value: str, redact: Redact) -> str:
    """Return a redacted short text that occurs often: a tag, a source, a speaker, a key of a mapping."""
    return redact_text(value, redact)


def names(values: tuple[str, ...], redact: Redact) -> tuple[str, ...]:
    """Return redacted tags and the like, without repeats."""
    return tuple(dict.fromkeys(name(value, redact) for value in values)) if values else ()


def optional_name(value: str | None, redact: Redact) -> str | None:
    return None if value is None else name(value, redact)


def check_key(value: str, what: str, redact: Redact) -> str:
    """Return a name by which a caller finds something again. It cannot be changed, so one with a secret is rejected.

    Only the forms of known keys and tokens count: "auth0|5f7c8ec7c33c6c004bbafe82" is somebody's id, no password.
    """
    if redact != "nothing" and _has_form(value):
        raise InvalidInput(
            f"{what} holds what looks like a secret: choose another name, or open the book with"
            ' Settings(redact="nothing")'
        )
    return value


@lru_cache(maxsize=4096)
def _has_form(value: str) -> bool:
    return next(iter(secrets.find_forms(value)), None) is not None


def check_scope(value: Scope, redact: Redact) -> Scope:
    """Return the scope; reject one with a secret in its parts."""
    for part in ("user", "agent", "session"):
        named = getattr(value, part)
        if named is not None:
            check_key(named, f"scope.{part}", redact)
    return value


def metadata(encoded: str, redact: Redact) -> str:
    if redact == "nothing" or encoded == "{}":
        return encoded
    return json.dumps(json_value(json.loads(encoded), redact), ensure_ascii=False)


def optional_text(value: str | None, redact: Redact) -> str | None:
    return None if value is None else redact_text(value, redact)
