"""Measure what learning keeps, against what a careful note-taker would keep.

    python bench/learning.py tests/data/learning/dev.jsonl training/keep/*.json [--misses]

Of snippets (JSON Lines, tests/data/learning): a finding meets an expected memory if it holds every `has`; a memory is
met by one finding, and a finding meets one memory. Printed are how many are found at all, and of those the share with
an accepted kind, act, owner and day, and without any `lacks`. Of fragments (JSON, training/keep): a sentence counts as
kept if a finding's span covers half of it; printed are precision and recall of the kept sentences, and of those kept
rightly the share with the right kind, owner and act, and how many memories hold what their sentence needs. `--misses`
shows what was missed and what was kept in vain, which nobody may look at in final.jsonl and training/sealed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter
from typing import Any

from commonplace.learn import StatementExtractor
from commonplace.models.statements import StatementReader
from commonplace.values.extraction import TEAM, Extractor, Finding, Utterance

Wanted = dict[str, Any]
_TEAM = ("team", TEAM)
_ROWS = ("keep", "kind", "act", "owner", "day", "clean", "needs")


def main() -> None:
    """Score each file and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--weights", type=Path, help="a folder with other weights than those that ship")
    parser.add_argument("--misses", action="store_true", help="show what was missed and what was kept in vain")
    options = parser.parse_args()
    extractor = StatementExtractor(StatementReader(options.weights) if options.weights else "default")
    print(
        f"{'':34} {'met':>5} {'missed':>6} {'false':>5} {'P':>5} {'R':>5} " + " ".join(f"{row:>5}" for row in _ROWS[1:])
    )
    every: Counter[str] = Counter()
    messages, began = 0, perf_counter()
    for path in options.files:
        counts: dict[str, Counter[str]] = {}
        for theme, count, told, number in _score(path, extractor):
            counts.setdefault(theme, Counter()).update(count)
            messages += number
            if options.misses:
                print(*told, sep="\n")
        total = sum(counts.values(), Counter[str]())
        for theme, count in {**(counts if len(counts) > 1 else {}), str(path)[-34:]: total}.items():
            _print(theme, count)
        every.update(total)
    _print("all", every)
    print(f"{messages} messages, {messages / (perf_counter() - began):,.0f} a second with scoring")


def _print(name: str, count: Counter[str]) -> None:
    met, missed, false = count["met"], count["missed"], count["false"]
    shares = [f"{count[row] / count[f'{row} asked']:5.3f}" if count[f"{row} asked"] else f"{'':5}" for row in _ROWS[1:]]
    print(
        f"{name:34} {met:5} {missed:6} {false:5} {met / max(met + false, 1):5.3f} {met / max(met + missed, 1):5.3f} "
        + " ".join(shares)
    )


