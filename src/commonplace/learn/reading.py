"""Reads a conversation sentence by sentence, and keeps what later sentences refer to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from commonplace.learn import doubt, refer, rules, words
from commonplace.learn.clauses import clause, clauses
from commonplace.learn.commands import Command, command, dropped, may_ask, recalls
from commonplace.learn.corrections import correction, taken_back
from commonplace.learn.cues import may_announce, only_announces
from commonplace.learn.drafting import SETTLED, Drafting
from commonplace.learn.drafts import FindingDraft
from commonplace.learn.kinds import kind
from commonplace.learn.opening import core, without_end
from commonplace.learn.owners import owner
from commonplace.learn.persons import Who
from commonplace.learn.persons import named as name_of
from commonplace.learn.regex import compiled
from commonplace.learn.rules.patterns import DESCRIPTIVE
from commonplace.learn.said import Said
from commonplace.learn.segment import Span, sentences
from commonplace.learn.worth import REPORTED, Voice
from commonplace.text.lexicon import ASSISTANTS
from commonplace.values import Kind
from commonplace.values.extraction import Utterance

_ROLES = ("user", "assistant")
_LATEST = 50
"""Statements that a correction can refer to."""

_MATERIAL = compiled(
    r"\b(?:the|this|that|my)_(?:story|text|poem|paragraph|letter|dialogue|scene|sentences?|passage|song|above|plot)\b"
)
_NEWS = re.compile(r"(?:,|;|\s[-–—]|\.)\s+(?=(?:i|we|my|our|i'm|we're|i've)\s)", re.IGNORECASE)
_LEAD = re.compile(r"[^:,;.]{3,40}:\s+(?=\S)")
_FOLLOWING = compiled(
    r"""\b(?:remember|keep|note|know|save|store|write_down)\b[^.:]{0,30}\b(?:the_following|these_things|this
        |these)\b(?P<about>[^.:]{0,60})[.:]?\s*$""",
    re.IGNORECASE,
)


@dataclass(slots=True)
class RuleReader:
    """Goes through messages in their order; holds what was said and asked, and whom "you" and "she" are."""

    said: list[Said] = field(default_factory=list)
    present: frozenset[str] = frozenset()
    """The names of all who take part, in lower case."""
    person: str | None = None
    question: str | None = None
    """The question at the end of the previous message, if any."""
    recalled: str = ""
    """The message before, if an assistant told in it what it remembers."""
    asked: bool = False
    """Whether the message before was a user's, and asked for something."""
    _names: dict[str, str] = field(default_factory=dict)
    _last: str | None = None

    def read(self, message: Utterance) -> list[FindingDraft]:
        """Give what a message holds; what follows may yet withdraw it."""
        if message.role not in _ROLES:
            return []
        who = self._who(message)
        reading = _Message(self, message, who)
        found = reading.drafts()
        del self.said[:-_LATEST]
        self.question = reading.question
        self.asked = reading.asks and message.role == "user"
        self.recalled = message.text if message.role == "assistant" and recalls(message.text) else ""
        self.person = reading.person
        self._last = who.name
        return found

    def _who(self, message: Utterance) -> Who:
        name = name_of(message.speaker, message.role)
        if message.role == "user" and self._names.get("user", name) == name:
            other: str | None = self._names.get("assistant") or "the assistant"
        else:
            other = self._last if self._last != name else self._names.get("user")
        self._names[message.role] = name
        return Who(name, other, self.present)


