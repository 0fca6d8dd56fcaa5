"""The edges of a sentence that say nothing: "Btw, " before it, "haha" after it. English only."""

from __future__ import annotations

import re
from dataclasses import replace

from commonplace.learn.regex import compiled
from commonplace.learn.segment import Span

_LONGEST_END = 60
_OPENING = compiled(
    r"""(?:
    (?:thanks|thank_you|thx|hi|hey|hello|wow)[,!]?_(?-i:[A-Z])[\w’']+[,!.]+\s+
    |(?:hi|hey|hello|hiya|dear|(?:good_)?(?:morning|afternoon|evening))(?:_(?-i:[A-Z])[\w.’']*){0,2}[,!.:]+\s+
    |(?:ok|okay|k|well|oh|ah|aha|hm+|um+|uh+|er+m?|yeah|yep|yup|right|alright|wow|yay|ugh|phew|omg|damn|oops|whoops
        |plus|listen|look|great|perfect|cool|nice|awesome|lovely|thanks(?:_(?:a_lot|so_much|again))?|thank_you|thx|ty
        |sure|got_it|good_(?:point|question|idea)|sorry|of_course|no_worries|sounds_good|fun_fact|quick_(?:one|note|update
        |question)|heads_up|fyi|ps|p\.s\.?|tbh|honestly|to_be_honest|imo|imho|in_my_opinion|you_know|you_see|i_mean
        |by_the_way|btw|anyway|anyways|also|oh_and|one_(?:more|other|last)_thing|on_another_note|another_thing|just_so_you_know
        |so_you_know|for_the_record|before_i_forget|long_story_short|speaking_of_which|as_i_said|as_mentioned|and|but|so)
        (?:[,:!.…]+\s+|\s+[–—-]+\s+)
    |(?:ok|okay|oh|ah|aha|hm+|um+|uh+|ugh|yay|omg|btw|fyi|anyway|anyways|hey|(?:ha){2,}h?|lol|lmao|tbh|imo
        |and|but)\s+(?=\S)
    |so\s+(?!far\b|that\b|long\b|many\b|much\b|called\b|and\b|is\b|are\b|was\b|do\b|does\b|did\b|am\b|be\b)
    )""",
    re.IGNORECASE,
)
_CLOSING = compiled(
    r"""(?:
    [\s,;.!…–—-]+(?:(?:ha){2,}h?|lol|lmao|rofl|xx?|thx|ty|thanks(?:_(?:a_lot|so_much|again|everyone|all))?|thank_you
        |cheers|btw|by_the_way|wish_me_luck|ok\?|okay\?)[.!]*
    |\s*[:;][-']?[)(DPp](?!\w)
    |\s*[\U0001F300-\U0001FAFF\u2600-\u27BF\u2764\uFE0F\u200D]+
    |\s+
    )+$""",
    re.IGNORECASE,
)


def trim(span: Span) -> Span:
    """Return a sentence without greeting and filler at its edges; empty if there is nothing else."""
    start, text = 0, span.text
    while found := _OPENING.match(text, start):
        start = found.end()
    closing = _CLOSING.search(text, max(len(text) - _LONGEST_END, start))
    end = closing.start() if closing else len(text)
    return replace(span, start=span.start + start, end=span.start + end, text=text[start:end])
