"""recall, list, get, history: what reads the memories."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence

from commonplace.cli import arguments, inputs, opened
from commonplace.cli.arguments import Commands
from commonplace.cli.output import Console, moment, one_line, plural, size
from commonplace.cli.table import Column, columns, table
from commonplace.values import Hit, Memory, Recall, Within
from commonplace.wire import plain

NOTHING = "Nothing in the book bears on this."

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
    Column(name="SCORE", right=True),
    Column(name="RELEVANCE", right=True),
    Column(name="MEANING", right=True),
    Column(name="WORDS", right=True),
    Column(name="CERTAINTY", right=True),
    Column(name="RECENCY", right=True),
    Column(name="STRENGTH", right=True),
    Column(name="KIND"),
    Column(name="TEXT", least=20),
)
_LISTED = (
    Column(name="ID"),
    Column(name="SAID ON"),
    Column(name="KIND"),
    Column(name="TAGS", least=6),
    Column(name="TEXT", least=20),
)
_LIVED = (
    Column(name="VERSION", right=True),
    Column(name="AT"),
    Column(name="ACTION"),
    Column(name="REASON", least=12),
    Column(name="TEXT", least=20),
)


def register(commands: Commands) -> None:
    """Add the commands that read memories."""
    _register_recall(commands)
    _register_list(commands)
    get = arguments.add(
        commands, "get", _get, help="show one memory, as it stands or as it was",
        examples="  commonplace get ID\n  commonplace get ID --version 1\n  commonplace get ID --content > board.png\n",
    )  # fmt: skip
    get.add_argument("id", metavar="ID", help="the memory's id")
    get.add_argument("--version", type=int, metavar="N", help="as it was at this version")
    get.add_argument("--content", action="store_true", help="its content alone, to the last byte")
    history = arguments.add(
        commands, "history", _history, help="show every version of a memory: what was done, when and why",
        examples="  commonplace history ID\n",
    )  # fmt: skip
    history.add_argument("id", metavar="ID", help="the memory's id")


def _register_recall(commands: Commands) -> None:
    made = arguments.add(
        commands, "recall", _recall, help="recall what bears on a question, as text for a prompt", examples=_RECALL
    )
    made.add_argument("query", nargs="+", metavar="QUERY", help="the question; - reads stdin")
    made.add_argument("-k", type=int, default=10, metavar="N", help="at most so many memories (10)")
    made.add_argument("--max-tokens", type=int, default=2000, metavar="N", help="at most so many tokens (2000)")
    made.add_argument(
        "--threshold", type=float, metavar="P", help="least probability, 0 to 1; 0 cuts nothing off (calibrated)"
    )
    made.add_argument(
        "--order", choices=("relevance", "time"), default="relevance", help="the best first, or the oldest first"
    )
    made.add_argument("--as-of", type=inputs.when, metavar="TIME", help="as the book stood at this time (ISO 8601)")
    arguments.superseded_option(made)
    made.add_argument("--explain", action="store_true", help="a table with the parts of each score instead")
    arguments.selection_options(made)
    arguments.within_options(made)


def _register_list(commands: Commands) -> None:
    made = arguments.add(commands, "list", _list, help="list memories by when they were said", examples=_LIST)
    made.add_argument("--order", choices=("newest", "oldest"), default="newest", help="which come first (newest)")
    made.add_argument("--limit", type=int, default=100, metavar="N", help="at most so many (100)")
    made.add_argument("--cursor", metavar="CURSOR", help="go on where the page with this cursor ended")
    arguments.superseded_option(made)
    arguments.selection_options(made)
    arguments.within_options(made)


def _within(args: Namespace) -> Within | None:
    parts = {"users": args.user, "agents": args.agent, "sessions": args.session}
    named = {name: tuple(values) for name, values in parts.items() if values}
    return Within(shared=not args.not_shared, **named) if named or args.not_shared else None


def _recall(args: Namespace, console: Console) -> int:
    query = inputs.text(" ".join(args.query))
    with opened.existing(args) as book:
        found = book.recall(
            query, k=args.k, max_tokens=args.max_tokens, within=_within(args), filter=args.filter,
            kinds=args.kind, tags=args.tag, threshold=args.threshold, order=args.order, as_of=args.as_of,
            superseded=args.superseded,
        )  # fmt: skip
    console.result(found, _answer(found, explain=args.explain))
    if not console.json:
        console.remark(_verdict(found))
    return 0


def _answer(found: Recall, *, explain: bool) -> str:
    if not found.hits and not found.avoid:
        known = found.coverage != "unknown"
        return "What the book knows of this does not fit into --max-tokens." if known else NOTHING
    return explained(found) if explain else found.text


def _verdict(found: Recall) -> str:
    count = plural(len(found.hits) + len(found.avoid), "memory", "memories")
    verdict = f"{found.coverage} · {count} · {plural(found.tokens, 'token')}"
    return f"{verdict} · receipt {found.receipt}" if found.hits or found.avoid else verdict


def explained(found: Recall) -> str:
    """Every hit with the parts of its score; what is to be avoided stands last."""
    rows = [_score_row(hit) for hit in (*found.hits, *found.avoid)]
    return table(_EXPLAINED, rows, limit=columns())


def _score_row(hit: Hit) -> tuple[str, ...]:
    parts = hit.parts
    numbers = (hit.score, parts.relevance, parts.meaning, parts.words, parts.certainty, parts.recency, parts.strength)
    return (*(f"{number:.2f}" for number in numbers), hit.memory.kind, hit.memory.text)


def _list(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        page = book.list(
            filter=args.filter, within=_within(args), kinds=args.kind, tags=args.tag,
            superseded=args.superseded, order=args.order, limit=args.limit, cursor=args.cursor,
        )  # fmt: skip
    console.result(page, listed(page.memories) if page.memories else "No memories.")
    if page.cursor is not None and not console.json:
        console.remark(f"there are more: --cursor {page.cursor}")
    return 0


def listed(memories: Sequence[Memory]) -> str:
    """Memories as a table, one line each."""
    return table(_LISTED, [_listed_row(memory) for memory in memories], limit=columns())


def _listed_row(memory: Memory) -> tuple[str, ...]:
    return memory.id, moment(memory.said_at)[:10], memory.kind, ", ".join(memory.tags), shown_text(memory)


def shown_text(memory: Memory) -> str:
    """A memory's text, or what stands for bytes that nobody described."""
    if memory.text or not isinstance(memory.content, bytes):
        return memory.text
    return f"({size(len(memory.content))} of {memory.mime})"


def _get(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        memory = book.get(args.id, version=args.version)
    if args.content and isinstance(memory.content, bytes) and not console.json:
        console.raw(memory.content)
    elif args.content:
        console.result(memory.content, _content_text(memory))
    else:
        console.result(memory, f"{_facts(memory)}\n\n{shown_text(memory)}")
    return 0


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


def _history(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        revisions = book.history(args.id)
    rows = [
        (str(step.version), moment(step.at), step.action, step.reason or "", shown_text(step.memory))
        for step in revisions
    ]
    console.result(revisions, table(_LIVED, rows, limit=columns()))
    return 0
