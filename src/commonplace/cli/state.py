"""The commands for key-value entries, canvases and transcripts."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import Commands, Parser
from commonplace.cli.console import Column, Console, Usage, columns, moment, plural, table
from commonplace.errors import NotFound
from commonplace.values import Entry, File, Json, Message

_KV_EXAMPLES = """\
  commonplace kv set release plan '{"step": 1}'
  commonplace kv get release plan
  commonplace kv set release plan '{"step": 2}' --if-version 1
  commonplace kv append release log '"tests are green"' '"tagged"'
  commonplace kv keys release
"""


def register_kv(commands: Commands) -> None:
    """Add `kv` and its verbs."""
    verbs = arguments.add_group(
        commands, "kv", help="key-value entries: JSON values under a namespace and a key", examples=_KV_EXAMPLES
    )
    arguments.add(verbs, "list", _list_namespaces, help="list the namespaces")
    keys = arguments.add(verbs, "keys", _keys, help="list the keys of a namespace")
    keys.add_argument("namespace", metavar="NAMESPACE", help="the namespace")
    keys.add_argument("prefix", nargs="?", default="", metavar="PREFIX", help="only keys with this prefix")
    _key(arguments.add(verbs, "get", _get, help="show the value of a key"))
    _register_set(verbs)
    append = _key(arguments.add(verbs, "append", _append_items, help="add items to the end of a list, in one step"))
    append.add_argument("item", nargs="+", metavar="ITEM", help="JSON, otherwise text; - reads stdin")
    delete = _key(arguments.add(verbs, "delete", _delete_key, help="delete a key"))
    arguments.if_version_option(delete, "the entry")


def _register_set(verbs: Commands) -> None:
    made = _key(arguments.add(verbs, "set", _set, help="set the value of a key"))
    made.add_argument("value", nargs="?", metavar="VALUE", help="JSON, otherwise text; - or nothing reads stdin")
    made.add_argument(
        "--ttl", type=inputs.duration, metavar="TIME", help="expires after: 90 (seconds), 15m, 12h, 7d, 2w"
    )
    arguments.if_version_option(made, "the entry")


def _key(made: Parser) -> Parser:
    made.add_argument("namespace", metavar="NAMESPACE", help="the namespace")
    made.add_argument("key", metavar="KEY", help="the key")
    return made


def _list_namespaces(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        names = book.namespaces()
    console.result(names, "\n".join(names))


def _keys(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        keys = book.kv(args.namespace).keys(args.prefix)
    console.result(keys, "\n".join(keys))


def _get(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        entry = book.kv(args.namespace).entry(args.key)
    if entry is None:
        raise NotFound(f"nothing is stored under {args.key!r} in {args.namespace!r}")
    console.result(entry, shown(entry.value) + "\n")


def _set(args: Namespace, console: Console) -> None:
    value = inputs.value(inputs.text_or_stdin(args.value, "the value"))
    with books.writable(args, console) as book:
        entry = book.kv(args.namespace).set(args.key, value, ttl=args.ttl, if_version=args.if_version)
    _print_entry(entry, console)


def _append_items(args: Namespace, console: Console) -> None:
    items = [inputs.value(inputs.text(item)) for item in args.item]
    with books.writable(args, console) as book:
        entry = book.kv(args.namespace).append(args.key, *items)
    _print_entry(entry, console)


def _print_entry(entry: Entry, console: Console) -> None:
    console.result(entry, f"{entry.key} is at version {entry.version}")


def _delete_key(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        deleted = book.kv(args.namespace).delete(args.key, if_version=args.if_version)
    console.result({"deleted": deleted}, f"deleted {args.key}" if deleted else f"nothing was stored under {args.key}")


def shown(value: Json) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_CANVAS_EXAMPLES = """\
  commonplace canvas write design notes.md --file notes.md --author ann
  commonplace canvas read design notes.md
  commonplace canvas diff design notes.md 1 2
  commonplace canvas apply design fix.patch --author bob
  commonplace canvas files design
