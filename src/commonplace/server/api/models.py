"""Pydantic models of the native API: bodies, derived from the signatures of verbs, and answers, from their values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from types import EllipsisType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from commonplace import values, wire
from commonplace.errors import InvalidInput
from commonplace.values import Scope, Within, times

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
    "relation": "supersedes",
    "query": "which web framework did we pick?",
    "Recall.text": "- We chose FastAPI over Flask because of async support (decision, 2026-05-04)",
    "avoid": [],
    "receipt": "r1_AYqPPCt9lOX4prHC0-T1pr",
    "session": "standup",
    "Scope.session": None,
    "key": "findings",
    "value": {"topic": "FastAPI"},
    "path": "story.md",
    "File.content": "Once upon a time…",
    "author": "writer",
    "role": "user",
    "name": "Sarah",
    "Message.content": "I prefer TypeScript now, not Python.",
    "Learned.messages": ["01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b"],
    "Learned.jobs": [7],
    "Learned.memories": [],
    "Learned.links": [],
    "Job.kind": "learn",
    "payload": {"session": "standup", "first": 1, "ids": []},
    "space": "default",
    "Stats.memories": 120,
    "by_kind": {"note": 100, "decision": 20},
    "embedder": "static:potion-base-8M",
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
    "Problem.detail": "no memory with id 'x' in this space",
    "code": "not_found",
}
"""Sample values for the examples in the OpenAPI document, by field, or by model and field."""
_BY_TYPE: dict[Any, Any] = {str: "2026-05-04T09:30:00+00:00", int: 1, float: 0.5, bool: False, dict: {}}
_DESCRIPTIONS = {
    "as_of": "Search the book as it was at this time.",
    "asked_at": 'The moment that "last week" counts from; now, if absent.',
    "author": "Who changes the file.",
    "content": "Text, or a JSON list or object.",
    "cursor": "From the page before.",
    "deep": "Compare every index with the rows; needs a key that may admin.",
    "dry_run": "Only report what would be forgotten.",
    "every": "Learn from so many messages of a session together.",
    "everything": "Empty the space; needs a key that may admin.",
    "filter": "A filter; see the page on filters.",
    "hurry": "Also those that wait for more messages.",
    "id": "An id of the caller's own; 409 if it is taken.",
    "idle": "Seconds after which fewer are learned from, if no more come.",
    "if_version": "The revision that the file must be at, or an object of paths and revisions.",
    "importance": "From 0 to 1.",
    "k": "At most this many hits.",
    "keep": "How many may stay, the strongest.",
    "limit": "From 1 to 10,000.",
    "max_tokens": "At most this many tokens of text; null for no limit.",
    "new": "The newest, if absent.",
    "number": "All permanently failed jobs, if absent.",
    "old": "The first revision.",
    "older_than": "Seconds since it was said, used or repeated.",
    "prefix": "Only keys that begin with it.",
    "reconcile": "Compare it with what is known: repeat, contradict, or add.",
    "revision": "The newest, if absent.",
    "said_at": "When it was said or became true; now, if absent.",
    "scope": "The user, agent and session. A selection takes exactly the memories of that scope.",
    "shared": "Whether memories without that part are found too.",
    "superseded": "Also superseded memories.",
    "supersedes": "Ids of memories that this one supersedes.",
    "target": "A memory's id, or the receipt of a recall.",
    "text": "The text that it is found by, if not the content itself.",
    "threshold": "A probability; 0 switches the cut-off off.",
    "ttl": "Seconds after which it is gone; null: never.",
    "value": "Any JSON.",
    "vector": "Replaces the embedder's vector.",
    "version": "The version to read; the current one if absent.",
    "wait": "Learn now and return the result, with status 200.",
    "weaker_than": "0 to 1.2: what time, importance and use leave of it.",
    "LearnBody.session": "The conversation's name; a new one, if absent.",
    "MessageBody.content": "Text, or any JSON.",
    "FileBody.content": "The whole text of the file.",
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
"""Descriptions of arguments by name, and of fields by model and name."""
_ANSWERS: dict[str, Any] = {}

# -- types ---------------------------------------------------------------------------------------------

Content = str | list[Any] | dict[str, Any]


def _parse_time(value: object) -> datetime | None:
    try:
        return None if value is None else times.parse(value)  # type: ignore[arg-type]  # it refuses what is no text
    except InvalidInput as error:
        raise ValueError(str(error)) from error


Moment = Annotated[datetime, BeforeValidator(_parse_time, json_schema_input_type=str)]
"""A time as ISO 8601 text; without a zone it is UTC."""


def _hints(declared: Callable[..., object]) -> dict[str, Any]:
    # Json is a recursive type, which cannot be evaluated.
    return get_type_hints(declared, localns={"Json": Any, "Content": Any, "np": np, "npt": npt})


def _json_type(hint: Any, known: Mapping[Any, Any]) -> Any:
    """Return the type that a value of a hint has in JSON; `known` are types that become others."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in known:
        return known[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        return model_of(hint)
    if origin in (tuple, list, Sequence, Iterable):
        return list[_json_type(args[0], known)]  # type: ignore[misc]  # made at run time
    if origin in (dict, Mapping):
        return dict[str, Any if args[1] is object else _json_type(args[1], known)]  # type: ignore[misc]  # as above
    if origin in (Union, UnionType):
        left_out = {Scope} if Within in args else set()
        kinds = [each for each in args if get_origin(each) is not np.ndarray and each not in left_out]
        return reduce(or_, (_json_type(each, known) for each in kinds))
    return hint


# -- bodies --------------------------------------------------------------------------------------------


class Body(BaseModel):
    """A request's body. Types are strict, and unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)
    made_into: ClassVar[Callable[..., object]] = dict
    """Makes the argument of a verb of what was sent."""

    def given(self) -> dict[str, Any]:
        """Return the arguments that were sent; the others keep the verb's own defaults."""
        return {name: _argument(getattr(self, name)) for name in self.model_fields_set}


def _argument(part: object) -> object:
    if isinstance(part, Body):
        return type(part).made_into(**part.given())
    if type(part) is list and any(isinstance(each, Body) for each in part):
        return [_argument(each) for each in part]
    return part


class ContentBody(Body):
    """A body whose content is `content`, or `base64` for bytes."""

    content: Content | None = Field(default=None, description=_DESCRIPTIONS["content"])
    base64: str | None = Field(default=None, description="Bytes; `text` is what they are found by.")

    def given(self) -> dict[str, Any]:
        parts = super().given()
        if "content" in parts and "base64" in parts:
            raise InvalidInput("give content (text, or a JSON list or object) or base64 (bytes), one of the two")
        if parts.get("content", parts.get("base64", "")) is None:
            raise InvalidInput("the content is null: give text, a JSON list or object, or bytes as base64")
        if "base64" in parts:
            parts["content"] = wire.from_base64(parts.pop("base64"))
        return parts


def argument_fields(declared: Callable[..., object], title: str = "") -> dict[str, tuple[Any, Any]]:
    """Return the arguments of a verb as fields of a model: the type of each in JSON, and its default."""
    hints, fields = _hints(declared), {}
    for name, parameter in inspect.signature(declared).parameters.items():
        if name == "self":
            continue
        several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        kind = list[Any] if several else _json_type(hints[name], _BODIES)
        default = None if parameter.default is ... else parameter.default
        about = _DESCRIPTIONS.get(f"{title}.{name}", _DESCRIPTIONS.get(name))
        fields[name] = (kind, Field(... if default is parameter.empty else default, description=about))
    return fields


def make_body(
    title: str, fields: Mapping[str, Any], example: Mapping[str, Any] | None = None, base: type[Body] = Body
) -> type[Body]:
    """Return a body of fields, each of them a type and a default."""
    config = {} if example is None else {"json_schema_extra": {"examples": [dict(example)]}}
    return create_model(title, __base__=base, __module__=__name__, __cls_kwargs__=config, **fields)


def body_of(
    declared: Callable[..., object],
    title: str,
    example: Mapping[str, Any] | None = None,
    without: Iterable[str] = (),
    own: Mapping[str, Any] = {},
    base: type[Body] = Body,
) -> type[Body]:
    """Return the body that carries the arguments of a verb. `own` are fields of another type than the argument's."""
    fields = {**argument_fields(declared, title), **own}
    for name in (*without, *base.model_fields):
        fields.pop(name, None)
    return make_body(title, fields, example, base)


def make_within(**parts: Any) -> Within:
    """Return where to look, of parts that may be lists."""
    named: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in parts.items()}
    return Within(**named)


