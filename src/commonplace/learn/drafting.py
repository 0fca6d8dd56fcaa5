"""Turns clauses into drafts: which stand alone, which explain the one before, and which need it to make sense."""

from __future__ import annotations

from commonplace.learn import doubt, reasons, refer, rules, words
from commonplace.learn.clauses import Clause, clause, clauses
from commonplace.learn.corrections import updated
from commonplace.learn.drafts import REASONED, FindingDraft, between
from commonplace.learn.kinds import FIRST_PERSON, PLAIN, POINTED_AT, POINTING, Reading, content, kind, says_little
from commonplace.learn.opening import core, without_end
from commonplace.learn.owners import owner
from commonplace.learn.persons import Who
from commonplace.learn.regex import compiled
from commonplace.learn.rules.plans import dated
from commonplace.learn.said import Said
from commonplace.learn.segment import Span
from commonplace.learn.worth import HYPOTHETICAL, REPORTED, Voice, is_meant, is_reported

_BACKWARD = compiled(
    r"""\b(?:the_(?:other|old|new|first|second)_one|because_of_(?:that|this|it)|for_that_reason)\b
        |^let's_[\w_]+_(?:that|this|those|these|it|them)[.!]*$|^(?:that's|this_is|that_is|it's)_(?:policy|the_(?:rule
        |policy|convention|way)|final|decided|settled|why|because|how_we)\b|^(?:too|mainly|mostly|because|bc|since
        |reason|the_reason|simply|[\w-]+,_(?:because|since|due_to))\b(?!_(?:bad|late|funny|short|many_cooks|then
        |\w+day|january))|_instead[.!]*$
        |_(?:over|about|because_of|due_to)_(?:it|that|this|them)[.!]*$"""
)
_POLICY = compiled(
    r"""^(?:that's|this_is|that_is|it's)_(?:now_)?(?:policy|the_(?:rule|policy|convention)|how_we)|^let's_"""
)
_SHORT_REASON = compiled(
    r"""^(?:not_enough|not_\w+_enough|no_(?:budget|time|money|space|support|room|demand|interest|one)|only|just|cheaper
    |faster|simpler|easier|better|less|more|fewer|both|same|way_too|far_too|half|two|three|four)\b"""
)
SETTLED = compiled(
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
        |unsubscrib\w*|faint\w*|gave_up|hurts?|ached?|bitter|peeled|stained?|leaked|cracked|snapped|deadlock|bounced
        |backlog|twice_as|didn't|doesn't|couldn't|wouldn't|wasn't)\b"""
)
_WENT_BAD = compiled(
    r"""\b(?:turned|went|came_out|got|became|ended_up)_(?:all_)?(?:sour|mouldy|moldy|bad|wrong|flat|soggy|stale|brown
        |hard
        |bitter)\b"""
)
_POINTERS = frozenset("it them that those".split())
_FEW = 2
_NEEDS_MORE = ("pattern.again", "pattern.otherwise", "decision.named", "plan.dated")
_OWNERS = frozenset("his her their".split())
_MARKS = (",", ":", ";", "-", "–", "—", "--")