"""
_FILES = (Column("REVISION", right=True), Column("PATH", least=20))
_REVISIONS = (
    Column("REVISION", right=True),
    Column("AT"),
    Column("AUTHOR", least=8),
    Column("CONTENT", least=20),
)


def register_canvas(commands: Commands) -> None:
    """Add `canvas` and its verbs."""
    verbs = arguments.add_group(
        commands, "canvas", help="shared text files with all their revisions", examples=_CANVAS_EXAMPLES
    )
    arguments.add(verbs, "list", _list_canvases, help="list the canvases")
    _canvas(arguments.add(verbs, "files", _files, help="list the files of a canvas"))
    read = _path(arguments.add(verbs, "read", _read_file, help="show a file, or one of its revisions"))
    read.add_argument("--revision", type=int, metavar="N", help="revision (the newest)")
    _register_write(verbs)
    diff = _path(arguments.add(verbs, "diff", _diff, help="show what changed between two revisions"))
    diff.add_argument("old", type=int, metavar="OLD", help="the older revision")
    diff.add_argument("new", type=int, nargs="?", metavar="NEW", help="the newer revision (the newest)")
    _path(arguments.add(verbs, "revisions", _revisions, help="list the revisions of a file"))
    _register_apply(verbs)
    _writing(_path(arguments.add(verbs, "delete", _delete_file, help="delete a file; its revisions stay readable")))


def _register_write(verbs: Commands) -> None:
    made = _path(arguments.add(verbs, "write", _write, help="write a file as its next revision"))
    made.add_argument("text", nargs="?", metavar="TEXT", help="its whole text; - or nothing reads stdin")
    made.add_argument("--file", metavar="PATH", help="take the text from this file")
    _writing(made)


def _register_apply(verbs: Commands) -> None:
    made = _canvas(arguments.add(verbs, "apply", _apply, help="apply a unified diff, all of it or nothing"))
    made.add_argument("patch", nargs="?", default="-", metavar="PATCH", help="the file with the diff (stdin)")
    _writing(made)


def _canvas(made: Parser) -> Parser:
    made.add_argument("canvas", metavar="CANVAS", help="the canvas")
    return made


def _path(made: Parser) -> Parser:
    _canvas(made).add_argument("path", metavar="PATH", help="the file on the canvas")
    return made


def _writing(made: Parser) -> None:
    made.add_argument("--author", metavar="NAME", help="author of the change")
    arguments.if_version_option(made, "the file")


def _list_canvases(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        names = book.canvases()
    console.result(names, "\n".join(names))


def _files(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        files = book.canvas(args.canvas).files()
    rows = [(str(revision), path) for path, revision in files.items()]
    console.result(files, table(_FILES, rows, limit=columns()) if rows else "No files.")


def _read_file(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        file = book.canvas(args.canvas).file(args.path, args.revision)
    if console.json:
        console.data(file)
    else:
        console.text(file.content)


def _write(args: Namespace, console: Console) -> None:
    text = _whole_text(args)
    with books.writable(args, console) as book:
        file = book.canvas(args.canvas).write(args.path, text, author=args.author, if_version=args.if_version)
    _print_files([file], file, console)


def _whole_text(args: Namespace) -> str:
    """Return the text to write with its last line end, unlike a memory's text."""
    if args.file is not None:
        if args.text is not None:
            raise Usage("give the text once: as TEXT or with --file")
        return inputs.file_text(args.file)
    if args.text is None and sys.stdin.isatty():
        raise Usage("give the text as an argument, with --file, or - to read it from stdin")
    return inputs.file_text(inputs.STDIN) if args.text in (None, inputs.STDIN) else str(args.text)


