"""The commands that write and read memories."""

from __future__ import annotations

import json
import mimetypes
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import Commands
from commonplace.cli.console import Column, Console, Usage, columns, moment, one_line, plural, size, table, width
from commonplace.values import ORIGINS, SIGNALS, Draft, Hit, Memory, Recall, Scope, Within
from commonplace.wire import plain

_LONGEST_WORD = 25
_REMEMBER = """\
  commonplace remember "We chose FastAPI over Flask because of async support" --kind decision --tag web
  commonplace remember "Maria prefers short answers" --kind preference --user maria --meta confidence=0.9
  git log -1 --format=%B | commonplace remember - --source git
  commonplace remember --file board.png "The architecture as drawn on the whiteboard"
"""
_REVISE = """\
  commonplace revise ID "We chose Litestar over FastAPI" --reason "the benchmark of May"
  commonplace revise ID --importance 0.9 --if-version 2
"""


def register_writing(commands: Commands) -> None:
    """Add the commands that write memories."""
    _register_remember(commands)
    _register_revise(commands)
    feedback = arguments.add(
        commands, "feedback", _feedback, help="report whether recalled memories were useful",
        examples="  commonplace feedback ID used\n  commonplace feedback RECEIPT wrong\n",
    )  # fmt: skip
    feedback.add_argument("target", metavar="ID|RECEIPT", help="a memory's id, or the receipt of a recall")
    feedback.add_argument("signal", choices=SIGNALS, metavar="SIGNAL", help=", ".join(SIGNALS))


def _register_remember(commands: Commands) -> None:
    made = arguments.add(
        commands, "remember", _remember, help="store texts as memories, all of them or none", examples=_REMEMBER
    )
    made.add_argument("text", nargs="*", metavar="TEXT", help="text of a memory, in quotes; - reads stdin")
    made.add_argument(
        "--file", metavar="PATH", help="store a file's content; TEXT, if given, is searched instead of it"
    )
    arguments.body_options(made)
    made.add_argument("--id", metavar="ID", help="id of the memory; must not exist yet (a random one)")
    made.add_argument("--supersedes", action="append", metavar="ID", help="the memory that this one supersedes")
    made.add_argument(
        "--origin",
        choices=ORIGINS,
        default="user",
        metavar="ORIGIN",
        help=f"origin, which decides how far it is trusted: {', '.join(ORIGINS)} (user)",
    )
    made.add_argument(
        "--reconcile",
        action="store_true",
        help="compare with known memories: a repetition strengthens the known one, a contradiction supersedes it",
    )
    arguments.scope_options(made, "owner (shared with everybody by default)")


def _register_revise(commands: Commands) -> None:
    made = arguments.add(
        commands, "revise", _revise, help="give a memory a new version; the old one is kept", examples=_REVISE
    )
    made.add_argument("id", metavar="ID", help="the memory's id")
    made.add_argument("text", nargs="?", metavar="TEXT", help="new text; - reads stdin; unchanged if omitted")
    arguments.body_options(made)
    arguments.if_version_option(made, "the memory")


class _Body(TypedDict, total=False):
    """The options of a memory, by their names in Draft and revise()."""

    kind: object
    tags: object
    metadata: object
    importance: object
    source: object
    said_at: object
    ttl: object
    reason: object


def _body(args: Namespace) -> _Body:
    given: _Body = {
        "kind": args.kind,
        "tags": args.tag,
        "metadata": None if args.meta is None else dict(args.meta),
        "importance": args.importance,
        "source": args.source,
        "said_at": args.said_at,
        "ttl": args.ttl,
        "reason": args.reason,
    }
    return {name: value for name, value in given.items() if value is not None}  # type: ignore[return-value]


def _remember(args: Namespace, console: Console) -> None:
    drafts = _drafts(args)
    with books.writable(args, console) as book:
        made = book.remember(drafts, reconcile=args.reconcile)
    console.result(made if len(made) > 1 else made[0], "\n".join(memory.id for memory in made))


def _drafts(args: Namespace) -> list[Draft]:
    options = {
        **_body(args),
        "scope": Scope(user=args.user, agent=args.agent, session=args.session),
        "origin": args.origin,
        "id": args.id,
        "supersedes": tuple(args.supersedes or ()),
    }
    if args.file is not None:
        return [_file_draft(args, options)]
    texts = _texts(args.text)
    if args.id is not None and len(texts) > 1:
        raise Usage("--id names one memory: give only one text")
    return [Draft(content=text, **options) for text in texts]


def _texts(words: list[str]) -> list[str]:
    if not words:
        return [inputs.text_or_stdin(None, "what to remember")]
    unquoted = [word for word in words if _is_one_word(word)]
    if len(words) > 1 and unquoted:
        raise Usage(f"each argument is one memory, and {unquoted[0]!r} is one word: put each text in quotes")
    return [inputs.text(word) for word in words]


