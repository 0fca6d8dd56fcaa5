"""Reads a conversation sentence by sentence, and keeps what later sentences refer to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from commonplace.learn import doubt, reasons, refer, rules, words
from commonplace.learn.clauses import Clause, clause, clauses
from commonplace.learn.commands import Command, command
from commonplace.learn.corrections import Said, correction, may_announce, only_announces
from commonplace.learn.drafts import REASONED, Draft, between
from commonplace.learn.opening import core, without_end
from commonplace.learn.owners import owner
from commonplace.learn.persons import Who, named
from commonplace.learn.regex import compiled
from commonplace.learn.rules.facts import fact
from commonplace.learn.rules.plans import DATED, EVERY, dated
from commonplace.learn.segment import Span, sentences
from commonplace.learn.types import Finding, Utterance
from commonplace.recall.speech import ASSISTANTS
from commonplace.values import Kind

_ROLES = ("user", "assistant")
_LATEST = 50
"""Statements that a correction can refer to."""

Reading = tuple[str, Kind, float]
"""The name of the rule that fits, the kind, and how much it matters."""

_POINTING = compiled(
    r"""^(?:it|they|that|this|these|those|she|he|which|otherwise|the_other|both|none|nothing|his|her|their|its)(?:'s
        |'re|'ll)?_"""
)
_POINTED_AT = compiled(r"_(?:it|that|them|those|this)[.!]*$")
_BACKWARD = compiled(
    r"""\b(?:the_(?:other|old|new|first|second)_one|because_of_(?:that|this|it)|for_that_reason)\b
        |^let's_[\w_]+_(?:that|this|those|these|it|them)[.!]*$|^(?:that's|this_is|that_is|it's)_(?:policy|the_(?:rule
        |policy|convention|way)|final|decided|settled|why|because|how_we)\b|^(?:too|mainly|mostly|because|bc|since
        |reason|the_reason|simply)\b(?!_(?:bad|late|funny|short|many_cooks|then|\w+day|january))|_instead[.!]*$
        |_(?:over|about|because_of|due_to)_(?:it|that|this|them)[.!]*$"""
)
_POLICY = compiled(
    r"""^(?:that's|this_is|that_is|it's)_(?:now_)?(?:policy|the_(?:rule|policy|convention)|how_we)|^let's_"""
)
_SHORT_REASON = compiled(
    r"""^(?:not_enough|not_\w+_enough|no_(?:budget|time|money|space|support|room|demand|interest|one)|only|just|cheaper
    |faster|simpler|easier|better|less|more|fewer|both|same|way_too|far_too|half|two|three|four)\b"""
)
_SETTLED = compiled(
    r"""^(?:it's_|that's_|all_|finally_|ok_|right,?_)*(?:settled|decided|official|decision_made|final|done_deal|agreed
        |approved|verdict_is_in)[.!]*$"""
)
_ATTEMPT = compiled(r"""
    ^(?:i|we|he|she|they|\w+)(?:'ve|_have|_has)?_(?:tried|tested|attempted|experimented|gave_\w+_a_(?:try|go)|trialled
    |piloted|grew|used)\b""")
