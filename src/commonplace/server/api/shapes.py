"""What bodies of the native API are made of."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from commonplace import wire
from commonplace.errors import InvalidInput
from commonplace.server.api.answering import Body, given
from commonplace.values import NOBODY, Draft, Kind, Origin, times
from commonplace.values import Scope as ScopeValue
from commonplace.values import Within as WithinValue


def _moment(value: object) -> datetime | None:
    try:
        return None if value is None else times.parse(value)  # type: ignore[arg-type]  # it refuses what is no text
    except InvalidInput as error:
        raise ValueError(str(error)) from error


Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]
"""A time as ISO 8601 text; without a zone it is UTC."""
Content = str | list[Any] | dict[str, Any]
Metadata = dict[str, Any]
Filter = Annotated[dict[str, Any] | None, Field(description="A filter as the page on filters has it.")]
Names = list[str]


class Scope(Body):
    """Who and where inside a space; a part that is absent belongs to everybody."""

    user: str | None = Field(default=None, examples=["alice"])
    agent: str | None = Field(default=None, examples=["researcher"])
    session: str | None = Field(default=None, examples=["standup"])

    def value(self) -> ScopeValue:
        """As the verbs take it."""
        return ScopeValue(**given(self))


class Within(Body):
    """Where to look: each part lists the values to search, an absent one searches all of them."""

    users: Names | None = Field(default=None, examples=[["alice"]])
    agents: Names | None = Field(default=None, examples=[["researcher"]])
    sessions: Names | None = Field(default=None, examples=[["standup"]])
    shared: bool = Field(default=True, description="Whether memories without that part are found too.")

    def value(self) -> WithinValue:
        """As the verbs take it."""
        users, agents, sessions = (
            None if part is None else tuple(part) for part in (self.users, self.agents, self.sessions)
        )
        return WithinValue(users=users, agents=agents, sessions=sessions, shared=self.shared)


class Remembered(Body):
    """One thing to remember: `content`, or `base64` for bytes."""

    content: Content | None = Field(default=None, description="Text, or a JSON list or object.")
    base64: str | None = Field(default=None, description="Bytes; `text` is what they are found by.")
    text: str | None = Field(default=None, description="What it is found by, if that is not the content itself.")
    mime: str | None = None
    kind: Kind = "note"
    tags: Names = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    importance: float = Field(default=0.5, description="From 0 to 1.")
    scope: Scope | None = None
    source: str | None = None
    origin: Origin = "user"
    said_at: Moment | None = Field(default=None, description="When it was said or became true; now, if absent.")
    ttl: float | None = Field(default=None, description="Seconds after which it is gone.")
    id: str | None = Field(default=None, description="An id of the caller's own; 409 if it is taken.")
    vector: list[float] | None = Field(default=None, description="Takes the place of the embedder's.")
    supersedes: Names = Field(default_factory=list, description="Ids of memories that this one takes the place of.")
    reason: str | None = None

    def draft(self) -> Draft:
        """As the verbs take it."""
        parts = given(self)
        parts.pop("reconcile", None)
        return Draft(
            **{
                **parts_without_content(parts),
                "content": content(parts),
                "scope": NOBODY if self.scope is None else self.scope.value(),
            }
        )


def parts_without_content(parts: dict[str, Any]) -> dict[str, Any]:
    """What is named beside the content."""
    return {name: part for name, part in parts.items() if name not in ("content", "base64")}


def content(parts: dict[str, Any]) -> Any:
    """The content that a body gives in one of two ways."""
    if ("content" in parts) == ("base64" in parts):
        raise InvalidInput("give content (text, or a JSON list or object) or base64 (bytes), one of the two")
    named = parts.get("base64", parts.get("content"))
    if named is None:
        raise InvalidInput("the content is null: give text, a JSON list or object, or bytes as base64")
    return wire.from_base64(named) if "base64" in parts else named
