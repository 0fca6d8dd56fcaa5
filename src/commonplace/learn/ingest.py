"""Learning: a conversation is stored as it was said at once, and durable jobs make memories of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from commonplace.errors import InvalidInput
from commonplace.guard import echo, injection, redaction
from commonplace.learn.steps import Claimed, ForgetRequest, finish
from commonplace.memories import write
from commonplace.memories.core import Core
from commonplace.memories.messages import read_conversation
from commonplace.reconcile.plan import Arrival
from commonplace.reconcile.settle import Settled
from commonplace.settings import Settings
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import jobs, links, memories, messages
from commonplace.store.tables.memories import Record
from commonplace.values import NOBODY, Draft, Json, Link, Origin, Scope, checks, times
from commonplace.values.extraction import Finding, Utterance

TOGETHER = 50
"""Messages of one job: the most that is done again after a crash."""
_CONTEXT = 8
"""Messages before the first new one that extraction may look back to."""
_LED_TO = ("learned from", "repeats")
"""Relations of a memory to the messages that it was made of or repeated by."""
_ORIGINS: dict[str, Origin] = {"user": "user", "tool": "tool", "function": "tool"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Checked messages, and where the memories made of them belong."""

    session: str
    lines: Sequence[messages.Line]
    scope: Scope
    tags: tuple[str, ...]
    origin: Origin | None
    """The origin of every message; None goes by each message's role."""
    every: int
    """Messages that are learned from together."""
    idle: float
    """Seconds without a new message after which fewer are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The ids of stored messages and the jobs that will learn from them."""

    session: str
    ids: tuple[str, ...]
    jobs: tuple[int, ...]


class _Stored(NamedTuple):
    """A message as it is stored."""

    id: str
    origin: Origin
    utterance: Utterance


class _Found(NamedTuple):
    """A finding and the message that holds it."""

    message: _Stored
    finding: Finding

    @property
    def speaker(self) -> str:
        return self.message.utterance.speaker or self.message.utterance.role


# -- taking a conversation in --------------------------------------------------------------------------


def make_conversation(
    conversation: str | Iterable[Mapping[str, object] | str],
    *,
    session: str | None,
    scope: Scope | None,
    tags: Sequence[str],
    origin: Origin | None,
    every: int,
    idle: float,
    settings: Settings,
) -> Conversation:
    """Check the arguments of `learn`."""
    owner = checks.scope(scope or NOBODY)
    if owner.session is not None:
        raise InvalidInput("the scope of learned memories has no session: name the conversation with session=")
    lines = read_conversation(conversation, now=times.now(), settings=settings)
    if not lines:
        raise InvalidInput("the conversation is empty: there is nothing to learn from")
    return Conversation(
        session=times.new_id() if session is None else checks.name(session, "session"),
        lines=lines,
        scope=owner,
        tags=checks.tags(tags),
        origin=None if origin is None else checks.origin(origin),
        every=checks.count(every, "every", least=1, most=TOGETHER),
        idle=checks.amount(idle, "idle"),
    )


def take_in(core: Core, space: int, said: Conversation) -> Taken:
    """Store a conversation, searchable, with the jobs that will learn from it: all or nothing."""
    now, redact = times.now(), core.settings.redact
    redaction.check_scope(replace(said.scope, session=said.session), redact)
    said = replace(said, tags=redaction.names(said.tags, redact))
    drafts = [_draft_message(core, said, line) for line in said.lines]
    records = iter(write.make_records(core, [draft for draft in drafts if draft is not None], now=now))
    made = [None if draft is None else next(records) for draft in drafts]

    def work(tx: Tx) -> Taken:
        kept = messages.append(tx, space, said.session, said.lines, now=times.now(), scope=said.scope)
        present = [(record, each.number) for record, each in zip(made, kept, strict=True) if record is not None]
        memories.insert(tx, space, [record for record, _ in present], generation=core.identity().generation)
        links.put(tx, space, [_link_session(record, said.session, number) for record, number in present])
        ids = tuple(record.id for record, _ in present)
        return Taken(session=said.session, ids=ids, jobs=_queue(tx, core, space, said, present))

    return core.store.write(work, space)


def _draft_message(core: Core, said: Conversation, line: messages.Line) -> Draft | None:
    """Return the memory of a message, without what was itself recalled; None if nothing is left."""
    text = _text(json.loads(line.content), core.settings.max_text_bytes)
    own, _ = echo.strip_recalled(text)
    if not own.strip():
        return None
    return Draft(
        content=own,
        kind="message",
        tags=said.tags,
        metadata={"role": line.role},
        scope=replace(said.scope, session=said.session),
        source=line.name or line.role,
        origin=said.origin or _ORIGINS.get(line.role, "agent"),
        said_at=times.from_micros(line.said_at),
    )


