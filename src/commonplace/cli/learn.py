"""The commands that learn from conversations and run jobs."""

from __future__ import annotations

import signal
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import MEMORY_ID, Commands, Option, Section
from commonplace.cli.console import Console, Progress, Result, cut, one_line, plural, table, warnings_as_remarks
from commonplace.cli.memories import display_text
from commonplace.errors import NotFound
from commonplace.values import ORIGINS, Learned, Link, Memory, Scope

if TYPE_CHECKING:
    from commonplace.book import Book

COMMANDS = Commands()

_QUOTE = 60
"""The longest quotation of a memory, in characters."""
_RECONCILED = ("supersedes", "adds to", "disputes")
_FROM_THE_OTHER_END = {
    "learned from": "source of",
    "repeats": "says again",
    "supersedes": "superseded by",
    "adds to": "added to by",
    "disputes": "disputed by",
}


@COMMANDS.add(
    "learn",
    Option("file FILE?", 'lines of "Name: text", JSON or JSON Lines; - or nothing reads stdin'),
    Option("--session SESSION", "name of the conversation (a new one)"),
    Section(
        "learned memories (shared with everybody by default)",
        Option("--user USER", "belong to this user"),
        Option("--agent AGENT", "belong to this agent"),
        Option("--tag TAG*", "get this tag; may be repeated", default=[], dest="tags"),
        Option(
            "--origin ORIGIN", f"have this origin: {', '.join(ORIGINS)} (from each message's role)", choices=ORIGINS
        ),
    ),
    arguments.EXTRACTOR,
    Option("--no-wait", "only store the conversation; `commonplace work` learns from it later"),
)
def _learn(args: Namespace, console: Console) -> Result:
    """Store a conversation word for word and learn memories from it.

    commonplace learn standup.txt --session standup
    commonplace learn chat.jsonl --user maria --tag support --json
    echo "Sarah: I prefer TypeScript." | commonplace learn -
    """
    text = inputs.text_or_stdin(None, "the conversation's file") if args.file is None else inputs.file_text(args.file)
    place = "stdin" if args.file in (None, inputs.STDIN) else args.file
    conversation = inputs.parse_conversation(text, place)
    with books.open_or_create(args, console) as book, warnings_as_remarks(console):
        learned = _learn_conversation(book, conversation, args, console)
        messages = f"{plural(len(learned.messages), 'message')} of session {learned.session}"
        if args.no_wait:
            return Result(learned, f"stored {messages}; `commonplace work` learns from it")
        rows = [(memory.kind, display_text(memory), how) for memory, how in _compare(book, learned)]
    remarks = [f"{plural(len(rows), 'memory', 'memories')} from {messages}"]
    if withdrawn := [link.other for link in learned.links if link.relation == "withdraws"]:
        remarks.append(f"asked to forget, and withdrawn from recall: {', '.join(withdrawn)}")
    text = table(("KIND", "TEXT:20", "RELATION TO KNOWN MEMORIES:20"), rows, empty="Nothing was learned.")
    return Result(learned, text, remarks=remarks)


def _learn_conversation(book: Book, conversation: inputs.Conversation, args: Namespace, console: Console) -> Learned:
    """Learn; on an interrupt or a failure, remark that the conversation is stored and need not be given again."""
    options = {"scope": Scope(user=args.user, agent=args.agent), **arguments.pick(args, "session", "tags", "origin")}
    if args.no_wait:
        return book.learn(conversation, **options)
    with Progress("learning") as progress:
        try:
            return book.learn(conversation, **options, wait=True, progress=progress.update)
        except (Exception, KeyboardInterrupt):
            if progress.has_begun:
                progress.close()
                console.remark("the conversation is stored: `commonplace work` continues learning from it")
            raise


def _compare(book: Book, learned: Learned) -> Iterator[tuple[Memory, str]]:
    """Yield each memory once, with its relation to known memories."""
    links: dict[str, list[Link]] = defaultdict(list)
    for link in learned.links:
        links[link.id].append(link)
        if link.relation == "supersedes":
            links[link.other].append(link)
    counts = Counter(memory.id for memory in learned.memories)
    for id, memory in {memory.id: memory for memory in learned.memories}.items():
        repeats = sum(link.relation == "repeats" for link in links[id])
        relations = [_relation_text(book, link, id) for link in links[id] if link.relation in _RECONCILED]
        yield memory, ", ".join(relations) or ("said again" if repeats >= counts[id] else "new")


