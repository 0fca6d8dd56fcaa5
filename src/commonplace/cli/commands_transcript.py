"""transcript: conversations kept verbatim."""

from __future__ import annotations

from argparse import Namespace

from commonplace.cli import arguments, inputs, opened
from commonplace.cli.arguments import Commands, Parser
from commonplace.cli.commands_kv import shown
from commonplace.cli.output import Console, moment
from commonplace.values import Message

_EXAMPLES = """\
  commonplace transcript append standup "The release is on Tuesday" --role user --name maria
  commonplace transcript tail standup -n 5
  commonplace transcript read standup --start 12
"""


def register(commands: Commands) -> None:
    """Add `transcript` and its verbs."""
    verbs = arguments.add_group(
        commands, "transcript", help="conversations kept verbatim, message by message", examples=_EXAMPLES
    )
    arguments.add(verbs, "list", _list, help="list the sessions that have a transcript")
    _register_append(verbs)
    read = _session(arguments.add(verbs, "read", _read, help="show messages, the oldest first"))
    read.add_argument("--start", type=int, default=1, metavar="N", help="from this number on (1)")
    read.add_argument("--limit", type=int, metavar="N", help="at most so many (all)")
    tail = _session(arguments.add(verbs, "tail", _tail, help="show the last messages, the oldest first"))
    tail.add_argument("-n", type=int, default=20, metavar="N", help="so many (20)")


def _register_append(verbs: Commands) -> None:
    made = _session(arguments.add(verbs, "append", _append, help="add a message at the end"))
    made.add_argument("text", nargs="?", metavar="TEXT", help="what was said; - or nothing reads stdin")
    made.add_argument("--role", default="user", metavar="ROLE", help="who speaks: user, assistant, tool … (user)")
    made.add_argument("--name", metavar="NAME", help="the speaker's name")
    made.add_argument("--said-at", type=inputs.when, metavar="TIME", help="when it was said, in ISO 8601 (now)")
    made.add_argument(
        "--meta", action="append", type=inputs.pair, metavar="NAME=VALUE", help="metadata; may be repeated"
    )


def _session(made: Parser) -> Parser:
    made.add_argument("session", metavar="SESSION", help="the session")
    return made


def _list(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        names = book.transcripts()
    console.result(names, "\n".join(names))
    return 0


def _append(args: Namespace, console: Console) -> int:
    text = inputs.text_or_stdin(args.text, "the message")
    metadata = dict(args.meta) if args.meta else None
    with opened.writable(args, console) as book:
        message = book.transcript(args.session).append(
            text, role=args.role, name=args.name, said_at=args.said_at, metadata=metadata
        )
    console.result(message, f"message {message.number} of {args.session}")
    return 0


def _read(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        messages = book.transcript(args.session).read(start=args.start, limit=args.limit)
    return _shown(messages, console)


def _tail(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        messages = book.transcript(args.session).tail(args.n)
    return _shown(messages, console)


def _shown(messages: list[Message], console: Console) -> int:
    console.result(messages, "\n".join(_block(message) for message in messages) or "No messages.")
    return 0


def _block(message: Message) -> str:
    speaker = f"{message.role} ({message.name})" if message.name else message.role
    body = "\n".join(f"    {line}" for line in shown(message.content).splitlines())
    return f"{message.number}  {moment(message.said_at)}  {speaker}\n{body}"
