"""Sentences told by another: "I prefer it" becomes "Sarah prefers it", with the verb that goes with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.reconcile.claims import verbs
from commonplace.text.lexicon import ASSISTANTS, USERS
from commonplace.values.extraction import TEAM

_KEPT = re.compile(r"(`[^`]*`|\"[^\"]*\"|“[^”]*”|https?://\S+)")
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\s+|\S[^\s\w]*|\w+")
_CONTRACTED = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would", "'s": "is"}
_AGREEING = {
    "am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "don't": "doesn't", "dont": "doesn't",
    "haven't": "hasn't", "aren't": "isn't", "weren't": "wasn't",
}  # fmt: skip
_UNCHANGED = frozenset(
    """
    is was will would can could should must may might shall cannot can't won't wouldn't couldn't shouldn't mustn't had
    hadn't didn't did wasn't isn't has does doesn't hasn't ought got wanna gonna gotta
    """.split()
)
_ADVERBS = frozenset(
    """
    always never often also still just already even ever now then sometimes seldom rarely only almost not too both all
    each currently usually really generally personally mostly typically strongly actually currently recently finally
    definitely absolutely totally completely firmly probably certainly simply basically primarily mainly normally
    honestly truly deeply particularly especially officially originally previously regularly occasionally either
    """.split()
)
_NOT_ADVERBS = frozenset("rely apply reply supply fly imply comply multiply ally rally tally family early".split())
_SECOND_VERBS = frozenset(
    """
    prefer like love hate want need use work live have run do go own play speak drink eat write read keep teach study
    manage lead drive avoid dislike enjoy know think try make take come commute travel maintain usually volunteer plan
    care sleep wake start finish deploy build ship test host store cook bake walk swim cycle train practice practise
    """.split()
)
_PARTICIPLE = re.compile(r"\w+(?:ed|en)\b|been\b|gone\b|had\b|done\b|made\b|better\b")
_INVERTED = re.compile(r"\b(?:can|could|would|will|should|shall|did|do|does|to|let|makes?|made|helps?)\s+$", re.I)
_WANTING = re.compile(r"\b(?:want(?:ed|s)?|need(?:ed|s)?|like|ask(?:ed|ing)?|tell|told|expect(?:ed)?|prefer)\s+$", re.I)


_KIN = re.compile(r"(?:dad|mum|mom|mother|father|grandma|grandpa|granny|grandad|nan|gran)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Who:
    """Who speaks, and to whom, by the names that memories use."""

    name: str
    """Sarah; or "the user" and "the assistant" for those without a name."""
    other: str | None = None
    """Whoever "you" is, if that is known."""
    present: frozenset[str] = frozenset()
    """The names of all who take part, in lower case."""


def named(speaker: str | None, role: str) -> str:
    """Give the name that a speaker goes by in memories."""
    if speaker and speaker.strip().lower() not in USERS | ASSISTANTS:
        return " ".join(speaker.split())
    return "the assistant" if role == "assistant" else "the user"


def retell(text: str, who: Who) -> str:
    """Put a sentence into the third person; what is quoted in it stays as it is."""
    if found := _KIN.match(text):
        text = f"my {found[0].lower()}{text[found.end() :]}"
    teller = _Teller(who)
    for index, piece in enumerate(_KEPT.split(text)):
        if index % 2:
            teller.keep(piece)
        else:
            teller.tell(piece)
    told = "".join(teller.told)
    return told[:1].upper() + told[1:]


class _Teller:
    """Goes through a sentence word by word, and remembers which verb is still to agree with its subject."""

    def __init__(self, who: Who) -> None:
        self.told: list[str] = []
        self._who = who
        self._agrees = False
        self._coordinates = False
        self._joined = False
        self._subjects: set[str] = set()

    def keep(self, piece: str) -> None:
        self.told.append(piece)
        self._agrees = self._joined = False

    def tell(self, piece: str) -> None:
        tokens = _TOKEN.findall(piece)
        for index, token in enumerate(tokens):
            if token[0].isalpha():
                self._word(token, token.lower().replace("’", "'"), tokens[index + 1 : index + 8])
            else:
                self.told.append(token)
                self._agrees = self._agrees and token.isspace()

    def _word(self, token: str, low: str, rest: list[str]) -> None:
        head, mark, tail = low.partition("'")
        if head in ("i", "we") and (not mark or tail in ("m", "re", "ve", "ll", "d")):
            self._subject(self._who.name if head == "i" else TEAM, mark + tail, rest)
        elif low in ("let's", "lets"):
            self._subject(TEAM, "'ll", rest)
        elif low in ("my", "our"):
            self._possessive(self._who.name if low == "my" else TEAM)
        elif low in ("me", "mine", "us", "ours", "myself", "ourselves"):
            self._object(token, low)
        elif low in ("you", "your") and self._who.other:
            self._addressed(token, low)
        elif self._agrees:
            self._verb(token, low)
        elif self._joined and low in _SECOND_VERBS:
            self.told.append(verbs.third(token))
            self._joined = False
        else:
            self._joined = self._coordinates and (low in ("and", "or", "but") or (self._joined and low in _ADVERBS))
            self.told.append(token)

    def _subject(self, name: str, contracted: str, rest: list[str]) -> None:
        self.told.append(name)
        self._subjects.add(name)
        before = "".join(self.told[-4:-1])
        # "Dad and I are" stays as it is.
        plural = len(self._subjects) == 1 and before.rstrip().endswith(" and")
        self._agrees = not contracted and not plural and not _INVERTED.search(before)
        self._coordinates = False
        if contracted:
            had = contracted == "'d" and _PARTICIPLE.match("".join(rest).lstrip())
            self.told.append(" had" if had else " " + _CONTRACTED[contracted])

    def _possessive(self, name: str) -> None:
        if name in self._subjects:
            self.told.append("its" if name == TEAM else "their")
        else:
            self.told.append(f"{name}'" if name.endswith("s") and name != TEAM else f"{name}'s")
            self._subjects.add(name)
        self._agrees = False

    def _object(self, token: str, low: str) -> None:
        name = TEAM if low in ("us", "ours", "ourselves") else self._who.name
        if low.endswith(("self", "selves")):
            self.told.append("itself" if name == TEAM else "themselves")
        else:
            self.told.append(name + ("'s" if low in ("mine", "ours") else ""))
        self._agrees = False

    def _addressed(self, token: str, low: str) -> None:
        """ "You" is everybody as often as somebody; only who is wanted or asked to do a thing is surely meant."""
        if low == "you" and _WANTING.search("".join(self.told[-8:])):
            self.told.append(self._who.other or token)
        elif low == "your":
            self.told.append(f"{self._who.other}'s")
        else:
            self.told.append(token)

    def _verb(self, token: str, low: str) -> None:
        if low in _ADVERBS or (low.endswith("ly") and low not in _NOT_ADVERBS):
            self.told.append(token)
            return
        self._agrees = False
        if low in _AGREEING:
            self.told.append(_AGREEING[low])
            self._coordinates = low not in ("were", "weren't", "do", "don't")
        elif (
            low in _UNCHANGED
            or verbs.is_past(low)
            or low in ("and", "or", "who", "with", "to", "in", "on", "at", "for", "from", "as")
        ):
            self.told.append(token)
        else:
            self.told.append(verbs.third(token))
            self._coordinates = True
