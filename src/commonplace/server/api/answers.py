"""What the native API answers, for its OpenAPI document: answers are written by `wire`, these say what is in them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from commonplace.values import Action, Coverage, Kind, Origin, Relation

Example = dict[str, Any]

_MEMORY: Example = {
    "id": "01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b",
    "version": 1,
    "content": "We chose FastAPI over Flask because of async support",
    "text": "We chose FastAPI over Flask because of async support",
    "mime": "text/plain",
    "kind": "decision",
    "tags": ["user:alice"],
    "metadata": {"ticket": 42},
    "importance": 0.5,
    "scope": {"user": "alice", "agent": None, "session": None},
    "source": None,
    "origin": "user",
    "said_at": "2026-05-04T09:30:00+00:00",
    "created_at": "2026-05-04T09:30:00.125000+00:00",
    "updated_at": "2026-05-04T09:30:00.125000+00:00",
    "expires_at": None,
    "valid_to": None,
    "superseded_by": None,
}
_LINK: Example = {
    "id": "01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b",
    "relation": "supersedes",
    "other": "00f1e2d3c4b5a69788796a5b4c3d2e1f",
    "at": "2026-05-04T09:30:00+00:00",
    "reason": None,
    "detail": {},
}
_ENTRY: Example = {
    "key": "findings",
    "value": {"topic": "FastAPI"},
    "version": 3,
    "updated_at": "2026-05-04T09:30:00+00:00",
    "expires_at": None,
}
_FILE: Example = {
    "path": "story.md",
    "revision": 2,
    "content": "Once upon a time…",
    "at": "2026-05-04T09:30:00+00:00",
    "author": "writer",
    "deleted": False,
}
_MESSAGE: Example = {
    "number": 1,
    "role": "user",
    "name": "Sarah",
    "content": "I prefer TypeScript now, not Python.",
    "metadata": {},
    "said_at": "2026-05-04T09:30:00+00:00",
    "created_at": "2026-05-04T09:30:00+00:00",
}
_JOB: Example = {
    "number": 7,
    "kind": "learn",
    "state": "waiting",
    "attempts": 0,
    "due_at": "2026-05-04T09:30:00+00:00",
    "created_at": "2026-05-04T09:30:00+00:00",
    "error": None,
    "payload": {"session": "standup", "first": 1, "ids": []},
}
_HIT: Example = {
    "memory": _MEMORY,
    "score": 0.91,
    "parts": {
        "meaning": 6.2,
        "words": 0.5,
        "relevance": 0.95,
        "certainty": 1.0,
        "recency": 0.98,
        "strength": 0.98,
        "reread": None,
    },
}
_FORGOTTEN: Example = {"ids": [_MEMORY["id"]], "memories": 1, "entries": 0, "files": 0, "messages": 0}


def _with(example: Example) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [example]})


class Scope(BaseModel):
    """Whose it is; a part that is null belongs to everybody."""

    user: str | None
    agent: str | None
    session: str | None


class Memory(BaseModel):
    """One thing worth keeping, as it stood at `version`. It has `content`, or `base64` if its content is bytes."""

    model_config = _with(_MEMORY)

    id: str
    version: int = Field(description="Rises by one with each change; the answer's ETag.")
    content: Any = Field(default=None, description="Text, or a JSON list or object. Absent if the content is bytes.")
    base64: str = Field(default="", description="The content, if it is bytes; absent otherwise.")
    text: str = Field(description="What it is found by and shown as.")
    mime: str
    kind: Kind
    tags: list[str]
    metadata: dict[str, Any]
    importance: float
    scope: Scope
    source: str | None
    origin: Origin
    said_at: str
    created_at: str
    updated_at: str
    expires_at: str | None
    valid_to: str | None = Field(description="When another memory took its place.")
    superseded_by: str | None


class Memories(BaseModel):
    """Several memories, in the order in which they were given."""

    model_config = _with({"memories": [_MEMORY]})

    memories: list[Memory]


class Page(BaseModel):
    """One page of a listing."""

    model_config = _with({"memories": [_MEMORY], "cursor": None})

    memories: list[Memory]
    cursor: str | None = Field(description="Fetches the next page; null means that this was the last.")


class Revision(BaseModel):
    """One step in a memory's life."""

    version: int
    action: Action
    at: str
    reason: str | None
    memory: Memory


