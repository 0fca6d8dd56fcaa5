"""The commands that write and read memories, and a demo of them."""

from __future__ import annotations

import json
import mimetypes
import tempfile
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import MEMORY_ID, Commands, Option
from commonplace.cli.console import (
    Console,
    Result,
    UsageError,
    facts,
    moment,
    plural,
    size,
    table,
    terminal_width,
    width,
)
from commonplace.values import ORIGINS, SIGNALS, Draft, Memory, Recall, Within
from commonplace.wire import plain

if TYPE_CHECKING:
    from commonplace.book import Book

COMMANDS = Commands()
DEMO = Commands()
NOTHING = "The book has nothing about this."
NO_BRIEF = "The book has nothing for a brief, or nothing that fits into --max-tokens."

_LONGEST_WORD = 25
_DATES = ("said_at", "created_at", "updated_at", "expires_at", "valid_to", "superseded_by")


@COMMANDS.add(
    "remember",
    Option("text TEXT*", "text of a memory, in quotes; - reads stdin"),
    Option("--file PATH", "store a file's content; TEXT, if given, is searched instead of it"),
    arguments.BODY,
    Option("--id ID", "id of the memory; must not exist yet (a random one)"),
    Option("--supersedes ID*", "the memory that this one supersedes"),
    Option(
        "--origin ORIGIN",
        f"origin, which decides how far it is trusted: {', '.join(ORIGINS)} (user)",
        choices=ORIGINS,
        default="user",
    ),
    Option(
        "--reconcile",
        "compare with known memories: a repetition strengthens the known one, a contradiction supersedes it",
    ),
    arguments.scope_section("owner (shared with everybody by default)"),
)
def _remember(args: Namespace, console: Console) -> Result:
    """Store texts as memories, all of them or none.

    commonplace remember "We chose FastAPI over Flask because of async support" --kind decision --tag web
    commonplace remember "Maria prefers short answers" --kind preference --user maria --meta confidence=0.9
    git log -1 --format=%B | commonplace remember - --source git
    commonplace remember --file board.png "The architecture as drawn on the whiteboard"
    """
    drafts = _drafts(args)
    with books.open_or_create(args, console) as book:
        memories = book.remember(drafts, reconcile=args.reconcile)
    return Result(memories if len(memories) > 1 else memories[0], "\n".join(memory.id for memory in memories))


def _drafts(args: Namespace) -> list[Draft]:
    supersedes = tuple(args.supersedes or ())
    options = {**_body(args), "scope": arguments.scope(args), "origin": args.origin, "supersedes": supersedes}
    if args.file is not None:
        return [_file_draft(args, options)]
    texts = _texts(args.text)
    if args.id is not None and len(texts) > 1:
        raise UsageError("--id names one memory: give only one text")
    return [Draft(content=text, id=args.id, **options) for text in texts]


def _body(args: Namespace) -> dict[str, Any]:
    """Return the given options of a memory, by their names in Draft and revise()."""
    options = arguments.pick(args, "kind", "tags", "importance", "source", "said_at", "ttl", "reason")
    return options if args.meta is None else {**options, "metadata": dict(args.meta)}


def _texts(words: list[str]) -> list[str]:
    if not words:
        return [inputs.text_or_stdin(None, "what to remember")]
    unquoted = [word for word in words if _is_one_word(word)]
    if len(words) > 1 and unquoted:
        raise UsageError(f"each argument is one memory, and {unquoted[0]!r} is one word: put each text in quotes")
    return [inputs.text(word) for word in words]


def _is_one_word(text: str) -> bool:
    # Scripts that are written without spaces are wide, or their sentences are longer than a word.
    return " " not in text and text != inputs.STDIN and width(text) == len(text) < _LONGEST_WORD


def _file_draft(args: Namespace, options: dict[str, Any]) -> Draft:
    if len(args.text) > 1:
        raise UsageError("with --file, give at most one TEXT, which recall searches instead of the file")
    content = inputs.file_content(args.file)
    text = inputs.text(args.text[0]) if args.text else None
    mime = mimetypes.guess_type(args.file)[0]
    return Draft(content=content, text=text, mime=mime, id=args.id, **{"source": Path(args.file).name, **options})


@COMMANDS.add(
    "revise",
    MEMORY_ID,
    Option("text TEXT?", "new text; - reads stdin; unchanged if omitted"),
    arguments.BODY,
    arguments.if_version("the memory"),
)
def _revise(args: Namespace, console: Console) -> Result:
    """Give a memory a new version; the old one is kept.

    commonplace revise ID "We chose Litestar over FastAPI" --reason "the benchmark of May"
    commonplace revise ID --importance 0.9 --if-version 2
    """
    change = _body(args)
    text = ... if args.text is None else inputs.text(args.text)
    if text is ... and not set(change) - {"reason"}:
        raise UsageError("nothing to change: give a TEXT, or an option such as --tag or --importance")
    with books.open_existing(args) as book:
        memory = book.revise(args.id, text, if_version=args.if_version, **change)
    return Result(memory, f"{memory.id} is now at version {memory.version}")


