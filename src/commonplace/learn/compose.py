"""Memories of the sentences that were chosen: as they were said, with what they need to be understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from commonplace.learn.alone import is_bare_answer, points_back
from commonplace.learn.commands import Command, find_command, find_subject
from commonplace.learn.due import due
from commonplace.learn.segment import Span
from commonplace.learn.talk import Place, Talk, is_nameless_assistant, reports
from commonplace.learn.trim import trim
from commonplace.models.statements import KEEP
from commonplace.text.smalltalk import is_small_talk
from commonplace.values import Kind
from commonplace.values.extraction import Finding

MOST = 12
"""Memories of a message: a careful reader seldom keeps more, and a flood of one message's would bury the others'."""
_MOST_NEEDED = 2
_LONGEST = 400
"""Characters of a memory that joins several sentences: what needs more than that was not said to be kept."""
_IMPORTANCE = {
    "decision": 0.7, "pattern": 0.65, "failure": 0.65, "insight": 0.65, "plan": 0.65, "preference": 0.6, "fact": 0.55,
    "note": 0.6,
}  # fmt: skip
_ASKED_FOR = 0.2
"""Importance that an explicit request to remember adds."""
_NEVER_DUE = ("preference", "failure", "insight")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_FORGETS = re.compile(
    r"\b(?:forget|delete|erase|remove|drop|(?:not|n['’]t) (?:keep|save|store|remember))\b", re.IGNORECASE
)
_ABOUT_YOU = re.compile(r"(?:so |since |as |and )?you\b(?!r\b)", re.IGNORECASE)
_ENDS = ".!?…:;)]\"'”’»。！？"


class Mark(NamedTuple):
    """The mark of a reader, or of a model, on a sentence."""

    kind: str = "note"
    """One of the reader's KINDS, or "note"."""
    owner: str | None = None
    act: str = "state"
    """One of the reader's ACTS."""
    needs: tuple[Place, ...] = ()
    """Earlier sentences without which it cannot be understood."""
    keep: float = 1.0
    """Probability that it is worth keeping."""
    past: bool = False
    """Whether it tells what happened, so that it is not due on the day that it names."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Words of a message that become a memory, alone or with those they need."""

    span: Span
    text: str


def compose(talk: Talk, marks: Mapping[Place, Mark], rule: str) -> list[list[Finding]]:
    """Return the findings of each message: of its chosen sentences and of explicit commands; none of mere context."""
    return [
        [] if message.context else _select(_Composer(talk, marks, rule, number).find_all())
        for number, message in enumerate(talk.messages)
    ]


def _select(found: Iterator[tuple[float, Finding]]) -> list[Finding]:
    """Return the most certain findings, in their order, none twice."""
    by_text: dict[tuple[str, str], tuple[float, Finding]] = {}
    for weight, finding in found:
        key = finding.act, finding.text.casefold()
        if key not in by_text or by_text[key][1].importance < finding.importance:
            by_text[key] = weight, finding
    best = sorted(by_text.values(), key=lambda each: -each[0])[:MOST]
    return sorted((finding for _, finding in best), key=lambda finding: finding.start)


