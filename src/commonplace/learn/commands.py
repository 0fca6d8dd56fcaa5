"""Requests to the book itself: remember this, forget that. English only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from commonplace.learn.regex import compiled
from commonplace.learn.segment import Span

_ASKING = r"""
    (?:(?:so|ok|okay|and|but|also|hey|oh|please|pls|kindly|just|can_you|could_you|would_you|will_you|you_should|i_need_you_to
    |i_want_you_to|i['’]d_like_you_to|feel_free_to|go_ahead_and|make_sure_(?:you|to)|be_sure_to|important:|always|actually
    |wait|no|yes|sorry|now|then|assistant|btw|by_the_way)[,:]?\s+)*"""
_THIS = r"(?:this|that|it|the_following)"
_REMEMBER = compiled(
    _ASKING
    + rf"""(?:
    remember(?:\s*[:,–—-]+\s*|_(?:that|also(?:_that)?|for_(?:me|later|next_time))[:,]?_|_this:\s*|_)
        (?!(?:when|how|what|who|where|why|if|whether|me|us|you|last|the_time|that_time|to|your)\b)
    |(?:keep|bear)_(?:it_)?in_mind(?:\s*[:,–—-]+\s*|_that_)
    |(?:don['’]?t|do_not|never)_forget(?:\s*[:,–—-]+\s*|_that_)
    |(?:note|take_note|make_a_note|jot_down|write_down)(?:_(?:down|also|too))*(?:\s*[:,–—]+\s*|_that_)
    |(?:save|store|record|keep|write|memori[sz]e|note|add|remember)_{_THIS}
        (?:_(?:down|on_file|in_(?:your_)?(?:memory|notes|mind)|to_(?:your_)?(?:memory|notes)|for_(?:later|me|next_time)))*
        \s*[:,–—-]+\s*
    |for_(?:the_record|(?:all_)?(?:future|later)_(?:reference|sessions?|chats?)|your_(?:information|records|notes|memory)
        |next_time)\s*[,:–—-]+\s*
    |(?:reminder|note_to_self|memo|to_remember)\s*[:!]\s*
    )""",
    re.IGNORECASE,
)
_HERALD = re.compile(r"^(?:this|that|it|these)\b.{0,30}$|\bthe following\b", re.IGNORECASE)
"""What is to be remembered comes in other sentences."""
_AFTERWARDS = compiled(
    rf"""[\s,.;:!–—-]+(?:and_)?(?:please_|pls_|so_)?(?:remember_{_THIS}|keep_{_THIS}_in_mind|note_{_THIS}(?:_down)?
    |(?:save|store)_{_THIS}|write_{_THIS}_down)(?:_(?:please|for_(?:me|later|next_time|the_future)))?[\s.!]*$""",
    re.IGNORECASE,
)
_ONLY_THAT = compiled(
    _ASKING
    + rf"""(?:remember|save|store|note|keep|memori[sz]e|don['’]?t_forget|write|jot)_{_THIS}
    (?:_(?:all|down|in_mind|on_file|for_[\w\s]{{2,40}}|please|pls|well))*[\s.!]*$""",
    re.IGNORECASE,
)
_TO_DO = compiled(
    _ASKING
    + r"""(?:(?:remember|don['’]?t_forget|do_not_forget)_to_
    |remind_(?:me|us)_(?:to|that|about|of|on|tomorrow|next)_)(?=\w)""",
    re.IGNORECASE,
)
_IDLE = compiled(r"\bto_(?:have|eat|drink|smile|breathe|subscribe|enjoy|rest|vote)\b", re.IGNORECASE)

_NOTES = r"(?:your_|the_|my_)?(?:memory|memories|notes?|records?|files?|database|history|profile|list)"
_TELLING = r"(?:told|said|mentioned|shared|wrote|gave|discussed|talked|asked)"
_FORGET = compiled(
    _ASKING
    + rf"""(?:
    (?:forget|unremember|unlearn|never_?mind_(?=about\b|what\b))(?!_(?:it|about_it|that|this|me|to|how)\b[\s.!,]*$)
        (?!_(?:to|how)\b)\s*
    |(?:delete|erase|remove|wipe|purge|clear|drop|scrub|disregard|ignore|scratch|strike|discard)_
        (?=.*\b(?:(?:from|in|out_of)_{_NOTES}|you_(?:know|have|remember|stored|saved)|(?:i|we)_{_TELLING}
        |(?:memor(?:y|ies)|things?|bit|part|notes?|entr(?:y|ies)|reminder|records?|info|information|everything|data|details)
        _(?:about|on|of|regarding)|my_(?:\w+_){{0,3}}(?:details|number|address|data|info|information|birthday|name|history
        |salary|diagnosis))\b)
    |(?:don['’]?t|do_not|never|stop)_(?:ever_)?(?:keep(?:ing)?|stor(?:e|ing)|sav(?:e|ing)|remember(?:ing)?|record(?:ing)?)_
        (?=(?:my|our|the|what|that|this|any|anything|his|her|their)\b)
    |i_(?:don['’]?t|do_not|never)_want_you_to_(?:remember|keep|store|save|know)_
    |off_the_record\s*[:,–—-]+\s*
    )""",
    re.IGNORECASE,
)
_ONLY_IT = compiled(
    _ASKING
    + rf"""(?:(?:forget|erase|delete|unremember|disregard|scratch|strike
    |(?:don['’]?t|do_not)_(?:keep|store|save|remember))_(?:about_)?(?:that|this|them|what_i_(?:just_)?said|(?:that_|the_|my_)?last_(?:one|bit|part|message|thing))
    |(?:delete|erase|unremember)_it|forget_i_said_(?:that|it|anything))
    (?:_(?:please|pls|now|again|from_{_NOTES}|ok|okay|thanks))*\s*(?:[.,!–—-].*)?$""",
    re.IGNORECASE | re.DOTALL,
)
_IDIOM = compiled(r"(?:oh_|ah_|ok_|just_)*(?:forget_(?:about_)?it|never_?mind)\b(?!_(?:about|what)\b)", re.IGNORECASE)
_ASKED_POLITELY = compiled(r"^(?:can|could|would|will)_you\b|,_(?:ok|okay|please|right)\?$", re.IGNORECASE)
_ABOUT = compiled(r"^(?:.{0,60}?\b)?(?:about|regarding|concerning)_(?P<subject>.+)$", re.IGNORECASE | re.DOTALL)
_CUT = compiled(
    rf"""(?:\s+(?:from|in|out\s+of|off)\s+{_NOTES}\b|\s+(?:please|pls|lol|haha|thanks|altogether|entirely|for\s+good|now
    |anymore|any\s+more|btw|then)\b|[.!?;]|\s[–—-]+\s
    |,\s*(?=(?:it|it's|that|that's|i|i'm|he|she|they|we|please|pls|thanks|because|since|as|and|no|not|don't|just|so|ok)\b)
    |\s+(?:because|since|it's|it\s+was|as\s+it
    |(?:that\s+)?you\s+(?:have|stored|saved))\b).*$""",
    re.IGNORECASE | re.DOTALL,
)
_LEAD = compiled(
    rf"^(?:(?:that_(?:i|we)_{_TELLING}(?:_you)?|that|about|the_fact_that|all_of|any_of|of|what_i_said|everything|anything)_)+"
    r"(?=\S)",
    re.IGNORECASE,
)
_POINTER = re.compile(r"(?:him|her|it|that|this|them|those|these|he|she|they)$", re.IGNORECASE)
_SOME_WORD = compiled(
    r"""\b(?:rememb|unremember|unlearn|forget|memor|mind|note|jot|writ|sav|stor|record|keep|next_time|future|remind|delet
    |eras|remov|wip|purg|clear|drop|scrub|disregard|ignore|scratch|strike|discard|log\b|want_you|information|add_)""",
    re.IGNORECASE,
)
"""Most sentences ask nothing of the book: one quick look saves them a dozen careful ones."""


@dataclass(frozen=True, slots=True)
class Command:
    """A request to the book, and the words that say what to remember or forget."""

    act: Literal["remember", "remember that", "to do", "forget", "forget that"]
    span: Span


def find_command(sentence: Span) -> Command | None:
    """Read a sentence as a request to remember or to forget; return None if it is neither."""
    return (_forget(sentence) or _remember(sentence)) if _SOME_WORD.search(sentence.text) else None


def find_subject(text: str) -> str:
    """Return what a request to forget is about."""
    about = _ABOUT.match(text.strip())
    subject = _CUT.sub("", about["subject"] if about else text).strip(" ,.?!")
    return _LEAD.sub("", subject)


def _remember(sentence: Span) -> Command | None:
    text = sentence.text
    if _ONLY_THAT.match(text):
        return Command("remember that", sentence)
    if found := _TO_DO.match(text):
        return None if _IDLE.search(text) else Command("to do", sentence)
    if text.rstrip().endswith("?") and not _ASKED_POLITELY.search(text):
        return None
    if found := _REMEMBER.match(text):
        return _cut(sentence, found.end(), len(text.rstrip(" ?")))
    if found := _AFTERWARDS.search(text):
        return _cut(sentence, 0, found.start())
    return None


def _cut(sentence: Span, start: int, end: int) -> Command | None:
    kept = Span(sentence.start + start, sentence.start + end, sentence.text[start:end])
    return Command("remember", kept) if end - start > 2 and not _HERALD.search(kept.text) else None


def _forget(sentence: Span) -> Command | None:
    text = sentence.text
    if (text.rstrip().endswith("?") and not _ASKED_POLITELY.search(text)) or _IDIOM.match(text):
        return None
    if _ONLY_IT.match(text):
        return Command("forget that", sentence)
    found = _FORGET.match(text)
    subject = find_subject(text[found.end() :]) if found else ""
    if _POINTER.match(subject):
        return Command("forget that", sentence)
    return Command("forget", Span(sentence.start, sentence.end, subject)) if len(subject) > 1 else None