@COMMANDS.on_book(
    "feedback",
    Option("target ID|RECEIPT", "a memory's id, or the receipt of a recall"),
    Option("signal SIGNAL", ", ".join(SIGNALS), choices=SIGNALS),
)
def _feedback(book: Book, args: Namespace) -> Result:
    """Report whether recalled memories were useful.

    commonplace feedback ID used
    commonplace feedback RECEIPT wrong
    """
    count = book.feedback(args.target, args.signal)
    return Result({"memories": count}, f"{plural(count, 'memory', 'memories')} marked {args.signal}")


@COMMANDS.add(
    "recall",
    Option("query QUERY+", "the question; - reads stdin"),
    Option("-k N", "maximum number of memories (10)", type=int, default=10),
    Option("--max-tokens N", "maximum number of tokens (2000)", type=int, default=2000),
    Option("--threshold P", "minimum relevance, 0 to 1; 0 returns everything (calibrated)", type=float),
    Option("--order", "best first, or oldest first (relevance)", choices=("relevance", "time"), default="relevance"),
    Option("--as-of TIME", "search the book as it was at this time (ISO 8601)", type=inputs.when),
    Option("--asked-at TIME", 'the moment that "last week" counts from (now)', type=inputs.when),
    arguments.SUPERSEDED,
    Option("--explain", "print a table with the parts of each score"),
    arguments.SELECTION,
    arguments.WITHIN,
)
def _recall(args: Namespace, console: Console) -> Result:
    """Find the memories that answer a question, as text for a prompt.

    commonplace recall "which web framework did we choose?"
    commonplace recall "how does she like her answers?" --user maria -k 3 --max-tokens 300
    commonplace recall "what did we decide?" --kind decision --as-of 2026-01-31 --explain
    commonplace recall - --json < question.txt
    """
    query = inputs.text(" ".join(args.query))
    with books.open_existing(args) as book:
        limits = arguments.pick(args, "k", "max_tokens", "threshold", "order", "as_of", "asked_at")
        found = book.recall(query, **limits, **_selection(args))
    count = plural(len(found.hits) + len(found.avoid), "memory", "memories")
    verdict = f"{found.coverage} · {count} · {plural(found.tokens, 'token')}"
    verdict += f" · receipt {found.receipt}" if found.hits or found.avoid else ""
    return Result(found, _answer(found, explain=args.explain), remarks=[verdict])


def _selection(args: Namespace) -> dict[str, Any]:
    parts = {"users": args.user, "agents": args.agent, "sessions": args.session}
    named = {name: tuple(values) for name, values in parts.items() if values}
    within = Within(shared=not args.not_shared, **named) if named or args.not_shared else None
    return {"within": within, **arguments.pick(args, "filter", "kinds", "tags", "superseded")}


def _answer(found: Recall, *, explain: bool) -> str:
    if not found.hits and not found.avoid:
        return NOTHING if found.coverage == "unknown" else "The matching memories do not fit into --max-tokens."
    if not explain:
        return found.text
    parts = ("relevance", "meaning", "words", "certainty", "recency", "strength")
    rows = []
    for hit in (*found.hits, *found.avoid):
        numbers = (hit.score, *(getattr(hit.parts, part) for part in parts))
        rows.append((*(f"{number:.2f}" for number in numbers), hit.memory.kind, hit.memory.text))
    return table(("SCORE:>", *(f"{part.upper()}:>" for part in parts), "KIND", "TEXT:20"), rows)


@COMMANDS.on_book(
    "list",
    Option("--order", "which come first (newest)", choices=("newest", "oldest"), default="newest"),
    Option("--limit N", "maximum number of memories (100)", type=int, default=100),
    Option("--cursor CURSOR", "continue after the page that printed this cursor"),
    arguments.SUPERSEDED,
    arguments.SELECTION,
    arguments.WITHIN,
)
def _list(book: Book, args: Namespace) -> Result:
    """List memories by time.

    commonplace list
    commonplace list --kind decision --tag web --order oldest
    commonplace list --filter '{"metadata.confidence": {"$gte": 0.8}}' --json
    """
    page = book.list(order=args.order, limit=args.limit, cursor=args.cursor, **_selection(args))
    remarks = [] if page.cursor is None else [f"more: --cursor {page.cursor}"]
    return Result(page, memory_table(page.memories), remarks=remarks)


@COMMANDS.on_book(
    "brief",
    Option("--max-tokens N", "maximum number of tokens (1000)", type=int, default=1000),
    arguments.scope_section("what belongs to (and to everybody)"),
)
def _brief(book: Book, args: Namespace) -> Result:
    """Print what a newcomer or the next session needs to know, as text for a prompt.

    commonplace brief
    commonplace brief --user maria --max-tokens 500
    """
    found = book.brief(user=args.user, agent=args.agent, session=args.session, max_tokens=args.max_tokens)
    count = plural(len(found.memories), "memory", "memories")
    return Result(found, found.text or NO_BRIEF, remarks=[f"{count} · {plural(found.tokens, 'token')}"])


