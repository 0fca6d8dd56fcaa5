"""The commands that learn from conversations and run jobs."""

from __future__ import annotations

import signal
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import Commands
from commonplace.cli.console import (
    Column,
    Console,
    Progress,
    columns,
    cut,
    moment,
    one_line,
    plural,
    table,
    warnings_as_remarks,
)
from commonplace.cli.inputs import Conversation
from commonplace.cli.memories import shown_text
from commonplace.errors import NotFound
from commonplace.values import ORIGINS, Job, Learned, Link, Memory, Scope

if TYPE_CHECKING:
    from commonplace.book import Book
if TYPE_CHECKING:
    from commonplace.memories.core import Core, Place


_LEARN = """\
  commonplace learn standup.txt --session standup
  commonplace learn chat.jsonl --user maria --tag support --json
  echo "Sarah: I prefer TypeScript." | commonplace learn -
"""
_LEARNED = (Column("KIND"), Column("TEXT", least=20), Column("RELATION TO KNOWN MEMORIES", least=20))
_LINKED = (Column("RELATION"), Column("OTHER"), Column("AT"), Column("REASON", least=12))
_QUOTED = 60
_RECONCILED = ("supersedes", "adds to", "disputes")
_FROM_THE_OTHER_END = {
    "learned from": "source of",
    "repeats": "says again",
    "supersedes": "superseded by",
    "adds to": "added to by",
    "disputes": "disputed by",
}


def register_learn(commands: Commands) -> None:
    """Add learn, links and undo."""
    _register_learn(commands)
    links = arguments.add(
        commands, "links", _links, help="show how a memory relates to others, and where it was learned",
        examples="  commonplace links ID\n",
    )  # fmt: skip
    links.add_argument("id", metavar="ID", help="the memory's id")
    undo = arguments.add(
        commands, "undo", _undo, help="undo what reconciliation decided about two memories",
        examples="  commonplace undo ID OTHER\n",
    )  # fmt: skip
    undo.add_argument("id", metavar="ID", help="the memory's id")
    undo.add_argument("other", metavar="OTHER", help="the other memory, or a message, as shown by `links`")


def _register_learn(commands: Commands) -> None:
    made = arguments.add(
        commands, "learn", _learn, help="store a conversation word for word and learn memories from it", examples=_LEARN
    )
    made.add_argument(
        "file", nargs="?", metavar="FILE", help='lines of "Name: text", JSON or JSON Lines; - or nothing reads stdin'
    )
    made.add_argument("--session", metavar="SESSION", help="name of the conversation (a new one)")
    group = made.add_argument_group("learned memories (shared with everybody by default)")
    group.add_argument("--user", metavar="USER", help="belong to this user")
    group.add_argument("--agent", metavar="AGENT", help="belong to this agent")
    group.add_argument("--tag", action="append", default=[], metavar="TAG", help="get this tag; may be repeated")
    group.add_argument(
        "--origin",
        choices=ORIGINS,
        metavar="ORIGIN",
        help=f"have this origin: {', '.join(ORIGINS)} (from each message's role)",
    )
    arguments.extractor_option(made)
    made.add_argument(
        "--no-wait", action="store_true", help="only store the conversation; `commonplace work` learns from it later"
    )


def _learn(args: Namespace, console: Console) -> int:
    conversation = _conversation(args.file)
    with books.writable(args, console) as book, warnings_as_remarks(console):
        learned = _taken_in(book, conversation, args, console)
        kept = f"{plural(len(learned.messages), 'message')} of session {learned.session}"
        if args.no_wait:
            console.result(learned, f"stored {kept}; `commonplace work` learns from it")
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
        return inputs.parse_conversation(inputs.text_or_stdin(None, "the conversation's file"), "stdin")
    return inputs.parse_conversation(inputs.file_text(file), "stdin" if file == inputs.STDIN else file)


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
    """On an interrupt or a failure, tell that the conversation is stored and need not be given again."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        if progress.begun:
            progress.close()
            console.remark("the conversation is stored: `commonplace work` continues learning from it")
        raise


def _standing(book: Book, learned: Learned) -> Iterator[tuple[Memory, str]]:
    """Return each memory once, with its relation to known memories."""
    times_said, telling = Counter(memory.id for memory in learned.memories), _telling(learned.links)
    for id, memory in {memory.id: memory for memory in learned.memories}.items():
        again = sum(link.relation == "repeats" for link in telling[id])
        beside = [_beside(book, link, id) for link in telling[id] if link.relation in _RECONCILED]
        yield memory, ", ".join(beside) or ("said again" if again >= times_said[id] else "new")


def _telling(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """Return the links of each memory: its own, and those that superseded it at once."""
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
    """Return a memory's text, or its id if it was forgotten meanwhile."""
    try:
        return f'"{cut(one_line(shown_text(book.get(id))), _QUOTED)}"'
    except NotFound:
        return id


