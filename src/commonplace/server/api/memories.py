"""Memories over HTTP: recall, remember, learn, list, revise, forget, and the history and links of one memory."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Response
from pydantic import Field

from commonplace.book import Book
from commonplace.errors import InvalidFilter, InvalidInput
from commonplace.server.api.models import (
    ContentBody,
    answer,
    answer_of,
    argument_fields,
    body_of,
    make_body,
    make_within,
    model_of,
)
from commonplace.server.api.routes import Exchange, Name, ReadExchange, RecallExchange, VerbRouter, WriteExchange
from commonplace.transcript import Transcript
from commonplace.values import NOBODY, PERSON_PARTS, Draft, Forgotten, Memory, Within

recall_router = VerbRouter(__name__, "recall")
router = VerbRouter(__name__, "memories")
learn_router = VerbRouter(__name__, "learning")
_SELECTED: dict[str, Any] = {"id": (list[str] | None, Field(None, alias="ids"))}

# -- recall --------------------------------------------------------------------------------------------

recall_router.verb(
    Book.recall, "POST", "/recall", exchange=RecallExchange,
    example={"query": "which web framework did we pick?", "max_tokens": 500},
)  # fmt: skip
recall_router.verb(
    Book.feedback, "POST", "/feedback", "memories", title="Touched",
    example={"target": "01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b", "signal": "used"},
)  # fmt: skip

recall_router.verb(Book.brief, "GET", "/brief")

# -- remember and revise -------------------------------------------------------------------------------


def _make_draft(**given: Any) -> Draft:
    if "content" not in given:
        raise InvalidInput("give content (text, or a JSON list or object) or base64 (bytes), one of the two")
    return Draft(**{**given, "scope": given.get("scope") or NOBODY})


_DRAFT: dict[str, Any] = {"metadata": (dict[str, Any], Field(default_factory=dict))}
_DraftBody: Any = body_of(Book.remember, "DraftBody", without=["reconcile"], own=_DRAFT, base=ContentBody)
_DraftBody.made_into = _make_draft
_RememberAllBody = make_body(
    "RememberAllBody",
    {"memories": (list[_DraftBody], ...), "reconcile": (bool, False)},
    {"memories": [{"content": "Alice leads the team"}, {"content": "Bob left"}]},
)


@router.implement(
    Book.remember, "POST", "/memories", status_code=201, response_model=model_of(Memory), own=_DRAFT, base=ContentBody,
    example={
        "content": "We chose FastAPI over Flask because of async support",
        "kind": "decision",
        "tags": ["user:alice"],
    },
)  # fmt: skip
async def remember(http: Exchange, given: dict[str, Any]) -> Response:
    """Remember one thing: `content`, or `base64` for bytes. When this answers, it is on disk."""
    reconcile = given.pop("reconcile", False)
    draft = _make_draft(**given)
    return await http.answer(lambda book: book.remember(draft, reconcile=reconcile), status=201)


@router.implement(
    Book.remember, "POST", "/memories/batch", body=_RememberAllBody, status_code=201,
    response_model=answer("Memories", memories=list[Memory]),
)  # fmt: skip
async def remember_all(http: Exchange, given: dict[str, Any]) -> Response:
    """Remember several things, all or none."""
    drafts, reconcile = given["memories"], given.get("reconcile", False)
    return await http.answer(lambda book: {"memories": book.remember(drafts, reconcile=reconcile)}, status=201)


@router.implement(
    Book.revise, "PATCH", "/memories/{id}", base=ContentBody,
    example={"importance": 0.9, "reason": "it came up again"},
)  # fmt: skip
async def revise(http: Exchange, given: dict[str, Any]) -> Response:
    """Give a memory a new version: an absent field stays as it is, null means null."""
    # A repeated request changes nothing, and the first one has moved the version on.
    changes = {name: part for name, part in given.items() if name != "if_version"}
    return await http.answer(lambda book: book.revise(**given), again=lambda book: book.revise(**changes))


# -- find ----------------------------------------------------------------------------------------------

router.verb(
    Book.list, "POST", "/memories/list", name="list_memories_by_body", exchange=ReadExchange,
    example={"filter": {"kind": "decision"}, "limit": 50},
)  # fmt: skip


@router.implement(
    Book.list, "GET", "/memories", without=["within"],
    own={**argument_fields(Within), "filter": (str | None, Field(None, description="A filter as JSON text."))},
)  # fmt: skip
async def list_memories(http: Exchange, given: dict[str, Any]) -> Response:
    """Return one page of memories by the time they were said. Names may be given several times."""
    within = make_within(**{name: given.pop(name) for name in ("users", "agents", "sessions", "shared")})
    given["within"] = None if within == Within() else within
    if given["filter"] is not None:
        given["filter"] = _parse(given["filter"])
    return await http.answer(lambda book: book.list(**given))


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFilter(f"the filter is not JSON: {error}") from error


# -- forget --------------------------------------------------------------------------------------------


@router.implement(Book.forget, "POST", "/memories/forget", example={"tags": ["draft"], "dry_run": True}, own=_SELECTED)
async def forget(http: Exchange, given: dict[str, Any]) -> Response:
    """Erase memories with all their versions: by ids; by scope, filter, kinds and tags; or a person; or everything."""
    if given.get("everything") or any(given.get(part) is not None for part in PERSON_PARTS):
        http = http.having(role="admin")
    if given.get("dry_run"):
        http = http.having(operation="read", idempotency_key=None)
    return await http.having(long=True).answer(lambda book: book.forget(**given))


@router.implement(Book.prune, "POST", "/memories/prune", example={"older_than": 7776000, "kinds": ["message"]})
async def prune(http: Exchange, given: dict[str, Any]) -> Response:
    """Forget the memories that a policy selects; by default only report which."""
    if given.get("dry_run", True):
        http = http.having(operation="read", idempotency_key=None)
    return await http.having(long=True).answer(lambda book: book.prune(**given), keep=True)


router.verb(
    Book.quarantine, "POST", "/memories/quarantine", "ids", own=_SELECTED,
    example={"filter": {"source": "scraper"}, "reason": "the source was poisoned"},
)  # fmt: skip
router.verb(Book.release, "POST", "/memories/release", "ids", own=_SELECTED, example={"filter": {"source": "scraper"}})


@router.delete("/memories/{id}", response_model=model_of(Forgotten))
async def forget_memory(http: WriteExchange, id: Name) -> Response:
    """Erase a memory with all its versions, and what was learned from it alone."""
    return await http.answer(lambda book: book.forget(id))


# -- one memory ----------------------------------------------------------------------------------------

router.verb(Book.get, "GET", "/memories/{id}", name="get_memory")
router.verb(Book.history, "GET", "/memories/{id}/history", "revisions", title="History")
router.verb(Book.links, "GET", "/memories/{id}/links", "links")
router.verb(Book.undo, "POST", "/memories/{id}/undo", "links", example={"other": "00f1e2d3c4b5a69788796a5b4c3d2e1f"})

# -- learn ---------------------------------------------------------------------------------------------

MessageBody: Any = body_of(Transcript.append, "MessageBody", without=["scope"])
_TEXT = 'Lines such as "Sarah: I prefer tea", instead of messages.'


@learn_router.implement(
    Book.learn, "POST", "/learn", status_code=202,
    responses={200: {"model": answer_of(Book.learn), "description": "With `wait`: the result."}},
    without=["conversation", "progress"],
    own={
        "messages": (list[MessageBody | str] | None, None),
        "text": (str | None, Field(None, description=_TEXT)),
    },
    example={
        "messages": [{"role": "user", "name": "Sarah", "content": "I prefer TypeScript now, not Python."}],
        "session": "standup",
    },
)  # fmt: skip
async def learn(http: Exchange, given: dict[str, Any]) -> Response:
    """Keep a conversation verbatim, and make memories of it."""
    messages, text, wait = given.pop("messages", None), given.pop("text", None), given.get("wait", False)
    if (messages is None) == (text is None):
        raise InvalidInput("give messages or text, one of the two")
    return await http.having(long=wait).answer(
        lambda book: book.learn(text if messages is None else messages, **given),
        status=200 if wait else 202,
        keep=wait,
    )


learn_router.verb(Book.jobs, "GET", "/jobs", "jobs")
learn_router.verb(
    Book.work, "POST", "/jobs/work", "done", title="Worked", long=True, keep=True,
    needs_body=False, example={"hurry": True},
)  # fmt: skip
learn_router.verb(Book.retry, "POST", "/jobs/retry", "retried", needs_body=False, example={"number": 7})
