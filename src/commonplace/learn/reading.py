"""Reads a conversation sentence by sentence, and keeps what later sentences refer to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.learn import doubt, reasons, rules, words
from commonplace.learn.clauses import Clause, clause, clauses, joined
from commonplace.learn.commands import Command, command
from commonplace.learn.corrections import Said, correction, only_announces
from commonplace.learn.due import due
from commonplace.learn.opening import core, without_end
from commonplace.learn.owners import owner
from commonplace.learn.persons import Who, named, retell
from commonplace.learn.rules.base import Rule, compiled
from commonplace.learn.rules.facts import fact
from commonplace.learn.rules.plans import DATED, EVERY
from commonplace.learn.segment import Span, sentences
from commonplace.learn.types import Act, Finding, Utterance
from commonplace.recall.speech import ASSISTANTS
from commonplace.values import Kind

_ROLES = ("user", "assistant")
_LATEST = 50
"""Statements that a correction can refer to."""
_POINTING = compiled(
    r"^(?:it|they|that|this|these|those|she|he|which|otherwise|the_other|both|none|nothing)\b|^its?\b|^that's\b|^it's\b|^they're\b"
)
_BACKWARD = compiled(
    r"""\b(?:the_(?:other|old|new|first|second)_one|because_of_(?:that|this|it)|for_that_reason)\b|^let's_[\w_]+_(?:that|this|those|these|it|them)[.!]*$
    |^(?:that's|this_is|that_is|it's)_(?:policy|the_(?:rule|policy|convention|way)|final|decided|settled|why|because|how_we)\b|^(?:too|mainly|mostly|because|bc|since|reason|the_reason|simply)\b(?!_(?:bad|late|funny|short|many_cooks))|_instead[.!]*$|_(?:over|about|because_of|due_to)_(?:it|that|this|them)[.!]*$"""
)
_SHORT_REASON = compiled(
    r"^(?:not_enough|not_\w+_enough|no_(?:budget|time|money|space|support|room|demand|interest|one)|only|just|cheaper|faster|simpler|easier|better|less|more|fewer|both|same|way_too|far_too|two|three|four|half)\b"
)
_OBJECT = compiled(r"_(?:it|that|them|those|this)[.!]*$")
_POLICY = compiled(r"^(?:that's|this_is|that_is|it's)_(?:now_)?(?:policy|the_(?:rule|policy|convention)|how_we)")
_REPORTED = re.compile(
    r"^(?:i|we)(?:'ve| have| had|'d)? (?:said|wrote|told (?:you|everyone|them)|mentioned|claimed)(?: (?:before|earlier|yesterday))? (?:that )?",
    re.IGNORECASE,
)
_NEWS = re.compile(r"(?:,|;|\s[-–—]|\.)\s+(?=(?:i|we|my|our|i'm|we're|i've)\s)", re.IGNORECASE)
_FIRST_PERSON = frozenset("i i'm i'll i've i'd we we're we'll we've".split())
_STRONG_KINDS = ("decision", "failure", "pattern")


@dataclass(slots=True)
class Draft:
    """A finding in the making: more of the sentence, or the next one, may still belong to it."""

    clause: Clause
    rule: str
    kind: Kind
    importance: float
    act: Act = "keep"
    owner: str | None = None
    who: Who | None = None
    reason: str | None = None


@dataclass(slots=True)
class Reader:
    """Goes through messages in their order; holds what was said, and whom "you" is."""

    said: list[Said] = field(default_factory=list)
    _other: dict[str, str] = field(default_factory=dict)
    _last: str | None = None
    _asked: bool = False

    def read(self, message: Utterance) -> list[Finding]:
        """Give what a message holds."""
        if message.role not in _ROLES:
            return []
        who = self._who(message)
        reading = _Message(self, message, who)
        found = reading.findings()
        del self.said[:-_LATEST]
        self._asked = reading.asked
        self._last = who.name
        return found

    def _who(self, message: Utterance) -> Who:
        name = named(message.speaker, message.role)
        if message.role == "user" and self._other.get("user", name) == name:
            other: str | None = self._other.get("assistant") or "the assistant"
        else:
            other = self._last if self._last != name else self._other.get("user")
        self._other[message.role] = name
        return Who(name, other)

    @property
    def asked(self) -> bool:
        """Whether the message before asked for something."""
        return self._asked


class _Message:
    """One message: its sentences in order, and the drafts that came of them."""

    def __init__(self, reader: Reader, message: Utterance, who: Who) -> None:
        self.asked = False
        self._reader = reader
        self._message = message
        self._who = who
        self._drafts: list[Draft] = []
        self._announced = False
        self._previous: Clause | None = None
        self._generic = message.role == "assistant" and (message.speaker or "assistant").strip().lower() in ASSISTANTS

    def findings(self) -> list[Finding]:
        for sentence in sentences(self._message.text):
            if not self._sentence(sentence):
                # What follows is a text to work on, or a part to play.
                break
        return [self._finding(draft) for draft in self._drafts]

    def _sentence(self, sentence: Span) -> bool:
        """Read one sentence; False when what follows it was not said but handed over."""
        self.asked = False
        point, notice = core(sentence)
        if self._message.role == "user" and (asked := command(point) or command(sentence)):
            self._command(asked, point)
            return True
        if doubt.is_task(sentence.text.lower()):
            return False
        low = point.text.lower().replace("’", "'")
        if doubt.is_question(low):
            self.asked = True
        elif only_announces(sentence.text):
            self._announced = True
        elif not (self._corrected(sentence) or doubt.is_supposed(low) or self._continues(point, low)):
            self._statement(point, eager=notice)
        return True

    # Commands

    def _command(self, asked: Command, sentence: Span) -> None:
        if asked.act in ("remember", "to do"):
            self._statement(Span(asked.start, asked.end, asked.text), eager=True, to_do=asked.act == "to do")
        elif asked.act == "remember that":
            self._keep_last()
        elif asked.act == "forget that":
            self._forget_last(asked)
        else:
            self._forget(asked.text, asked)
            self._rest_of(sentence)

    def _rest_of(self, sentence: Span) -> None:
        """After "forget my coffee order, I quit caffeine" the second clause is news; "it's 555" is not."""
        if found := _NEWS.search(sentence.text):
            self._statement(Span(sentence.start + found.end(), sentence.end, sentence.text[found.end() :]), eager=False)

    def _keep_last(self) -> None:
        if self._previous is not None and not (self._drafts and self._drafts[-1].clause.end >= self._previous.end):
            self._clause(self._previous, eager=True)

    def _forget_last(self, asked: Command) -> None:
        if self._drafts and self._drafts[-1].act == "forget":
            return
        if self._previous is not None:
            self._forget(self._previous.text, asked)
        elif self._reader.said:
            last = self._reader.said[-1]
            self._forget(last.text, asked, last.who)

    def _forget(self, subject: str, asked: Command, who: Who | None = None) -> None:
        about = clause(subject, asked.start, asked.end)
        whose = owner(about, "fact", who or self._who)
        self._drafts.append(Draft(about, "command.forget", "note", 0.8, "forget", whose, who or self._who))

    # Corrections

    def _corrected(self, sentence: Span) -> bool:
        found = correction(sentence.text, self._reader.said, self._who, announced=self._announced)
        self._announced = False
        if found is None:
            return False
        whole = clause(without_end(found.text), sentence.start, sentence.end)
        if found.base is None or found.who is self._who and found.base.text != found.text:
            point = core(Span(0, len(found.text), found.text))[0].text
            if doubt.is_guess(point.lower()) or doubt.is_small_talk(point.lower()):
                return False
        rule = self._rule(whole, eager=True)
        kind: Kind = (found.base.kind if found.base and found.base.kind else None) or (rule[1] if rule else "fact")
        whose = owner(whole, kind, found.who)
        if whose is None and found.base:
            whose = found.base.owner
        self._drafts.append(Draft(whole, "correction", kind, 0.75, "correct", whose, found.who))
        self._reader.said.append(Said(found.text, found.who, whose, kind))
        self._previous = whole
        return True

    # Statements

    def _continues(self, sentence: Span, low: str) -> bool:
        """Take up what only makes sense with the sentence before: "Too hot in August", "That's policy now"."""
        if not _BACKWARD.search(low) or self._previous is None:
            return False
        if self._drafts and self._drafts[-1].clause.end >= self._previous.end:
            last = self._drafts[-1]
            if last.kind in (*_STRONG_KINDS, "preference") or _POLICY.search(low):
                more = clause(sentence.text, sentence.start, sentence.end)
                last.clause = joined(last.clause, more, _glue(last.clause))
                last.reason = last.reason or sentence.text.strip(" .!")
                if _POLICY.search(low):
                    last.kind, last.rule = "pattern", "pattern.policy"
                return True
            return False
        if _POLICY.search(low) or low.startswith("let's"):
            both = joined(self._previous, clause(sentence.text, sentence.start, sentence.end), _glue(self._previous))
            self._drafts.append(Draft(both, "pattern.policy", "pattern", 0.65, owner=owner(both, "pattern", self._who)))
            return True
        return False

    def _statement(self, sentence: Span, *, eager: bool, to_do: bool = False) -> None:
        before = len(self._drafts)
        owned: str | None = None
        if to_do:
            self._to_do(sentence)
            return
        for each in clauses(sentence):
            point, notice = core(Span(each.start, each.end, self._message.text[each.start : each.end]))
            if point.start != each.start:
                each = clause(point.text, point.start, each.end, each.joint)
            if not each.words:
                continue
            if self._attached(each, before):
                continue
            draft = self._clause(each, eager=eager or notice)
            if draft and draft.owner is None and draft.kind == "fact" and owned and each.joint in ("and", ","):
                draft.owner = owned
            owned = (draft.owner if draft else None) or owned

    def _to_do(self, sentence: Span) -> None:
        whole = clause(sentence.text, sentence.start, sentence.end)
        self._drafts.append(Draft(whole, "command.to_do", "note", 0.7, owner=self._who.name))

    def _attached(self, each: Clause, before: int) -> bool:
        """A clause that explains the one before it belongs to that; one with news of its own does not."""
        if len(self._drafts) <= before or not each.joint:
            return False
        last = self._drafts[-1]
        pointing = bool(_POINTING.match(each.low))
        if last.kind in _STRONG_KINDS and _OBJECT.search(each.low) and not DATED.fits(each.low):
            pointing = True
        explains = last.kind in (*_STRONG_KINDS, "preference", "insight") and each.joint in (
            ",",
            ":",
            ";",
            "-",
            "–",
            "—",
            "--",
        )
        if last.kind == "pattern" and each.joint == ";" and not pointing:
            explains = False
        if last.kind == "preference" and not pointing:
            explains = False
        if each.joint == "so" and (last.kind == "failure" or not any(map(words.is_finite, each.words))):
            explains = True
        if pointing and each.joint not in ("while", "whereas"):
            explains = True
        if not explains:
            return False
        own = rules.first(each)
        if own and not pointing and (own.kind in ("decision", "preference") or own.name.startswith("plan")):
            return False
        if not pointing and each.first in _FIRST_PERSON and DATED.fits(each.low):
            return False
        last.clause = joined(last.clause, each, _joint(each.joint))
        if last.kind in _STRONG_KINDS and not last.reason and each.joint not in ("and", "but", "so"):
            last.reason = each.text.strip(" .!")
        if own and own.kind == "failure" and last.kind == "fact":
            last.kind, last.rule = "failure", own.name
        return True

    def _clause(self, each: Clause, *, eager: bool) -> Draft | None:
        previous, self._previous = self._previous, each
        if not self._is_meant(each, eager):
            if each.joint == "" or not doubt.is_small_talk(each.low):
                self._remember_said(each, None)
            return None
        rule = self._rule(each, eager=eager)
        if self._explains_last(each, rule):
            return None
        if rule is None or (self._message.role == "assistant" and not self._is_reported(each, rule)):
            self._remember_said(each, None)
            return None
        name, kind, importance = rule
        if kind == "failure" and len(each.words) < 4:
            return None
        if each.joint == "so" and previous is not None and kind == "decision" and not self._covers(previous):
            each = replace(joined(previous, each, ", so "), start=previous.start)
        whose = owner(each, kind, self._who)
        draft = Draft(each, name, kind, min(importance + 0.15 * eager, 1.0), owner=whose)
        if kind == "failure" and previous is not None and _POINTING.match(each.low) and not self._covers(previous):
            draft.clause = replace(
                joined(previous, each, _joint(each.joint) if each.joint else _glue(previous)), start=previous.start
            )
        if (
            name == "failure.did_not_work"
            and previous is not None
            and each.first in ("did", "didn't", "didnt", "does", "doesn't")
        ):
            draft.clause = replace(joined(previous, each, _glue(previous)), start=previous.start)
        self._drafts.append(draft)
        self._remember_said(each, draft)
        return draft

    def _explains_last(self, each: Clause, rule: tuple[str, Kind, float] | None) -> bool:
        """Take a plain statement after a decision or a failure for its reason, if it has none yet."""
        if not self._drafts or each.joint or (rule and rule[0] != "fact.statement"):
            return False
        last = self._drafts[-1]
        if (
            last.kind not in ("decision", "failure")
            or last.act != "keep"
            or last.reason
            or reasons.reason(last.clause.text)
        ):
            return False
        if rule is None and not _SHORT_REASON.match(each.low):
            return False
        last.clause = joined(last.clause, each, _glue(last.clause))
        last.reason = without_end(each.text)
        return True

    def _covers(self, previous: Clause) -> bool:
        return bool(self._drafts) and self._drafts[-1].clause.end >= previous.end

    def _remember_said(self, each: Clause, draft: Draft | None) -> None:
        text = _REPORTED.sub("", without_end(each.text))
        whose = draft.owner if draft else owner(each, "fact", self._who)
        self._reader.said.append(Said(text, self._who, whose, draft.kind if draft else None))

    def _is_meant(self, each: Clause, eager: bool) -> bool:
        main = reasons.main_part(each.low)
        if doubt.is_small_talk(each.low) or doubt.is_question(each.low) or _REPORTED.match(each.low):
            return False
        return not (doubt.is_guess(main) or (_hypothetical(main) and not eager))

    def _is_reported(self, each: Clause, rule: tuple[str, Kind, float]) -> bool:
        """Of an assistant's words keep what it did, decided and found out; not what it would tell anybody."""
        name, kind, _ = rule
        if doubt.is_advice(each.low) or "you" in each.words or "your" in each.words:
            return False
        if not self._generic:
            return True
        told = kind in ("decision", "failure", "insight") and not self._reader.asked
        return told and bool(reasons.reason(each.text) or reasons.rejected(each.text))

    def _rule(self, each: Clause, *, eager: bool) -> tuple[str, Kind, float] | None:
        found: Rule | None = rules.first(each)
        if found is not None and not (found.kind == "decision" and doubt.is_momentary(each.low)):
            if found.name == "pattern.required" and DATED.fits(each.low):
                return DATED.name, "fact", DATED.importance
            return found.name, found.kind, found.importance
        if doubt.is_momentary(each.low) and not eager:
            return None
        if EVERY.fits(each.low) and len(each.words) > 2:
            return EVERY.name, EVERY.kind, EVERY.importance
        if DATED.fits(each.low) and len(each.words) > 2 and not _POINTING.match(each.low):
            first = each.words[0] in _FIRST_PERSON
            return DATED.name, "decision" if first else "fact", DATED.importance
        name = fact(each, eager=eager)
        return (name, "fact", 0.55) if name else None

    def _finding(self, draft: Draft) -> Finding:
        who = draft.who or self._who
        told = without_end(draft.clause.text)
        text = retell(told, who)
        return Finding(
            text=text,
            kind=draft.kind,
            act=draft.act,
            owner=draft.owner,
            reason=draft.reason or reasons.reason(told) if draft.kind in _STRONG_KINDS else None,
            rejected=reasons.rejected(told) if draft.kind in (*_STRONG_KINDS, "preference") else (),
            due=_due(text, draft, self._message.said_at),
            importance=round(draft.importance, 2),
            start=draft.clause.start,
            end=draft.clause.end,
            rule=draft.rule,
        )


def _hypothetical(low: str) -> bool:
    found = re.search(r"\b(?:would|could)\b|\w'd\b", low)
    return bool(found) and not re.search(
        r"(?:would|'d) (?:\w+ )?(?:rather|prefer|sooner|kindly|ask|like (?:you|to be|all|my))|promised|couldn't|would(?:n't| not) recommend|\bif\b",
        low,
    )


def _due(text: str, draft: Draft, said_at: datetime) -> datetime | None:
    """Only days to come are due; a day that has passed is when something happened."""
    if draft.act == "forget" or draft.kind in ("preference", "failure"):
        return None
    found = due(text, said_at)
    return found if found and found.date() >= said_at.date() else None


def _glue(before: Clause) -> str:
    return " " if before.text.rstrip().endswith((".", "!", "?")) else ". "


def _joint(joint: str) -> str:
    if joint in (",", ";", ":"):
        return joint + " "
    return (
        f" {joint} "
        if joint.isalpha() and joint not in ("so", "but")
        else (f", {joint} " if joint.isalpha() else f" {joint} ")
    )