def _seen_from(link: Link, id: str) -> tuple[str, str]:
    """Return the relation seen from one end of a link, and the other end."""
    if link.id == id:
        return link.relation, link.other
    return _FROM_THE_OTHER_END.get(link.relation, link.relation), link.id


def _links(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        links = book.links(args.id)
    rows = [(*_seen_from(link, args.id), moment(link.at), link.reason or "") for link in links]
    console.result(links, table(_LINKED, rows, limit=columns()) if rows else "No links.")


def _undo(args: Namespace, console: Console) -> int:
    with books.existing(args) as book:
        undone = book.undo(args.id, args.other)
    console.result(undone, "\n".join(f"no longer: {link.id} {link.relation} {link.other}" for link in undone))
    return 0


_LOOK = 1.0
"""Seconds between two looks for jobs that other processes queue."""
_GLANCE = 0.1
_WORK = """\
  commonplace work
  commonplace work --once --json
"""
_JOBS = (
    Column("NUMBER", right=True),
    Column("KIND"),
    Column("STATE"),
    Column("ATTEMPTS", right=True),
    Column("DUE"),
    Column("ERROR", least=20),
)


def register_jobs(commands: Commands) -> None:
    """Add work, jobs and retry."""
    work = arguments.add(
        commands, "work", _work, help="run the jobs of all spaces, or of --space, until Ctrl-C", examples=_WORK
    )
    work.add_argument("--once", action="store_true", help="stop when no job is due; exit status 1 if one failed")
    arguments.extractor_option(work)
    jobs = arguments.add(
        commands, "jobs", _jobs, help="list waiting, running and permanently failed jobs",
        examples="  commonplace jobs\n  commonplace jobs --dead --json\n",
    )  # fmt: skip
    jobs.add_argument("--dead", action="store_true", help="only permanently failed jobs")
    retry = arguments.add(
        commands, "retry", _retry, help="queue a permanently failed job again, or all of them",
        examples="  commonplace retry\n  commonplace retry 12\n",
    )  # fmt: skip
    retry.add_argument("number", nargs="?", type=int, metavar="N", help="the job's number (all)")


class _Asked:
    """Records a request to end; a second request raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.ended = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.ended:
            raise KeyboardInterrupt
        self.ended = True

    def rest(self, seconds: float) -> None:
        """Sleep, unless asked to end."""
        until = time.monotonic() + seconds
        while not self.ended and time.monotonic() < until:
            time.sleep(min(_GLANCE, seconds))


@contextmanager
def _until_asked() -> Iterator[_Asked]:
    """Treat Ctrl-C and SIGTERM as a request to end after the current job."""
    asked = _Asked()
    before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work(args: Namespace, console: Console) -> int:
    from commonplace.learn import jobs as working

    done = failed = 0
    with books.core(args) as core, warnings_as_remarks(console), _until_asked() as asked:
        only = _named(core, args.space)
        if args.once:
            trying = working.run_due(core, only)
        else:
            console.remark("running jobs; Ctrl-C stops after the current job")
            trying = working.run_until(core, lambda: asked.ended, asked.rest, only=only, idle=_LOOK)
        for tried in trying:
            done, failed = done + (tried.error is None), failed + (tried.error is not None)
            if asked.ended:
                break
    text = f"ran {plural(done, 'job')}" + (f"; {failed:,} failed, see `commonplace jobs`" if failed else "")
    console.result({"done": done, "failed": failed}, text)
    return 1 if args.once and failed else 0


def _named(core: Core, space: str | None) -> Place | None:
    """Return the space named on the command line; the environment does not count here."""
    from commonplace.memories.core import Place
    from commonplace.values import checks

    return None if space is None else Place(core.store, checks.name(space, "space"))


def _jobs(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        jobs = [job for job in book.jobs() if job.state == "dead" or not args.dead]
    console.result(jobs, table(_JOBS, [_row(job) for job in jobs], limit=columns()) if jobs else "No jobs.")


def _row(job: Job) -> tuple[str, ...]:
    due = "" if job.state == "dead" else moment(job.due_at)
    return str(job.number), job.kind, job.state, str(job.attempts), due, job.error or ""


def _retry(args: Namespace, console: Console) -> None:
    with books.existing(args) as book, warnings_as_remarks(console):
        queued = book.retry(args.number)
    console.result({"queued": queued}, f"queued {plural(queued, 'job')} again")