def _relation_text(book: Book, link: Link, id: str) -> str:
    """Return a relation with the text of the other memory, or its id if it was forgotten meanwhile."""
    relation, other = _relation_from(link, id)
    try:
        return f'{relation} "{cut(one_line(display_text(book.get(other))), _QUOTE)}"'
    except NotFound:
        return f"{relation} {other}"


def _relation_from(link: Link, id: str) -> tuple[str, str]:
    """Return the relation as seen from one end of a link, and the other end."""
    if link.id == id:
        return link.relation, link.other
    return _FROM_THE_OTHER_END.get(link.relation, link.relation), link.id


@COMMANDS.on_book("links", MEMORY_ID)
def _links(book: Book, args: Namespace) -> Result:
    """Show how a memory relates to others, and where it was learned.

    commonplace links ID
    """
    links = book.links(args.id)
    rows = [(*_relation_from(link, args.id), link.at, link.reason) for link in links]
    return Result(links, table(("RELATION", "OTHER", "AT", "REASON:12"), rows, empty="No links."))


@COMMANDS.on_book("undo", MEMORY_ID, Option("other OTHER", "the other memory, or a message, as shown by `links`"))
def _undo(book: Book, args: Namespace) -> Result:
    """Undo what reconciliation decided about two memories.

    commonplace undo ID OTHER
    """
    links = book.undo(args.id, args.other)
    return Result(links, "\n".join(f"no longer: {link.id} {link.relation} {link.other}" for link in links))


_POLL_SECONDS = 1.0
"""Seconds between two looks for jobs that other processes queue."""
_SLEEP_SECONDS = 0.1


class _EndRequest:
    """Treats Ctrl-C and SIGTERM as a request to end after the current job; a second one raises KeyboardInterrupt."""

    received = False

    def __enter__(self) -> _EndRequest:
        self._before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.received:
            raise KeyboardInterrupt
        self.received = True

    def sleep(self, seconds: float) -> None:
        """Sleep until asked to end."""
        until = time.monotonic() + seconds
        while not self.received and time.monotonic() < until:
            time.sleep(min(_SLEEP_SECONDS, seconds))


@COMMANDS.add("work", Option("--once", "stop when no job is due; exit status 1 if one failed"), arguments.EXTRACTOR)
def _work(args: Namespace, console: Console) -> Result:
    """Run the jobs of all spaces, or of --space, until Ctrl-C.

    commonplace work
    commonplace work --once --json
    """
    from commonplace.learn import jobs
    from commonplace.memories.core import Place
    from commonplace.values import checks

    done = failed = 0
    with books.open_core(args) as core, warnings_as_remarks(console), _EndRequest() as end:
        # The space named on the command line; the environment does not count here.
        only = None if args.space is None else Place(core.store, checks.name(args.space, "space"))
        if args.once:
            attempts = jobs.run_due(core, only)
        else:
            console.remark("running jobs; Ctrl-C stops after the current job")
            attempts = jobs.run_until(core, lambda: end.received, end.sleep, only=only, idle=_POLL_SECONDS)
        for attempt in attempts:
            done, failed = done + (attempt.error is None), failed + (attempt.error is not None)
            if end.received:
                break
    text = f"ran {plural(done, 'job')}" + (f"; {failed:,} failed, see `commonplace jobs`" if failed else "")
    return Result({"done": done, "failed": failed}, text, status=int(args.once and failed > 0))


@COMMANDS.on_book("jobs", Option("--dead", "only permanently failed jobs"))
def _jobs(book: Book, args: Namespace) -> Result:
    """List waiting, running and permanently failed jobs.

    commonplace jobs
    commonplace jobs --dead --json
    """
    jobs = [job for job in book.jobs() if job.state == "dead" or not args.dead]
    rows = [
        (job.number, job.kind, job.state, job.attempts, None if job.state == "dead" else job.due_at, job.error)
        for job in jobs
    ]
    return Result(jobs, table(("NUMBER:>", "KIND", "STATE", "ATTEMPTS:>", "DUE", "ERROR:20"), rows, empty="No jobs."))


@COMMANDS.add("retry", Option("number N?", "the job's number (all)", type=int))
def _retry(args: Namespace, console: Console) -> Result:
    """Queue a permanently failed job again, or all of them.

    commonplace retry
    commonplace retry 12
    """
    with books.open_existing(args) as book, warnings_as_remarks(console):
        count = book.retry(args.number)
    return Result({"queued": count}, f"queued {plural(count, 'job')} again")
