"""What a conversation holds that is worth keeping, found by rules: the same every time, and each says why."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.learn.reading import Reader
from commonplace.values.extraction import Finding, Utterance


def extract(messages: Sequence[Utterance]) -> list[list[Finding]]:
    """Give the findings of each message; earlier messages only help to understand later ones."""
    reader = Reader(present=frozenset(each.speaker.lower() for each in messages if each.speaker))
    drafts = [reader.read(message) for message in messages]
    return [
        [draft.finding(message.said_at) for draft in each if not draft.withdrawn]
        for message, each in zip(messages, drafts, strict=True)
    ]


class Rules:
    """The rules as an Extractor: what a book uses when it was given no other."""

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        """What each message holds."""
        return extract(messages)