def _is_one_word(text: str) -> bool:
    # Scripts that are written without spaces are wide, or their sentences are longer than a word.
    return " " not in text and text != inputs.STDIN and width(text) == len(text) < _LONGEST_WORD


def _file_draft(args: Namespace, options: dict[str, object]) -> Draft:
    if len(args.text) > 1:
        raise Usage("with --file, give at most one TEXT, which recall searches instead of the file")
    content = inputs.file_content(args.file)
    finds = inputs.text(args.text[0]) if args.text else None
    mime = mimetypes.guess_type(args.file)[0]
    named: dict[str, object] = {"source": Path(args.file).name, **options}
    return Draft(content=content, text=finds, mime=mime, **named)  # type: ignore[arg-type]


def _revise(args: Namespace, console: Console) -> None:
    change = _body(args)
    text = ... if args.text is None else inputs.text(args.text)
    if text is ... and not set(change) - {"reason"}:
        raise Usage("nothing to change: give a TEXT, or an option such as --tag or --importance")
    with books.existing(args) as book:
        memory: Memory = book.revise(args.id, text, if_version=args.if_version, **change)  # type: ignore[arg-type]
    console.result(memory, f"{memory.id} is now at version {memory.version}")


def _feedback(args: Namespace, console: Console) -> int:
    with books.existing(args) as book:
        touched = book.feedback(args.target, args.signal)
    console.result({"memories": touched}, f"{plural(touched, 'memory', 'memories')} marked {args.signal}")
    return 0


NOTHING = "The book has nothing about this."

_RECALL = """\
  commonplace recall "which web framework did we choose?"
  commonplace recall "how does she like her answers?" --user maria -k 3 --max-tokens 300
  commonplace recall "what did we decide?" --kind decision --as-of 2026-01-31 --explain
  commonplace recall - --json < question.txt
"""
_LIST = """\
  commonplace list
  commonplace list --kind decision --tag web --order oldest
  commonplace list --filter '{"metadata.confidence": {"$gte": 0.8}}' --json
"""
_EXPLAINED = (
    Column("SCORE", right=True),
    Column("RELEVANCE", right=True),
    Column("MEANING", right=True),
    Column("WORDS", right=True),
    Column("CERTAINTY", right=True),
    Column("RECENCY", right=True),
    Column("STRENGTH", right=True),
    Column("KIND"),
    Column("TEXT", least=20),
)
_LISTED = (
    Column("ID"),
    Column("SAID ON"),
    Column("KIND"),
    Column("TAGS", least=6),
    Column("TEXT", least=20),
)
_LIVED = (
    Column("VERSION", right=True),
    Column("AT"),
    Column("ACTION"),
    Column("REASON", least=12),
    Column("TEXT", least=20),
)


def register_reading(commands: Commands) -> None:
    """Add the commands that read memories."""
    _register_recall(commands)
    _register_list(commands)
    get = arguments.add(
        commands, "get", _get, help="show one memory, or an older version of it",
        examples="  commonplace get ID\n  commonplace get ID --version 1\n  commonplace get ID --content > board.png\n",
    )  # fmt: skip
    get.add_argument("id", metavar="ID", help="the memory's id")
    get.add_argument("--version", type=int, metavar="N", help="this version (the current one)")
    get.add_argument("--content", action="store_true", help="print only the content, byte for byte")
    history = arguments.add(
        commands, "history", _history, help="show every version of a memory, with time and reason",
        examples="  commonplace history ID\n",
    )  # fmt: skip
    history.add_argument("id", metavar="ID", help="the memory's id")


def _register_recall(commands: Commands) -> None:
    made = arguments.add(
        commands,
        "recall",
        _recall,
        help="find the memories that answer a question, as text for a prompt",
        examples=_RECALL,
    )
    made.add_argument("query", nargs="+", metavar="QUERY", help="the question; - reads stdin")
    made.add_argument("-k", type=int, default=10, metavar="N", help="maximum number of memories (10)")
    made.add_argument("--max-tokens", type=int, default=2000, metavar="N", help="maximum number of tokens (2000)")
    made.add_argument(
        "--threshold", type=float, metavar="P", help="minimum relevance, 0 to 1; 0 returns everything (calibrated)"
    )
    made.add_argument(
        "--order", choices=("relevance", "time"), default="relevance", help="best first, or oldest first (relevance)"
    )
    made.add_argument(
        "--as-of", type=inputs.when, metavar="TIME", help="search the book as it was at this time (ISO 8601)"
    )
    arguments.superseded_option(made)
    made.add_argument("--explain", action="store_true", help="print a table with the parts of each score")
    arguments.selection_options(made)
    arguments.within_options(made)


