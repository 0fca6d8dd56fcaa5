"""learn, links, undo: memories from conversations, what they have to do with each other, and taking that back."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.cli import arguments, conversations, inputs, opened
from commonplace.cli.arguments import Commands
from commonplace.cli.commands_asking import shown_text
from commonplace.cli.conversations import Conversation
from commonplace.cli.hearing import warnings_as_remarks
from commonplace.cli.output import Console, moment, one_line, plural
from commonplace.cli.progress import Progress
from commonplace.cli.table import Column, columns, cut, table
from commonplace.errors import NotFound
from commonplace.values import ORIGINS, Learned, Link, Memory, Scope

if TYPE_CHECKING:
    from commonplace.book import Book

_LEARN = """\
  commonplace learn standup.txt --session standup
  commonplace learn chat.jsonl --user maria --tag support --json
  echo "Sarah: I prefer TypeScript." | commonplace learn -
"""
_LEARNED = (Column(name="KIND"), Column(name="TEXT", least=20), Column(name="BESIDE WHAT WAS KNOWN", least=20))
_LINKED = (Column(name="RELATION"), Column(name="OTHER"), Column(name="AT"), Column(name="REASON", least=12))
_QUOTED = 60
_RECONCILED = ("supersedes", "adds to", "disputes")
_FROM_THE_OTHER_END = {
    "learned from": "source of",
    "repeats": "says again",
    "supersedes": "superseded by",
    "adds to": "added to by",
    "disputes": "disputed by",
}


def register(commands: Commands) -> None:
    """Add the commands of learning."""
    _register_learn(commands)
    links = arguments.add(
        commands, "links", _links, help="show what a memory has to do with others, and where it was learned",
        examples="  commonplace links ID\n",
    )  # fmt: skip
    links.add_argument("id", metavar="ID", help="the memory's id")
    undo = arguments.add(
        commands, "undo", _undo, help="take back what reconciliation made of two memories",
        examples="  commonplace undo ID OTHER\n",
    )  # fmt: skip
    undo.add_argument("id", metavar="ID", help="the memory's id")
    undo.add_argument("other", metavar="OTHER", help="what `links` shows: the other memory, or a message")


def _register_learn(commands: Commands) -> None:
    made = arguments.add(
        commands, "learn", _learn, help="keep a conversation as it was said, and make memories of it", examples=_LEARN
    )
    made.add_argument(
        "file", nargs="?", metavar="FILE", help='lines of "Name: text", JSON or JSON Lines; - or nothing reads stdin'
    )
    made.add_argument("--session", metavar="SESSION", help="the conversation's name (a new one)")
    group = made.add_argument_group("what is learned (everybody's if not said)")
    group.add_argument("--user", metavar="USER", help="belongs to this user")
    group.add_argument("--agent", metavar="AGENT", help="belongs to this agent")
    group.add_argument("--tag", action="append", default=[], metavar="TAG", help="gets this tag; may be repeated")
    group.add_argument(
        "--origin", choices=ORIGINS, metavar="ORIGIN", help=f"comes from: {', '.join(ORIGINS)} (by each message's role)"
    )
    arguments.extractor_option(made)
    made.add_argument("--no-wait", action="store_true", help="only keep what was said; `commonplace work` learns")


def _learn(args: Namespace, console: Console) -> int:
    conversation = _conversation(args.file)
    with opened.writable(args, console) as book, warnings_as_remarks(console):
        learned = _taken_in(book, conversation, args, console)
        kept = f"{plural(len(learned.messages), 'message')} of session {learned.session}"
        if args.no_wait:
            console.result(learned, f"kept {kept} for `commonplace work` to learn from")
            return 0
        rows = [(memory.kind, shown_text(memory), how) for memory, how in _standing(book, learned)]
        console.result(learned, table(_LEARNED, rows, limit=columns()) if rows else "Nothing was learned.")
    if not console.json:
        console.remark(f"{plural(len(rows), 'memory', 'memories')} from {kept}")
        if withdrawn := [link.other for link in learned.links if link.relation == "withdraws"]:
            console.remark(f"asked to forget, and withdrawn from recall: {', '.join(withdrawn)}")
    return 0


def _conversation(file: str | None) -> Conversation:
    if file is None:
        return conversations.parse(inputs.text_or_stdin(None, "the conversation's file"), "stdin")
    return conversations.parse(inputs.file_text(file), "stdin" if file == inputs.STDIN else file)


def _taken_in(book: Book, conversation: Conversation, args: Namespace, console: Console) -> Learned:
    scope = Scope(user=args.user, agent=args.agent)
    if args.no_wait:
        return book.learn(conversation, session=args.session, scope=scope, tags=args.tag, origin=args.origin)
    with Progress("learning") as progress, _saying_what_is_kept(progress, console):
        return book.learn(
            conversation, session=args.session, scope=scope, tags=args.tag, origin=args.origin, wait=True,
            progress=progress.update,
        )  # fmt: skip


@contextmanager
def _saying_what_is_kept(progress: Progress, console: Console) -> Iterator[None]:
    """Tell whoever interrupts learning, or sees it fail, that the conversation need not be given again."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        if progress.begun:
            progress.close()
            console.remark("the conversation is kept: `commonplace work` goes on with it")
        raise


def _standing(book: Book, learned: Learned) -> Iterator[tuple[Memory, str]]:
    """Each memory once, and how it stands to what was known."""
    times_said, telling = Counter(memory.id for memory in learned.memories), _telling(learned.links)
    for id, memory in {memory.id: memory for memory in learned.memories}.items():
        again = sum(link.relation == "repeats" for link in telling[id])
        beside = [_beside(book, link, id) for link in telling[id] if link.relation in _RECONCILED]
        yield memory, ", ".join(beside) or ("said again" if again >= times_said[id] else "new")


def _telling(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """The links that say what became of each memory: its own, and what outdated it from the start."""
    telling: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        telling[link.id].append(link)
        if link.relation == "supersedes":
            telling[link.other].append(link)
    return telling


def _beside(book: Book, link: Link, id: str) -> str:
    relation, other = _seen_from(link, id)
    return f"{relation} {_quoted(book, other)}"


def _quoted(book: Book, id: str) -> str:
    """The words of a memory, or its id if it has gone meanwhile."""
    try:
        return f'"{cut(one_line(shown_text(book.get(id))), _QUOTED)}"'
    except NotFound:
        return id


def _seen_from(link: Link, id: str) -> tuple[str, str]:
    """What a link says of one of its ends, and the other end."""
    if link.id == id:
        return link.relation, link.other
    return _FROM_THE_OTHER_END.get(link.relation, link.relation), link.id


def _links(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        links = book.links(args.id)
    rows = [(*_seen_from(link, args.id), moment(link.at), link.reason or "") for link in links]
    console.result(links, table(_LINKED, rows, limit=columns()) if rows else "No links.")
    return 0


def _undo(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        undone = book.undo(args.id, args.other)
    console.result(undone, "\n".join(f"no longer: {link.id} {link.relation} {link.other}" for link in undone))
    return 0