def memory_table(memories: Sequence[Memory]) -> str:
    """Return memories as a table, one line each."""
    rows = [
        (memory.id, moment(memory.said_at)[:10], memory.kind, ", ".join(memory.tags), display_text(memory))
        for memory in memories
    ]
    return table(("ID", "SAID ON", "KIND", "TAGS:6", "TEXT:20"), rows, empty="No memories.")


def display_text(memory: Memory) -> str:
    """Return a memory's text, or a placeholder for bytes without one."""
    if memory.text or not isinstance(memory.content, bytes):
        return memory.text
    return f"({size(len(memory.content))} of {memory.mime})"


@COMMANDS.add(
    "get",
    MEMORY_ID,
    Option("--version N", "this version (the current one)", type=int),
    Option("--content", "print only the content, byte for byte"),
)
def _get(args: Namespace, console: Console) -> Result | None:
    """Show one memory, or an older version of it.

    commonplace get ID
    commonplace get ID --version 1
    commonplace get ID --content > board.png
    """
    with books.open_existing(args) as book:
        memory = book.get(args.id, version=args.version)
    content = memory.content
    if not args.content:
        return Result(memory, f"{_facts(memory)}\n\n{display_text(memory)}")
    if isinstance(content, bytes) and not console.json:
        console.raw(content)
        return None
    text = content if isinstance(content, str) else json.dumps(plain(content), ensure_ascii=False, indent=2)
    return Result(content, text)


def _facts(memory: Memory) -> str:
    values = {
        "id": memory.id,
        "version": memory.version,
        "kind": memory.kind,
        "tags": ", ".join(memory.tags),
        "importance": f"{memory.importance:g}",
        **{part: getattr(memory.scope, part) for part in ("user", "agent", "session")},
        **{name: getattr(memory, name) for name in ("source", "origin", "mime")},
        "metadata": json.dumps(dict(memory.metadata), ensure_ascii=False) if memory.metadata else "",
        **{name.replace("_", " "): getattr(memory, name) for name in _DATES},
    }
    return facts(values, indent=14)


@COMMANDS.on_book("history", MEMORY_ID)
def _history(book: Book, args: Namespace) -> Result:
    """Show every version of a memory, with time and reason.

    commonplace history ID
    """
    revisions = book.history(args.id)
    rows = [(step.version, step.at, step.action, step.reason, display_text(step.memory)) for step in revisions]
    return Result(revisions, table(("VERSION:>", "AT", "ACTION", "REASON:12", "TEXT:20"), rows))


_DEMO_MEMORIES = (
    Draft(content="We chose FastAPI over Flask because of async support", kind="decision", source="adr-7"),
    Draft(content="Maria prefers short answers with a code example", kind="preference", source="chat"),
    Draft(content="The production database is PostgreSQL 16 in eu-central-1", kind="fact", source="runbook"),
    Draft(content="Deploys go out on Tuesdays once the smoke tests are green", kind="pattern", source="runbook"),
    Draft(
        content="Retrying a payment without an idempotency key charged customers twice",
        kind="failure",
        source="incident-12",
    ),
    Draft(content="The nightly export is slow because it compresses every file", kind="insight", source="profiler"),
)
_DEMO_QUESTIONS = (
    "How does Maria like her answers?",
    "Why did we choose FastAPI?",
    "May I retry a failed payment?",
    "Who plays the violin?",
)
_NEXT = """\
Where to go next
  commonplace remember "something worth keeping"    creates your own book, ./commonplace.db
  commonplace recall "a question"                   asks it
  commonplace --help                                shows everything else
"""


@DEMO.add("demo")
def _demo(args: Namespace, console: Console) -> Result:
    """Show example recalls on a temporary book.

    commonplace demo
    """
    import commonplace  # not at the top: it loads numpy and apsw

    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as directory:
        where = Path(directory) / "demo.db"
        with commonplace.open(where, embedder=books.setting(args, "embedder")) as book:
            memories = book.remember(_DEMO_MEMORIES)
            answers = [book.recall(question, k=2) for question in _DEMO_QUESTIONS]
    opening = "commonplace: a memory for agents. This demo uses a book in a temporary file."
    drafts = [f"  {draft.kind:<11}{draft.content!s}" for draft in _DEMO_MEMORIES]
    parts = [opening, "\n".join([f"Remembered {len(_DEMO_MEMORIES)} things", *drafts]), *map(_exchange, answers), _NEXT]
    return Result({"memories": memories, "answers": answers}, "\n\n".join(parts))


def _exchange(found: Recall) -> str:
    width = min(terminal_width() or 100, 100)
    lines = (found.text or NOTHING).splitlines()
    answer = [textwrap.fill(line, width, initial_indent="  ", subsequent_indent="    ") for line in lines]
    return "\n".join([f"> {found.query}   ({found.coverage}, {plural(found.tokens, 'token')})", *answer])