class _Message:
    """One message: its sentences in order, and the drafts that came of them."""

    def __init__(self, reader: RuleReader, message: Utterance, who: Who) -> None:
        self.question: str | None = None
        self.asks = False
        self._reader = reader
        self._message = message
        self._who = who
        self._wrong = False
        self._eager = False
        assistant = message.role == "assistant"
        self._generic = assistant and (message.speaker or "assistant").strip().lower() in ASSISTANTS
        voice = Voice(assistant=assistant, generic=self._generic, answering=reader.asked)
        self._drafting = Drafting(message.text, who, reader.said, voice)
        self._drafting.person = reader.person

    @property
    def person(self) -> str | None:
        """The person named last."""
        return self._drafting.person

    def drafts(self) -> list[FindingDraft]:
        """Give what the message holds, in its order."""
        for number, sentence in enumerate(sentences(self._message.text)):
            if number == 0 and self._answered(sentence):
                continue
            if not self._sentence(sentence):
                # What follows is a text to work on, or a part to play.
                break
        return self._drafting.drafts

    def _sentence(self, sentence: Span) -> bool:
        """Read one sentence; False when what follows it was not said but handed over."""
        self.question = None
        point, notice = core(sentence)
        low = " ".join(point.text.lower().replace("’", "'").split())
        if self._message.role == "user" and (asked := self._asked_of_the_book(point, sentence)):
            if asked.act != "forget that" or not self._corrected(sentence):
                self._command(asked, point)
        elif doubt.is_task(sentence.text.lower()):
            if _MATERIAL.search(low):
                self._drafting.drafts.clear()
            return False
        elif doubt.is_question(low) and not rules.asks_for_a_habit(low):
            self._asked(sentence)
        elif only_announces(sentence.text):
            self._wrong = True
        elif SETTLED.match(low):
            self._drafting.settled = True
        elif not (self._corrected(sentence) or doubt.is_supposed(low) or self._drafting.continues(point, low)):
            self._stated(point, eager=notice or self._eager)
            # "I wrote that the hall holds 200." leads up to what is right.
            self._wrong = self._wrong or bool(REPORTED.match(low))
        self._drafting.person = refer.person(sentence.text) or self._drafting.person
        return True

    def _stated(self, sentence: Span, *, eager: bool) -> None:
        """Read what a sentence states; a later clause of it may be a request to the book."""
        if self._message.role == "user" and may_ask(sentence.text):
            for each in clauses(sentence)[1:]:
                rest = Span(each.start, each.end, self._message.text[each.start : each.end])
                asked = command(core(rest)[0])
                if asked is None or asked.act == "remember that":
                    continue
                before = self._message.text[sentence.start : each.start]
                if asked.act == "forget that":
                    self._drafting.previous = clause(before.rstrip(" ,;"), sentence.start, each.start)
                else:
                    self._drafting.statement(Span(sentence.start, each.start, before), eager=eager)
                self._command(asked, rest)
                return
        self._drafting.statement(sentence, eager=eager)

    def _asked(self, sentence: Span) -> None:
        before, comma, after = sentence.text.rpartition(", ")
        told = comma and words.make_a_clause(before.lower().split()) and " or " not in after
        if told and not doubt.is_question(before.lower()) and not doubt.is_tag(after.lower()):
            # "I land in Split on Saturday, pick me up?"
            self._drafting.statement(Span(sentence.start, sentence.start + len(before), before), eager=False)
        self.question = sentence.text
        if comma and doubt.is_tag(after.lower()):
            # "You live in Bonn, right?" says so, until somebody says otherwise.
            self._reader.said.append(Said(before, self._who, None, None))
            self.question = None
        self.asks = True
        self._drafting.previous = clause(sentence.text.rstrip(" ?!"), sentence.start, sentence.end)

    def _answered(self, sentence: Span) -> bool:
        """Take a word that answers the question before for a statement together with it."""
        question = self._reader.question
        point = core(sentence)[0]
        low = without_end(point.text.lower())
        if not question or self._generic:
            return False
        plain = refer.is_open(question) and refer.is_answer(low, question)
        if not plain and not (refer.asks_for(question) and refer.points_back(point.text)):
            return False
        text = f'{self._who.name}, asked "{question.strip()}": {without_end(point.text)}'
        whole = replace(clause(low, point.start, sentence.end), text=text)
        self._drafting.drafts.append(
            FindingDraft(whole, "answer", refer.answered(question), 0.5, self._who.name, self._who)
        )
        return True

    # Commands

    def _asked_of_the_book(self, point: Span, sentence: Span) -> Command | None:
        """Read a command; a word that seems only to open a sentence may belong to it."""
        found = command(point) or (command(sentence) if point is not sentence else None)
        if found is None and (lead := _LEAD.match(point.text)):
            # "Quick one before my run: don't forget that …"
            found = command(Span(point.start + lead.end(), point.end, point.text[lead.end() :]))
        return found or (dropped(point, self._reader.recalled) if self._reader.recalled else None)

    def _command(self, asked: Command, sentence: Span) -> None:
        if asked.act == "remember":
            if following := _FOLLOWING.search(sentence.text):
                self._eager = True
                self._drafting.topic = following["about"].removeprefix(" about").strip() or None
            else:
                self._asked_to_keep(Span(asked.start, asked.end, asked.text))
        elif asked.act == "to do":
            whole = clause(asked.text, asked.start, asked.end)
            self._drafting.drafts.append(FindingDraft(whole, "command.to_do", "note", 0.7, self._who.name, self._who))
        elif asked.act == "remember that":
            self._keep_last()
        elif asked.act == "forget that":
            self._forget_last(asked)
        else:
            self._forget(asked.text, asked, self._who)
            self._rest_of(sentence)

    def _asked_to_keep(self, sentence: Span) -> None:
        """Keep what somebody asked to have kept: what is so, rather than why it matters to them."""
        before = len(self._drafting.drafts)
        self._drafting.statement(sentence, eager=True)
        for draft in self._drafting.drafts[before:]:
            if draft.kind in ("failure", "insight", "decision") or draft.rule in DESCRIPTIVE:
                draft.kind = "fact"

    def _rest_of(self, sentence: Span) -> None:
        """After "forget my coffee order, I quit caffeine" the second clause is news; "it's 555" is not."""
        if found := _NEWS.search(sentence.text):
            self._drafting.statement(
                Span(sentence.start + found.end(), sentence.end, sentence.text[found.end() :]), eager=False
            )

    def _keep_last(self) -> None:
        if self._drafting.previous is None:
            self._eager = True
        elif not (self._drafting.drafts and self._drafting.drafts[-1].covers(self._drafting.previous)):
            self._drafting.clause(self._drafting.previous, eager=True)

    def _forget_last(self, asked: Command) -> None:
        if self._drafting.drafts and self._drafting.drafts[-1].act == "forget":
            return
        if self._drafting.previous is not None:
            self._forget(self._drafting.previous.text, asked, self._who)
        elif self._reader.said:
            last = self._reader.said[-1]
            self._forget(last.text, asked, last.who)

    def _forget(self, subject: str, asked: Command, who: Who) -> None:
        about = clause(subject, asked.start, asked.end)
        if any(each.act == "forget" and set(each.clause.words) >= set(about.words) for each in self._drafting.drafts):
            return
        about = replace(about, text=subject)
        self._drafting.drafts.append(
            FindingDraft(about, "command.forget", "note", 0.8, owner(about, "fact", who), who, "forget")
        )

    # Corrections

    def _corrected(self, sentence: Span) -> bool:
        wrong, self._wrong = self._wrong, False
        if both := taken_back(sentence.text):
            claim = clause(both[0], sentence.start, sentence.end)
            self._reader.said.append(Said(both[0], self._who, owner(claim, "fact", self._who), None))
            sentence, wrong = Span(sentence.start, sentence.end, both[1]), True
        found = correction(
            sentence.text, self._reader.said, self._who, announced=wrong, asked=bool(self._reader.question)
        )
        if found is None:
            self._wrong = may_announce(sentence.text)
            return False
        whole = clause(without_end(found.text), sentence.start, sentence.end)
        if doubt.is_small_talk(whole.low) or ((found.base is None or not found.made) and doubt.is_guess(whole.low)):
            return False
        rule = kind(whole, eager=found.base is not None or found.sure)
        if rule is None and found.base is None:
            return False
        named: Kind = (found.base.kind if found.base and found.base.kind else None) or (rule[1] if rule else "fact")
        whose = owner(whole, named, found.who)
        if whose is None and found.base:
            whose = found.base.owner
        latest = found.base is not None and found.sure and found.base is self._reader.said[-1]
        if found.base and (found.made or latest or found.base.draft in self._drafting.drafts):
            found.base.withdraw()
        draft = FindingDraft(whole, "correction", named, 0.75, whose, found.who, "correct")
        self._drafting.drafts.append(draft)
        self._reader.said.append(Said(found.text, found.who, whose, named, draft))
        self._drafting.previous = whole
        return True