def _diff(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        text = book.canvas(args.canvas).diff(args.path, args.old, args.new)
    console.result({"diff": text}, text)


def _revisions(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        files = book.canvas(args.canvas).revisions(args.path)
    rows = [(str(file.revision), moment(file.at), file.author or "", _glance(file)) for file in files]
    console.result(files, table(_REVISIONS, rows, limit=columns()))


def _glance(file: File) -> str:
    if file.deleted:
        return "(deleted)"
    return f"{plural(len(file.content.splitlines()), 'line')}: {file.content[:200]}"


def _apply(args: Namespace, console: Console) -> None:
    patch = inputs.file_text(args.patch)
    with books.writable(args, console) as book:
        files = book.canvas(args.canvas).apply(patch, author=args.author, if_version=args.if_version)
    _print_files(files, files, console)


def _delete_file(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        file = book.canvas(args.canvas).delete(args.path, author=args.author, if_version=args.if_version)
    _print_files([file], file, console)


def _print_files(files: list[File], value: object, console: Console) -> int:
    lines = [f"{file.path} is {'deleted' if file.deleted else f'at revision {file.revision}'}" for file in files]
    console.result(value, "\n".join(lines))
    return 0


_TRANSCRIPT_EXAMPLES = """\
  commonplace transcript append standup "The release is on Tuesday" --role user --name maria
  commonplace transcript tail standup -n 5
  commonplace transcript read standup --start 12
"""


def register_transcript(commands: Commands) -> None:
    """Add `transcript` and its verbs."""
    verbs = arguments.add_group(
        commands, "transcript", help="conversations, stored word for word", examples=_TRANSCRIPT_EXAMPLES
    )
    arguments.add(verbs, "list", _list_transcripts, help="list the sessions that have a transcript")
    _register_append(verbs)
    read = _session(arguments.add(verbs, "read", _read_messages, help="show messages, the oldest first"))
    read.add_argument("--start", type=int, default=1, metavar="N", help="from this number on (1)")
    read.add_argument("--limit", type=int, metavar="N", help="maximum number of messages (all)")
    tail = _session(arguments.add(verbs, "tail", _tail, help="show the last messages, the oldest first"))
    tail.add_argument("-n", type=int, default=20, metavar="N", help="number of messages (20)")


def _register_append(verbs: Commands) -> None:
    made = _session(arguments.add(verbs, "append", _append_message, help="add a message at the end"))
    made.add_argument("text", nargs="?", metavar="TEXT", help="what was said; - or nothing reads stdin")
    made.add_argument(
        "--role", default="user", metavar="ROLE", help="role of the speaker: user, assistant, tool … (user)"
    )
    made.add_argument("--name", metavar="NAME", help="the speaker's name")
    made.add_argument("--said-at", type=inputs.when, metavar="TIME", help="when it was said, in ISO 8601 (now)")
    made.add_argument(
        "--meta", action="append", type=inputs.pair, metavar="NAME=VALUE", help="metadata; may be repeated"
    )


def _session(made: Parser) -> Parser:
    made.add_argument("session", metavar="SESSION", help="the session")
    return made


def _list_transcripts(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        names = book.transcripts()
    console.result(names, "\n".join(names))


def _append_message(args: Namespace, console: Console) -> None:
    text = inputs.text_or_stdin(args.text, "the message")
    metadata = dict(args.meta) if args.meta else None
    with books.writable(args, console) as book:
        message = book.transcript(args.session).append(
            text, role=args.role, name=args.name, said_at=args.said_at, metadata=metadata
        )
    console.result(message, f"message {message.number} of {args.session}")


def _read_messages(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        messages = book.transcript(args.session).read(start=args.start, limit=args.limit)
    _shown(messages, console)


def _tail(args: Namespace, console: Console) -> None:
    with books.existing(args) as book:
        messages = book.transcript(args.session).tail(args.n)
    _shown(messages, console)


def _shown(messages: list[Message], console: Console) -> None:
    console.result(messages, "\n".join(_block(message) for message in messages) or "No messages.")


def _block(message: Message) -> str:
    speaker = f"{message.role} ({message.name})" if message.name else message.role
    body = "\n".join(f"    {line}" for line in shown(message.content).splitlines())
    return f"{message.number}  {moment(message.said_at)}  {speaker}\n{body}"
