"""Resources and prompts: what a person attaches to a conversation, where tools are what a model calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote, unquote

import mcp_types as types

from commonplace import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.integrations.mcp.tools import CANVAS, Client, answer_brief, find_own
from commonplace.values import Scope
from commonplace.wire import plain

_SCHEME = "commonplace://"
BRIEF = f"{_SCHEME}brief"
_MOST = 200
"""Files and transcripts that are listed; the others can be read all the same."""
_MOST_MESSAGES = 1000

TEMPLATES = (
    types.ResourceTemplate(
        uri_template=f"{_SCHEME}memory/{{id}}", name="memory", mime_type="application/json",
        description="A memory with its history",
    ),
    types.ResourceTemplate(
        uri_template=f"{_SCHEME}file/{{+path}}", name="file", mime_type="text/plain",
        description="A shared file at its newest revision",
    ),
    types.ResourceTemplate(
        uri_template=f"{_SCHEME}transcript/{{session}}", name="transcript", mime_type="application/json",
        description=f"The last {_MOST_MESSAGES:,} messages of a conversation",
    ),
)  # fmt: skip

PROMPTS = (
    types.Prompt(name="brief", title="Start with what is known", description="Put the brief into the conversation"),
    types.Prompt(
        name="recall", title="Ask the memory", description="Put what is known about a question into the conversation",
        arguments=[types.PromptArgument(name="question", description="The question", required=True)],
    ),
    types.Prompt(
        name="keep", title="Keep what matters", description="Store what should outlive this conversation",
    ),
)  # fmt: skip
_KEEP = (
    "Go through this conversation and store what should outlive it with the tool remember, one call for each thing:"
    " decisions with their reasons, preferences, lasting facts, commitments with their day (due), what failed and why."
    " First recall what is known about each; revise what has changed instead of storing it again. Leave out secrets,"
    " guesses, small talk and what a file already says. Then list what you stored."
)


def list_resources(book: Book) -> list[types.Resource]:
    """Return the brief, the files and the transcripts."""
    paths, sessions = sorted(book.canvas(CANVAS).files()), book.transcripts()
    return [
        types.Resource(uri=BRIEF, name="brief", description="What to know at the start", mime_type="text/plain"),
        *(types.Resource(uri=f"{_SCHEME}file/{quote(path)}", name=path, mime_type="text/plain")
          for path in paths[:_MOST]),
        *(types.Resource(uri=f"{_SCHEME}transcript/{quote(name, safe='')}", name=name, mime_type="application/json")
          for name in sessions[-_MOST:]),
    ]  # fmt: skip


def read_resource(book: Book, scope: Scope, uri: str) -> types.TextResourceContents:
    """Return the text of a resource; NotFound for an unknown address."""
    kind, _, rest = uri.removeprefix(_SCHEME).partition("/")
    name = unquote(rest)
    if not uri.startswith(_SCHEME) or (kind == "brief") == bool(name):
        raise NotFound(f"there is no resource {uri!r}")
    if kind == "brief":
        return _text(uri, answer_brief(book.brief(user=scope.user)).text)
    if kind == "file":
        return _text(uri, book.canvas(CANVAS).read(name))
    if kind == "memory":
        memory = find_own(book, Client(scope=scope), name)
        return _json(uri, {"memory": memory, "history": book.history(memory.id)})
    if kind == "transcript":
        return _json(uri, {"session": name, "messages": book.transcript(name).tail(_MOST_MESSAGES)})
    raise NotFound(f"there is no resource {uri!r}")


def get_prompt(book: Book, scope: Scope, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    """Return the messages of a prompt; NotFound for an unknown one."""
    if name == "keep":
        return _message(_KEEP)
    if name == "brief":
        return _message(answer_brief(book.brief(user=scope.user)).text)
    if name == "recall":
        if not given.get("question", "").strip():
            raise InvalidInput("the prompt recall needs a question")
        found = book.recall(given["question"], within=None if scope.user is None else Scope(user=scope.user))
        return _message(f"{given['question']}\n\n{found.text or 'The memory has nothing about this.'}")
    raise NotFound(f"there is no prompt {name!r}")


def _text(uri: str, text: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, text=text, mime_type="text/plain")


def _json(uri: str, value: object) -> types.TextResourceContents:
    text = json.dumps(plain(value), ensure_ascii=False, indent=2)
    return types.TextResourceContents(uri=uri, text=text, mime_type="application/json")


def _message(text: str) -> types.GetPromptResult:
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])