@dataclass(frozen=True, slots=True)
class _Composer:
    """Composes the findings of one message."""

    talk: Talk
    marks: Mapping[Place, Mark]
    rule: str
    message: int

    def find_all(self) -> Iterator[tuple[float, Finding]]:
        """Yield each finding with its weight."""
        user = self.talk.messages[self.message].role == "user"
        for sentence, span in enumerate(self.talk.spans[self.message]):
            place = self.message, sentence
            mark = self.marks.get(place, Mark(keep=0.0))
            command = find_command(trim(span)) if user else None
            if command is not None and not (mark.keep >= KEEP and mark.act in ("correct", "withdraw")):
                found = self._obey(place, command, mark)
                if found is not None:
                    yield 2.0, found
            elif mark.keep >= KEEP:
                found = self._read(place, span, mark)
                if found is not None:
                    yield mark.keep, found

    def _read(self, place: Place, span: Span, mark: Mark) -> Finding | None:
        """Return the finding of a chosen sentence; None if it cannot stand as a memory."""
        if mark.act == "forget":
            wanted = _FORGETS.search(span.text)
            return self._forget(span, self._say(mark.needs[-1:]) or find_subject(span.text)) if wanted else None
        core = trim(span)
        if not core.text or core.text.endswith("?") or (is_small_talk(core.text) and not mark.needs):
            # Of 1,594 questions in the fragments that the reader learned from, twelve were worth keeping.
            return None
        message = self.talk.messages[self.message]
        if message.role == "assistant" and _ABOUT_YOU.match(core.text):
            # What an assistant says about the user is what it heard, or takes for granted.
            return None
        if is_nameless_assistant(message) and not reports(core.text):
            # The rest is general knowledge and advice, which the reader cannot always tell from what was done.
            return None
        part = self._complete(place, core, mark)
        return None if part is None else self._keep(part, mark, asked=mark.act == "remember")

    def _obey(self, place: Place, command: Command, mark: Mark) -> Finding | None:
        """Return the finding of an explicit command; None if what it points at is not there."""
        span = command.span
        if command.act == "forget":
            return self._forget(span, span.text)
        if command.act == "forget that":
            subject = self._say(self._pointed_at(place, mark))
            return self._forget(span, subject) if subject else None
        if command.act == "remember that":
            meant = self._pointed_at(place, mark)
            told = self.marks.get(meant[-1], Mark()) if meant else mark
            subject = self._say(meant)
            return self._keep(_Part(span, subject), told, asked=True, rule="remember") if subject else None
        if command.act == "to do":
            mark = mark._replace(kind="note", owner=self.talk.name(self.message))
        part = self._complete(place, span, mark) or _Part(span, _flat(span.text))
        return self._keep(part, mark, asked=True, rule="remember")

    def _pointed_at(self, place: Place, mark: Mark) -> tuple[Place, ...]:
        """Return the sentences that "that" means: those that the reader names, or the one before."""
        before = self.talk.before(place)
        return mark.needs[-_MOST_NEEDED:] or (() if before is None else (before,))

    def _forget(self, span: Span, subject: str) -> Finding:
        return Finding(
            text=subject, kind="note", act="forget", importance=0.8, start=span.start, end=span.end, rule="forget"
        )

    def _keep(self, part: _Part, mark: Mark, *, asked: bool = False, rule: str | None = None) -> Finding:
        said_at = self.talk.messages[self.message].said_at
        importance = _IMPORTANCE[mark.kind] + _ASKED_FOR * asked
        return Finding(
            text=part.text,
            kind=cast(Kind, "fact" if mark.kind == "plan" else mark.kind),
            act="correct" if mark.act in ("correct", "withdraw") else "keep",
            owner=mark.owner,
            due=None if mark.past or mark.kind in _NEVER_DUE else due(part.span.text, said_at),
            importance=round(min(importance, 1.0), 2),
            start=part.span.start,
            end=part.span.end,
            rule=rule or self.rule,
        )

    # -- what a sentence needs -----------------------------------------------------------------------

    def _complete(self, place: Place, core: Span, mark: Mark) -> _Part | None:
        """Return a sentence with those it needs before it; None if it cannot be understood with two of them."""
        needs = mark.needs or self._overlooked(place, core.text)
        if needs is None or len(needs) > _MOST_NEEDED:
            return None
        if not needs:
            return _Part(core, _flat(core.text))
        whole = self._say(needs, last=core.text)
        return _Part(core, whole) if len(whole) <= _LONGEST else None

    def _overlooked(self, place: Place, text: str) -> tuple[Place, ...] | None:
        """Return what a sentence needs that a reader finds complete; None if that is not there."""
        before = self.talk.before(place)
        if place[1] == 0 and before is not None and is_bare_answer(text):
            asked = self._find_question(before[0])
            if asked is not None:
                return (asked,)
        if points_back(text):
            return None if before is None else (before,)
        return ()

    def _find_question(self, message: int) -> Place | None:
        spans = self.talk.spans[message]
        return next(((message, at) for at in range(len(spans) - 1, -1, -1) if spans[at].text.endswith("?")), None)

    def _say(self, places: Sequence[Place], last: str | None = None) -> str:
        """Return sentences as one text, with the speakers' names if there are several."""
        said = [(number, trim(self.talk.spans[number][at]).text) for number, at in sorted(places)]
        if last is not None:
            said.append((self.message, last))
        named = len({self.talk.name(number) for number, _ in said}) > 1
        told, speaker = "", ""
        for number, text in said:
            name = self.talk.name(number)
            if told:
                told += " " if told.endswith(tuple(_ENDS)) else ". "
            if named and name != speaker:
                told += f"{_label(name)}: "
            told, speaker = told + _flat(text), name
        return told


def _label(name: str) -> str:
    bare = name.removeprefix("the ")
    return bare.capitalize() if bare != name else name


def _flat(text: str) -> str:
    """Return words in one line, without the marks that make them bold."""
    return " ".join(_BOLD.sub(r"\1", text).split())
