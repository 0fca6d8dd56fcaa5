"""Pydantic models of the native API: answers, derived from the values that verbs return, and parts of bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from commonplace import values, wire
from commonplace.errors import InvalidInput
from commonplace.server.api.routes import Body
from commonplace.values import NOBODY, Draft, Kind, Origin, times

# -- answers -------------------------------------------------------------------------------------------

_SAMPLES: dict[str, Any] = {
    "id": "01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b",
    "ids": ["01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b"],
    "other": "00f1e2d3c4b5a69788796a5b4c3d2e1f",
    "content": "We chose FastAPI over Flask because of async support",
    "text": "We chose FastAPI over Flask because of async support",
    "mime": "text/plain",
    "kind": "decision",
    "tags": ["user:alice"],
    "metadata": {"ticket": 42},
    "user": "alice",
    "origin": "user",
    "version": 1,
    "action": "remembered",
    "relation": "supersedes",
    "score": 0.91,
    "query": "which web framework did we pick?",
    "Recall.text": "- We chose FastAPI over Flask because of async support (decision, 2026-05-04)",
    "avoid": [],
    "coverage": "known",
    "receipt": "r1_AYqPPCt9lOX4prHC0-T1pr",
    "tokens": 19,
    "session": "standup",
    "Scope.session": None,
    "key": "findings",
    "value": {"topic": "FastAPI"},
    "path": "story.md",
    "revision": 2,
    "File.content": "Once upon a time…",
    "author": "writer",
    "role": "user",
    "name": "Sarah",
    "Message.content": "I prefer TypeScript now, not Python.",
    "Learned.messages": ["01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b"],
    "Learned.jobs": [7],
    "Learned.memories": [],
    "Learned.links": [],
    "number": 7,
    "Job.kind": "learn",
    "state": "waiting",
    "attempts": 0,
    "payload": {"session": "standup", "first": 1, "ids": []},
    "space": "default",
    "Stats.memories": 120,
    "by_kind": {"note": 100, "decision": 20},
    "embedder": "static:potion-base-8M",
    "bytes": 1048576,
    "engine": "SQLite 3.51.3",
    "checked": {"memories": 120},
    "namespaces": ["researcher"],
    "keys": ["findings"],
    "Deleted.deleted": True,
    "Check.ok": True,
    "canvases": ["story"],
    "Standing.files": {"story.md": 2},
    "diff": "--- a/story.md\n+++ b/story.md\n@@ -1 +1 @@\n-Once\n+Once upon a time\n",
    "transcripts": ["standup"],
    "title": "NotFound",
    "type": "about:blank",
    "status": 404,
    "detail": {},
    "Problem.detail": "no memory with id 'x' in this space",
    "code": "not_found",
}
"""Sample values for the examples in the OpenAPI document, by field, or by model and field."""
_BY_TYPE: dict[Any, Any] = {str: "2026-05-04T09:30:00+00:00", int: 1, float: 0.5, bool: False}
_DESCRIPTIONS = {
    "Memory.version": "Rises by one with each change; the answer's ETag.",
    "Memory.content": "Text, or a JSON list or object. Absent if the content is bytes.",
    "Memory.base64": "The content, if it is bytes; absent otherwise.",
    "Memory.text": "The text that it is found by and shown as.",
    "Memory.valid_to": "When another memory superseded it.",
    "Page.cursor": "Fetches the next page; null means that this was the last.",
    "Recall.text": "The text for a model's prompt: data, never instructions.",
    "Recall.avoid": "Failures and rejected options that are relevant to the query.",
    "Recall.receipt": "Stands for all that was returned, for feedback.",
    "Recall.tokens": "Tokens of `text`.",
    "Learned.messages": "Ids of the memories that hold the messages.",
    "Learned.jobs": "Numbers of the jobs that will extract; none when that is done.",
    "Entry.version": "Rises with each change; the answer's ETag.",
    "File.revision": "Rises with each change; the answer's ETag.",
    "Problem.retryable": "Whether the same request may succeed later unchanged.",
    "Problem.current": "With a conflict: the current version, 0 for none.",
    "Problem.retry_after": "With a limit: seconds to wait.",
}
_MODELS: dict[type, type[BaseModel]] = {}


def _json_type(hint: Any) -> Any:
    """Return the type that a value of a hint has in JSON, as `wire.plain` writes it."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is datetime:
        return str
    if isinstance(hint, type) and is_dataclass(hint):
        return model_of(hint)
    if origin is tuple:
        return list[_json_type(args[0])]  # type: ignore[misc]  # made at run time
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _json_type(args[1])]  # type: ignore[misc]  # made at run time
    if origin in (Union, UnionType):
        if any(get_origin(arg) in (list, dict) for arg in args):
            return Any  # any JSON
        return reduce(or_, map(_json_type, args))
    return hint


