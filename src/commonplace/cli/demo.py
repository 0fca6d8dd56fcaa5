"""demo: recall at work, on a temporary book."""

from __future__ import annotations

import tempfile
import textwrap
from argparse import Namespace
from pathlib import Path

from commonplace.cli import books
from commonplace.cli.arguments import Commands
from commonplace.cli.console import Console, Result, plural, terminal_width
from commonplace.cli.memories import NOTHING
from commonplace.values import Draft, Recall

MEMORIES = (
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
QUESTIONS = (
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


COMMANDS = Commands()


@COMMANDS.add("demo")
def _demo(args: Namespace, console: Console) -> Result:
    """Show example recalls on a temporary book.

    commonplace demo
    """
    import commonplace

    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as directory:
        where = Path(directory) / "demo.db"
        with commonplace.open(where, embedder=books.setting(args, "embedder")) as book:
            memories = book.remember(MEMORIES)
            answers = [book.recall(question, k=2) for question in QUESTIONS]
    opening = "commonplace: a memory for agents. This demo uses a book in a temporary file."
    drafts = [f"  {draft.kind:<11}{draft.content!s}" for draft in MEMORIES]
    parts = [opening, "\n".join([f"Remembered {len(MEMORIES)} things", *drafts]), *map(_exchange, answers), _NEXT]
    return Result({"memories": memories, "answers": answers}, "\n\n".join(parts))


def _exchange(found: Recall) -> str:
    width = min(terminal_width() or 100, 100)
    lines = (found.text or NOTHING).splitlines()
    answer = [textwrap.fill(line, width, initial_indent="  ", subsequent_indent="    ") for line in lines]
    return "\n".join([f"> {found.query}   ({found.coverage}, {plural(found.tokens, 'token')})", *answer])
