"""A task in general terms and by its topics, found by rules: without a model, and the same every time."""

from __future__ import annotations

import re

from commonplace.text.lexicon import ASKING, EMPTY

STANDING_IN = ("somebody", "number", "text")
"""Words that stand for what was left out, and say nothing."""
_MOST_TOPICS = 12
_LONGEST_TOPIC = 4
_CHARACTERS = 4_000
_POLITE = re.compile(
    r"^\s*(?:(?:hi|hello|hey|ok|okay|so|now|please|kindly|thanks)\b[\s,!.:]*|(?:can|could|would|will) you (?:please )?"
    r"|(?:i|we) (?:need|want|would like|'d like) (?:you )?to |your (?:task|job) is to |help (?:me|us) (?:to )?)+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|`[^`\n]{1,200}`")
_NUMBER = re.compile(r"(?<![\w.])[$€£]?\d[\d,.:/-]*(?:%|\b)")
_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+(?: |$|(?=[,.;:?!'’]))){1,4}")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def general(task: str) -> str:
    """The task less what belongs to this one case: courtesies, quoted texts, numbers, names."""
    text = _POLITE.sub("", task[:_CHARACTERS])
    text = _NUMBER.sub("some number", _QUOTED.sub("some text", text))
    text = " ".join(_NAME.sub("somebody ", text).split())
    return text or task.strip()


def topics(text: str) -> tuple[str, ...]:
    """The phrases that a text is about, each once, in its order."""
    found: dict[str, None] = {}
    run: list[str] = []
    for piece in re.split(r"([.,;:?!()\n\"“”]+)", text[:_CHARACTERS]):
        for word in _WORD.findall(piece.lower()):
            if word in EMPTY or word in ASKING or len(run) == _LONGEST_TOPIC:
                _close(run, found)
            if word not in EMPTY and word not in ASKING:
                run.append(word)
        _close(run, found)
    return tuple(found)[:_MOST_TOPICS]


def _close(run: list[str], found: dict[str, None]) -> None:
    if run:
        found[" ".join(run)] = None
        run.clear()
