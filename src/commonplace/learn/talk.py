"""A conversation as it is read: who speaks, and the sentences of each message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.learn.regex import compiled
from commonplace.learn.segment import Span, sentences
from commonplace.models.statements import TalkTurn
from commonplace.text.lexicon import ASSISTANTS, USERS
from commonplace.values.extraction import Utterance

ROLES = ("user", "assistant")
"""Roles whose messages are read: what tools return nobody said, and a system message is for the agent."""

Place = tuple[int, int]
"""A message and a sentence of it, both from 0."""


@dataclass(frozen=True, slots=True)
class Talk:
    """Messages, and the sentences of each; none of those that are not read."""

    messages: Sequence[Utterance]
    spans: Sequence[Sequence[Span]]

    def turns(self) -> list[TalkTurn]:
        """Return the messages as the reader of statements is shown them."""
        return [
            TalkTurn(message.speaker or _called(message), message.role == "assistant", [span.text for span in spans])
            for message, spans in zip(self.messages, self.spans, strict=True)
        ]

    def name(self, message: int) -> str:
        """Return the name of a message's speaker, "the user" or "the assistant"."""
        said = self.messages[message]
        return name_speaker(said.speaker, said.role)

    def before(self, place: Place) -> Place | None:
        """Return the place of the sentence before; None if there is none."""
        message, sentence = place
        if sentence:
            return message, sentence - 1
        earlier = (number for number in range(message - 1, -1, -1) if self.spans[number])
        number = next(earlier, None)
        return None if number is None else (number, len(self.spans[number]) - 1)

    def find_other(self, message: int, text: str) -> str | None:
        """Return the one other speaker whom a text names or, of two speakers, addresses; None if it does neither."""
        own = self.name(message)
        others = {self.name(number) for number, spans in enumerate(self.spans) if spans} - {own}
        named = [name for name in others if re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)]
        if len(named) == 1:
            return named[0]
        return next(iter(others)) if len(others) == 1 and _ADDRESSES.search(text) else None


_ADDRESSES = re.compile(r"\byou(?:r|rs|['’]\w+)?\b", re.IGNORECASE)
_REPORTS = compiled(
    r"""^(?:done|booked|agreed|decided|decision|saved|sent|updated|fixed|cancell?ed|scheduled|moved|added|created)\b[:,!_]
    |\b(?:i|we)(?:['’]ve|_have|_had)?_(?:now_|just_|also_|already_|actually_)?
        (?!(?:mention|discuss|recommend|suggest|apologi|want|hop|need|clarif|explain|cover|not)\w*)
        (?:\w+ed|set|put|sent|made|built|wrote|written|found|chose|chosen|ran|took|taken|began|left)\b
    |\b(?:is|are)_now_\w+|\b(?:has|have)_been_\w+""",
    re.IGNORECASE,
)


def make_talk(messages: Sequence[Utterance]) -> Talk:
    """Split messages into sentences; of an assistant without a name of its own, no lists."""
    return Talk(messages, [_split(message) for message in messages])


def _split(message: Utterance) -> list[Span]:
    if message.role not in ROLES:
        return []
    return sentences(message.text, lists=not is_nameless_assistant(message))


def is_nameless_assistant(message: Utterance) -> bool:
    """Return whether a message comes from an assistant without a name of its own."""
    return message.role == "assistant" and (message.speaker or "assistant").strip().lower() in ASSISTANTS


def reports(text: str) -> bool:
    """Return whether a sentence may report what its speaker did or what was done."""
    return bool(_REPORTS.search(text))


def name_speaker(speaker: str | None, role: str) -> str:
    """Return the name of a speaker; "the user" or "the assistant" for one without."""
    if speaker and speaker.strip().lower() not in USERS | ASSISTANTS:
        return " ".join(speaker.split())
    return "the assistant" if role == "assistant" else "the user"


def _called(message: Utterance) -> str:
    return "Assistant" if message.role == "assistant" else "user"