def _sample(model: str, name: str, kind: Any) -> Any:
    for known in (f"{model}.{name}", name):
        if known in _SAMPLES:
            return _SAMPLES[known]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _example_of(kind)
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        return [_example_of(item)] if isinstance(item, type) and issubclass(item, BaseModel) else []
    return None if type(None) in get_args(kind) else _BY_TYPE[kind]


def _example_of(model: type[BaseModel]) -> Any:
    extra: Any = model.model_config["json_schema_extra"]
    return extra["examples"][0]


def _make_model(
    title: str, about: str, parts: Mapping[str, Any], optional: Mapping[str, Any] | None = None
) -> type[BaseModel]:
    """Return a model with an example. `optional` are the parts that may be absent, with their defaults."""
    absent = optional or {}
    fields: dict[str, Any] = {
        name: (kind, Field(absent.get(name, ...), description=_DESCRIPTIONS.get(f"{title}.{name}")))
        for name, kind in parts.items()
    }
    shown = {name: _sample(title, name, parts[name]) for name in parts if name == "content" or name not in absent}
    config = ConfigDict(json_schema_extra={"examples": [shown]})
    return create_model(title, __doc__=about, __config__=config, __module__=__name__, **fields)


def answer(title: str, about: str, **parts: Any) -> type[BaseModel]:
    """Return the model of an answer that holds one or more values by name."""
    return _make_model(title, about, parts)


def model_of(kind: type) -> type[BaseModel]:
    """Return the model of a value as `wire` writes it: all its fields, and those that only JSON has."""
    if kind not in _MODELS:
        hints = {part: _json_type(hint) for part, hint in get_type_hints(kind).items()}
        about, optional = kind.__doc__ or "", {}
        if kind is values.Recall:
            del hints["counted"]
            hints["tokens"] = int
        elif kind is values.Check:
            hints = {"ok": bool, **hints}
        elif kind is values.Memory:
            about += " It has `content`, or `base64` if its content is bytes."
            hints, optional = {**hints, "base64": str}, {"content": None, "base64": ""}
        _MODELS[kind] = _make_model(kind.__name__, about, hints, optional)
    return _MODELS[kind]


Names = list[str]
Memory: Any = model_of(values.Memory)
Page = model_of(values.Page)
Recall = model_of(values.Recall)
Learned = model_of(values.Learned)
Forgotten = model_of(values.Forgotten)
Entry = model_of(values.Entry)
File: Any = model_of(values.File)
Stats = model_of(values.Stats)
Check = model_of(values.Check)
_Revision: Any = model_of(values.Revision)
_Link: Any = model_of(values.Link)
_Job: Any = model_of(values.Job)
_Message: Any = model_of(values.Message)

Memories = answer("Memories", "Several memories, in the order in which they were given.", memories=list[Memory])
History = answer("History", "Every version of a memory, oldest first.", revisions=list[_Revision])
Links = answer("Links", "Links of a memory.", links=list[_Link])
Ids = answer("Ids", "Ids of the memories that were changed.", ids=Names)
Touched = answer("Touched", "How many memories the feedback changed.", memories=int)
Jobs = answer("Jobs", "The jobs of a space, oldest first.", jobs=list[_Job])
Worked = answer("Worked", "How many jobs were tried.", done=int)
Retried = answer("Retried", "How many jobs were queued again.", retried=int)
Namespaces = answer("Namespaces", "The namespaces that hold anything.", namespaces=Names)
Keys = answer("Keys", "The keys of a namespace, sorted.", keys=Names)
Deleted = answer("Deleted", "Whether there was anything.", deleted=bool)
Canvases = answer("Canvases", "The canvases that hold a file.", canvases=Names)
Standing = answer("Standing", "The current files, each with its revision.", files=dict[str, int])
Files = answer("Files", "The files that a patch wrote.", files=list[File])
Revisions = answer("Revisions", "Every revision of a file, oldest first.", revisions=list[File])
Diff = answer("Diff", "A unified diff, which `patch` accepts.", diff=str)
Erased = answer("Erased", "How many revisions were erased.", revisions=int)
Transcripts = answer("Transcripts", "The sessions that have a transcript.", transcripts=Names)
Messages = answer("Messages", "Messages, oldest first.", messages=list[_Message])
Unsaid = answer("Unsaid", "How many messages were erased.", messages=int)
Loaded = answer("Loaded", "How many records were new.", records=int)
Problem = _make_model(
    "Problem",
    "An error as in RFC 9457; `code` is stable and meant for machines.",
    {
        "type": str,
        "title": str,
        "status": int,
        "detail": str,
        "code": str,
        "retryable": bool,
        "current": int | None,
        "retry_after": float | None,
    },
    {"current": None, "retry_after": None},
)

