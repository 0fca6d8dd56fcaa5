"""A sentence read as a claim: whose, which attribute, what value, affirmed or denied. No model, no I/O."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from commonplace.reconcile.claims.changes import plainly
from commonplace.reconcile.claims.claim import Claim, content, in_order, names, turns, vague
from commonplace.reconcile.claims.clauses import parse
from commonplace.reconcile.claims.copular import copular
from commonplace.reconcile.claims.frames import held, renamed
from commonplace.reconcile.claims.verbal import verbal
from commonplace.reconcile.claims.words import TOGETHER
from commonplace.values.extraction import TEAM


@lru_cache(maxsize=50_000)
def read(text: str, owner: str | None = None) -> Claim:
    """Read a text as one claim, "I" and "we" as its owner; what cannot be read keeps its words alone."""
    who = _whose(owner)
    plain, reverses = plainly(text, together=who == ("team",))
    sentence = parse(plain, who)
    framed = held(plain) or renamed(plain)
    claim = framed or Claim()
    if framed is None and sentence.verb:
        claim = copular(sentence) if sentence.verb == "be" else verbal(sentence)
    order = in_order(sentence.all)
    return replace(
        claim,
        reverses=reverses,
        words=frozenset(order),
        order=order,
        details=content(sentence.tail),
        names=names(sentence.all),
        turns=turns(sentence.all),
        positive=claim.positive if framed else claim.positive != sentence.negative,
        changed=claim.changed or sentence.changed,
        vague=framed is None and vague(sentence.subject, sentence.phrases),
        rejected=claim.rejected | content(sentence.contrast),
        qualifiers=claim.qualifiers | content(sentence.fronted),
    )


def key(text: str, owner: str | None = None) -> str | None:
    """Give the attribute and the subject in a normal form, alike for all that speaks of them; None if none is read.

    "The author of Dracula is Bram Stoker" and "Dracula's author is Mary Shelley" have the key "author|dracula".
    """
    claim = read(text, owner)
    if not claim.relation or not claim.subject:
        return None
    attribute = claim.about | frozenset(part for part in claim.relation.split(":") if part and part != "be")
    subject = claim.subject
    if claim.relation == "be" and claim.head in subject and len(subject) > 1:
        attribute, subject = attribute | {claim.head}, subject - {claim.head}
    return f"{' '.join(sorted(attribute)) or 'be'}|{' '.join(sorted(subject))}"


def _whose(owner: str | None) -> tuple[str, ...]:
    if owner is None:
        return ()
    return ("team",) if owner == TEAM or owner in TOGETHER else tuple(owner.lower().split())