def _text(content: Json, limit: int) -> str:
    """Return the words of a content: a text, the texts among the parts of a message, or any JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        if texts:
            return "\n".join(texts)
    return write.render_json(content, limit)


def _link_session(record: Record, session: str, number: int) -> Link:
    at = times.from_micros(record.created_at)
    return Link(id=record.id, relation="said in", other=session, at=at, detail={"number": number})


def _queue(
    tx: Tx, core: Core, space: int, said: Conversation, present: Sequence[tuple[Record, int]]
) -> tuple[int, ...]:
    """Queue jobs for messages: their own, or one that gathers until there are enough or nobody speaks."""
    most = core.settings.max_jobs
    if said.every <= 1:
        chunks = [present[at : at + TOGETHER] for at in range(0, len(present), TOGETHER)]
        return tuple(jobs.add(tx, space, jobs.LEARN, _payload(said, chunk), most=most) for chunk in chunks)
    if not present:
        return ()
    payload = _payload(said, present)
    gathers = json.dumps([payload[name] for name in ("session", "user", "agent", "tags")])
    open_job = jobs.find_gathering(tx, space, gathers)
    earlier: Any = [] if open_job is None else open_job.payload["ids"]
    wait = said.idle if len(earlier) + len(present) < said.every else 0.0
    if open_job is None:
        return (jobs.add(tx, space, jobs.LEARN, payload, most=most, gathers=gathers, wait=wait),)
    longer = {**open_job.payload, "ids": [*earlier, *(record.id for record, _ in present)]}
    jobs.replace_payload(tx, space, open_job.number, longer, wait=wait)
    return (open_job.number,)


def _payload(said: Conversation, present: Sequence[tuple[Record, int]]) -> dict[str, Json]:
    """Return what a job keeps: where its memories belong, the number of its first message, and the ids of all."""
    return {
        "session": said.session,
        "first": present[0][1],
        "ids": [record.id for record, _ in present],
        "user": said.scope.user,
        "agent": said.scope.agent,
        "tags": list(said.tags),
    }


# -- learning ------------------------------------------------------------------------------------------


def run(core: Core, space: int, claimed: Claimed) -> list[Settled] | None:
    """Learn from a job's messages and end the job; return None if another worker has it by now."""
    payload: Any = claimed.job.payload
    scope = Scope(user=payload["user"], agent=payload["agent"])
    found = [each for each in _extract(core, space, payload) if not injection.flags(each.finding.text)]
    kept = [each for each in found if each.finding.act != "forget"]
    requests = [
        ForgetRequest(each.message.id, each.speaker, each.finding.text)
        for each in found
        if each.finding.act == "forget" and each.message.origin != "tool"
    ]
    return finish(core, space, claimed, _arrivals(core, kept, scope, payload["tags"]), requests, scope)


def find_results(tx: Tx, space: int, ids: Sequence[str]) -> list[Settled]:
    """Return the memories that were learned from messages or repeated by them, with their links.

    Of the links to messages, only those to these messages.
    """
    led = [link.id for relation in _LED_TO for link in links.find_to(tx, space, ids, relation)]
    found = []
    for row in memories.find_current(tx, space, list(dict.fromkeys(led))):
        own = [link for link in links.find_all(tx, space, row.id) if link.id == row.id]
        kept = tuple(link for link in own if link.relation not in _LED_TO or link.other in ids)
        found.append(Settled(row=row, links=kept))
    return found


def _extract(core: Core, space: int, payload: Mapping[str, Any]) -> list[_Found]:
    """Return the findings of a job's messages that are still there."""
    before, new = core.store.read(lambda tx: _read_messages(tx, space, payload), space)
    findings = core.extractor().extract([*before, *(each.utterance for each in new)])[len(before) :]
    return [_Found(message, finding) for message, those in zip(new, findings, strict=True) for finding in those]


def _read_messages(tx: Tx, space: int, payload: Mapping[str, Any]) -> tuple[list[Utterance], list[_Stored]]:
    """Return the context of a job, and its messages that are still there."""
    start = max(payload["first"] - 1 - _CONTEXT, 0)
    earlier = messages.after(tx, space, payload["session"], start, payload["first"] - 1 - start)
    before = [
        Utterance(text=each.content, speaker=each.name, role=each.role, said_at=each.said_at, context=True)
        for each in earlier
        if isinstance(each.content, str)
    ]
    rows = {row.id: row for row in memories.find_standing(tx, space, payload["ids"], now=times.now())}
    return before, [_message(rows[id]) for id in payload["ids"] if id in rows]


def _message(row: MemoryRow) -> _Stored:
    memory = memories.decode(row)
    role = str(memory.metadata.get("role", "user"))
    # A role in place of a name is no name: nobody is called "user".
    speaker = None if memory.source == role else memory.source
    said = Utterance(text=memory.text, speaker=speaker, role=role, said_at=memory.said_at)
    return _Stored(memory.id, memory.origin, said)


def _arrivals(core: Core, found: Sequence[_Found], scope: Scope, tags: Sequence[str]) -> list[Arrival]:
    records = write.make_records(core, [_draft(each, scope, tags) for each in found], now=times.now())
    return [
        Arrival(record=record, act=each.finding.act, links=[_link_message(each, record)])
        for each, record in zip(found, records, strict=True)
    ]


def _draft(found: _Found, scope: Scope, tags: Sequence[str]) -> Draft:
    finding = found.finding
    fields = {"owner": finding.owner, "due": None if finding.due is None else finding.due.date().isoformat()}
    return Draft(
        content=finding.text,
        kind=finding.kind,
        tags=tags,
        metadata={name: value for name, value in fields.items() if value is not None},
        importance=finding.importance,
        scope=scope,
        source=found.speaker,
        origin=found.message.origin,
        said_at=found.message.utterance.said_at,
    )


def _link_message(found: _Found, record: Record) -> Link:
    finding = found.finding
    return Link(
        id=record.id,
        relation="learned from",
        other=found.message.id,
        at=times.from_micros(record.created_at),
        detail={
            "start": finding.start,
            "end": finding.end,
            "share": round((finding.end - finding.start) / len(found.message.utterance.text), 3),
            "rule": finding.rule,
        },
    )
