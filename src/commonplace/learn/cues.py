"""The words by which people correct themselves and each other: "scratch that", "no wait", "my bad"."""

from __future__ import annotations

import re

from commonplace.learn.regex import compiled

_STRONG = r"""
    (?:(?:small|slight|minor|quick|one|a)\s+)*correction(?:\s+to\s+[^:,]{3,60})?|i\s+meant(?:\s+to\s+(?:say|write))?
    |i\s+mean|i\s+(?:mixed|messed)\s+(?:that|it|them|this|things)\s+up
    |(?:please\s+)?ignore\s+my\s+(?:last|previous|earlier)\s+(?:message|mail|note|post|one)
    |i\s+(?:gave|told|sent)\s+(?:you|everyone|them)\s+the\s+wrong\s+(?P<noun>\w+(?:\s\w+)?)|scratch\s+that|strike\s+that
    |(?:please\s+|pls\s+)?ignore(?:\s+(?:that|this|it|(?:the|my)\s+\w+(?:\s\w+)?))?(?=[,.:;!]|$)
    |(?:forget|disregard|scratch|ignore)\s+what\s+i\s+(?:just\s+)?(?:said|wrote)(?:\s+(?:before|earlier
        |yesterday))?(?=[,.:;])
    |(?:i|you)\s+(?:got|had|have)\s+(?:that|it|the\s+\w+)\s+(?:wrong|mixed\s+up|backwards)|you\s+mean(?=\s+[A-ZÀ-Þ\d])
    |(?:they|we|he|she|it|that)(?:'ve|'s|\s+has|\s+have)?\s+(?:moved|changed|renamed|postponed|updated)(?:\s+(?:it
        |that))?
    (?:\s+(?:in|on|to|last|since)\s+\w+(?:\s\w+)?)?(?=[,.;:])|make\s+that|my\s+(?:bad|mistake)|i\s+was\s+(?:wrong
        |mistaken)(?:\s+(?:about|on)\s+[^:,.]{3,60})?|i\s+(?:misspoke
    |mistyped|misread|misremembered|got\s+that\s+wrong|take\s+that\s+back|stand\s+corrected|made\s+a\s+mistake)|typo
    |errat(?:um|a)|i\s+changed\s+my\s+mind|changed\s+my\s+mind|let\s+me\s+correct\s+(?:that|myself)|(?:i\s+(?:have
    |need|must|want)\s+(?:to\s+)?)?(?:to\s+)?correct\s+(?:that|myself|one\s+thing)|(?:that|this|it)(?:'s|\s+was|\s+is
    |\s+has|\s+isn't|\s+wasn't)?\s+(?:(?:not|no\s+longer)\s+(?:quite\s+|entirely\s+|actually\s+|at\s+all\s+)?(?:right
    |true|correct|accurate|the\s+case)|(?:quite\s+|all\s+)?wrong|incorrect|outdated|out\s+of\s+date|changed|a\s+typo
    |old\s+(?:info|news)|before\s+[\w.]+)|not\s+any\s?more|no\s+longer|wrong(?:\s+\w+)?(?=[,.:;!–—-]|\s[-–—]|$)|edit
    |(?:it|that|this|he|she|they|i|we)\s+(?:is|was|are|were|does|did|do|has|have|am)(?:\s+not|n't)(?=[,.!]|$)
    |not\s+(?:true|correct|quite(?:\s+right)?|exactly|right)(?=[,.:;!]|$)"""
_WEAK = r"""actually|o{1,2}ps|sorry(?:\s+(?:folks|all|guys|everyone|team))?|oops|whoops|wait|no\s+wait
    |no(?=[,.!…]|\s+(?:wait|it|it's|that|i|we|he|she|they|the|my|our|sorry|actually)\b)
    |nope|nah|oh|ah|hm+|well
    |hang\s+on|hold\s+on|update|ugh|er+|yes|yeah|yep|right|now(?=\s+(?:it|they|he|she)\b)|on\s+second\s+thoughts?
    |rather|in\s+fact|but|and|ok|okay|so|argh|damn|apologies|guys|folks|lads|all|team|everyone|well\s+actually"""
_LATER = r"(?:\s+(?:earlier|before|there|yesterday|last\s+time|on\s+the\s+phone|in\s+my\s+mail))?"
_CUE = compiled(rf"(?:(?P<strong>{_STRONG}){_LATER}|(?P<weak>{_WEAK}))\b(?:[\s,:;.!…–—-]+|$)", re.IGNORECASE)
_WHERE = re.compile(r"(?:on|in|at|about|with|earlier|before|there|yesterday)\b[\w ]{0,30}", re.IGNORECASE)
_STAR = re.compile(r"\*+(?=\w)")
_START = re.compile("")
_AT_END = compiled(
    r"""(?:,|\s[-–—]|\.|;)\s*(?:sorry,?\s*)?(?:i\s+(?:mistyped|misread|misspoke|got\s+it\s+wrong)|my\s+(?:bad|mistake)
        |typo|wrong\s+before|you(?:'ve|\s+have)?\s+(?:got|have|had|mixed)\s+(?:that|it|them|this)\s+(?:mixed\s+up|wrong
        |the\s+wrong\s+way\s+round|up|backwards))[\s.!]*$|^\S+(?:\s\S+){0,4},?\s+(?:actually|sorry|i\s+mean)[\s.!]*$""",
    re.IGNORECASE,
)
_INNER = re.compile(r"(?:it|that|they|he|she)(?:'s|'re| is| are| was) (?:actually|really|in fact)\b", re.IGNORECASE)
_TELLING = (
    "actually",
    "sorry",
    "ops",
    "oops",
    "wait",
    "no",
    "nah",
    "whoops",
    "update",
    "rather",
    "apologies",
    "now",
    "on second",
    "in fact",
)


def only_announces(text: str) -> bool:
    """Tell whether a sentence only says that something was wrong; the next one says what is right."""
    text = text.replace("’", "'")
    begin, strong = 0, False
    while found := _CUE.match(text, begin):
        strong = strong or bool(found["strong"])
        begin = found.end()
    rest = text[begin:].rstrip(" .!")
    return strong and (not rest or bool(_WHERE.fullmatch(rest)))


def may_announce(text: str) -> bool:
    """Tell whether a few words, such as "sorry folks, calendar clash", may lead up to a correction."""
    return cues(text.replace("’", "'"))[2] and len(text.split()) <= 6


def named(cue: str, rest: str) -> str:
    """Put what was wrong into "the right one is …", where the sentence names it."""
    found = _CUE.match(cue)
    if not found or not found["noun"]:
        return rest
    return re.sub(r"^(?:the (?:right|correct) one|it)(?='s|\s+is)", f"the {found['noun']}", rest, flags=re.IGNORECASE)


def cues(text: str) -> tuple[int, bool, bool]:
    """Give where the point begins, whether the sentence surely corrects, and whether it may."""
    star = _STAR.match(text) or (_AT_END.search(text) and _START.match(text))
    begin, strong, told = (star.end(), True, True) if star else (0, False, bool(_INNER.match(text)))
    while found := _CUE.match(text, begin):
        if found.end() >= len(text):
            break
        strong = strong or bool(found["strong"])
        told = told or " ".join((found["weak"] or "").lower().split()).startswith(_TELLING)
        begin = found.end()
    return begin, strong, told
