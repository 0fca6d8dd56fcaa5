"""Learning: a conversation is kept as it was said at once, and a durable job makes memories of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.guard import echo, injection, redaction
from commonplace.memories import write
from commonplace.memories.core import Core
from commonplace.reconcile import plan
from commonplace.reconcile.plan import Arrival, Settled
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import jobs, links, memories, messages
from commonplace.store.tables.memories import Record
from commonplace.text import terms
from commonplace.values import Draft, Job, Json, Learned, Link, Origin, Scope, times
from commonplace.values.extraction import Finding, Utterance

Progress = Callable[[int, int], None]

KIND = "learn"
_CONTEXT = 8
"""Messages before the first new one that extraction may look back to."""
_LED_TO = ("learned from", "repeats")
"""The relations of a memory to the messages that it was made of, or said again by."""
TOGETHER = 50
"""Messages of one job: what a crash can make somebody do again."""
_Present = Sequence[tuple[Record, int]]
_ORIGINS: dict[str, Origin] = {"user": "user", "tool": "tool", "function": "tool"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said, checked, and where what is learned of it belongs."""

    session: str
    lines: Sequence[messages.Line]
    scope: Scope
    tags: tuple[str, ...]
    origin: Origin | None
    """Where all of it comes from; None goes by each message's role."""
    every: int
    """Messages that are learned from together."""
    idle: float
    """Seconds after which fewer are, if nobody speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was taken in."""

    session: str
    ids: tuple[str, ...]
    jobs: tuple[int, ...]


def take_in(core: Core, space: int, said: Conversation) -> Taken:
    """Keep a conversation as it was said, searchable, with the jobs that will learn from it: all or nothing."""
    now, redact = times.now(), core.settings.redact
    redaction.scope(replace(said.scope, session=said.session), redact)
    said = replace(said, tags=redaction.names(said.tags, redact))
    spoken = [_spoken(core, said, line) for line in said.lines]
    heard = [draft for draft in spoken if draft is not None]
    records = iter(write.make_records(core, heard, now=now))
    made = [None if draft is None else next(records) for draft in spoken]

    def work(tx: Tx) -> Taken:
        kept = messages.append(tx, space, said.session, said.lines, now=times.now())
        present = [(record, each.number) for record, each in zip(made, kept, strict=True) if record is not None]
        memories.insert(tx, space, [record for record, _ in present], generation=core.identity().generation)
        links.put(tx, space, [_said_in(record, said.session, number) for record, number in present])
        ids = tuple(record.id for record, _ in present)
        return Taken(session=said.session, ids=ids, jobs=_queue(tx, core, space, said, present))

    return core.store.write(work, space)


def _queue(tx: Tx, core: Core, space: int, said: Conversation, present: _Present) -> tuple[int, ...]:
    """The jobs for messages: their own, or one that gathers until there are enough or nobody speaks."""
    most = core.settings.max_jobs
    if said.every <= 1:
        chunks = [present[at : at + TOGETHER] for at in range(0, len(present), TOGETHER)]
        return tuple(jobs.add(tx, space, KIND, _payload(said, chunk), most=most) for chunk in chunks)
    if not present:
        return ()
    payload = _payload(said, present)
    gathers = json.dumps([payload[name] for name in ("session", "user", "agent", "tags")])
    open_job = jobs.find_gathering(tx, space, gathers)
    earlier: Any = [] if open_job is None else open_job.payload["ids"]
    wait = said.idle if len(earlier) + len(present) < said.every else 0.0
    if open_job is None:
        return (jobs.add(tx, space, KIND, payload, most=most, gathers=gathers, wait=wait),)
    longer = {**open_job.payload, "ids": [*earlier, *(record.id for record, _ in present)]}
    jobs.replace_payload(tx, space, open_job.number, longer, wait=wait)
    return (open_job.number,)


def run(core: Core, space: int, job: Job, token: str) -> list[Settled] | None:
    """Learn what a job names; None if somebody else has it by now. Its effect and its end are one."""
    payload: Any = job.payload
    said = core.store.read(lambda tx: _said(tx, space, payload), space)
    found = [each for each in _extracted(core, said) if not injection.flags(each.finding.text)]
    arrivals = _arrivals(core, payload, [each for each in found if each.finding.act != "forget"])
    planned = plan.plan(core, space, arrivals)
    asked = [each for each in found if each.finding.act == "forget" and each.message.origin != "tool"]
    scope = Scope(user=payload["user"], agent=payload["agent"])
    unwanted = [(each, _meant(core, space, each, scope)) for each in asked]

    def work(tx: Tx) -> list[Settled] | None:
        if not jobs.is_owned(tx, space, job.number, token):
            return None
        settled = plan.settle(tx, core, space, _still_said(tx, space, planned))
        for each, ids in unwanted:
            settled += _withdraw(tx, space, each, [*ids, *_just_said(each, settled, scope)])
        jobs.finish(tx, space, job.number)
        return settled

    return core.store.write(work, space)


