"""Judgements without a model: advice in a text, whether answers agree, general terms, and which memos help.

The weights of `choose_memos` are fitted on the tuning sets of tests/data/tasks; docs/tasks.md has figures.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import lru_cache

import numpy as np

from commonplace import Hit, informative_words, strip_recalled
from commonplace.integrations.tasks.memo import Memo, read_memo
from commonplace.learn import StatementExtractor, sentences
from commonplace.models.embedders import load_embedder
from commonplace.values.arrays import Floats
from commonplace.values.extraction import Utterance

_LONGEST_ADVICE = 20_000
_LABEL = re.compile(
    r"^\s*(?:(?:as )?an? )?(?:hint|tip|advice|note|nb|fyi|insight|lesson|rule|reminder"
    r"|for (?:next time|future reference))\s*[:,–—-]\s*",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"^(?:in (?:the )?future|next time|from now on|going forward|always|never|remember|note|keep in mind"
    r"|be (?:aware|sure|careful)|make sure|bear in mind|it helps"
    r"|it(?:'s| is) (?:important|better|best|wrong|safer|easier))\b"
    r"|\byou (?:should|shouldn't|should not|must|must not|need to|have to|ought to|forgot|overlooked|missed"
    r"|can(?:not|'t) assume)\b|^instead of\b"
    r"|^(?:when|whenever|if) [^,?]+, (?:always |never )?(?:ask|avoid|check|do|don't|keep|look|make|take|try|use)\b"
    r"|\bthe (?:trick|key|right way|correct way|mistake|catch) (?:here )?(?:is|was)\b"
    r"|^(?:try|consider|avoid|don't forget|do not forget)\b|\b(?:is|are) (?:always|never) ",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^(?:(?:can|could|would|will) you|please (?:write|find|give|make|show|tell))\b", re.IGNORECASE)


def find_advice(text: str) -> str | None:
    """Return the parts of a user's text that help later, in sentences that stand alone; None if there are none."""
    own, _ = strip_recalled(text[:_LONGEST_ADVICE])
    message = Utterance(text=own, speaker=None, role="user", said_at=datetime.now(timezone.utc))
    findings = [each for each in StatementExtractor().extract([message])[0] if each.act != "forget"]
    parts = {each.start: _LABEL.sub("", each.text) for each in findings if not each.text.endswith("?")}
    for span in sentences(own):
        if not any(span.start <= each.start < span.end for each in findings) and _advises(span.text.strip()):
            parts[span.start] = _LABEL.sub("", span.text).strip()
    return " ".join(dict.fromkeys(_end_sentence(parts[start]) for start in sorted(parts) if parts[start])) or None


def _advises(sentence: str) -> bool:
    if sentence.endswith("?") or _ASKS.search(sentence):
        return False
    return bool(_LABEL.match(sentence) or _ADVISES.search(sentence))


def _end_sentence(text: str) -> str:
    whole = text[:1].upper() + text[1:]
    return whole if whole[-1:] in ".!?…" else f"{whole}."