class Drafting:
    """The drafts of one message, and what the next clause may refer to."""

    def __init__(self, text: str, who: Who, said: list[Said], voice: Voice) -> None:
        self.drafts: list[FindingDraft] = []
        self.previous: Clause | None = None
        self.settled = False
        self.topic: str | None = None
        self.person: str | None = None
        self._text = text
        self._who = who
        self._said = said
        self._voice = voice
        self._explained = False

    def continues(self, sentence: Span, low: str) -> bool:
        """Take up what only makes sense with the sentence before: "Too hot in August", "That's policy now"."""
        if self.previous is None or not _BACKWARD.search(low):
            return False
        more = clause(sentence.text, sentence.start, sentence.end)
        if dated(more):
            return False
        own = rules.first(more)
        if own is not None and own.kind in ("pattern", "preference") and not _POLICY.match(low):
            return False
        policy = bool(_POLICY.match(low))
        if self.drafts and self.drafts[-1].covers(self.previous):
            last = self.drafts[-1]
            if not policy and last.kind not in (*REASONED, "preference"):
                return False
            last.add(more)
            if policy and last.kind == "fact":
                last.kind, last.rule = "pattern", "pattern.policy"
            return True
        if policy:
            draft = FindingDraft(more, "pattern.policy", "pattern", 0.65, None, self._who)
            draft.begin_with(self.previous)
            draft.owner = owner(draft.clause, "pattern", self._who)
            self.drafts.append(draft)
        return policy

    def statement(self, sentence: Span, *, eager: bool) -> None:
        before = len(self.drafts)
        owned: str | None = None
        for each in clauses(sentence):
            point, notice = core(Span(each.start, each.end, self._text[each.start : each.end]))
            if point.start != each.start:
                each = clause(point.text, point.start, each.end, each.joint)
            told = refer.resolved(each, self.person, self.topic)
            if not told.words or self._attached(told, before):
                continue
            draft = self.clause(told, eager=eager or notice)
            if draft and draft.owner is None and draft.kind == "fact" and owned and each.joint in ("and", ",", "so"):
                draft.owner = owned
            owned = (draft.owner if draft else None) or owned

    def _attached(self, each: Clause, before: int) -> bool:
        """A clause that explains the one before it belongs to that; one with news of its own does not."""
        if each.joint == "and" and self._explained and not self._has_own_news(each):
            self.drafts[-1].add(each, " and ", explains=False)
            return True
        self._explained = False
        if len(self.drafts) <= before or not each.joint:
            return False
        last = self.drafts[-1]
        pointing = bool(POINTING.match(each.low)) and not (each.first in _OWNERS and self._has_own_news(each))
        if last.kind in REASONED and self._points_at(each):
            pointing = True
        if last.kind == "preference" and each.joint in _MARKS and each.first in FIRST_PERSON and content(each) <= _FEW:
            pointing = True
        if not pointing and (not _explains(each, last) or self._has_own_news(each)):
            return False
        last.add(each, between(each.joint), explains=each.joint in _MARKS)
        self._explained = each.joint in _MARKS and last.kind in REASONED
        last.owner = last.owner or owner(last.clause, last.kind, self._who)
        if last.kind == "fact" and (own := rules.first(each)) and own.kind == "failure":
            last.kind, last.rule = "failure", own.name
        elif last.rule == "fact.personal" and each.first == "it" and _WENT_BAD.search(each.low):
            last.kind, last.rule = "failure", "failure.attempt"
        return True

    def _points_at(self, each: Clause) -> bool:
        """Tell whether a clause is about the one before: "we'll do it ourselves", "I want that"."""
        if content(each) <= 1 and not _POINTERS.isdisjoint(each.words):
            return True
        return bool(POINTED_AT.search(each.low)) and not dated(each)

    def _has_own_news(self, each: Clause) -> bool:
        own = rules.first(each)
        if own and (own.kind in ("decision", "preference") or own.name.startswith("plan")):
            return True
        return each.first in FIRST_PERSON and dated(each)

    def clause(self, each: Clause, *, eager: bool) -> FindingDraft | None:
        previous, self.previous = self.previous, each
        if SETTLED.match(each.low):
            self.settled = True
            return None
        rule = kind(each, eager=eager) if is_meant(each, eager=eager) else None
        if self._explains_last(each, rule, previous):
            return None
        if rule is None and self._has_failed(each, previous):
            rule = "failure.attempt", "failure", 0.65
        if rule is None and previous and each.joint and each.first == "otherwise":
            rule = "pattern.otherwise", "pattern", 0.65
        if rule is None or not is_reported(each, rule, self._voice):
            self._remember(each, None)
            return None
        if self._voice.assistant and rule[0] == "fact.personal" and reasons.reason(each.text):
            rule = "decision.reasoned", "decision", 0.65
        draft = self._draft(each, rule, previous)
        if draft is None or (not eager and says_little(draft.clause, draft.rule)):
            self._remember(each, None)
            return None
        draft.owner = draft.owner or owner(draft.clause, draft.kind, self._who)
        draft.importance += 0.15 * eager
        if draft.kind == "fact" and (found := updated(without_end(each.text), self._said, self._who)) and found.base:
            found.base.withdraw()
            draft.act = "correct"
        self.drafts.append(draft)
        self._remember(each, draft)
        return draft

    def _has_failed(self, each: Clause, previous: Clause | None) -> bool:
        """Tell whether a clause says how an attempt went that was told of just before."""
        if previous is None or not _ATTEMPT.match(previous.low) or doubt.is_guess(each.low):
            return False
        return each.joint in ("but", ";", ":") or bool(_BAD.search(each.low))

    def _draft(self, each: Clause, rule: Reading, previous: Clause | None) -> FindingDraft | None:
        name, named, importance = rule
        if self.settled and named == "fact":
            name, named, importance = "decision.announced", "decision", 0.75
        self.settled = False
        whose = owner(each, named, self._who)
        if whose is None and name.startswith("plan") and not any(map(words.is_finite, each.words)):
            whose = self._who.name
        draft = FindingDraft(each, name, named, importance, whose, self._who)
        if (
            name != "decision.it_is"
            and named == "decision"
            and previous
            and not each.joint
            and self._points_at(each)
            and content(each) <= 1
        ):
            # "Dropping it": what was tried belongs to it.
            draft.begin_with(previous)
            return draft
        loose = previous is not None and not (self.drafts and self.drafts[-1].covers(previous))
        if each.joint == "so" and named == "decision" and not loose and self.drafts[-1].rule in PLAIN:
            self._give_reason(draft, self.drafts.pop().clause)
            return draft
        if each.joint == "so" and named == "decision" and previous and not _POINTERS.isdisjoint(each.words):
            draft.begin_with(previous, ", so ")
            return draft
        if previous is None or not loose:
            # "Rolled back." tells nothing new after the failure it belongs to.
            return None if named == "failure" and content(each) < 2 and self.drafts else draft
        if each.joint == "so" and named == "decision":
            self._give_reason(draft, previous)
        elif (name in _NEEDS_MORE and (name == "pattern.again" or POINTING.match(each.low))) or (
            named == "failure"
            and (
                POINTING.match(each.low)
                or _ATTEMPT.match(previous.low)
                or each.first in words.AUXILIARIES
                or len(each.words) < 4
            )
        ):
            draft.begin_with(previous, between(each.joint) if each.joint else None)
        return draft

    def _give_reason(self, draft: FindingDraft, reason: Clause) -> None:
        """The words before "so" are the reason; earlier statements of the same sentence belong to it."""
        draft.begin_with(reason, ", so ")
        draft.reason = without_end(reason.text)
        while reason.joint and self.drafts and self.drafts[-1].rule in PLAIN:
            reason = self.drafts.pop().clause
            draft.begin_with(reason, ", ")

    def _explains_last(self, each: Clause, rule: Reading | None, previous: Clause | None) -> bool:
        """Take a plain statement after a decision or an attempt for its reason or its outcome, if there is none yet."""
        if not self.drafts or (rule and rule[0] not in PLAIN and rule[1] != "failure"):
            return False
        failed = bool(rule) and rule is not None and rule[1] == "failure"
        last = self.drafts[-1]
        if last.act != "keep" or doubt.is_small_talk(each.low):
            return False
        if _ATTEMPT.match(last.clause.low) and previous is not None and last.covers(previous) and _BAD.search(each.low):
            if last.kind in ("fact", "failure", "insight"):
                last.kind, last.rule = "failure", "failure.attempt"
                last.add(each, between(each.joint) if each.joint else None)
                return True
            return False
        if failed and last.rule == "fact.personal" and not each.joint and content(each) <= _FEW + 1:
            # "Painted the shed without priming it. Whole wall to redo."
            last.kind, last.rule = "failure", "failure.attempt"
            last.add(each)
            return True
        if last.kind not in ("decision", "failure") or each.joint or last.has_reason() or failed:
            return False
        plain = _is_plain(each) or (last.kind == "failure" and each.first in ("we", "i") and len(each.words) > 2)
        if rule is None and not (_SHORT_REASON.match(each.low) or HYPOTHETICAL.search(each.low) or plain):
            return False
        last.add(each)
        self._explained = True
        return True

    def _remember(self, each: Clause, draft: FindingDraft | None) -> None:
        text = REPORTED.sub("", without_end(each.text))
        whose = draft.owner if draft else owner(each, "fact", self._who)
        self._said.append(Said(text, self._who, whose, draft.kind if draft else None, draft))


def _explains(each: Clause, last: FindingDraft) -> bool:
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


def _is_whole(each: Clause) -> bool:
    if each.first == "no":
        return False
    return any(map(words.is_finite, each.words)) or not words.VERBS.isdisjoint(each.words[1:])