def learned(core: Core, space: int, taken: Taken, progress: Progress) -> Learned:
    """Run the jobs of what was taken in, now, and tell what came of it."""
    from commonplace.learn import jobs as working  # it runs what this defines

    settled: list[Settled] = []
    elsewhere = False
    for done, number in enumerate(taken.jobs):
        progress(done * TOGETHER, len(taken.ids))
        found = working.run_now(core, space, number)
        settled += found or ()
        elsewhere = elsewhere or found is None
    progress(len(taken.ids), len(taken.ids))
    if elsewhere:
        # A worker was quicker, or the call is a repetition: what came of it is in the book.
        settled = core.store.read(lambda tx: _came_of(tx, space, taken.ids), space)
    return Learned(
        session=taken.session,
        messages=taken.ids,
        memories=tuple(memories.decode(each.row) for each in settled if each.row is not None),
        links=tuple(link for each in settled for link in each.links),
    )


def _came_of(tx: Tx, space: int, ids: Sequence[str]) -> list[Settled]:
    """What messages led to: new memories, and known ones that they said again."""
    led = [link.id for relation in _LED_TO for link in links.find_to(tx, space, ids, relation)]
    rows = memories.find_current(tx, space, list(dict.fromkeys(led)))
    return [Settled(row=row, links=_telling(tx, space, row.id, ids)) for row in rows]