_BAD = compiled(
    r"""\b(?:complain\w*|tripled|doubled|worse|worst|drop(?:ped|s)?|lost|losing|quit|broke|hated|no|not|never|only
        |back_to|slow\w*|late|too|nobody|none|nothing|killed|crash\w*|fail\w*|error\w*|refund\w*|burn\w*|sick|sink
        |sank|flooded|dead|died|mess|disaster|bad\w*|empty|wrong|stuck|stopped|fell|melted|soggy|rash|fired
        |unsubscrib\w*|bounced|backlog|twice_as|didn't|doesn't|couldn't|wouldn't|wasn't)\b"""
)
_MATERIAL = compiled(
    r"\b(?:the|this|that|my)_(?:story|text|poem|paragraph|letter|dialogue|scene|sentences?|passage|song|above|plot)\b"
)
_REPORTED = re.compile(
    r"^(?:i|we)(?:'ve| have| had|'d)? (?:said|wrote|told (?:you|everyone|them)|mentioned|claimed)"
    r"(?: (?:before|earlier|yesterday))? (?:that )?(?!no\b)",
    re.IGNORECASE,
)
_NEWS = re.compile(r"(?:,|;|\s[-–—]|\.)\s+(?=(?:i|we|my|our|i'm|we're|i've)\s)", re.IGNORECASE)
_FOLLOWING = compiled(
    r"""\b(?:remember|keep|note|know|save|store|write_down)\b[^.:]{0,30}\b(?:the_following|these_things|this
        |these)\b(?P<about>[^.:]{0,60})[.:]?\s*$""",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(r"\b(?:would|could)\b|\w'd\b")
_MEANT_SO = compiled(
    r"""(?:would|'d)_(?:\w+_)?(?:rather|prefer|sooner|kindly|ask|like_(?:you|to_be|all|my))|\bid_rather\b|promised
        |would(?:n't|_not)_recommend|^(?:can|could|would)_(?:we|you|u)_(?:\w+_)?(?:stop|not|never|avoid|always)"""
)
_FIRST_PERSON = frozenset("i i'm i'll i've i'd we we're we'll we've".split())
_POINTERS = frozenset("it them that those".split())
_PLAIN = ("fact.statement", "fact.plain")
_MARKS = (",", ":", ";", "-", "–", "—", "--")


@dataclass(slots=True)
class Reader:
    """Goes through messages in their order; holds what was said and asked, and whom "you" and "she" are."""

    said: list[Said] = field(default_factory=list)
    person: str | None = None
    question: str | None = None
    """What the message before asked, if it did."""
    _names: dict[str, str] = field(default_factory=dict)
    _last: str | None = None

    def read(self, message: Utterance) -> list[Finding]:
        """Give what a message holds."""
        if message.role not in _ROLES:
            return []
        who = self._who(message)
        reading = _Message(self, message, who)
        found = reading.findings()
        del self.said[:-_LATEST]
        self.question = reading.question
        self._last = who.name
        return found

    def _who(self, message: Utterance) -> Who:
        name = named(message.speaker, message.role)
        if message.role == "user" and self._names.get("user", name) == name:
            other: str | None = self._names.get("assistant") or "the assistant"
        else:
            other = self._last if self._last != name else self._names.get("user")
        self._names[message.role] = name
        return Who(name, other)


class _Message:
    """One message: its sentences in order, and the drafts that came of them."""

    def __init__(self, reader: Reader, message: Utterance, who: Who) -> None:
        self.question: str | None = None
        self._reader = reader
        self._message = message
        self._who = who
        self._drafts: list[Draft] = []
        self._previous: Clause | None = None
        self._wrong = False
        self._settled = False
        self._explained = False
        self._eager = False
        self._topic: str | None = None
        self._generic = message.role == "assistant" and (message.speaker or "assistant").strip().lower() in ASSISTANTS

    def findings(self) -> list[Finding]:
        """Give what the message holds, in its order."""
        for number, sentence in enumerate(sentences(self._message.text)):
            if number == 0 and self._answered(sentence):
                continue
            if not self._sentence(sentence):
                # What follows is a text to work on, or a part to play.
                break
        return [draft.finding(self._message.said_at) for draft in self._drafts]

    def _sentence(self, sentence: Span) -> bool:
        """Read one sentence; False when what follows it was not said but handed over."""
        self.question = None
        point, notice = core(sentence)
        low = " ".join(point.text.lower().replace("’", "'").split())
        if self._message.role == "user" and (asked := _asked_of_the_book(point, sentence)):
            if asked.act != "forget that" or not self._corrected(sentence):
                self._command(asked, point)
        elif doubt.is_task(sentence.text.lower()):
            if _MATERIAL.search(low):
                self._drafts.clear()
            return False
        elif doubt.is_question(low) and not rules.asks_for_a_habit(low):
            self._asked(sentence)
        elif only_announces(sentence.text):
            self._wrong = True
        elif _SETTLED.match(low):
            self._settled = True
        elif not (self._corrected(sentence) or doubt.is_supposed(low) or self._continues(point, low)):
            self._statement(point, eager=notice or self._eager)
        self._reader.person = refer.person(sentence.text) or self._reader.person
        return True

    def _asked(self, sentence: Span) -> None:
        self.question = sentence.text
        self._previous = clause(sentence.text.rstrip(" ?!"), sentence.start, sentence.end)

    def _answered(self, sentence: Span) -> bool:
        """Take a word that answers the question before for a statement together with it."""
        question = self._reader.question
        point = core(sentence)[0]
        low = without_end(point.text.lower())
        if not question or self._generic or not refer.is_open(question) or not refer.is_answer(low):
            return False
        kind = refer.answered(question)
        text = f'{self._who.name}, asked "{question.strip()}": {without_end(point.text)}'
        whole = replace(clause(low, point.start, sentence.end), text=text)
        self._drafts.append(Draft(whole, "answer", kind, 0.5, self._who.name, self._who))
        return True

    # Commands

    def _command(self, asked: Command, sentence: Span) -> None:
        if asked.act == "remember":
            if following := _FOLLOWING.search(sentence.text):
                self._eager = True
                self._topic = following["about"].removeprefix(" about").strip() or None
            else:
                self._statement(Span(asked.start, asked.end, asked.text), eager=True)
        elif asked.act == "to do":
            whole = clause(asked.text, asked.start, asked.end)
            self._drafts.append(Draft(whole, "command.to_do", "note", 0.7, self._who.name, self._who))
        elif asked.act == "remember that":
            self._keep_last()
        elif asked.act == "forget that":
            self._forget_last(asked)
        else:
            self._forget(asked.text, asked, self._who)
            self._rest_of(sentence)

    def _rest_of(self, sentence: Span) -> None:
        """After "forget my coffee order, I quit caffeine" the second clause is news; "it's 555" is not."""
        if found := _NEWS.search(sentence.text):
            self._statement(Span(sentence.start + found.end(), sentence.end, sentence.text[found.end() :]), eager=False)

    def _keep_last(self) -> None:
        if self._previous is None:
            self._eager = True
        elif not (self._drafts and self._drafts[-1].covers(self._previous)):
            self._clause(self._previous, eager=True)

    def _forget_last(self, asked: Command) -> None:
        if self._drafts and self._drafts[-1].act == "forget":
            return
        if self._previous is not None:
            self._forget(self._previous.text, asked, self._who)
        elif self._reader.said:
            last = self._reader.said[-1]
            self._forget(last.text, asked, last.who)

    def _forget(self, subject: str, asked: Command, who: Who) -> None:
        about = clause(subject, asked.start, asked.end)
        about = replace(about, text=subject)
        self._drafts.append(Draft(about, "command.forget", "note", 0.8, owner(about, "fact", who), who, "forget"))

    # Corrections

    def _corrected(self, sentence: Span) -> bool:
        wrong, self._wrong = self._wrong, False
        found = correction(sentence.text, self._reader.said, self._who, announced=wrong)
        if found is None:
            self._wrong = may_announce(sentence.text)
            return False
        whole = clause(without_end(found.text), sentence.start, sentence.end)
        if doubt.is_small_talk(whole.low) or ((found.base is None or not found.made) and doubt.is_guess(whole.low)):
            return False
        rule = self._rule(whole, eager=found.base is not None)
        if rule is None and found.base is None:
            return False
        kind: Kind = (found.base.kind if found.base and found.base.kind else None) or (rule[1] if rule else "fact")
        whose = owner(whole, kind, found.who)
        if whose is None and found.base:
            whose = found.base.owner
        self._drafts.append(Draft(whole, "correction", kind, 0.75, whose, found.who, "correct"))
        self._reader.said.append(Said(found.text, found.who, whose, kind))
        self._previous = whole
        return True

    # Statements

    def _continues(self, sentence: Span, low: str) -> bool:
        """Take up what only makes sense with the sentence before: "Too hot in August", "That's policy now"."""
        if self._previous is None or not _BACKWARD.search(low):
            return False
        more = clause(sentence.text, sentence.start, sentence.end)
        own = rules.first(more)
        if own is not None and own.kind in ("pattern", "preference") and not _POLICY.match(low):
            return False
        policy = bool(_POLICY.match(low))
        if self._drafts and self._drafts[-1].covers(self._previous):
            last = self._drafts[-1]
            if not policy and last.kind not in (*REASONED, "preference"):
                return False
            last.add(more)
            if policy and last.kind == "fact":
                last.kind, last.rule = "pattern", "pattern.policy"
            return True
        if policy:
            draft = Draft(more, "pattern.policy", "pattern", 0.65, None, self._who)
            draft.begin_with(self._previous)
            draft.owner = owner(draft.clause, "pattern", self._who)
            self._drafts.append(draft)
        return policy

    def _statement(self, sentence: Span, *, eager: bool) -> None:
        before = len(self._drafts)
        owned: str | None = None
        for each in clauses(sentence):
            point, notice = core(Span(each.start, each.end, self._message.text[each.start : each.end]))
            if point.start != each.start:
                each = clause(point.text, point.start, each.end, each.joint)
            told = refer.resolved(each, self._reader.person, self._topic)
            if not told.words or self._attached(told, before):
                continue
            draft = self._clause(told, eager=eager or notice or told is not each)
            if draft and draft.owner is None and draft.kind == "fact" and owned and each.joint in ("and", ",", "so"):
                draft.owner = owned
            owned = (draft.owner if draft else None) or owned

    def _attached(self, each: Clause, before: int) -> bool:
        """A clause that explains the one before it belongs to that; one with news of its own does not."""
        if each.joint == "and" and self._explained and not self._has_own_news(each):
            self._drafts[-1].add(each, " and ", explains=False)
            return True
        self._explained = False
        if len(self._drafts) <= before or not each.joint:
            return False
        last = self._drafts[-1]
        pointing = bool(_POINTING.match(each.low))
        if last.kind in REASONED and _POINTED_AT.search(each.low) and not dated(each):
            pointing = True
        if not pointing and (not _explains(each, last) or self._has_own_news(each)):
            return False
        last.add(each, between(each.joint), explains=each.joint in _MARKS)
        if last.kind == "fact" and (own := rules.first(each)) and own.kind == "failure":
            last.kind, last.rule = "failure", own.name
        return True

    def _has_own_news(self, each: Clause) -> bool:
        own = rules.first(each)
        if own and (own.kind in ("decision", "preference") or own.name.startswith("plan")):
            return True
        return each.first in _FIRST_PERSON and dated(each)

    def _clause(self, each: Clause, *, eager: bool) -> Draft | None:
        previous, self._previous = self._previous, each
        if _SETTLED.match(each.low):
            self._settled = True
            return None
        meant = self._is_meant(each, eager)
        rule = self._rule(each, eager=eager) if meant else None
        if self._explains_last(each, rule, previous):
            return None
        if rule is None or (self._message.role == "assistant" and not self._is_reported(each, rule)):
            self._remember(each, None)
            return None
        draft = self._draft(each, rule, previous)
        if draft is None:
            return None
        draft.importance += 0.15 * eager
        self._drafts.append(draft)
        self._remember(each, draft)
        return draft

    def _draft(self, each: Clause, rule: Reading, previous: Clause | None) -> Draft | None:
        name, kind, importance = rule
        if self._settled and kind == "fact":
            name, kind, importance = "decision.announced", "decision", 0.75
        self._settled = False
        whose = owner(each, kind, self._who)
        if whose is None and name.startswith("plan") and not any(map(words.is_finite, each.words)):
            whose = self._who.name
        draft = Draft(each, name, kind, importance, whose, self._who)
        loose = previous is not None and not (self._drafts and self._drafts[-1].covers(previous))
        if each.joint == "so" and kind == "decision" and not loose and self._drafts[-1].rule in _PLAIN:
            self._give_reason(draft, self._drafts.pop().clause)
            return draft
        if each.joint == "so" and kind == "decision" and previous and not _POINTERS.isdisjoint(each.words):
            draft.begin_with(previous, ", so ")
            return draft
        if previous is None or not loose:
            # "Rolled back." tells nothing new after the failure it belongs to.
            return None if kind == "failure" and len(each.words) < 4 and self._drafts else draft
        if each.joint == "so" and kind == "decision":
            self._give_reason(draft, previous)
        elif name == "pattern.again" or (
            kind == "failure"
            and (
                _POINTING.match(each.low)
                or _ATTEMPT.match(previous.low)
                or each.first in words.AUXILIARIES
                or len(each.words) < 4
            )
        ):
            draft.begin_with(previous, between(each.joint) if each.joint else None)
        return draft

    def _give_reason(self, draft: Draft, reason: Clause) -> None:
        """What stands before "so" is why; earlier statements of the same sentence belong to it."""
        draft.begin_with(reason, ", so ")
        draft.reason = without_end(reason.text)
        while reason.joint and self._drafts and self._drafts[-1].rule in _PLAIN:
            reason = self._drafts.pop().clause
            draft.begin_with(reason, ", ")

    def _explains_last(self, each: Clause, rule: Reading | None, previous: Clause | None) -> bool:
        """Take a plain statement after a decision or an attempt for its reason or its outcome, if there is none yet."""
        if not self._drafts or (rule and rule[0] not in _PLAIN and rule[1] != "failure"):
            return False
        failed = bool(rule) and rule is not None and rule[1] == "failure"
        last = self._drafts[-1]
        if last.act != "keep" or doubt.is_small_talk(each.low):
            return False
        if _ATTEMPT.match(last.clause.low) and previous is not None and last.covers(previous) and _BAD.search(each.low):
            if last.kind in ("fact", "failure", "insight"):
                last.kind, last.rule = "failure", "failure.attempt"
                last.add(each, between(each.joint) if each.joint else None)
                return True
            return False
        if last.kind not in ("decision", "failure") or each.joint or last.has_reason() or failed:
            return False
        if rule is None and not (_SHORT_REASON.match(each.low) or _HYPOTHETICAL.search(each.low) or _is_plain(each)):
            return False
        last.add(each)
        self._explained = True
        return True

    def _remember(self, each: Clause, draft: Draft | None) -> None:
        text = _REPORTED.sub("", without_end(each.text))
        whose = draft.owner if draft else owner(each, "fact", self._who)
        self._reader.said.append(Said(text, self._who, whose, draft.kind if draft else None))

    def _is_meant(self, each: Clause, eager: bool) -> bool:
        if doubt.is_small_talk(each.low) or _REPORTED.match(each.low) or each.low[:1] in '"“«':
            return False
        if doubt.is_question(each.low) and not rules.asks_for_a_habit(each.low):
            return False
        main = reasons.main_part(each.low)
        supposed = bool(_HYPOTHETICAL.search(main)) and not _MEANT_SO.search(main)
        return not (doubt.is_guess(main) or (supposed and not eager))

    def _is_reported(self, each: Clause, rule: Reading) -> bool:
        """Of an assistant's words keep what it did, decided and found out; not what it would tell anybody."""
        name, kind, _ = rule
        if doubt.is_advice(each.low) or "you" in each.words or "your" in each.words:
            return False
        reasoned = bool(reasons.reason(each.text) or reasons.rejected(each.text))
        if not self._generic:
            return reasoned or name != "decision.it_is"
        return reasoned and kind in ("decision", "failure", "insight") and not self._reader.question

    def _rule(self, each: Clause, *, eager: bool) -> Reading | None:
        found = rules.first(each)
        fleeting = doubt.is_momentary(each.low) and not dated(each)
        if found is not None and not (found.kind == "decision" and fleeting):
            if found.name == "pattern.required" and DATED.fits(each.low):
                return DATED.name, "fact", DATED.importance
            return found.name, found.kind, found.importance
        if fleeting and not eager:
            return None
        if EVERY.fits(each.low) and len(each.words) > 2:
            return EVERY.name, EVERY.kind, EVERY.importance
        if dated(each) and not _POINTING.match(each.low):
            return DATED.name, "decision" if each.first in _FIRST_PERSON else "fact", DATED.importance
        if len(each.words) < 5 and _POINTED_AT.search(each.low):
            return None
        name = fact(each, eager=eager)
        return (name, "fact", 0.55) if name else None


def _asked_of_the_book(point: Span, sentence: Span) -> Command | None:
    """Read a command; a word that seems only to open a sentence may belong to it."""
    found = command(point)
    return found or (command(sentence) if point is not sentence else None)


def _explains(each: Clause, last: Draft) -> bool:
    """Tell whether a clause may explain the draft before it, by how it is joined."""
    if each.joint == "so":
        return last.kind == "failure" or not _is_whole(each)
    if last.kind == "pattern" and each.joint == ";":
        return False
    return each.joint in _MARKS and last.kind in (*REASONED, "insight")


def _is_plain(each: Clause) -> bool:
    """Tell whether a clause says something about something else than the speakers."""
    first = each.first.partition("'")[0]
    return len(each.words) > 2 and first not in words.PRONOUNS and any(map(words.is_finite, each.words[1:5]))


def _is_outcome(each: Clause, previous: Clause) -> bool:
    """Tell whether a clause only says how the one before ended."""
    return bool(_ATTEMPT.match(previous.low)) or each.first in words.AUXILIARIES or len(each.words) < 4


def _is_whole(each: Clause) -> bool:
    if each.first == "no":
        return False
    return any(map(words.is_finite, each.words)) or not words.VERBS.isdisjoint(each.words[1:])