# -- bodies --------------------------------------------------------------------------------------------


def example(body: dict[str, Any]) -> ConfigDict:
    """Return the configuration of a body with an example."""
    return ConfigDict(json_schema_extra={"examples": [body]})


def _parse_time(value: object) -> datetime | None:
    try:
        return None if value is None else times.parse(value)  # type: ignore[arg-type]  # it refuses what is no text
    except InvalidInput as error:
        raise ValueError(str(error)) from error


Moment = Annotated[datetime, BeforeValidator(_parse_time, json_schema_input_type=str)]
"""A time as ISO 8601 text; without a zone it is UTC."""
Content = str | list[Any] | dict[str, Any]
Metadata = dict[str, Any]
Filter = Annotated[dict[str, Any] | None, Field(description="A filter; see the page on filters.")]


class ScopeBody(Body):
    """Who and where inside a space; a part that is absent belongs to everybody."""

    user: str | None = Field(default=None, examples=["alice"])
    agent: str | None = Field(default=None, examples=["researcher"])
    session: str | None = Field(default=None, examples=["standup"])

    def as_argument(self) -> values.Scope:
        return values.Scope(**self.given())


class WithinBody(Body):
    """Where to look: each part lists the values to search, an absent one searches all of them."""

    users: Names | None = Field(default=None, examples=[["alice"]])
    agents: Names | None = Field(default=None, examples=[["researcher"]])
    sessions: Names | None = Field(default=None, examples=[["standup"]])
    shared: bool = Field(default=True, description="Whether memories without that part are found too.")

    def as_argument(self) -> values.Within:
        parts: dict[str, Any] = {name: tuple(part) for name, part in self.given().items() if isinstance(part, list)}
        return values.Within(**parts, shared=self.shared)


class DraftBody(Body):
    """One thing to remember: `content`, or `base64` for bytes."""

    content: Content | None = Field(default=None, description="Text, or a JSON list or object.")
    base64: str | None = Field(default=None, description="Bytes; `text` is what they are found by.")
    text: str | None = Field(default=None, description="The text that it is found by, if not the content itself.")
    mime: str | None = None
    kind: Kind = "note"
    tags: Names = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    importance: float = Field(default=0.5, description="From 0 to 1.")
    scope: ScopeBody | None = None
    source: str | None = None
    origin: Origin = "user"
    said_at: Moment | None = Field(default=None, description="When it was said or became true; now, if absent.")
    ttl: float | None = Field(default=None, description="Seconds after which it is gone.")
    id: str | None = Field(default=None, description="An id of the caller's own; 409 if it is taken.")
    vector: list[float] | None = Field(default=None, description="Replaces the embedder's vector.")
    supersedes: Names = Field(default_factory=list, description="Ids of memories that this one supersedes.")
    reason: str | None = None

    def draft(self) -> Draft:
        parts = self.given()
        parts.pop("reconcile", None)
        return Draft(**{**with_content(parts, needed=True), "scope": parts.get("scope") or NOBODY})


def with_content(parts: dict[str, Any], *, needed: bool) -> dict[str, Any]:
    """Return the parts of a body with its content, which came as `content` or as `base64`."""
    found = {name: part for name, part in parts.items() if name not in ("content", "base64")}
    if len(found) == len(parts) and not needed:
        return found
    if ("content" in parts) == ("base64" in parts):
        raise InvalidInput("give content (text, or a JSON list or object) or base64 (bytes), one of the two")
    named = parts.get("base64", parts.get("content"))
    if named is None:
        raise InvalidInput("the content is null: give text, a JSON list or object, or bytes as base64")
    return {**found, "content": wire.from_base64(named) if "base64" in parts else named}
