"""The frozen values that go into a book and come out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Json: TypeAlias = "str | int | float | bool | None | list[Json] | dict[str, Json]"
Content: TypeAlias = "str | bytes | list[Json] | dict[str, Json]"

Kind = Literal["note", "fact", "preference", "decision", "pattern", "failure", "insight", "message"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Signal = Literal["used", "ignored", "wrong"]
SIGNALS: tuple[Signal, ...] = get_args(Signal)

Order = Literal["relevance", "time"]
ORDERS: tuple[Order, ...] = get_args(Order)
Coverage = Literal["known", "partly known", "unknown"]
Action = Literal["remembered", "revised", "superseded", "reopened", "quarantined", "withdrawn"]
ACTIONS: tuple[Action, ...] = get_args(Action)

Origin = Literal["user", "agent", "tool", "import", "recalled"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)
"""Where a memory came from, most trusted first."""

Part = Literal["user", "agent", "session"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a scope."""

PersonPart = Literal["user", "agent", "session", "source"]
PERSON_PARTS: tuple[PersonPart, ...] = get_args(PersonPart)
"""What can be erased as a whole, with everything that belongs to it."""

Relation = Literal["said in", "learned from", "repeats", "supersedes", "adds to", "disputes", "withdraws"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

TEXT = "text/plain"
MARKDOWN = "text/markdown"
JSON = "application/json"
BINARY = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The user, agent and session that a memory belongs to; a part that is None means everybody."""

    user: str | None = None
    agent: str | None = None
    session: str | None = None


NOBODY = Scope()
"""The scope of memories that belong to everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Where to look: each part lists the values to search, None searches all.

    Memories without that part (the team's) are found too, unless `shared` is False.
    """

    users: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    sessions: tuple[str, ...] | None = None
    shared: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One thing to remember. Only `content` is required."""

    content: Content
    text: str | None = None
    mime: str | None = None
    kind: Kind = "note"
    tags: Sequence[str] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    importance: float = 0.5
    scope: Scope = NOBODY
    source: str | None = None
    origin: Origin = "user"
    said_at: datetime | None = None
    ttl: float | None = None
    id: str | None = None
    vector: Sequence[float] | npt.NDArray[np.float32] | None = None
    supersedes: Sequence[str] = ()
    """Ids of memories that this one replaces: they are closed and point here."""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory as it was at `version`."""

    id: str
    version: int
    content: Content
    text: str
    mime: str
    kind: Kind
    tags: tuple[str, ...]
    metadata: Mapping[str, Json]
    importance: float
    scope: Scope
    source: str | None
    origin: Origin
    said_at: datetime
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    valid_to: datetime | None
    superseded_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One change to a memory: what was done, when and why, and the memory after it."""

    version: int
    action: Action
    at: datetime
    reason: str | None
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The parts of a hit's score, which explain its rank."""

    meaning: float
    """Closeness of the vectors: standard deviations above unrelated text."""
    words: float
    """Share of the query's informative words in the memory, 0 to 1."""
    relevance: float
    """Calibrated probability that the memory is relevant, before time and strength."""
    certainty: float
    """Factor that orders near-certain memories by their evidence: at most 1, rarely under 0.75."""
    recency: float
    """Factor from age and the kind's half-life."""
    strength: float
    """Factor from importance and feedback."""
    reread: float | None = None
    """The log-odds of the reader, or of a reranker, which `relevance` rests on; None if it did not read this memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that a recall found; `score` is the product of relevance and the factors after it."""

    memory: Memory
    score: float
    parts: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A ranked answer. Without hits, the book holds nothing relevant to the query."""

    query: str
    text: str
    hits: tuple[Hit, ...]
    avoid: tuple[Hit, ...]
    coverage: Coverage
    receipt: str
    counted: int | None = field(default=None, repr=False, compare=False)
    """The tokens of `text` if they were counted; use `tokens`."""

    @property
    def tokens(self) -> int:
        """The exact number of tokens of `text`, counted on first use: counting costs more than searching."""
        from commonplace.values.tokens import count_lines  # most programs never count

        return self.counted if self.counted is not None else count_lines(self.text.split("\n") if self.text else [])

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


BriefPart = Literal["due", "decided", "known", "avoid", "last"]
BRIEF_PARTS: tuple[BriefPart, ...] = get_args(BriefPart)


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefSection:
    """One part of a brief: the memories of it that the text quotes, in the same order."""

    name: BriefPart
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The summary for a newcomer or the next session; without sections, the book holds nothing for it."""

    text: str
    """Ready for a prompt: quoted as data, with date, kind and source."""
    sections: tuple[BriefSection, ...]
    tokens: int
    """The exact number of tokens of `text`."""

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories of all sections."""
        return tuple(memory for section in self.sections for memory in section.memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing; `cursor` fetches the next one, and is None on the last."""

    memories: tuple[Memory, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Something that stayed after an erasure although it concerns the person: somebody has to decide about it."""

    part: Literal["memory", "entry", "file", "message"]
    place: str
    """The memory's id; namespace/key; canvas/path; session/number."""
    reason: Literal["named", "learned from"]
    """It holds the name, or it was learned from the person's messages among others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of an erasure: counts and salted hashes, no content. The hash covers the receipt before it, too."""

    number: int
    at: datetime
    by: str | None
    """The id of the API key; None without one."""
    part: PersonPart
    salt: str
    subject: str
    """The salted hash of the name: whoever knows the name can tell whose receipt this is."""
    counts: Mapping[str, int]
    """How much of each sort was erased."""
    hashes: Mapping[str, str]
    """For each sort, the sum of the salted hashes of the ids and keys that were erased."""
    copies: Mapping[str, str | None]
    """Where copies may be outside the book, and until when; None if the book does not know."""
    previous: str
    hash: str
    settled_at: datetime | None = None
    """When the bytes were gone from the book's own files or tables; None while some may be there."""
    seal: str | None = None
    """The hash of the settlement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """How much of a space belongs to a user."""

    name: str
    memories: int
    entries: int
    files: int
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The memories, entries, files and messages that a `forget` removed."""

    ids: tuple[str, ...]
    """Ids of the memories; none of an erased person, but in a dry run."""
    memories: int
    entries: int
    files: int
    messages: int
    mentions: tuple[Mention, ...] = ()
    """After the erasure of a person: what stayed and concerns them, up to 1,000; the receipt counts all."""
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key-value entry with its version and times."""

    key: str
    value: Json
    version: int
    updated_at: datetime
    expires_at: datetime | None
    scope: Scope = NOBODY
    """Whom it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A canvas file at one revision. The last revision of a deleted file has `deleted` set."""

    path: str
    revision: int
    content: str
    at: datetime
    author: str | None
    deleted: bool
    scope: Scope = NOBODY
    """Whom the file belonged to at this revision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a transcript; numbers start at 1, with gaps only where messages were erased."""

    number: int
    role: str
    name: str | None
    content: Json
    metadata: Mapping[str, Json]
    said_at: datetime
    created_at: datetime
    scope: Scope = NOBODY
    """Whom it belongs to; its session is the transcript's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A relation between memories: `id` supersedes, adds to, repeats … `other`.

    "said in" points to a session, "learned from" to the message that a memory was extracted from, "repeats" to the
    message that repeated it; "withdraws" points from a message that asked to forget something.
    """

    id: str
    relation: Relation
    other: str
    at: datetime
    reason: str | None = None
    detail: Mapping[str, Json] = field(default_factory=dict)
    """Facts about the relation: the span of the message and the rule that matched, the words that were repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that waits, runs, or has failed for good; finished jobs are removed."""

    number: int
    kind: str
    state: Literal["waiting", "running", "dead"]
    attempts: int
    due_at: datetime
    created_at: datetime
    error: str | None
    payload: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The messages that a `learn` stored and, once the job has run, the memories extracted from them."""

    session: str
    messages: tuple[str, ...]
    """Ids of the memories of kind message that hold the words."""
    jobs: tuple[int, ...] = ()
    """Numbers of the jobs that will extract; empty when they are done."""
    memories: tuple[Memory, ...] = ()
    """New memories, and known ones that were repeated."""
    links: tuple[Link, ...] = ()
    """How each relates to earlier memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts and sizes of a space."""

    space: str
    memories: int
    versions: int
    by_kind: Mapping[str, int]
    entries: int
    files: int
    messages: int
    jobs: int
    """Jobs that wait or run."""
    embedder: str
    dimension: int
    bytes: int
    engine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of `check`: every problem found, in words; none if the book is sound."""

    problems: tuple[str, ...]
    checked: Mapping[str, int]

    @property
    def ok(self) -> bool:
        return not self.problems
