"""How a new statement stands to a known one, judged from their claims: no model, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from commonplace.reconcile.claims.claim import Claim, Stems, core
from commonplace.reconcile.claims.reader import read
from commonplace.reconcile.claims.tokens import stem
from commonplace.reconcile.claims.words import CALLED_OFF, HELD_BY, PLACES, USING, exclusive
from commonplace.values import Kind
from commonplace.values.extraction import Act

ALIKE = 0.55
"""Cosine from which two preferences of one person may be of one category; names of a kind lie closer than this."""
NEAR = 0.5
"""Cosine from which statements that share a word are taken to be about one thing."""

_OFF = frozenset(stem(word) for word in CALLED_OFF)
_PLANS = frozenset(stem(word) for word in "plan decide will going want agree".split())
_ROLE = 3
"""Words of what someone is said to be; longer descriptions are no roles that one leaves for another."""
_EQUAL, _NARROWER, _OTHER = 2, 1, 0

Likeness = Literal["same", "contradicts", "disputes", "adds", "unrelated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A memory as reconciliation compares it."""

    text: str
    kind: Kind
    owner: str | None
    said_at: datetime
    act: Act = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How a new statement stands to a known one, and why, in words that history shows."""

    likeness: Likeness
    reason: str
    certainty: float


def takes_back(text: str, owner: str | None) -> bool:
    """Tell whether a text takes a decision back without a word on what it was about: "going with Adyen after all"."""
    claim = read(text, owner)
    return claim.reverses and _decides(claim) and not claim.qualifiers and not claim.rejected


def decides(text: str, owner: str | None) -> bool:
    """Tell whether a text says what the team has chosen."""
    return _decides(read(text, owner))


def _decides(claim: Claim) -> bool:
    return claim.relation == "use" and claim.positive and bool(claim.value) and "team" in claim.subject


def relate(new: Assertion, known: Assertion, closeness: float) -> Comparison:
    """Say whether the new statement repeats, contradicts or adds to the known one, or has nothing to do with it.

    A contradiction closes a memory, and one closed wrongly is hidden: where it is not plain, the new one adds.
    """
    a, b = read(new.text, new.owner), read(known.text, known.owner)
    if new.owner is not None and known.owner is not None and new.owner != known.owner:
        return _apart(a, b, closeness)
    alike = _subjects(a, b)
    against = _against(a, b, alike, closeness, correcting=new.act == "correct")
    if against:
        return Comparison(likeness="contradicts", reason=against, certainty=0.9 if alike == _EQUAL else 0.7)
    if _repeats(a, b, alike):
        return Comparison(likeness="same", reason="it says the same", certainty=0.9)
    if alike == _EQUAL or (alike and closeness >= NEAR):
        return Comparison(likeness="adds", reason="it says more about the same subject", certainty=0.7)
    return _apart(a, b, closeness)


def are_apart(new: Assertion, known: Assertion) -> bool:
    """Tell whether two statements are plainly about different persons or numbered things: printer 3 and printer 4."""
    if new.owner is not None and known.owner is not None and new.owner != known.owner:
        return True
    a, b = read(new.text, new.owner), read(known.text, known.owner)
    return bool(a.subject & b.subject) and _numbers(a) != _numbers(b) and bool(_numbers(a) and _numbers(b))


def are_plain(new: Assertion, known: Assertion) -> bool:
    """Tell whether both statements can be read as claims, so that two that say the same mostly have equal ones."""
    a, b = read(new.text, new.owner), read(known.text, known.owner)
    return bool(a.relation and b.relation) and not (a.vague or b.vague)


def share_words(new: Assertion, known: Assertion) -> bool:
    """Tell whether two statements have a word in common that says something."""
    return bool(read(new.text, new.owner).words & read(known.text, known.owner).words)


def _numbers(claim: Claim) -> Stems:
    """Return the numbers that tell the subject from others of its kind."""
    return frozenset(word for word in claim.subject if word.isdecimal())


def _apart(a: Claim, b: Claim, closeness: float) -> Comparison:
    likeness: Likeness = "adds" if closeness >= NEAR and a.words & b.words and _mentions(a, b) else "unrelated"
    reason = "it speaks of the same thing" if likeness == "adds" else "it is about something else"
    return Comparison(likeness=likeness, reason=reason, certainty=0.6)


def _mentions(a: Claim, b: Claim) -> bool:
    """Tell whether what the one is about occurs in the other: Postgres in "Postgres runs" and "we use Postgres"."""
    return bool((a.subject and a.subject <= b.words) or (b.subject and b.subject <= a.words))


def _subjects(a: Claim, b: Claim) -> int:
    """Compare the subjects: equal, one narrower than the other around the same noun, or different."""
    if not a.relation or not b.relation:
        return _OTHER
    one, other = core(a.subject), core(b.subject)
    if one == other:
        return _EQUAL
    if _one_place(a, b):
        return _EQUAL
    if a.head and a.head == b.head and (one <= other or other <= one):
        return _NARROWER
    return _OTHER


def _one_place(a: Claim, b: Claim) -> bool:
    """Tell whether the attribute stands with the subject in one and behind the verb in the other."""
    if a.sort != "number" or b.sort != "number" or "be" not in (a.relation, b.relation):
        return False
    if a.subject == b.subject:
        return bool(a.about) and a.about == b.about
    return core(a.subject | a.about) == core(b.subject | b.about)


# What contradicts.


def _against(a: Claim, b: Claim, alike: int, closeness: float, *, correcting: bool) -> str:
    """Say why the two cannot both hold; nothing when they can."""
    if not a.relation or not b.relation or a.vague or b.vague:
        return ""
    if _denies(a, b, alike):
        return "one denies what the other says"
    if a.head == b.head == "name" and a.changed and a.rejected and a.rejected <= b.value:
        return "it has another name"
    if _called_off(a, b):
        return "it was called off"
    if alike != _EQUAL:
        return _given_up(a, b) if alike or _same_users(a, b) else ""
    if not (a.positive and b.positive):
        return _given_up(a, b)
    return _given_up(a, b) or _excluded(a, b) or _other_value(a, b, closeness, correcting=correcting)


def _denies(a: Claim, b: Claim, alike: int) -> bool:
    """Tell whether one negates the other: the denial may be the wider claim, never the narrower one."""
    if a.positive == b.positive:
        return False
    no, yes = (a, b) if b.positive else (b, a)
    if no.sort == "number" and no.value != yes.value:
        return False
    if alike == _EQUAL and a.relation == b.relation and a.about == b.about:
        return no.value <= yes.value and no.qualifiers <= yes.qualifiers | yes.value
    return no.words == yes.words and no.head == yes.head


def _same_users(a: Claim, b: Claim) -> bool:
    return "team" in a.subject and "team" in b.subject


def _given_up(a: Claim, b: Claim) -> str:
    """Say so when one chose what the other gave up."""
    if a.rejected and b.value and a.rejected <= b.value | b.qualifiers and a.rejected & b.value and _in_use(a, b):
        return "it gives up what the other chose"
    if b.rejected and a.value and b.rejected <= a.value and _in_use(a, b):
        return "it chose what the other gave up"
    if a.relation == "use" and not a.positive and b.positive and a.value and _in_use(a, b):
        return "it gives up what was in use" if a.value <= b.value | b.qualifiers else ""
    return ""


def _called_off(a: Claim, b: Claim) -> bool:
    """Tell whether the new claim says that what the known one plans will not be."""
    if not a.turned or not a.value & _OFF or not b.positive:
        return False
    planned = b.words - b.subject - _PLANS
    return bool(planned) and planned <= a.subject


def _in_use(a: Claim, b: Claim) -> bool:
    one, other = a.relation.split(":")[0], b.relation.split(":")[0]
    return one == other or (one in USING and other in USING)


def _excluded(a: Claim, b: Claim) -> str:
    """Say so when the two name states that exclude each other: open and closed, weekly and monthly."""
    if not a.relation.startswith("be") or not b.relation.startswith("be"):
        return ""
    if a.sort not in ("state", "words") or b.sort not in ("state", "words") or a.qualifiers != b.qualifiers:
        return ""
    table = exclusive()
    for word in a.value - b.value:
        if table.get(word, frozenset()) & (b.value - a.value):
            return "both cannot be so at once"
    return ""


def _other_value(a: Claim, b: Claim, closeness: float, *, correcting: bool) -> str:
    if a.measures and b.measures and _measured_otherwise(a, b):
        return "it counts another number of the same"
    if not a.value or not b.value or _one_value(a, b):
        return ""
    if _moved_away(a, b):
        return "it has moved"
    if _used_instead(a, b):
        return "something else is used for the same"
    if _base(a) == "prefer" and _base(b) == "prefer":
        return _other_preference(a, b, closeness)
    if a.relation != b.relation and not _one_place(a, b) and not (a.about and _in_use(a, b)):
        return ""
    if a.sort != b.sort or (a.about != b.about and not _one_place(a, b)):
        return ""
    if not ((a.single and b.single) or correcting or _is_now(a, b)):
        return ""
    return "" if _narrowed(a, b) else "the same attribute has another value"


def _measured_otherwise(a: Claim, b: Claim) -> bool:
    """Tell whether the same is said with another number: had for 6 months, for 9 months."""
    if a.relation != b.relation or a.event or b.event or not _one_value(a, b) or a.qualifiers != b.qualifiers:
        return False
    return a.measures != b.measures and {unit for unit, _ in a.measures} == {unit for unit, _ in b.measures}


def _moved_away(a: Claim, b: Claim) -> bool:
    """Tell whether the new claim says where the subject is since; numbers and times are compared as such."""
    if not a.changed or a.relation != "live:in" or b.relation not in PLACES:
        return False
    return b.sort in ("place", "words") and not b.qualifiers


def _used_instead(a: Claim, b: Claim) -> bool:
    """Tell whether a change is told of what is used for one purpose: Memcached for caching now, Redis before."""
    if a.relation != "use" or b.relation != "use" or not a.changed or "number" in (a.sort, b.sort):
        return False
    return bool(a.qualifiers) and a.qualifiers == b.qualifiers and not a.value & b.value


def _is_now(a: Claim, b: Claim) -> bool:
    """Tell whether a change is told of what someone is, or of who has something in hand: a nurse, now an engineer."""
    if a.relation == b.relation and a.relation in HELD_BY:
        return a.changed
    return a.relation == b.relation == "be:a" and a.changed and len(a.value) <= _ROLE and len(b.value) <= _ROLE


def _narrowed(a: Claim, b: Claim) -> bool:
    """Tell whether they hold under different circumstances; a change that is dated holds all the same."""
    if a.changed and not b.qualifiers:
        return False
    return a.qualifiers != b.qualifiers


def _one_value(a: Claim, b: Claim) -> bool:
    if a.sort in ("number", "time"):
        return a.value == b.value
    return a.value <= b.value or b.value <= a.value


def _base(claim: Claim) -> str:
    return claim.relation.split(":")[0]


def _other_preference(a: Claim, b: Claim, closeness: float) -> str:
    """Say so when two preferences compete: of one noun (dark mode, light mode), or alike enough and told as new."""
    if a.qualifiers != b.qualifiers or a.relation != b.relation:
        return ""
    if a.about and b.about:
        return "another preference of the same kind" if a.about == b.about else ""
    if a.value & b.value or (a.changed and closeness >= ALIKE):
        return "another preference of the same kind"
    return ""


# What says the same.


def _repeats(a: Claim, b: Claim, alike: int) -> bool:
    if a.positive != b.positive or a.turns != b.turns:
        return False
    if a.words == b.words:
        return alike == _EQUAL or a.turned != b.turned or a.order == b.order
    if not _same_names(a, b) or not a.details <= b.words:
        return False
    if alike == _EQUAL and a.relation == b.relation and _one_kind(a, b) and a.rejected <= b.rejected:
        return _one_value(a, b) and a.qualifiers <= b.qualifiers and bool(a.value) and a.measures <= b.measures
    return a.words <= b.words and (bool(alike) or (b.relation == "use" and a.value == b.value))


def _one_kind(a: Claim, b: Claim) -> bool:
    return a.about == b.about or (a.relation == "prefer" and not (a.about and b.about))


def _same_names(a: Claim, b: Claim) -> bool:
    """Tell whether the new statement brings no name, number or date that the known one lacks."""
    return a.names <= b.words