def _register_list(commands: Commands) -> None:
    made = arguments.add(commands, "list", _list, help="list memories by time", examples=_LIST)
    made.add_argument("--order", choices=("newest", "oldest"), default="newest", help="which come first (newest)")
    made.add_argument("--limit", type=int, default=100, metavar="N", help="maximum number of memories (100)")
    made.add_argument("--cursor", metavar="CURSOR", help="continue after the page that printed this cursor")
    arguments.superseded_option(made)
    arguments.selection_options(made)
    arguments.within_options(made)


def _within(args: Namespace) -> Within | None:
    parts = {"users": args.user, "agents": args.agent, "sessions": args.session}
    named = {name: tuple(values) for name, values in parts.items() if values}
    return Within(shared=not args.not_shared, **named) if named or args.not_shared else None


def _recall(args: Namespace, console: Console) -> None:
    query = inputs.text(" ".join(args.query))
    with books.existing(args) as book:
        found = book.recall(
            query, k=args.k, max_tokens=args.max_tokens, within=_within(args), filter=args.filter,
            kinds=args.kind, tags=args.tag, threshold=args.threshold, order=args.order, as_of=args.as_of,
            superseded=args.superseded,
        )  # fmt: skip
    console.result(found, _answer(found, explain=args.explain))
    if not console.json:
        console.remark(_verdict(found))


def _answer(found: Recall, *, explain: bool) -> str:
    if not found.hits and not found.avoid:
        known = found.coverage != "unknown"
        return "The matching memories do not fit into --max-tokens." if known else NOTHING
    return explained(found) if explain else found.text


def _verdict(found: Recall) -> str:
    count = plural(len(found.hits) + len(found.avoid), "memory", "memories")
    verdict = f"{found.coverage} · {count} · {plural(found.tokens, 'token')}"
    return f"{verdict} · receipt {found.receipt}" if found.hits or found.avoid else verdict


def explained(found: Recall) -> str:
    """Return a table of every hit with the parts of its score, warnings last."""
    rows = [_score_row(hit) for hit in (*found.hits, *found.avoid)]
    return table(_EXPLAINED, rows, limit=columns())


def _score_row(hit: Hit) -> tuple[str, ...]:
    parts = hit.parts
    numbers = (hit.score, parts.relevance, parts.meaning, parts.words, parts.certainty, parts.recency, parts.strength)
    return (*(f"{number:.2f}" for number in numbers), hit.memory.kind, hit.memory.text)


def _list(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        page = book.list(
            filter=args.filter, within=_within(args), kinds=args.kind, tags=args.tag,
            superseded=args.superseded, order=args.order, limit=args.limit, cursor=args.cursor,
        )  # fmt: skip
    console.result(page, listed(page.memories) if page.memories else "No memories.")
    if page.cursor is not None and not console.json:
        console.remark(f"more: --cursor {page.cursor}")


def listed(memories: Sequence[Memory]) -> str:
    """Return memories as a table, one line each."""
    return table(_LISTED, [_listed_row(memory) for memory in memories], limit=columns())


def _listed_row(memory: Memory) -> tuple[str, ...]:
    return memory.id, moment(memory.said_at)[:10], memory.kind, ", ".join(memory.tags), shown_text(memory)


def shown_text(memory: Memory) -> str:
    """Return a memory's text, or a placeholder for bytes without one."""
    if memory.text or not isinstance(memory.content, bytes):
        return memory.text
    return f"({size(len(memory.content))} of {memory.mime})"


def _get(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        memory = book.get(args.id, version=args.version)
    if args.content and isinstance(memory.content, bytes) and not console.json:
        console.raw(memory.content)
    elif args.content:
        console.result(memory.content, _content_text(memory))
    else:
        console.result(memory, f"{_facts(memory)}\n\n{shown_text(memory)}")


def _content_text(memory: Memory) -> str:
    content = memory.content
    return content if isinstance(content, str) else json.dumps(plain(content), ensure_ascii=False, indent=2)


def _facts(memory: Memory) -> str:
    facts = {
        "id": memory.id,
        "version": str(memory.version),
        "kind": memory.kind,
        "tags": ", ".join(memory.tags),
        "importance": f"{memory.importance:g}",
        "user": memory.scope.user,
        "agent": memory.scope.agent,
        "session": memory.scope.session,
        "source": memory.source,
        "origin": memory.origin,
        "mime": memory.mime,
        "metadata": json.dumps(dict(memory.metadata), ensure_ascii=False) if memory.metadata else "",
        "said at": moment(memory.said_at),
        "created at": moment(memory.created_at),
        "updated at": moment(memory.updated_at),
        "expires at": moment(memory.expires_at),
        "valid to": moment(memory.valid_to),
        "superseded by": memory.superseded_by,
    }
    return "\n".join(f"{name:<14}{one_line(value)}" for name, value in facts.items() if value)


def _history(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        revisions = book.history(args.id)
    rows = [
        (str(step.version), moment(step.at), step.action, step.reason or "", shown_text(step.memory))
        for step in revisions
    ]
    console.result(revisions, table(_LIVED, rows, limit=columns()))
