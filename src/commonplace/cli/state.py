"""The commands for key-value entries, canvases and transcripts."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from commonplace.cli import arguments, books, inputs
from commonplace.cli.arguments import Commands, Option
from commonplace.cli.console import Console, Result, UsageError, moment, plural, table
from commonplace.errors import NotFound
from commonplace.values import Entry, File, Json, Message

if TYPE_CHECKING:
    from commonplace.book import Book

KV = Commands(
    "kv",
    """Key-value entries: JSON values under a namespace and a key.

    commonplace kv set release plan '{"step": 1}'
    commonplace kv get release plan
    commonplace kv set release plan '{"step": 2}' --if-version 1
    commonplace kv append release log '"tests are green"' '"tagged"'
    commonplace kv keys release
    """,
)
_NAMESPACE = Option("namespace NAMESPACE", "the namespace")
_KEY = (_NAMESPACE, Option("key KEY", "the key"))
_IF_ENTRY_VERSION = arguments.if_version("the entry")


KV.names("list", "List the namespaces.", lambda book, args: book.namespaces())
KV.names(
    "keys",
    "List the keys of a namespace.",
    lambda book, args: book.kv(args.namespace).keys(args.prefix),
    _NAMESPACE,
    Option("prefix PREFIX?", "only keys with this prefix", default=""),
)


@KV.on_book("get", *_KEY)
def _get(book: Book, args: Namespace) -> Result:
    """Show the value of a key."""
    entry = book.kv(args.namespace).entry(args.key)
    if entry is None:
        raise NotFound(f"nothing is stored under {args.key!r} in {args.namespace!r}")
    return Result(entry, _text_or_json(entry.value) + "\n")


@KV.add(
    "set",
    *_KEY,
    Option("value VALUE?", "JSON, otherwise text; - or nothing reads stdin"),
    arguments.TTL,
    _IF_ENTRY_VERSION,
)
def _set(args: Namespace, console: Console) -> Result:
    """Set the value of a key."""
    value = inputs.value(inputs.text_or_stdin(args.value, "the value"))
    with books.open_or_create(args, console) as book:
        entry = book.kv(args.namespace).set(args.key, value, ttl=args.ttl, if_version=args.if_version)
    return _entry_result(entry)


@KV.add("append", *_KEY, Option("item ITEM+", "JSON, otherwise text; - reads stdin"))
def _append_items(args: Namespace, console: Console) -> Result:
    """Add items to the end of a list, in one step."""
    items = [inputs.value(inputs.text(item)) for item in args.item]
    with books.open_or_create(args, console) as book:
        entry = book.kv(args.namespace).append(args.key, *items)
    return _entry_result(entry)


def _entry_result(entry: Entry) -> Result:
    return Result(entry, f"{entry.key} is at version {entry.version}")


@KV.on_book("delete", *_KEY, _IF_ENTRY_VERSION)
def _delete_key(book: Book, args: Namespace) -> Result:
    """Delete a key."""
    deleted = book.kv(args.namespace).delete(args.key, if_version=args.if_version)
    return Result({"deleted": deleted}, f"deleted {args.key}" if deleted else f"nothing was stored under {args.key}")


def _text_or_json(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


CANVAS = Commands(
    "canvas",
    """Shared text files with all their revisions.

    commonplace canvas write design notes.md --file notes.md --author ann
    commonplace canvas read design notes.md
    commonplace canvas diff design notes.md 1 2
    commonplace canvas apply design fix.patch --author bob
    commonplace canvas files design
    """,
)
_CANVAS = Option("canvas CANVAS", "the canvas")
_PATH = (_CANVAS, Option("path PATH", "the file on the canvas"))
_CHANGE = (Option("--author NAME", "author of the change"), arguments.if_version("the file"))
CANVAS.names("list", "List the canvases.", lambda book, args: book.canvases())


@CANVAS.on_book("files", _CANVAS)
def _list_files(book: Book, args: Namespace) -> Result:
    """List the files of a canvas."""
    files = book.canvas(args.canvas).files()
    rows = [(revision, path) for path, revision in files.items()]
    return Result(files, table(("REVISION:>", "PATH:20"), rows, empty="No files."))


@CANVAS.add("read", *_PATH, Option("--revision N", "revision (the newest)", type=int))
def _read_file(args: Namespace, console: Console) -> None:
    """Show a file, or one of its revisions."""
    with books.open_existing(args) as book:
        file = book.canvas(args.canvas).file(args.path, args.revision)
    if console.json:
        console.data(file)
    else:
        console.text(file.content)


@CANVAS.add(
    "write",
    *_PATH,
    Option("text TEXT?", "its whole text; - or nothing reads stdin"),
    Option("--file PATH", "take the text from this file"),
    *_CHANGE,
)
def _write(args: Namespace, console: Console) -> Result:
    """Write a file as its next revision."""
    text = _whole_text(args)
    with books.open_or_create(args, console) as book:
        file = book.canvas(args.canvas).write(args.path, text, author=args.author, if_version=args.if_version)
    return Result(file, _state(file))


def _whole_text(args: Namespace) -> str:
    """Return the text to write with its last line end, unlike a memory's text."""
    if args.file is not None:
        if args.text is not None:
            raise UsageError("give the text once: as TEXT or with --file")
        return inputs.file_text(args.file)
    if args.text is None and sys.stdin.isatty():
        raise UsageError("give the text as an argument, with --file, or - to read it from stdin")
    return inputs.file_text(inputs.STDIN) if args.text in (None, inputs.STDIN) else str(args.text)


