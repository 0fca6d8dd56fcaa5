"""remember, revise, feedback: what writes and changes memories."""

from __future__ import annotations

import mimetypes
from argparse import Namespace
from pathlib import Path
from typing import TypedDict

from commonplace.cli import arguments, inputs, opened
from commonplace.cli.arguments import Commands
from commonplace.cli.errors import Usage
from commonplace.cli.output import Console, plural
from commonplace.cli.table import width
from commonplace.values import ORIGINS, SIGNALS, Draft, Memory, Scope

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


def register(commands: Commands) -> None:
    """Add the commands that write memories."""
    _register_remember(commands)
    _register_revise(commands)
    feedback = arguments.add(
        commands, "feedback", _feedback, help="tell whether what was recalled was of use",
        examples="  commonplace feedback ID used\n  commonplace feedback RECEIPT wrong\n",
    )  # fmt: skip
    feedback.add_argument("target", metavar="ID|RECEIPT", help="a memory's id, or the receipt of a recall")
    feedback.add_argument("signal", choices=SIGNALS, metavar="SIGNAL", help=", ".join(SIGNALS))


def _register_remember(commands: Commands) -> None:
    made = arguments.add(
        commands, "remember", _remember, help="remember texts, all of them or none", examples=_REMEMBER
    )
    made.add_argument("text", nargs="*", metavar="TEXT", help="what to remember, each in quotes; - reads stdin")
    made.add_argument("--file", metavar="PATH", help="remember a file's content; TEXT, if given, is what finds it")
    arguments.body_options(made)
    made.add_argument("--id", metavar="ID", help="an id of your own; refused if it is taken")
    made.add_argument("--supersedes", action="append", metavar="ID", help="the memory that this one takes the place of")
    made.add_argument(
        "--origin",
        choices=ORIGINS,
        default="user",
        metavar="ORIGIN",
        help=f"who is to be trusted for it: {', '.join(ORIGINS)} (user)",
    )
    made.add_argument(
        "--reconcile",
        action="store_true",
        help="compare with what is known: said again, it strengthens that; what it contradicts gives way",
    )
    arguments.scope_options(made, "whose it is (everybody's if not said)")


def _register_revise(commands: Commands) -> None:
    made = arguments.add(
        commands, "revise", _revise, help="give a memory a new version; the old one is kept", examples=_REVISE
    )
    made.add_argument("id", metavar="ID", help="the memory's id")
    made.add_argument("text", nargs="?", metavar="TEXT", help="its new text; - reads stdin; left out, it stays")
    arguments.body_options(made)
    arguments.if_version_option(made, "the memory")


class _Body(TypedDict, total=False):
    """What was said of a memory, under the names that Draft and revise() have for it."""

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


def _remember(args: Namespace, console: Console) -> int:
    drafts = _drafts(args)
    with opened.writable(args, console) as book:
        made = book.remember(drafts, reconcile=args.reconcile)
    console.result(made if len(made) > 1 else made[0], "\n".join(memory.id for memory in made))
    return 0


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
        raise Usage("--id belongs to one memory: give one text")
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
        raise Usage("with --file, give at most one TEXT: what finds the file's content")
    content = inputs.file_content(args.file)
    finds = inputs.text(args.text[0]) if args.text else None
    mime = mimetypes.guess_type(args.file)[0]
    named: dict[str, object] = {"source": Path(args.file).name, **options}
    return Draft(content=content, text=finds, mime=mime, **named)  # type: ignore[arg-type]


def _revise(args: Namespace, console: Console) -> int:
    change = _body(args)
    text = ... if args.text is None else inputs.text(args.text)
    if text is ... and not set(change) - {"reason"}:
        raise Usage("say what is new: a TEXT, or one of the options of the memory")
    with opened.existing(args) as book:
        memory: Memory = book.revise(args.id, text, if_version=args.if_version, **change)  # type: ignore[arg-type]
    console.result(memory, f"{memory.id} is now at version {memory.version}")
    return 0


def _feedback(args: Namespace, console: Console) -> int:
    with opened.existing(args) as book:
        touched = book.feedback(args.target, args.signal)
    console.result({"memories": touched}, f"{plural(touched, 'memory', 'memories')} marked {args.signal}")
    return 0
