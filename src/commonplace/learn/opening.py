"""What a sentence opens and closes with before it comes to its point: "ok so, btw", "haha", "thanks"."""

from __future__ import annotations

import re
from dataclasses import replace

from commonplace.learn.segment import Span

_WORDS = r"""
    ok okay so well oh ah aha hmm hm um uh umm er yeah yep yup yes hey hi hello btw fyi also and but anyway anyways honestly
    basically tbh imo imho alors ps lol haha hahaha omg ugh phew yay alright welp right then plus guys folks team all
    quick lgtm done cool great nice perfect thanks thx noted fair sure yikes wow argh damn look listen oops whoops
""".split()
_PHRASES = r"""
    by the way|in my opinion|to be honest|to be fair|as i said|as mentioned|as discussed|one more thing|another thing
    |quick (?:one|note|update|heads[- ]up|question|thing)|heads[- ]up|good news|bad news|just so you know|so you know|for context
    |for the record|for your information|for future reference|unpopular opinion(?: but)?|not gonna lie|ngl|long story short
    |i mean|you know what|you know|you see|of course|new here|hot take|fun fact|good morning|hi (?:all|everyone|team|there)|hello (?:all|everyone)
    |hey (?:all|everyone|team|there)|not yet|in short|first of all|on (?:another|a different) note|speaking of which|on second thought
    |me|after (?:the|a|some|much|long|all) [\w ]{2,40}(?=:)
"""
_OPENING = re.compile(
    rf"(?:(?:no|yes),?\s+(?=(?:i|we|i'm|we're|i've|my|our)\b)|(?:{'|'.join(_WORDS)})\b(?:[\s,:;!.…—–-]+|$)|(?:{''.join(_PHRASES.split(chr(10))).replace('    ', '')})\b[\s,:;!.…—–-]+)",
    re.IGNORECASE,
)
_NEEDS_COMMA = re.compile(
    r"(?:all|team|right|done|look|listen|sure|me|then|great|nice|cool|quick|perfect|guys|folks|fair)\s+[^\W\d]",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    r"(?:fyi|btw|by the way|heads[- ]up|for the record|for context|just so you know|so you know|note|quick (?:note|update|heads))",
    re.I,
)
_HEADING = re.compile(
    r"(?:[\w'/ -]{0,40}\b)?(?:update|note|summary|news|context|info|background|status|recap|tl;dr|tldr|record|sessions|spike|discussion|result|results)\b[\w' ]{0,20}[:–—]\s+",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:[\s,.!;:…–—-]+(?:thanks(?: (?:so much|a lot|everyone|all|again))?|thank you|thx|ty|lol|lmao|haha+|hah|tbh|imo|btw|tho|though|please|pls|plz|ok|okay|cheers|fight me|wish me luck|(?:i )?promise|can't wait|so excited|dont make plans|obviously|actually|xx?|right"
    r"|(?:just )?so you know|fyi|for now|no worries if not|huge difference|full stop|period|then|\^\^|:\)|;\)|:D|autocorrect)|[\s.!,;…–—:-]+|[\s]*[\U0001F300-\U0001FAFF☀-➿❤️🙏]+)+$",
    re.IGNORECASE,
)


def core(span: Span) -> tuple[Span, bool]:
    """Give a sentence without what it opens with, and whether that announced something to know."""
    text, start = span.text, 0
    notice = False
    while found := _OPENING.match(text, start) or _HEADING.match(text, start):
        if found.end() >= len(text) or _NEEDS_COMMA.match(text, start):
            break
        notice = notice or bool(_NOTICE.match(found[0]))
        start = found.end()
    if start == 0:
        return span, notice
    return replace(span, start=span.start + start, text=text[start:]), notice


def without_end(text: str) -> str:
    """Give a sentence without its last mark and without what only closes it."""
    return _CLOSING.sub("", text)
