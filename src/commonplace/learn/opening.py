"""Openings and endings of sentences that say nothing: "ok so, btw", "haha", "thanks"."""

from __future__ import annotations

import re
from dataclasses import replace

from commonplace.learn.regex import compiled
from commonplace.learn.segment import Span

_WORDS = "|".join(
    """
    ok okay so well oh ah aha hmm hm um uh umm er yeah yep yup yes hey hi hello btw fyi also and but anyway anyways
    honestly basically tbh imo imho alors ps lol haha hahaha omg ugh phew yay alright welp right then plus guys folks
    team all quick lgtm done cool great nice perfect thanks thx noted fair sure yikes wow argh damn look listen oops
    whoops actually
    """.split()
)
_PHRASES = r"""
    by_the_way|in_my_opinion|to_be_honest|to_be_fair|as_i_said|as_mentioned|as_discussed|one_(?:more|last|other)_thing
        |in_my_experience|another_thing
    |quick_(?:one|note|update|heads[-_]up|question|thing|intro)|heads[-_]up|good_news|bad_news|just_so_you_know
    |so_you_know|for_context|for_the_record|for_your_information|for_future_reference|unpopular_opinion(?:_but)?
    |not_gonna_lie|ngl|long_story_short|i_mean|you_know_what|you_know|you_see|of_course|new_here|hot_take|fun_fact
    |good_morning|hi_(?:all|everyone|team|there)|hello_(?:all|everyone)|hey_(?:all|everyone|team|there)|not_yet
        |in_short|before_i_forget|while_i_(?:remember|think_of_it)|same_here|lastly|(?:it_)?turns_out(?:_that)?
    |first_of_all|on_(?:another|a_different)_note|speaking_of_which|on_second_thought|me
    |after_(?:the|a|some|much|long|all)_(?![\w_]{0,40}(?:agreed|decided|chose|voted|settled))[\w_]{2,40}(?=:)
"""
# Labels of what follows: only with a mark after them.
_LABELS = r"""
    one|two|three|first(?:ly)?|second(?:ly)?|third(?:ly)?|(?:funny|small|one|another|quick)_thing|(?:two|three|a_few
        |some)_
    (?:\w+_)?(?:things|points|notes|matters|remarks)|observed_again|(?:quick_)?reminder|standup|call_notes|minutes|rule
    |policy|new_rule|house_rule|status|observation|upshot|bottom_line|conclusion|outcome|result
"""
_OPENING = compiled(
    rf"""(?:(?:no|yes),?\s+(?=(?:i|we|i'm|we're|i've|my|our)\b)|(?:{_WORDS})\b(?:[\s,:;!.…—–-]+|$)
    |(?:hi|hey|hello|dear|morning|good_morning)_(?:[\w.]+_){{0,2}}[\w.]+[,!]\s+|(?:{_PHRASES})\b[\s,:;!.…—–-]+
        |(?:{_LABELS})(?:[:,]|\s[–—-])\s+)""",
    re.IGNORECASE,
)
# These open a sentence only before a comma: "team, we ship" but "team lunch is at noon".
_NEEDS_COMMA = compiled(
    r"""(?:all|team|right|done|look|listen|sure|me|then|great|nice|cool|quick|perfect|guys|folks|fair|thanks|thx)
    \s+[^\W\d]""",
    re.IGNORECASE,
)
_NOTICE = compiled(
    r"""(?:fyi|in_my_experience|(?:it_)?turns_out|before_i_forget|while_i_(?:remember|think_of_it)|reminder
        |quick_reminder|btw
        |by_the_way|heads[-_]up
        |for_the_record|for_context|just_so_you_know|so_you_know|note
    |quick_(?:note|update|heads))""",
    re.IGNORECASE,
)
_HEADING = compiled(
    r"""(?:[\w'/_-]{0,40}\b)?(?:update|note|summary|news|context|info|background|status|recap|tl;dr|tldr|record|sessions
    |spike|discussion|result|results)\b[\w'_]{0,20}[:–—]\s+""",
    re.IGNORECASE,
)
_LONGEST_CLOSING = 40
_CLOSING = compiled(
    r"""(?:[\s,.!;:…–—-]+(?:thanks(?:_(?:so_much|a_lot|everyone|all|again))?|thank_you|thx|ty|lol|lmao|haha+|hah|tbh|imo
    |btw|tho|though|please|pls|plz|ok|okay|cheers|fight_me|wish_me_luck|(?:i_)?promise|can't_wait|so_excited
    |do?n'?t_make_plans|obviously|actually|xx?|right|(?:just_)?so_you_know|fyi|for_now|no_worries_if_not
    |huge_difference|full_stop|period|then|\^\^|:\)|;\)|:D|autocorrect)
    |[\s.!,;…–—:-]+|[\s]*[\U0001F300-\U0001FAFF☀-➿❤️🙏]+)+$""",
    re.IGNORECASE,
)


def core(span: Span) -> tuple[Span, bool]:
    """Give a sentence without what it opens with, and whether that announced something to know."""
    text, start = span.text, 0
    notice = False
    while found := _HEADING.match(text, start) or _OPENING.match(text, start):
        if found.end() >= len(text) or _NEEDS_COMMA.match(text, start):
            break
        notice = notice or bool(_NOTICE.match(found[0]))
        start = found.end()
    if start == 0:
        return span, notice
    return replace(span, start=span.start + start, text=text[start:]), notice


def without_end(text: str) -> str:
    """Give a sentence without its last mark and without what only closes it."""
    begin = max(len(text) - _LONGEST_CLOSING, 0)
    return text[:begin] + _CLOSING.sub("", text[begin:])