class History(BaseModel):
    """Every version of a memory, oldest first."""

    model_config = _with(
        {
            "revisions": [
                {"version": 1, "action": "remembered", "at": _MEMORY["created_at"], "reason": None, "memory": _MEMORY}
            ]
        }
    )

    revisions: list[Revision]


class Link(BaseModel):
    """What a memory has to do with another."""

    id: str
    relation: Relation
    other: str
    at: str
    reason: str | None
    detail: dict[str, Any]


class Links(BaseModel):
    """Links of a memory."""

    model_config = _with({"links": [_LINK]})

    links: list[Link]


class Score(BaseModel):
    """The parts of a hit's score."""

    meaning: float
    words: float
    relevance: float
    certainty: float
    recency: float
    strength: float
    reread: float | None


class Hit(BaseModel):
    """A memory that a recall found, and why."""

    memory: Memory
    score: float
    parts: Score


class Recall(BaseModel):
    """A ranked answer. No hits is an honest answer: the space holds nothing that bears on the query."""

    model_config = _with(
        {
            "query": "which web framework did we pick?",
            "text": "- We chose FastAPI over Flask because of async support (decision, 2026-05-04)",
            "hits": [_HIT],
            "avoid": [],
            "coverage": "known",
            "receipt": "r1_AYqPPCt9lOX4prHC0-T1pr",
            "tokens": 19,
        }
    )

    query: str
    text: str = Field(description="What to put before a model: data, never instructions.")
    hits: list[Hit]
    avoid: list[Hit] = Field(description="Failures and rejected ways that bear on the query.")
    coverage: Coverage
    receipt: str = Field(description="Stands for all that was returned, for feedback.")
    tokens: int = Field(description="Tokens of `text`.")


class Forgotten(BaseModel):
    """What was removed."""

    model_config = _with(_FORGOTTEN)

    ids: list[str]
    memories: int
    entries: int
    files: int
    messages: int


class Ids(BaseModel):
    """Ids of the memories that were touched."""

    model_config = _with({"ids": [_MEMORY["id"]]})

    ids: list[str]


class Touched(BaseModel):
    """How many memories learned of the feedback."""

    model_config = _with({"memories": 3})

    memories: int


class Learned(BaseModel):
    """What was taken in; with `wait`, what came of it."""

    model_config = _with({"session": "standup", "messages": [_MEMORY["id"]], "jobs": [7], "memories": [], "links": []})

    session: str
    messages: list[str] = Field(description="Ids of the memories that hold what was said.")
    jobs: list[int] = Field(description="Numbers of the jobs that will extract; none when it is done.")
    memories: list[Memory]
    links: list[Link]


class Job(BaseModel):
    """Work that waits, runs, or has failed for good."""

    number: int
    kind: str
    state: Literal["waiting", "running", "dead"]
    attempts: int
    due_at: str
    created_at: str
    error: str | None
    payload: dict[str, Any]


class Jobs(BaseModel):
    """The jobs of a space, oldest first."""

    model_config = _with({"jobs": [_JOB]})

    jobs: list[Job]


class Worked(BaseModel):
    """How many jobs were tried."""

    model_config = _with({"done": 1})

    done: int


class Retried(BaseModel):
    """How many jobs were queued again."""

    model_config = _with({"retried": 1})

    retried: int


class Namespaces(BaseModel):
    """The namespaces that hold anything."""

    model_config = _with({"namespaces": ["researcher"]})

    namespaces: list[str]


