"""Convert books from the writers' plain text to the JSON of README.md: `python training/convert.py x.txt x.json`.

The plain text is shorter to write: a book begins with `=== notes | domain` or `=== chat | domain`. Notes are
`1 | 2026-03-02 09:15 | text`; a session of a chat begins with `--- 2026-01-10 19:30`, its turns are `1 Mara: text`,
with an asterisk behind the name of an assistant. Questions are `? type | asked at | text | relevant | stale | note`.

Pairs (`pairs/…`) are `relation | earlier | later | same or other | note`. Fragments (`keep/…`) begin with `# scene`; a
message begins with `@ Ana 2026-03-04 09:12`; its sentences are `- text`, or, if they are worth keeping,
`+ kind | owner | about | act | needs | text`.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

TURN = re.compile(r"(\d+)[.)]?\s*\|?\s*([^:]{1,60}?)(\*?):\s(.*)", re.DOTALL)
NOTE = re.compile(r"(\d+)\s*\|\s*([^|]+?)\s*\|\s*(.*)", re.DOTALL)
MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]+(\d?\d:\d\d))?")


def convert(text: str, letter: str) -> list[dict[str, Any]]:
    """Return the books of a text; raise ValueError with the line that cannot be read."""
    books: list[dict[str, Any]] = []
    session, at = 0, datetime(2026, 1, 1, tzinfo=timezone.utc)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        try:
            if not line:
                continue
            if line.startswith("==="):
                form, domain = (part.strip() for part in line.strip("= ").split("|", 1))
                books.append({"id": f"{letter}-{len(books) + 1:02}", "form": form, "domain": domain, "entries": [],
                              "questions": []})  # fmt: skip
                session = 0
            elif line.startswith("---"):
                session, at = session + 1, read_moment(line)
            elif line.startswith("?"):
                _add_question(books[-1], line)
            elif books[-1]["form"] == "notes":
                _add(books[-1], *_read_note(line))
            else:
                _add(books[-1], *_read_turn(line), at, session)
                at += timedelta(minutes=1)
        except (ValueError, IndexError, TypeError) as error:
            raise ValueError(f"line {number}: {error}: {line[:100]}") from error
    return books


def read_moment(text: str) -> datetime:
    found = MOMENT.search(text)
    if not found:
        raise ValueError("no date")
    return datetime.fromisoformat(f"{found[1]}T{(found[2] or '12:00').zfill(5)}:00+00:00")


def _read_note(line: str) -> tuple[str, str | None, str | None, str, datetime, int]:
    found = NOTE.match(line)
    if not found:
        raise ValueError("no note")
    return found[1], None, None, found[3], read_moment(found[2]), 0


def _read_turn(line: str) -> tuple[str, str, str, str]:
    found = TURN.match(line)
    if not found:
        raise ValueError("no turn")
    return found[1], found[2].strip(), "assistant" if found[3] else "user", found[4]


def _add(
    book: dict[str, Any], number: str, speaker: str | None, role: str | None, text: str, at: datetime, session: int
) -> None:
    entries = book["entries"]
    if int(number) != len(entries) + 1:
        raise ValueError(f"entry {number} follows entry {len(entries)}")
    moment = max(at.isoformat(), entries[-1]["at"]) if entries else at.isoformat()
    entries.append({"id": f"m{number}", "at": moment, "speaker": speaker, "role": role,
                    "session": f"s{session}" if session else None,
                    "text": text.replace("\\n", "\n").strip()})  # fmt: skip


def _add_question(book: dict[str, Any], line: str) -> None:
    kind, at, text, relevant, stale, *note = (part.strip() for part in line[1:].split("|"))
    moment = max(read_moment(at).isoformat(), book["entries"][-1]["at"])
    book["questions"].append({"id": f"q{len(book['questions']) + 1}", "at": moment, "text": text, "type": kind,
                              "relevant": _read_ids(relevant), "stale": _read_ids(stale),
                              "note": " ".join(note)})  # fmt: skip


def _read_ids(text: str) -> list[str]:
    return [f"m{number}" for number in dict.fromkeys(re.findall(r"\d+", text))]


def convert_pairs(text: str) -> list[dict[str, Any]]:
    """Return the pairs of a text."""
    rows = [[part.strip() for part in line.split("|")] for line in text.splitlines() if line.strip()]
    return [
        {"earlier": earlier, "later": later, "relation": relation, "same_speaker": speaker == "same", "note": note}
        for relation, earlier, later, speaker, note in rows
    ]


def convert_fragments(text: str, letter: str) -> list[dict[str, Any]]:
    """Return the fragments of a text; raise ValueError with the line that cannot be read."""
    fragments: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        try:
            if line.startswith("#"):
                fragments.append({"id": f"{letter}-{len(fragments) + 1:03}", "messages": []})
            elif line.startswith("@"):
                name, at = re.split(r"\s+(?=\d{4}-)", line[1:].strip(), maxsplit=1)
                fragments[-1]["messages"].append(
                    {"name": None if name.startswith(("Assistant", "user")) else name.rstrip("*"),
                     "role": "assistant" if name.endswith("*") else "user",
                     "at": read_moment(at).isoformat().replace("+00:00", "Z"), "sentences": []}
                )  # fmt: skip
            elif line:
                fragments[-1]["messages"][-1]["sentences"].append(_read_sentence(line))
        except (ValueError, IndexError) as error:
            raise ValueError(f"line {number}: {error}: {line[:100]}") from error
    return fragments


def _read_sentence(line: str) -> dict[str, Any]:
    if line.startswith("-"):
        return {"text": line[1:].strip(), "keep": False, "kind": None, "owner": None, "about": None, "needs": [],
                "act": None}  # fmt: skip
    kind, owner, about, act, needs, text = (part.strip() for part in line.removeprefix("+").split("|"))
    return {
        "text": text,
        "keep": True,
        "kind": kind,
        "owner": owner,
        "about": about,
        "needs": needs.split(),
        "act": act,
    }


if __name__ == "__main__":
    source, target, brief = Path(sys.argv[1]), Path(sys.argv[2]), " ".join(sys.argv[3:])
    text = source.read_text("utf-8")
    made: Any
    if target.parent.name == "pairs":
        made = convert_pairs(text)
    elif target.parent.name == "keep":
        made = convert_fragments(text, target.stem)
    else:
        made = {"brief": brief, "books": convert(text, target.stem)}
    target.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")
