"""Measure by theme how well learning finds what a careful note-taker would keep.

    python bench/learning.py tests/data/learning/dev.jsonl [--misses]

A finding meets an expected memory when its kind is acceptable, the act is the same, every `has` is in its text and no
`lacks` is, and owner and day are as expected where the expectation names them. A memory is met by one finding and a
finding meets one memory; what is left over are misses and false alarms. Optional memories count neither way.
`--misses` shows those, which nobody may look at in final.jsonl while rules are written. The last line also tells the
recall when one text may meet several memories that it holds, as the snippets' README allows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter
from typing import Any

from commonplace.learn.extractor import Rules
from commonplace.values.extraction import Finding, Utterance

Wanted = dict[str, Any]


@dataclass
class Count:
    """Counts of expected, found and matching memories."""

    met: int = 0
    missed: int = 0
    false: int = 0
    shared: int = 0
    """Missed, but held by a finding that already meets another memory."""
    told: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """How much of what was found was expected."""
        return self.met / (self.met + self.false) if self.met + self.false else 1.0

    @property
    def recall(self) -> float:
        """How much of what was expected was found."""
        return self.met / (self.met + self.missed) if self.met + self.missed else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def main() -> None:
    """Score each file's snippets and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--misses", action="store_true", help="show what was missed and what was found in vain")
    options = parser.parse_args()
    snippets = [json.loads(line) for path in options.files for line in path.read_text("utf-8").splitlines() if line]
    began = perf_counter()
    counts = score(snippets)
    took = perf_counter() - began
    if options.misses:
        print("\n".join(line for count in counts.values() for line in count.told))
    print(f"{'theme':12} {'met':>5} {'missed':>6} {'false':>5} {'precision':>9} {'recall':>6} {'F1':>6}")
    for theme, count in {**counts, "total": total(counts.values())}.items():
        figures = f"{count.precision:9.3f} {count.recall:6.3f} {count.f1:6.3f}"
        print(f"{theme:12} {count.met:5} {count.missed:6} {count.false:5} {figures}")
    every = total(counts.values())
    shared = (every.met + every.shared) / max(every.met + every.missed, 1)
    messages = sum(len(snippet["messages"]) for snippet in snippets)
    print(f"{len(snippets)} snippets, {messages / took:,.0f} messages a second with scoring")
    print(f"recall {shared:.3f} where one text may meet several memories")


def score(snippets: Iterable[Wanted]) -> dict[str, Count]:
    """Count by theme what was found, missed and found wrongly."""
    counts: dict[str, Count] = {}
    for snippet in snippets:
        findings = [each for found in Rules().extract(utterances(snippet["messages"])) for each in found]
        _add(counts.setdefault(snippet["theme"], Count()), snippet, findings)
    return counts


def total(counts: Iterable[Count]) -> Count:
    """Add counts up."""
    each = list(counts)
    return Count(
        met=sum(count.met for count in each),
        missed=sum(count.missed for count in each),
        false=sum(count.false for count in each),
        shared=sum(count.shared for count in each),
    )


def utterances(messages: Sequence[Wanted]) -> list[Utterance]:
    """Read a snippet's messages."""
    return [
        Utterance(
            text=message["text"],
            speaker=message["name"],
            role=message["role"],
            said_at=datetime.fromisoformat(message["at"]).replace(tzinfo=timezone.utc),
        )
        for message in messages
    ]


def _add(count: Count, snippet: Wanted, findings: list[Finding]) -> None:
    wanted = snippet["memories"]
    # Optional memories come last, so that none takes a finding from one that counts.
    order = sorted(range(len(wanted)), key=lambda index: bool(wanted[index].get("optional")))
    pairs = _paired([[each for each, found in enumerate(findings) if meets(found, wanted[index])] for index in order])
    matched = {order[place]: found for place, found in pairs.items()}
    for index, memory in enumerate(wanted):
        if memory.get("optional"):
            continue
        count.met += index in matched
        count.missed += index not in matched
        if index not in matched:
            count.shared += any(meets(found, memory) for found in findings)
            count.told.append(f"{snippet['id']} missed {_brief(memory)}\n      in {_said(snippet)}")
    spare = set(range(len(findings))) - set(matched.values())
    for each in sorted(spare):
        if any(memory.get("optional") and meets(findings[each], memory) for memory in wanted):
            continue
        count.false += 1
        found = findings[each]
        told = (
            f"{found.text!r} ({found.kind}, {found.act}, {found.owner}, {found.due:%F} "
            if found.due
            else (f"{found.text!r} ({found.kind}, {found.act}, {found.owner}, ")
        )
        count.told.append(f"{snippet['id']} false {told}{found.rule})")


def meets(found: Finding, memory: Wanted) -> bool:
    """Tell whether a finding is what a memory expects."""
    text = found.text.casefold()
    if found.kind not in memory["kind"] or found.act != memory["act"]:
        return False
    if not all(each.casefold() in text for each in memory["has"]) or any(
        each.casefold() in text for each in memory["lacks"]
    ):
        return False
    owners = memory["owner"] if isinstance(memory["owner"], list) else [memory["owner"]]
    day = found.due.date().isoformat() if found.due else None
    return (memory["owner"] is None or found.owner in owners) and memory["due"] in (None, day)


def _paired(choices: list[list[int]]) -> dict[int, int]:
    """Match as many memories as possible with one finding each, earlier ones first (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(memory: int, tried: set[int]) -> bool:
        for found in choices[memory]:
            if found not in tried:
                tried.add(found)
                if found not in taken or place(taken[found], tried):
                    taken[found] = memory
                    return True
        return False

    for memory in range(len(choices)):
        place(memory, set())
    return {memory: found for found, memory in taken.items()}


def _brief(memory: Wanted) -> str:
    return f"{'/'.join(memory['kind'][:3])} {memory['act']} {memory['has']} owner {memory['owner']} due {memory['due']}"


def _said(snippet: Wanted) -> str:
    return " | ".join(f"{message['name']}: {message['text']!r}" for message in snippet["messages"])


if __name__ == "__main__":
    main()