class Keys(BaseModel):
    """The keys of a namespace, sorted."""

    model_config = _with({"keys": ["findings"]})

    keys: list[str]


class Entry(BaseModel):
    """A key-value entry as it stands."""

    model_config = _with(_ENTRY)

    key: str
    value: Any
    version: int = Field(description="Rises with each change; the answer's ETag.")
    updated_at: str
    expires_at: str | None


class Deleted(BaseModel):
    """Whether anything stood there."""

    model_config = _with({"deleted": True})

    deleted: bool


class Canvases(BaseModel):
    """The canvases that hold a file."""

    model_config = _with({"canvases": ["story"]})

    canvases: list[str]


class Standing(BaseModel):
    """The files that stand, each with its revision."""

    model_config = _with({"files": {"story.md": 2}})

    files: dict[str, int]


class File(BaseModel):
    """A canvas file at one revision."""

    model_config = _with(_FILE)

    path: str
    revision: int = Field(description="Rises with each change; the answer's ETag.")
    content: str
    at: str
    author: str | None
    deleted: bool


class Files(BaseModel):
    """The files that a patch wrote."""

    model_config = _with({"files": [_FILE]})

    files: list[File]


class Revisions(BaseModel):
    """Every revision of a file, oldest first."""

    model_config = _with({"revisions": [_FILE]})

    revisions: list[File]


class Diff(BaseModel):
    """A unified diff, which `patch` accepts."""

    model_config = _with({"diff": "--- a/story.md\n+++ b/story.md\n@@ -1 +1 @@\n-Once\n+Once upon a time\n"})

    diff: str


class Erased(BaseModel):
    """How many revisions were erased."""

    model_config = _with({"revisions": 2})

    revisions: int


class Transcripts(BaseModel):
    """The sessions that have a transcript."""

    model_config = _with({"transcripts": ["standup"]})

    transcripts: list[str]


class Message(BaseModel):
    """One message of a transcript."""

    number: int
    role: str
    name: str | None
    content: Any
    metadata: dict[str, Any]
    said_at: str
    created_at: str


class Messages(BaseModel):
    """Messages, oldest first."""

    model_config = _with({"messages": [_MESSAGE]})

    messages: list[Message]


class Unsaid(BaseModel):
    """How many messages were erased."""

    model_config = _with({"messages": 12})

    messages: int


class Stats(BaseModel):
    """How much a space holds."""

    model_config = _with(
        {
            "space": "default",
            "memories": 120,
            "versions": 131,
            "by_kind": {"note": 100, "decision": 20},
            "entries": 4,
            "files": 2,
            "messages": 12,
            "jobs": 0,
            "embedder": "static:potion-base-8M",
            "dimension": 256,
            "bytes": 1048576,
            "engine": "SQLite 3.51.3",
        }
    )

    space: str
    memories: int
    versions: int
    by_kind: dict[str, int]
    entries: int
    files: int
    messages: int
    jobs: int
    embedder: str
    dimension: int
    bytes: int
    engine: str


class Check(BaseModel):
    """The verdict of a check: every problem found, in words."""

    model_config = _with({"ok": True, "problems": [], "checked": {"memories": 120}})

    ok: bool
    problems: list[str]
    checked: dict[str, int]


class Loaded(BaseModel):
    """How many records were new."""

    model_config = _with({"records": 131})

    records: int


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it; `code` is stable and meant for machines."""

    model_config = _with(
        {
            "type": "about:blank",
            "title": "NotFound",
            "status": 404,
            "detail": "no memory with id 'x' in this space",
            "code": "not_found",
            "retryable": False,
        }
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    retryable: bool = Field(description="Whether the same request may succeed later unchanged.")
    current: int | None = Field(default=None, description="With a conflict: the version that stands now, 0 for none.")
    retry_after: float | None = Field(default=None, description="With a limit: seconds to wait.")