_MARKED = re.compile(
    r"(?:\\boxed\{(?P<boxed>[^{}\n]{1,500})\}|\b(?:final answer|the answer|answer|result|solution)\b[*_\s]*(?:is|:|=)"
    r"[*_\s:]*(?P<stated>[^\n]{1,500}))",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*|[%$€£+\-/*=<>]")
_LEFT_OUT = frozenset("a an the is are was were it its be to of".split())
_NEGATIONS = frozenset("not no never isn't aren't wasn't cannot can't neither nor than except".split())
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_BEFORE = 3
"""Words before an answer in which it may be negated."""


def grade_answer(response: str, expected: str) -> tuple[bool, str]:
    """Return whether a response gives the expected answer, and the answer that it gives.

    The answer follows the last "answer:" or is in a box; else it is the last line; else the whole response.
    """
    wanted = _normalize(expected)
    marked = [found["boxed"] or found["stated"] for found in _MARKED.finditer(response)]
    lines = [line for line in response.splitlines() if line.strip()]
    candidates = [each.strip() for each in (*marked[-1:], *lines[-1:], response)]
    for answer in candidates[:1] if marked else candidates:
        if wanted and _contains(_normalize(answer), wanted):
            return True, answer
    return False, candidates[0]


def agree(one: str, other: str) -> bool:
    """Return whether two answers differ only in how they are written."""
    return bool(_normalize(one)) and _normalize(one) == _normalize(other)


def _contains(answer: list[str], wanted: list[str]) -> bool:
    """Return whether the wanted words follow each other in an answer and are not negated there."""
    for start in range(len(answer) - len(wanted) + 1):
        if answer[start : start + len(wanted)] == wanted:
            before = answer[max(start - _BEFORE, 0) : start]
            if not any(word in _NEGATIONS and word not in wanted for word in before):
                return True
    return False


def _normalize(text: str) -> list[str]:
    shown = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    words = [_normalize_number(word) for word in _TOKEN.findall(shown)]
    return [word for word in words if word not in _LEFT_OUT] or words


def _normalize_number(word: str) -> str:
    """Return 1000 for "1,000" and "1000.0", and 12 for "twelve"; any other word as it is."""
    if word in _NUMBER_WORDS:
        return str(_NUMBER_WORDS.index(word))
    if not word[0].isdigit():
        return word
    bare = re.sub(r",(?=\d{3}\b)", "", word)
    return bare.rstrip("0").rstrip(".") if "." in bare else bare


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
_BREAK = re.compile(r"[.,;:?!()\n\"“”]+")


def generalize_task(task: str) -> str:
    """Return the task without courtesies, quoted texts, numbers and names."""
    text = _POLITE.sub("", task[:_CHARACTERS])
    text = _NUMBER.sub("some number", _QUOTED.sub("some text", text))
    return " ".join(_NAME.sub("somebody ", text).split()) or task.strip()


def find_topics(text: str) -> tuple[str, ...]:
    """Return the phrases that a text is about, each once, in their order."""
    found: list[str] = []
    for piece in _BREAK.split(text[:_CHARACTERS]):
        phrase: list[str] = []
        for word in (*_WORD.findall(piece.lower()), ""):
            informative = bool(informative_words(word))
            if phrase and (not informative or len(phrase) == _LONGEST_TOPIC):
                found.append(" ".join(phrase))
                phrase = []
            if informative:
                phrase.append(word)
    return tuple(dict.fromkeys(found))[:_MOST_TOPICS]


THRESHOLD = 0.24
"""Probability from which a memo is given."""
GENEROUS = 0.02
"""Probability from which a memo is shown to a model that judges each."""
SURE = 0.9
"""Recall's relevance from which a memo is always given: if many say the same, none of them stands out."""

# Log-odds.
BIAS = -4.69
RELEVANCE = 0.40
"""For each of recall's log-odds above the average of the other memos."""
MEANING = 0.65
"""For each standard deviation by which its meaning is closer than theirs."""
TASK = 2.1
"""For the cosine of the task and the memo's task, or its insight if it has none."""
WORDS = 3.5
"""For the closeness of single words, less that of the best memo."""
LENGTH = 0.78
"""For each e-fold of the task's words: a memo covers a smaller part of a long task."""

_USUAL = 8
"""A smaller bank is filled up to this number with unrelated memos, which have on average:"""
_UNRELATED_RELEVANCE, _UNRELATED_MEANING = -4.4, 2.8
_SMALLEST = 1e-6
_LONGEST = 2_000
_KEPT = 4_096


def choose_memos(
    task: str, hits: Sequence[Hit], *, threshold: float | None = None, generous: bool = False
) -> list[Memo]:
    """Return the memos among hits that help with a task, best first; `generous` adds less likely ones.

    Tasks are seldom worded alike, so a memo counts less by its closeness than by how much closer it is than the others.
    """
    if not hits:
        return []
    relevance = np.array([hit.parts.relevance for hit in hits])
    likely = _estimate_probabilities(task, hits, relevance)
    least = THRESHOLD if threshold is None else threshold
    given = (likely >= (min(least, GENEROUS) if generous else least)) | (relevance >= SURE)
    order = np.argsort(-likely, kind="stable").tolist()
    return [read_memo(hits[at].memory, float(likely[at])) for at in order if given[at]]


def _estimate_probabilities(task: str, hits: Sequence[Hit], relevance: Floats) -> Floats:
    odds = np.log(np.maximum(relevance, _SMALLEST) / np.maximum(1.0 - relevance, _SMALLEST))
    meaning = np.array([hit.parts.meaning for hit in hits])
    words = _compare_words(task, [hit.memory.text[:_LONGEST] for hit in hits])
    evidence = BIAS + LENGTH * math.log(max(len(task.split()), 1)) + WORDS * (words - words.max())
    evidence += RELEVANCE * (odds - _average(odds, _UNRELATED_RELEVANCE))
    evidence += MEANING * (meaning - _average(meaning, _UNRELATED_MEANING))
    memos = [read_memo(hit.memory) for hit in hits]
    closeness = [_embed(task) @ _embed((memo.task or memo.insight)[:_LONGEST]) for memo in memos]
    evidence += TASK * np.array(closeness, np.float32)
    likely: Floats = (1.0 / (1.0 + np.exp(-np.clip(evidence, -60, 60)))).astype(np.float32)
    return likely


def _average(values: Floats, unrelated: float) -> float:
    missing = max(_USUAL - len(values), 0)
    return float(values.sum() + missing * unrelated) / (len(values) + missing)


def _compare_words(task: str, texts: Sequence[str]) -> Floats:
    affinity = getattr(load_embedder(), "affinity", None)  # optional; the embedder that ships has it
    found: Floats = np.zeros(len(texts), np.float32) if affinity is None else affinity(informative_words(task), texts)
    return found


@lru_cache(maxsize=_KEPT)
def _embed(text: str) -> Floats:
    vector: Floats = load_embedder().embed([text])[0]
    return vector