@CANVAS.on_book(
    "diff",
    *_PATH,
    Option("old OLD", "the older revision", type=int),
    Option("new NEW?", "the newer revision (the newest)", type=int),
)
def _diff(book: Book, args: Namespace) -> Result:
    """Show what changed between two revisions."""
    text = book.canvas(args.canvas).diff(args.path, args.old, args.new)
    return Result({"diff": text}, text)


@CANVAS.on_book("revisions", *_PATH)
def _list_revisions(book: Book, args: Namespace) -> Result:
    """List the revisions of a file."""
    files = book.canvas(args.canvas).revisions(args.path)
    rows = [(file.revision, file.at, file.author, _summary(file)) for file in files]
    return Result(files, table(("REVISION:>", "AT", "AUTHOR:8", "CONTENT:20"), rows))


def _summary(file: File) -> str:
    if file.deleted:
        return "(deleted)"
    return f"{plural(len(file.content.splitlines()), 'line')}: {file.content[:200]}"


@CANVAS.add("apply", _CANVAS, Option("patch PATCH?", "the file with the diff (stdin)", default="-"), *_CHANGE)
def _apply(args: Namespace, console: Console) -> Result:
    """Apply a unified diff, all of it or nothing."""
    patch = inputs.file_text(args.patch)
    with books.open_or_create(args, console) as book:
        files = book.canvas(args.canvas).apply(patch, author=args.author, if_version=args.if_version)
    return Result(files, "\n".join(map(_state, files)))


@CANVAS.on_book("delete", *_PATH, *_CHANGE)
def _delete_file(book: Book, args: Namespace) -> Result:
    """Delete a file; its revisions stay readable."""
    file = book.canvas(args.canvas).delete(args.path, author=args.author, if_version=args.if_version)
    return Result(file, _state(file))


def _state(file: File) -> str:
    return f"{file.path} is {'deleted' if file.deleted else f'at revision {file.revision}'}"


TRANSCRIPT = Commands(
    "transcript",
    """Conversations, stored word for word.

    commonplace transcript append standup "The release is on Tuesday" --role user --name maria
    commonplace transcript tail standup -n 5
    commonplace transcript read standup --start 12
    """,
)
_SESSION = Option("session SESSION", "the session")
TRANSCRIPT.names("list", "List the sessions that have a transcript.", lambda book, args: book.transcripts())


@TRANSCRIPT.add(
    "append",
    _SESSION,
    Option("text TEXT?", "what was said; - or nothing reads stdin"),
    Option("--role ROLE", "role of the speaker: user, assistant, tool … (user)", default="user"),
    Option("--name NAME", "the speaker's name"),
    arguments.SAID_AT,
    Option("--meta NAME=VALUE*", "metadata; may be repeated", type=inputs.pair),
)
def _append_message(args: Namespace, console: Console) -> Result:
    """Add a message at the end."""
    text = inputs.text_or_stdin(args.text, "the message")
    metadata = dict(args.meta) if args.meta else None
    with books.open_or_create(args, console) as book:
        message = book.transcript(args.session).append(
            text, role=args.role, name=args.name, said_at=args.said_at, metadata=metadata
        )
    return Result(message, f"message {message.number} of {args.session}")


@TRANSCRIPT.on_book(
    "read",
    _SESSION,
    Option("--start N", "from this number on (1)", type=int, default=1),
    Option("--limit N", "maximum number of messages (all)", type=int),
)
def _read_messages(book: Book, args: Namespace) -> Result:
    """Show messages, the oldest first."""
    return _messages_result(book.transcript(args.session).read(start=args.start, limit=args.limit))


@TRANSCRIPT.on_book("tail", _SESSION, Option("-n N", "number of messages (20)", type=int, default=20))
def _tail(book: Book, args: Namespace) -> Result:
    """Show the last messages, the oldest first."""
    return _messages_result(book.transcript(args.session).tail(args.n))


def _messages_result(messages: list[Message]) -> Result:
    return Result(messages, "\n".join(map(_block, messages)) or "No messages.")


def _block(message: Message) -> str:
    speaker = f"{message.role} ({message.name})" if message.name else message.role
    body = "\n".join(f"    {line}" for line in _text_or_json(message.content).splitlines())
    return f"{message.number}  {moment(message.said_at)}  {speaker}\n{body}"
