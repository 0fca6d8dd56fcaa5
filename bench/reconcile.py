"""Measure the judgement of reconciliation: `python bench/reconcile.py DATA [--misses] [--only a,b,c,d]`.

DATA is the folder of the development data (see its README); the hand-written pairs come from the tests.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from commonplace.models.embedders import load_embedder
from commonplace.reconcile.claims.reader import key, read
from commonplace.reconcile.relate import Assertion, relate

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "tests" / "data" / "learning"
WHEN = datetime(2024, 1, 1, tzinfo=timezone.utc)
NEAREST = 20
FOLLOWED = 64
"""Memories that a store would compare a new one with: the nearest by vector, and all with the same key."""

misses = False


def say(text: str, owner: str | None = None, **more: Any) -> Assertion:
    return Assertion(text=text, kind=more.pop("kind", "fact"), owner=owner, said_at=WHEN, **more)


def missed(*parts: object) -> None:
    if misses:
        print("   miss:", *parts)


def table(title: str, rows: dict[str, object]) -> None:
    print(f"\n{title}")
    for name, value in rows.items():
        print(f"  {name:<58} {value:.4f}" if isinstance(value, float) else f"  {name:<58} {value}")


def vectors(texts: Sequence[str]) -> Any:
    return np.asarray(load_embedder().embed(list(texts)), np.float32)


# (a) numbered facts, a later one replaces an earlier one with the same subject and relation


def frame(fact: str) -> tuple[str, str] | None:
    """Give the subject and relation of a generated fact by its template, independently of how claims are read."""
    for pattern in FRAMES:
        if match := re.fullmatch(pattern, fact.strip()):
            return pattern, match.group(1)
    return None


FRAMES = (
    r"The name of the current head of the (.+) government is .+",
    r"The name of the current head of state in (.+) is .+",
    r"The univeristy where (.+) was educated is .+",
    r"The type of music that (.+) plays is .+",
    r"The company that produced (.+) is .+",
    r"The headquarters of (.+) is located in the city of .+",
    r"The (?:official language|origianl broadcaster|chief executive officer|head coach) of (.+) is .+",
    r"The (?:author|director|capital|chairperson) of (.+) is .+",
    r"(.+) is associated with the sport of .+",
    r"(.+) is affiliated with the religion of .+",
    r"(.+) is located in the continent of .+",
    r"(.+) plays the position of .+",
    r"(.+) speaks the language of .+",
    r"(.+) works in the field of .+",
    r"(.+) worked in the city of .+",
    r"(.+) died in the city of .+",
    r"(.+) was born in the city of .+",
    r"(.+) was founded in the city of .+",
    r"(.+) was created in the country of .+",
    r"(.+) was written in the language of .+",
    r"(.+) was founded by .+",
    r"(.+) was created by .+",
    r"(.+) was developed by .+",
    r"(.+) was performed by .+",
    r"(.+) is employed by .+",
    r"(.+) is married to .+",
    r"(.+) is a citizen of .+",
    r"(.+) is famous for .+",
    r"(.+)'s child is .+",
    r"(The [\w ]+? of .+) is .+",
)


def conflicts(data: Path) -> None:
    for space in json.loads((data / "conflicts.json").read_text("utf-8")):
        texts = [fact for _, fact in space["units"]]
        close = vectors(texts)
        close = close @ close.T
        frames = [frame(text) for text in texts]
        rivals(space["space"], texts, frames, close)
        written(space, texts, frames, close)


def rivals(name: str, texts: list[str], frames: list[Any], close: Any) -> None:
    found: Counter[str] = Counter()
    by_frame: dict[Any, list[int]] = defaultdict(list)
    for place, each in enumerate(frames):
        if each is not None:
            by_frame[each].append(place)
    for places in by_frame.values():
        for place in range(1, len(places)):
            old, new = places[place - 1], places[place]
            link = relate(say(texts[new]), say(texts[old]), float(close[old, new])).likeness
            want = "same" if texts[old] == texts[new] else "contradicts"
            found[f"{want}"] += 1
            found[f"{want} right"] += link == want
            found["keys alike"] += key(texts[new]) == key(texts[old])
            if link != want:
                missed(link, "|", texts[old], "|", texts[new])
    for new in range(len(texts)):
        for old in [int(each) for each in np.argsort(-close[new])[1 : NEAREST + 1]]:
            if frames[old] != frames[new] or frames[new] is None:
                found["other"] += 1
                if relate(say(texts[new]), say(texts[old]), float(close[old, new])).likeness == "contradicts":
                    found["false"] += 1
                    missed("FALSE", texts[old], "|", texts[new])
    table(
        f"(a) {name}: {sum(each is None for each in frames)} of {len(texts)} facts without a template",
        {
            "rivals called contradicts": found["contradicts right"] / max(found["contradicts"], 1),
            "rivals": found["contradicts"],
            "rivals with equal keys": found["keys alike"] / max(found["contradicts"] + found["same"], 1),
            "false contradictions of nearest others": f"{found['false']} of {found['other']}",
        },
    )


def written(space: Any, texts: list[str], frames: list[Any], close: Any) -> None:
    """Write all facts in order, each closing what it contradicts among its candidates."""
    open_: dict[int, bool] = {}
    keys: dict[str | None, list[int]] = defaultdict(list)
    wrong = 0
    for new, text in enumerate(texts):
        nearest = [int(each) for each in np.argsort(-close[new, :new])[:FOLLOWED]]
        for old in dict.fromkeys([*nearest, *keys[key(text)]]):
            if open_[old] and relate(say(text), say(texts[old]), float(close[old, new])).likeness == "contradicts":
                open_[old] = False
                if frames[old] != frames[new]:
                    wrong += 1
                    missed("CLOSED WRONGLY", texts[old], "|", text)
        open_[new] = True
        if key(text) is not None:
            keys[key(text)].append(new)
    place = {number: at for at, (number, _) in enumerate(space["units"])}
    asked = [each for each in space["questions"] if each.get("new") and each.get("old")]
    closed = [all(not open_[place[old]] for old in each["old"]) for each in asked]
    # Two questions ask for a fact that a later one replaces; it is right to close it.
    current = [each for each in space["questions"] if each.get("new") and not each.get("later_same_prefix")]
    stay = [all(open_[place[new]] for new in each["new"]) for each in current]
    for each in space["questions"]:
        if each in current and not all(open_[place[new]] for new in each["new"]):
            missed("CLOSED NEW", [texts[place[new]] for new in each["new"]])
    for each, ok in zip(asked, closed, strict=True):
        if not ok:
            missed("NOT CLOSED", [texts[place[old]] for old in each["old"]], [texts[place[new]] for new in each["new"]])
    table(
        f"(a) {space['space']}, written in order",
        {
            "outdated ones closed": sum(closed) / len(closed),
            "new ones open": sum(stay) / len(stay),
            "questions with an outdated fact": len(closed),
            "facts closed wrongly": f"{wrong} of {len(texts)} ({wrong / len(texts):.2%})",
        },
    )


# (b) SICK


def sick(data: Path) -> None:
    pairs = json.loads((data / "pairs_sick.json").read_text("utf-8"))
    first, second = vectors([each[0] for each in pairs]), vectors([each[1] for each in pairs])
    close = (first * second).sum(axis=1)
    counts: Counter[tuple[str, str]] = Counter()
    related: Counter[bool] = Counter()
    for (one, other, label, score), cosine in zip(pairs, close, strict=True):
        link = relate(say(one), say(other), float(cosine)).likeness
        counts[label, link] += 1
        if link == "same":
            related[label == "ENTAILMENT" or score >= 4.5] += 1
        if (label, link) in {("CONTRADICTION", "same"), ("NEUTRAL", "contradicts"), ("ENTAILMENT", "contradicts")}:
            missed(label, link, "|", one, "|", other, "|", score)
    rows: dict[str, object] = {}
    for label in ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"):
        total = sum(n for (each, _), n in counts.items() if each == label)
        for link in ("same", "contradicts", "adds", "unrelated"):
            rows[f"{label} called {link}"] = counts[label, link] / total
    rows["precision of same (entailment or relatedness 4.5 and more)"] = related[True] / max(sum(related.values()), 1)
    table("(b) SICK", rows)


# (c) updates in long chats

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE = re.compile(
    r",? (?:and|but|so|because|since|which) (?=(?:i|i'm|i've|we|we're|we've|my|our|it)\b)| - |; ", re.I
)
_LEADING = re.compile(r"^(?:by the way|oh|speaking of [^,]+|anyway|also|actually|and|but|so)\b,? ", re.I)


def sentences(text: str) -> Iterator[str]:
    """Give what a turn states, clause by clause; questions and code are no claims."""
    text = re.sub(r"```.*?(?:```|$)", "\n", text, flags=re.S)
    for sentence in _SENTENCE.split(text):
        for clause in _CLAUSE.split(sentence):
            clause = _LEADING.sub("", _LEADING.sub("", clause.strip(" ,")))
            if 10 <= len(clause) <= 300 and not clause.endswith("?"):
                yield clause


def turn_against(new: str, old: str, owner: str) -> tuple[str, str] | None:
    ours, theirs = list(sentences(new)), list(sentences(old))
    if not ours or not theirs:
        return None
    close = vectors(ours) @ vectors(theirs).T
    for i, one in enumerate(ours):
        for j, other in enumerate(theirs):
            if relate(say(one, owner), say(other, owner), float(close[i, j])).likeness == "contradicts":
                return one, other
    return None


def chats(data: Path) -> None:
    report("LongMemEval", *long_pairs(json.loads((data / "longmemeval.json").read_text("utf-8"))))
    beam = json.loads((data / "beam100k.json").read_text("utf-8"))
    report("BEAM", *beam_pairs(beam))
    nearest("BEAM", [[unit for unit in space["units"] if unit["speaker"] == "user"] for space in beam])
    nearest("LoCoMo", [space["units"] for space in json.loads((data / "locomo.json").read_text("utf-8"))])


Pairs = list[tuple[str, str]]


def long_pairs(data: Any) -> tuple[Pairs, Pairs]:
    def turn(unit: str) -> str:
        session, _, place = unit.rpartition(":")
        return str(data["sessions"][session]["turns"][int(place)][1])

    updates = [
        (" ".join(map(turn, each["new"])), " ".join(map(turn, each["old"])))
        for each in data["questions"]
        if each.get("old") and each.get("new")
    ]
    pick = random.Random(5)
    others: Pairs = []
    for each in data["questions"]:
        said = [
            text
            for session, _ in each["haystack"]
            if session not in each["evidence_sessions"] and session not in each["exclude"]
            for who, text in data["sessions"][session]["turns"]
            if who == "u"
        ]
        if len(said) > 20:
            others += [tuple(pick.sample(said, 2)) for _ in range(12)]
    return updates, others


def beam_pairs(data: Any) -> tuple[Pairs, Pairs]:
    updates: Pairs = []
    others: Pairs = []
    pick = random.Random(5)
    for space in data:
        text = {unit["id"]: unit["text"] for unit in space["units"]}
        said = [unit["text"] for unit in space["units"] if unit["speaker"] == "user"]
        updates += [
            (" ".join(text[new] for new in each["new"]), " ".join(text[old] for old in each["old"]))
            for each in space["questions"]
            if each.get("old") and each.get("new")
        ]
        others += [tuple(pick.sample(said, 2)) for _ in range(300)]
    return updates, others


def nearest(name: str, books: list[list[Any]]) -> None:
    """Count contradictions of each sentence with the nearest earlier ones; few of them are updates, so few may be."""
    judged, closed, all_ = 0, 0, 0
    for units in books:
        said = [(text, str(unit["speaker"])) for unit in units for text in sentences(unit["text"])]
        close = vectors([text for text, _ in said])
        for new, (text, owner) in enumerate(said):
            all_ += 1
            near = close[:new] @ close[new]
            for old in [int(each) for each in np.argsort(-near)[:NEAREST]]:
                judged += 1
                known = say(*said[old])
                found = relate(say(text, owner), known, float(near[old]))
                if found.likeness == "contradicts":
                    closed += 1
                    missed(f"CLOSES ({found.reason})", known.text, "→", text)
    table(
        f"(c) {name}, every sentence with its {NEAREST} nearest earlier ones",
        {"pairs": judged, "sentences": all_, "contradictions": f"{closed} ({closed / all_:.2%} of the sentences)"},
    )


def report(name: str, updates: Pairs, others: Pairs) -> None:
    found = 0
    for new, old in updates:
        against = turn_against(new, old, "the user")
        found += against is not None
        missed("FOUND" if against else "UPDATE", against or (new[:300], old[:300]))
    alarms = [against for new, old in others if (against := turn_against(new, old, "the user"))]
    for alarm in alarms:
        missed("FALSE ALARM", alarm)
    table(
        f"(c) {name}",
        {
            "updates seen": f"{found} of {len(updates)}",
            "false alarms over random pairs of turns": f"{len(alarms)} of {len(others)}",
        },
    )


# (d) hand-written pairs


def by_hand(name: str) -> None:
    rows = [json.loads(line) for line in (TABLES / f"relations_{name}.jsonl").read_text("utf-8").splitlines()]
    close = (vectors([row["new"] for row in rows]) * vectors([row["known"] for row in rows])).sum(axis=1)
    counts: Counter[tuple[str, str]] = Counter()
    for row, cosine in zip(rows, close, strict=True):
        new = say(row["new"], row["owner_new"], kind=row["kind_new"], act=row.get("act_new", "keep"))
        link = relate(new, say(row["known"], row["owner_known"], kind=row["kind_known"]), float(cosine)).likeness
        counts[row["link"], link] += 1
        if link != row["link"]:
            missed(f"want {row['link']}, got {link} ({cosine:.2f}) |", row["known"], "→", row["new"])
    print(f"\n(d) hand-written, {name}: rows are right, columns as judged")
    links = ("same", "contradicts", "adds", "unrelated")
    print(" " * 14 + "".join(f"{each:>13}" for each in links))
    for want in links:
        print(f"{want:>13} " + "".join(f"{counts[want, each]:>13}" for each in links))
    right = sum(n for (want, got), n in counts.items() if want == got)
    loose = sum(n for (want, got), n in counts.items() if want == got or {want, got} == {"adds", "unrelated"})
    print(f"  right {right / len(rows):.3f}, with adds and unrelated as one {loose / len(rows):.3f}")


def speed(data: Path) -> None:
    facts = [fact for _, fact in json.loads((data / "conflicts.json").read_text("utf-8"))[1]["units"]][:2000]
    said = [say(fact) for fact in facts]
    began = time.perf_counter()
    for fact in facts:
        read(fact)
    reading = time.perf_counter() - began
    pairs = [(said[i], said[j]) for i in range(0, 2000, 20) for j in range(0, 2000, 4)]
    began = time.perf_counter()
    for new, known in pairs:
        relate(new, known, 0.6)
    took = time.perf_counter() - began
    table("speed", {"relate calls a second": int(len(pairs) / took), "claims read a second": int(len(facts) / reading)})


def main() -> None:
    global misses
    reading = argparse.ArgumentParser(description=__doc__)
    reading.add_argument("data", type=Path)
    reading.add_argument("--misses", action="store_true")
    reading.add_argument("--only", default="abcds")
    reading.add_argument("--final", action="store_true", help="also the pairs kept for the end")
    args = reading.parse_args()
    misses = args.misses
    parts = {"a": conflicts, "b": sick, "c": chats, "s": speed}
    for part, measure in parts.items():
        if part in args.only:
            measure(args.data)
    if "d" in args.only:
        by_hand("dev")
        if args.final:
            by_hand("final")


if __name__ == "__main__":
    main()
