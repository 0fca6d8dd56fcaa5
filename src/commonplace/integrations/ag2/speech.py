"""Who said what, read from AG2's events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone

from ag2.events import (
    BaseEvent,
    DataInput,
    HumanInputRequest,
    HumanMessage,
    Input,
    ModelRequest,
    ModelResponse,
    TaskStarted,
    TextInput,
    ToolApprovalRequest,
)

from commonplace.integrations.hearing import Heard

MARK = "commonplace_memory"
"""The key in the metadata of an input that is memory; its value names the policy that put it there."""


def is_memory(part: Input, source: str | None = None) -> bool:
    """Whether an input is memory, of any policy or of one."""
    named = part.metadata.get(MARK)
    return named is not None if source is None else bool(named == source)


def words(request: ModelRequest) -> str:
    """The text of a request without its pictures and files, and without memory."""
    said = []
    for part in request.parts:
        if isinstance(part, TextInput) and not is_memory(part):
            said.append(part.content)
        elif isinstance(part, DataInput):
            said.append(json.dumps(part.data, default=str, ensure_ascii=False, skipkeys=True))
    return "\n".join(said)


def question(events: Sequence[BaseEvent]) -> str:
    """What was asked since the agent last ended its turn: nothing of its own, of its tools, or of a memory."""
    ended = [at for at, event in enumerate(events) if isinstance(event, ModelResponse) and not event.tool_calls]
    asked = [at for at, event in enumerate(events) if isinstance(event, ModelRequest)]
    new = [at for at in asked if not ended or at > ended[-1]] or asked[-1:]
    return "\n".join(words(event) for at in new if isinstance(event := events[at], ModelRequest))


def heard(events: Sequence[BaseEvent], *, person: str, agent: str) -> list[Heard]:
    """What `person` and `agent` said to each other, in order; tools, approvals and summaries are no speech."""
    tasks: dict[str | None, str] = {e.task_id: e.agent_name for e in events if isinstance(e, TaskStarted)}
    approvals = {event.id for event in events if isinstance(event, ToolApprovalRequest)}
    lines = []
    for event in events:
        if isinstance(event, ModelRequest):
            lines.append(_line(event, person, words(event), by_person=True))
        elif isinstance(event, HumanMessage) and event.parent_id not in approvals:
            lines.append(_line(event, person, event.content, by_person=True))
        elif isinstance(event, ModelResponse):
            lines.append(_line(event, agent, event.content or "", by_person=False))
        elif isinstance(event, HumanInputRequest) and event.id not in approvals:
            lines.append(_line(event, tasks.get(event.task_id, agent), event.content, by_person=False))
    return lines


def _line(event: BaseEvent, speaker: str, text: str, *, by_person: bool) -> Heard:
    at = event.created_at
    said_at = datetime.fromtimestamp(at, timezone.utc)
    return Heard(speaker=speaker, text=text, by_person=by_person, mark=at, said_at=said_at)