def _score(path: Path, extractor: Extractor) -> Iterator[tuple[str, Counter[str], list[str], int]]:
    """Yield the theme, the counts, the lines about misses, and the number of messages of each conversation."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        for snippet in map(json.loads, filter(None, text.splitlines())):
            found = [each for those in extractor.extract(read_snippet(snippet)) for each in those]
            yield snippet["theme"], *_score_snippet(snippet, found), len(snippet["messages"])
    else:
        for fragment in json.loads(text):
            messages, spans = read_fragment(fragment)
            yield "", *_score_fragment(fragment, spans, extractor.extract(messages)), len(messages)


# -- snippets ----------------------------------------------------------------------------------------


def read_snippet(snippet: Wanted) -> list[Utterance]:
    """Return the messages of a snippet."""
    return [_say(message, message["text"]) for message in snippet["messages"]]


def _say(message: Wanted, text: str) -> Utterance:
    at = datetime.fromisoformat(message["at"].replace("Z", "+00:00")).replace(tzinfo=timezone.utc)
    return Utterance(text=text, speaker=message["name"], role=message["role"], said_at=at)


def _score_snippet(snippet: Wanted, found: list[Finding]) -> tuple[Counter[str], list[str]]:
    wanted = sorted(snippet["memories"], key=lambda memory: bool(memory.get("optional")))
    pairs = _pair([[at for at, finding in enumerate(found) if _holds(finding, memory)] for memory in wanted])
    count, told = Counter[str](), []
    for number, memory in enumerate(wanted):
        if memory.get("optional"):
            continue
        if number not in pairs:
            count["missed"] += 1
            told.append(f"{snippet['id']} missed {memory['has']} {memory['act']}")
            continue
        count["met"] += 1
        _compare(count, found[pairs[number]], memory)
    for at in sorted({*range(len(found))} - {*pairs.values()}):
        if not any(_holds(found[at], memory) for memory in wanted):
            count["false"] += 1
            told.append(f"{snippet['id']} false {found[at].text!r} ({found[at].kind}, {found[at].act})")
    return count, told


def _holds(finding: Finding, memory: Wanted) -> bool:
    text = finding.text.casefold()
    same = (finding.act == "forget") == (memory["act"] == "forget")
    return same and all(each.casefold() in text for each in memory["has"])


def _compare(count: Counter[str], finding: Finding, memory: Wanted) -> None:
    """Count which details of a finding are as a memory expects them."""
    owners = memory["owner"] if isinstance(memory["owner"], list) else [memory["owner"]]
    day = finding.due.date().isoformat() if finding.due else None
    right = {
        "kind": finding.kind in memory["kind"] if memory["act"] != "forget" else None,
        "act": finding.act == memory["act"],
        "owner": finding.owner in owners if memory["owner"] is not None and memory["act"] != "forget" else None,
        "day": day == memory["due"] if memory["due"] is not None else None,
        "clean": not any(each.casefold() in finding.text.casefold() for each in memory["lacks"]),
    }
    for name, value in right.items():
        count[name] += bool(value)
        count[f"{name} asked"] += value is not None


def _pair(choices: list[list[int]]) -> dict[int, int]:
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


# -- fragments ---------------------------------------------------------------------------------------


def read_fragment(fragment: Wanted) -> tuple[list[Utterance], list[list[tuple[int, int]]]]:
    """Return the messages of a fragment, and where each of their sentences is."""
    messages, places = [], []
    for message in fragment["messages"]:
        text, spans = "", []
        for sentence in message["sentences"]:
            if text:
                # Chat without full stops was typed line by line.
                text += " " if text[-1] in ".!?…:" and not sentence["text"].startswith(("-", "*", "#", ">")) else "\n"
            spans.append((len(text), len(text) + len(sentence["text"])))
            text += sentence["text"]
        messages.append(_say(message, text))
        places.append(spans)
    return messages, places


def _score_fragment(
    fragment: Wanted, places: Sequence[Sequence[tuple[int, int]]], found: Sequence[Sequence[Finding]]
) -> tuple[Counter[str], list[str]]:
    count, told = Counter[str](), []
    for message, spans, findings in zip(fragment["messages"], places, found, strict=True):
        for sentence, span in zip(message["sentences"], spans, strict=True):
            finding = next((each for each in findings if _covers(each, span)), None)
            if sentence["keep"] and finding is None:
                told.append(f"{fragment['id']} missed {sentence['text']!r}")
            elif finding is not None and not sentence["keep"]:
                told.append(f"{fragment['id']} false {finding.text!r}")
            count["missed"] += sentence["keep"] and finding is None
            count["false"] += not sentence["keep"] and finding is not None
            if sentence["keep"] and finding is not None:
                count["met"] += 1
                _compare_sentence(count, finding, sentence, message, fragment)
    return count, told


def _covers(finding: Finding, span: tuple[int, int]) -> bool:
    return 2 * (min(finding.end, span[1]) - max(finding.start, span[0])) > span[1] - span[0]


def _compare_sentence(
    count: Counter[str], finding: Finding, sentence: Wanted, message: Wanted, fragment: Wanted
) -> None:
    kind = "fact" if sentence["kind"] == "plan" else sentence["kind"]
    act = {"correct": "correct", "withdraw": "correct", "forget": "forget"}.get(sentence["act"], "keep")
    plain = act != "forget"
    needed = [_find(fragment, str(each)) for each in sentence["needs"]]
    right = {
        "kind": finding.kind == kind if plain and kind else None,
        "act": finding.act == act,
        "owner": _owner(finding.owner, message) == _owner(sentence["owner"], message) if plain else None,
        "needs": all(text[:20].strip(" .!?") in finding.text for text in needed) if plain and needed else None,
    }
    for name, value in right.items():
        count[name] += bool(value)
        count[f"{name} asked"] += value is not None


def _owner(owner: str | None, message: Wanted) -> str:
    if owner in _TEAM:
        return "team"
    return "speaker" if owner in (message["name"], "user", "speaker", "the user", "the assistant") else "other"


def _find(fragment: Wanted, place: str) -> str:
    message, _, sentence = place.partition(".")
    try:
        return str(fragment["messages"][int(message) - 1]["sentences"][int(sentence) - 1]["text"])
    except (ValueError, IndexError):
        return ""


if __name__ == "__main__":
    main()