def _telling(tx: Tx, space: int, id: str, ids: Sequence[str]) -> tuple[Link, ...]:
    """How a memory stands to others; of what it was learned from, these messages only."""
    found = [link for link in links.find_all(tx, space, id) if link.id == id]
    return tuple(link for link in found if link.relation not in _LED_TO or link.other in ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A message as it was remembered."""

    id: str
    origin: Origin
    utterance: Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """New messages, and those before them in their session."""

    before: list[Utterance]
    new: list[_Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A finding and the message that it stands in."""

    message: _Message
    finding: Finding


def _spoken(core: Core, said: Conversation, line: messages.Line) -> Draft | None:
    """The memory of a message: what it says, less what was itself recalled; None if nothing is left."""
    text = _text(json.loads(line.content), core.settings.max_text_bytes)
    own, _ = echo.strip_recalled(text)
    if not own.strip():
        return None
    origin = said.origin or _ORIGINS.get(line.role, "agent")
    return Draft(
        content=own,
        kind="message",
        tags=said.tags,
        metadata={"role": line.role},
        scope=replace(said.scope, session=said.session),
        source=line.name or line.role,
        origin=origin,
        said_at=times.from_micros(line.said_at),
    )


def _text(content: Json, limit: int) -> str:
    """The words of a content: a text, the texts among the parts of a message, or what JSON holds."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        parts = [
            part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict)
        ]
        if any(isinstance(part, str) for part in parts):
            return "\n".join(part for part in parts if isinstance(part, str))
    return write.render_json(content, limit)


def _said_in(record: Record, session: str, number: int) -> Link:
    at = times.from_micros(record.created_at)
    return Link(id=record.id, relation="said in", other=session, at=at, detail={"number": number})


def _payload(said: Conversation, present: _Present) -> dict[str, Json]:
    return {
        "session": said.session,
        "first": present[0][1],
        "ids": [record.id for record, _ in present],
        "user": said.scope.user,
        "agent": said.scope.agent,
        "tags": list(said.tags),
    }


def _said(tx: Tx, space: int, payload: Mapping[str, Any]) -> _Said:
    """The messages of a job that are still there, and their context."""
    start = max(payload["first"] - 1 - _CONTEXT, 0)
    earlier = messages.after(tx, space, payload["session"], start, payload["first"] - 1 - start)
    rows = {row.id: row for row in memories.find_standing(tx, space, payload["ids"], now=times.now())}
    return _Said(
        before=[
            Utterance(text=each.content, speaker=each.name, role=each.role, said_at=each.said_at, context=True)
            for each in earlier
            if isinstance(each.content, str)
        ],
        new=[_message(rows[id]) for id in payload["ids"] if id in rows],
    )


def _message(row: MemoryRow) -> _Message:
    memory = memories.decode(row)
    role = str(memory.metadata.get("role", "user"))
    # A role that stands for a name is no name: nobody is called "user".
    speaker = None if memory.source == role else memory.source
    said = Utterance(text=memory.text, speaker=speaker, role=role, said_at=memory.said_at)
    return _Message(id=memory.id, origin=memory.origin, utterance=said)


def _extracted(core: Core, said: _Said) -> list[_Found]:
    findings = core.extractor().extract([*said.before, *(each.utterance for each in said.new)])[len(said.before) :]
    return [
        _Found(message=message, finding=finding)
        for message, those in zip(said.new, findings, strict=True)
        for finding in those
    ]


def _arrivals(core: Core, payload: Mapping[str, Any], found: Sequence[_Found]) -> list[Arrival]:
    scope = Scope(user=payload["user"], agent=payload["agent"])
    wanted = [(each, draft) for each in found for draft in _drafts(each, scope, payload["tags"])]
    records = write.make_records(core, [draft for _, draft in wanted], now=times.now())
    return [
        Arrival(record=record, act=each.finding.act, links=[_learned_from(each, record)])
        for (each, _), record in zip(wanted, records, strict=True)
    ]


def _drafts(found: _Found, scope: Scope, tags: Sequence[str]) -> Iterator[Draft]:
    """The memory of a finding, and one of what was decided against: it is to be avoided."""
    finding, said = found.finding, found.message.utterance
    told: dict[str, Json] = {
        "owner": finding.owner,
        "reason": finding.reason,
        "rejected": list(finding.rejected) or None,
        "due": None if finding.due is None else finding.due.date().isoformat(),
    }
    draft = Draft(
        content=finding.text,
        kind=finding.kind,
        tags=tags,
        metadata={name: value for name, value in told.items() if value is not None},
        importance=finding.importance,
        scope=scope,
        source=_speaker(found),
        origin=found.message.origin,
        said_at=said.said_at,
    )
    yield draft
    if finding.kind == "decision":
        for rejected in finding.rejected:
            yield replace(draft, content=f"{rejected}{plan.REJECTED}{finding.text}", kind="failure")


def _learned_from(found: _Found, record: Record) -> Link:
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


def _still_said(tx: Tx, space: int, planned: plan.Plan) -> plan.Plan:
    """A plan without what was learned from messages that were forgotten or put in quarantine meanwhile."""
    parents = [arrival.links[0].other for arrival in planned.arrivals]
    there = {row.id for row in memories.find_standing(tx, space, parents, now=times.now())}
    kept = [at for at, parent in enumerate(parents) if parent in there]
    return replace(
        planned,
        arrivals=[planned.arrivals[at] for at in kept],
        rivals=[planned.rivals[at] for at in kept],
        meant=[planned.meant[at] for at in kept],
    )


def _meant(core: Core, space: int, asked: _Found, scope: Scope) -> list[str]:
    """What somebody said about a subject, who now wants it forgotten."""
    return _theirs(asked, plan.about(core, space, asked.finding.text), scope)


def _just_said(asked: _Found, settled: Sequence[Settled], scope: Scope) -> list[str]:
    """What was said about it in the same breath, which no search can know yet."""
    return _theirs(asked, [each.row for each in settled if each.row is not None], scope)


def _theirs(asked: _Found, rows: Sequence[MemoryRow], scope: Scope) -> list[str]:
    """Those of the same scope that the speaker said, if their own words are mostly the subject's."""
    subject = set(terms.query_terms(asked.finding.text))
    return [
        row.id
        for row in rows
        if row.source == _speaker(asked)
        and replace(row.scope, session=None) == scope
        and 2 * len(subject & set(terms.query_terms(row.text))) > len(subject)
    ]


def _speaker(found: _Found) -> str:
    return found.message.utterance.speaker or found.message.utterance.role


def _withdraw(tx: Tx, space: int, asked: _Found, ids: Sequence[str]) -> list[Settled]:
    """Take out of recall what somebody asked to forget; not for good: a message proves nobody."""
    now, request = times.now(), asked.message.id
    there = set(memories.known_ids(tx, space, [request, *ids]))
    made = []
    for id in dict.fromkeys(ids):
        if id not in there or request not in there or id == request:
            continue
        if memories.shut(tx, space, id, action="withdrawn", reason=f"asked to forget: {asked.finding.text}", now=now):
            made.append(Link(id=request, relation="withdraws", other=id, at=times.from_micros(now)))
    links.put(tx, space, made)
    return [Settled(row=None, links=(link,)) for link in made]