_BODIES: dict[Any, Any] = {datetime: Moment, EllipsisType: None}
ScopeBody = _BODIES[Scope] = body_of(Scope, "ScopeBody")
ScopeBody.made_into = Scope
WithinBody = _BODIES[Within] = body_of(Within, "WithinBody")
WithinBody.made_into = make_within

# -- answers -------------------------------------------------------------------------------------------


def _sample(model: str, name: str, kind: Any) -> Any:
    for known in (f"{model}.{name}", name):
        if known in _SAMPLES:
            return _SAMPLES[known]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _example_of(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is list:
        return [_example_of(args[0])] if isinstance(args[0], type) and issubclass(args[0], BaseModel) else []
    if origin is Literal:
        return args[0]
    return None if type(None) in args else _BY_TYPE[origin or kind]


def _example_of(model: type[BaseModel]) -> Any:
    extra: Any = model.model_config["json_schema_extra"]
    return extra["examples"][0]


def _make_model(
    title: str, about: str | None, parts: Mapping[str, Any], optional: Mapping[str, Any] | None = None
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


def answer_of(declared: Callable[..., object], key: str = "", title: str = "") -> Any:
    """Return the model of a verb's answer: the value that it returns, or an object that holds it under a key."""
    returned = _hints(declared)["return"]
    return answer(title or key.capitalize(), **{key: returned}) if key else model_of(returned)


def answer(title: str, **parts: Any) -> Any:
    """Return the model of an answer that holds one or more values by name."""
    if title not in _ANSWERS:
        kinds = {name: _json_type(hint, {datetime: str}) for name, hint in parts.items()}
        _ANSWERS[title] = _make_model(title, None, kinds)
    return _ANSWERS[title]


def model_of(kind: Any) -> Any:
    """Return the model of a value as `wire` writes it: all its fields, and those that only JSON has."""
    name = kind.__name__
    if name not in _ANSWERS:
        hints = {part: _json_type(hint, {datetime: str}) for part, hint in _hints(kind).items()}
        about, optional = kind.__doc__ or "", {}
        if kind is values.Recall:
            del hints["counted"]
            hints["tokens"] = int
        elif kind is values.Check:
            hints = {"ok": bool, **hints}
        elif kind is values.Memory:
            about += " It has `content`, or `base64` if its content is bytes."
            hints, optional = {**hints, "base64": str}, {"content": None, "base64": ""}
        _ANSWERS[name] = _make_model(name, about, hints, optional)
    return _ANSWERS[name]


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
