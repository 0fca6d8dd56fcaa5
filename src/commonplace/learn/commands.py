"""Requests to the book itself: remember this, forget that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from commonplace.learn.regex import compiled
from commonplace.learn.segment import Span
from commonplace.text.lexicon import EMPTY

_ASKING = (
    r"""(?:(?:so|ok|okay|and|but|also|hey|oh|please|pls|plz|kindly|just|can you|could you|would you|will you|can u
        |you should|you need to|i need you to|i want you to"""
    r"""|i'd like you to|you can|you may|feel free to|go ahead and|make sure (?:you|to)|be sure to
        |it's important (?:that you
        |to)|important:|let's|always|do|actually|wait|no|yes|sorry|now|then|assistant|bot)[,:]?\s+)*"""
).replace(" ", r"\s")
_REMEMBER = compiled(
    _ASKING
    + r"""(?:remember(?:\s+for\s+(?:me|later|next\s+time))?(?:\s*[:,–—-]+\s*|\s+(?:that|this[:,]|the\s+following[:,]
        |also)\s+|\s+)(?!(?:when|how|what|who|where|why|if|whether|me|us|you|last|that\s+time|the\s+time|your)\b)
        | (?:keep|bear)\s+(?:it\s+)?in\s+mind(?:\s+(?:pls|please|plz))?(?:\s*[:,–—-]+\s*|\s+that\s+|\s+)
        | (?:don'?t|do\s+not|never)\s+(?:ever\s+)?forget(?:\s*[:,–—-]+\s*|\s+that\s+|\s+)(?!(?:it|about\s+it|what|me
        |to\s+(?:breathe|smile))\b)| (?:(?:please\s+)?(?:note|take\s+note|make\s+(?:a\s+)?note|jot\s+down|write\s+down
        |mark\s+down|log)(?:\s+(?:down|of\s+this|of\s+the\s+fact|though|also|however|too))*(?:\s*[:,–—]+\s*
        |\s+that\s+))| (?:save|store|record|file|log|keep|write|jot|memori[sz]e|put|note|commit|add
        |remember)\s+(?:this|that|it
        |the\s+following)(?:\s+(?:one|down|on\s+file|in\s+(?:your\s+)?(?:memory|notes|mind)|for\s+(?:later|me
        |next\s+time|future\s+\w+)|to\s+(?:your\s+)?(?:memory|notes)|somewhere))*\s*[:,–—-]+\s*| (?:add|save|commit
        |put)\s+(?:this\s+|that\s+)?(?:to|in|into)\s+(?:your\s+|the\s+)?(?:memory|notes)(?:\s*[:,–—-]+\s*|\s+that\s+)
        | (?:save|store|record|note|log)\s*:\s*
    | (?:don'?t|do\s+not)\s+let\s+(?:me|us)\s+forget(?:\s+that)?\s+
    | put\s+(?:it\s+)?on\s+(?:the\s+)?record\s+that\s+
    | in\s+case\s+you\s+(?:ever\s+)?need\s+(?:it|this)(?:\s+(?:later|again))?\s*[,:]\s*
    | for\s+(?:the\s+record|(?:all\s+)?(?:future|later|next)\s+(?:reference|sessions?|conversations?|chats?
        |answers?|time)|your\s+(?:information|records|notes|memory)|later(?:\s+reference)?|reference|posterity
        |next\s+time)\s*[,:–—-]+\s*| (?:you\s+)?(?:should|must
        |need\s+to)\s+know(?:\s+for\s+[\w\s]{3,30}?)?(?:\s+that\s+|\s*[:,]\s*)
        | (?:just\s+)?so\s+(?:that\s+)?you\s+(?:know|remember|have\s+it)[,:]?\s+(?!(?:who|what|how|why|where|it
        |this)\b)| (?:keep|hold)\s+(?:on\s+to
        |track\s+of|a\s+note\s+of)\s+(?:this|that|it|the\s+following)\s*[:,–—-]+\s*| remember\s+(?=the\s+following\b)
        | (?:reminder|psa|n\.?b\.?|important|note\s+to\s+self|memo|to\s+remember|remember)\s*[:!]\s*)""",
    re.IGNORECASE,
)
_ANNOUNCED = compiled(
    r"""[^:.?]{0,60}\b(?:remember|remind|note|forget(?:ting)?|in_mind|write_(?:this|it)|save|store|so_you_know
        |(?:hang|hold)_on_to|memory|don't_lose|permanent_record|carry_(?:along|over)|knows?_(?:it
        |this))\b[^:.?]{0,60}:\s+(?=\S)""",
    re.IGNORECASE,
)
_AFTERWARDS = compiled(
    r"""[\s,.;:!–—-]+(?:and\s+)?(?:please\s+|pls\s+|so\s+)?(?:remember\s+(?:that|this|it)|keep\s+(?:that|this
        |it)\s+in\s+mind|(?:make\s+a\s+)?note\s+(?:of\s+)?(?:that|this|it)|don'?t\s+forget(?:\s+(?:that|this|it))?
        |(?:save|store)\s+(?:that|this|it)|write\s+(?:that|this|it)\s+down)"""
    r"(?:\s+(?:please|pls|for\s+(?:me|later|next\s+time|the\s+future)))?[\s.!]*$",
    re.IGNORECASE,
)
_ONLY_THAT = compiled(
    _ASKING
    + r"""(?:remember|save|store|note|keep(?:\s+track\s+of)?|memori[sz]e|don'?t\s+forget|write|jot|bear|track)\s+(?:that
        |this|it|those)(?:\s+(?:down|in\s+mind|on\s+file|somewhere|for\s+(?:me|later|next\s+time|future\s+\w+)|please
        |pls|one|well))*[\s.!]*$""",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    _ASKING + r"(?:remember|don'?t\s+forget|do\s+not\s+forget|remind\s+(?:me|us))\s+to\s+(?=\w)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:forget|remember) to (?:have|eat|drink|smile|breathe|subscribe|enjoy|rest|vote)\b", re.IGNORECASE
)
_REMIND = re.compile(_ASKING + r"remind\s+(?:me|us)\s+(?:that|about|of|on|tomorrow|next)\b", re.IGNORECASE)

_NOTES = (
    r"(?:your\s+|the\s+|my\s+)?(?:memory|memories|notes?|records?|files?|database|history|profile|brain|logs?|list)"
)
_TELLING = r"(?:told|said|mentioned|shared|wrote|gave|discussed|talked|asked|sent)"
_FORGET = compiled(
    _ASKING
    + rf"""(?:(?:unremember|unlearn)\s+| never\s?mind\s+(?=(?:about|what|the)\b)| scratch\s+(?=(?:the|my|our
        |everything)\s)| forget\s+(?:all\s+)?(?!(?:it|about\s+it|that|this|me|to|how|the\s+rest
        |what\s+i\s+just)\b[\s.!,]*$)(?!to\b|how\b)| (?:disregard|ignore|forget|strike|scratch|scrap|drop|discard
        |undo)\s+(?=(?:(?:everything|anything|all(?:\s+of)?|what|the\s+(?:thing|bit|part|stuff|things|message|comment
        |info\w*)s?|(?:that|my|the)\s+(?:last|previous|earlier|first)\s+\w+|that\s+\w+|whatever)\b).*\b(?:about|on
        |regarding|i\s+{_TELLING}|we\s+{_TELLING}|{_TELLING}|earlier|concerning)\b)| (?:delete|erase|remove|wipe|purge
        |strike|scratch|cross
        |clear|drop|scrub|discard|get\s+rid\s+of|destroy|lose)\s+(?=.*\b(?:(?:from|in|out\s+of)\s+{_NOTES}
        |you\s+(?:know|have|remember|stored|saved|hold|keep|kept|noted|wrote)|i\s+{_TELLING}|we\s+{_TELLING}
        |about\s+me|(?:memory|memories|thing|things|bit|part|note|notes|entry|entries|reminder|record|records|info
        |information|everything
        |stuff|data|details)\s+(?:about|on|of|regarding|for)\b))| pretend\s+(?:that\s+)?(?:i|we)\s+(?:never|didn'?t
        |did\s+not|hadn'?t)\s+(?:said|say|mention(?:ed)?|told?|tell|bring|brought|share[d]?|talk(?:ed)?
        |ask(?:ed)?)(?:\s+(?:you|up|anything|a\s+word))*\s+(?:about\s+|of\s+)?| (?:there's\s+)?(?:no\s+(?:need|reason)
        |you\s+(?:don'?t|do\s+not)\s+(?:need|have))(?:\s+for\s+you)?\s+to\s+(?:remember|keep|store|save|hold\s+on\s+to
        |track|retain)\s+| (?:keep|leave)\s+(?=.*\bout\s+of\s+(?:your|the|our)\s+(?:memory|notes?|records?|files?
        |logs?|history)\b)| take\s+(?=.*\b(?:off|out\s+of|from)\s+(?:your|the|my)\s+(?:memory|notes?|records?|files?
        |list|profile)\b)| i\s+(?:don'?t|do\s+not|never)\s+want\s+(?:you\s+to\s+(?:remember|keep|store|save|have|hold
        |record|retain|know)\s+|(?=.*\b(?:stored|saved|kept|remembered|recorded|on\s+(?:file|record))\b))| i(?:'d
        |\s+would)\s+(?:rather|prefer(?:\s+it)?\s+if|prefer)\s+you\s+(?:didn'?t|did\s+not|not)\s+(?:keep|store|save
        |remember|record|have|retain|mention|bring\s+up)\s+| off\s+the\s+record\s*[:,–—-]+\s*| (?:don'?t|do\s+not
        |never|please\s+don'?t|stop)\s+(?:ever\s+)?(?:keep(?:ing)?|stor(?:e|ing)|sav(?:e|ing)|remember(?:ing)?
        |record(?:ing)?|retain(?:ing)?|log(?:ging)?|hold(?:ing)?\s+on\s+to|memori[sz](?:e|ing)|note|noting|writ(?:e
        |ing)\s+down|track(?:ing)?|bring(?:ing)?\s+up|mention(?:ing)?)\s+(?=(?:(?:any|all|anything|everything
        |track)\s+)?(?:of\s+)?(?:my|our|the|what|that|this|any|it|about|anything|his|her|their|(?-i:[A-Z]))))""",
    re.IGNORECASE,
)
_DETAILS = compiled(
    r"""(?:delete|erase|remove|wipe|purge|forget|drop|scrub)\s+(?P<subject>my\s+(?:[\w'-]+\s+){0,3}?(?:details|number
        |address|data|info
        |information|birthday|name|history|salary|password|diagnosis))\b""",
    re.IGNORECASE,
)
_PASSIVE = compiled(
    r"""(?P<subject>.+?)\s+(?:must|should|may|can|is|are|does|do|need|needs|has|have)(?:\s+not|n'?t)?\s*(?:never
        |no\s+longer|to)?\s*(?:to\s+)?(?:be\s+|need\s+to\s+be\s+|go\s+)?"""
    r"""(?:(?<=not_be_)|(?<=n't_be_)|(?<=never_be_)|(?<=to_be_))(?:stored|kept|saved|remembered|recorded|retained
        |logged|forgotten|deleted|erased|removed|wiped|noted|written_down|held)\b""",
    re.IGNORECASE,
)
_CAN_GO = compiled(
    r"""(?:the|that|my|your)\s+(?:reminder|note|memory|entry|record|info|information|thing|bit
        |stuff)s?\s+(?P<subject>(?:about|on|of|for|regarding|with)\s+.+?)\s+(?:can|should|may|must)\s+(?:go
        |be\s+(?:deleted|removed|forgotten|dropped))\b""",
    re.IGNORECASE,
)
_NEVER_HAPPENED = compiled(
    rf"""(?:what|everything|anything)\s+(?:i|we)\s+(?:just\s+)?{_TELLING}(?:\s+you)?\s+(?:about|regarding)\s+
    (?P<subject>.+?)\s+(?:never|didn't)\s+happen(?:ed)?\b""",
    re.IGNORECASE,
)
_WHATEVER = compiled(
    r"""(?:.*\b)?(?:whatever|what|everything|anything|all)\s+(?:that\s+)?(?:you|i)(?:'ve)?\s+(?:have\s+)?(?:kept|have
        |stored|saved|know|noted
        |remembered|remember|told\s+you|said|wrote)\s+(?:about|on|regarding)\s+(?P<subject>[^,]+),\s+(?:please\s+
        |just\s+)?(?:bin|drop
        |delete|forget|erase|lose|scrap|trash|remove|ditch)\s+(?:it|that|them)\b""",
    re.IGNORECASE,
)
_NOTHING = compiled(
    r"""(?:.*\b)?(?:keep|kept|store|stored|save|saved|remember|remembered|retain|retained)\s+nothing\s+(?:of|about
        |on)\s+(?:what\s+(?:i|we)
        \s+(?:have\s+)?\w+(?:\s+you)?\s+)?(?:about\s+|on\s+|regarding\s+)?(?P<subject>.+)$""",
    re.IGNORECASE,
)
_THOSE_NOTES = compiled(
    r"""(?:please\s+)?(?:clear|delete|erase|remove|drop|wipe|purge|bin|toss|trash|lose)\s+(?:out\s+)?(?:those|these
        |the|that|all|your|any|my)\s+
        (?P<subject>.{2,60}?)\s+(?:notes?|memor(?:y|ies)|entr(?:y|ies)|records?|reminders?)\b""",
    re.IGNORECASE,
)
_TAKEN_OUT = compiled(
    r"""\b(?:i'd\s+like|i\s+would\s+like|i\s+want|please\s+have|have|get|i\s+need|i'd\s+prefer)\s+(?P<subject>(?:my
        |our|the|that|this|everything|all|any|\w+'s)\b.{2,80}?)\s+(?:to\s+be\s+|be\s+)?"""
    r"""(?:taken\s+(?:out\s+of|off|from)|removed|deleted|erased|wiped|forgotten|purged|struck)\b(?=.*\b(?:you|memory
        |memories|notes?|records?|forgotten|erased)\b)""",
    re.IGNORECASE,
)
_CONFIDENTIAL = compiled(
    rf"""(?:what|everything|all|anything|the\s+\w+)\s+(?:i|we)(?:'ve|'d)?\s+(?:just\s+|have\s+)?{_TELLING}(?:\s+(?:you
        |here|before|earlier|to\s+you))?\s+(?:regarding|about|on|concerning)\s+(?P<subject>.+?)\s+(?:is|was|stays
        |are)\s+(?:strictly\s+|between|off)?""",
    re.IGNORECASE,
)
_ONLY_IT = compiled(
    _ASKING + rf"""(?:forget|erase|delete|unremember|disregard|ignore|scratch|strike|wipe|remove|purge|(?:don'?t
        |do\s+not)\s+(?:retain|keep|store|save|remember|record))\s+(?:about\s+)?(?:it|that|this|them|(?:any
        |all)\s+of\s+(?:it|that|this)|what\s+i\s+(?:just\s+)?said(?:\s+(?:before|earlier|yesterday))?|everything
        |that\s+(?:last\s+)?(?:one|bit|part
        |message)|(?:the|my)\s+last\s+(?:bit|part|message|thing|one))"""
    rf"""(?:\s+(?:please|pls|now|again|anywhere|from\s+{_NOTES}|ok|okay|thanks
        |i\s+(?:just\s+)?said))*(?P<rest>\s*[.,!–—-].*)?\s*$""",
    re.IGNORECASE,
)
_IDIOM = compiled(
    r"(?:oh_|ah_|ok_|just_|let's_)*(?:forget_(?:about_)?it|never_?mind)\b(?!_(?:about|what|the))", re.IGNORECASE
)
_MAY_ASK = re.compile(r"^(?:can|could|would|will) (?:you|u)\b|, (?:ok|okay|please|right|pls)\?$", re.IGNORECASE)
_ABOUT = compiled(
    rf"""(?:(?:everything|anything|all|whatever|that|what|the|my|any|those|these|your)\b[\w\s']{{0,40}}?)?\s*\b(?:about
        |regarding|concerning|on\s+the\s+subject\s+of)\s+(?P<subject>.+)$|(?:what|everything|anything
        |all)\s+(?:that\s+)?(?:i|we|you)(?:'ve)?\s+(?:have\s+|just\s+)?(?:{_TELLING}|know|have|stored
        |saved)(?:\s+(?:you|to\s+you|on))?\s+(?P<rest>.+)$""",
    re.IGNORECASE,
)
_CUT = compiled(
    rf"""(?:\s+(?:from|in|out\s+of|off|on)\s+{_NOTES}|\s+(?:(?:stored|saved|kept|recorded)\b|anywhere|please|pls|plz
        |lol|haha|thanks|thx|altogether|entirely|completely|for\s+good|ok|okay|now|anymore|any\s+more)\b|[.!;]
        |\s[–—-]+\s|,\s*(?=(?:it|it's|that|that's|i|i'm|he|she|they|we|please|pls|thanks|because|since|as|and|all|no
        |not|don't|just|so)\b)|\s+(?:because|since|it's|it\s+was|it\s+is|as\s+it|bc|that\s+you\s+(?:have|stored|saved)
        |you\s+(?:have|stored|saved))\b).*$""",
    re.IGNORECASE | re.DOTALL,
)


_NAMING = (_CAN_GO, _CONFIDENTIAL, _NEVER_HAPPENED, _THOSE_NOTES, _WHATEVER, _NOTHING)
_LINK = re.compile(r"^(?:about|on|of|for|regarding|with)\s+", re.IGNORECASE)

_RECALLS = compiled(
    r"""\b(?:i_have_(?:your|you|a_note|it|that|\w+_down)|i_recall|i_remember|(?:my|your)_(?:saved_)?(?:notes|memory)
        |on_file|still_(?:tracking|list|have)
        |i(?:'ve|_have)_(?:noted|stored|saved|kept)|i_keep|listed)\b""",
    re.IGNORECASE,
)
_DROP = compiled(
    r"""(?:[^,;.]{1,60}[,;]_)?(?:so_|and_|please_|just_|you_can_)*(?:get_rid_of|lose|drop|bin|scrap|strike|remove
        |delete|clear|cut|ditch|toss|trash
        |erase|wipe|take_out)_(?:out_)?(?:the_|those_|that_|my_|all_)?(?P<subject>[^,;.!?]{2,50})""",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w{3,}")

# Most sentences ask nothing of the book: one quick look saves them a dozen careful ones.
_SOME_WORD = compiled(
    r"""\b(?:rememb|unremember|unlearn|forget|forgotten|memor|mind|note|noted|jot|mark|writ|sav|stor|record|fil|keep
        |kept|log|put|add"""
    r"""|commit|reference|future|later|next_time|should_know|must_know|need_to_know|you_know|know_that|reminder|remind
        |psa|n\.?b|important"""
    r"""|posterity|disregard|ignore|strike|scratch|scrap|drop|discard|undo|delet|eras|remov|wip|purg|clear|scrub
        |get_rid|destroy"""
    r"""|lose|retain|hold|track|bring|mention|pretend|leave|take|taken|off_the_record|confidential|information|can_go
        |never_?mind|struck|between|bin\b|toss|trash)""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Command:
    """A request to the book, and its subject."""

    act: Literal["remember", "remember that", "to do", "forget", "forget that"]
    text: str
    start: int
    end: int


def command(sentence: Span) -> Command | None:
    """Read a sentence as a request to remember or to forget; None when it is neither."""
    return (_forget(sentence) or _remember(sentence)) if may_ask(sentence.text) else None


def recalls(text: str) -> bool:
    """Tell whether an assistant says what it has in its notes."""
    return bool(_RECALLS.search(text))


def dropped(sentence: Span, recalled: str) -> Command | None:
    """Read "get rid of Birkenweg" as asked of the book, where Birkenweg had just been recalled from it."""
    found = _DROP.match(sentence.text)
    known = set(_WORD.findall(recalled.lower())) - EMPTY
    if not found or known.isdisjoint(_WORD.findall(found["subject"].lower())):
        return None
    return _subject(sentence, found["subject"])


def may_ask(text: str) -> bool:
    """Tell whether a text has any of the words by which one asks the book for something."""
    return bool(_SOME_WORD.search(text))


def _remember(sentence: Span) -> Command | None:
    text = sentence.text
    if _ONLY_THAT.match(text):
        return Command("remember that", "", sentence.start, sentence.end)
    if _WISH.search(text):
        return None
    if found := _TO_DO.match(text) or _REMIND.match(text):
        return _of("to do", sentence, found.start())
    if text.rstrip().endswith("?") and not re.search(
        r"\bremember (?:for me )?that\b|\bnote that\b|in mind that\b", text, re.IGNORECASE
    ):
        return None
    if found := _REMEMBER.match(text) or _ANNOUNCED.match(text):
        return _of("remember", sentence, found.end())
    if found := _AFTERWARDS.search(text):
        return Command("remember", text[: found.start()], sentence.start, sentence.start + found.start())
    return None


def _of(act: Literal["remember", "to do"], sentence: Span, begin: int) -> Command | None:
    rest = sentence.text[begin:]
    kept = rest.rstrip(" ?!.")
    return Command(act, kept, sentence.start + begin, sentence.start + begin + len(kept)) if len(kept) > 2 else None


def _forget(sentence: Span) -> Command | None:
    text = sentence.text.replace("’", "'")
    if (text.rstrip().endswith("?") and not _MAY_ASK.search(text)) or _IDIOM.match(text):
        return None
    if _ONLY_IT.match(text):
        return Command("forget that", "", sentence.start, sentence.end)
    for pattern in _NAMING:
        if found := pattern.match(text):
            return _subject(sentence, _LINK.sub("", found["subject"]))
    if found := _TAKEN_OUT.search(text) or _DETAILS.fullmatch(_CUT.sub("", text).strip(" .!")) or _PASSIVE.match(text):
        return _subject(sentence, found["subject"])
    if found := _FORGET.match(text):
        return _subject(sentence, text[found.end() :])
    return None


def _subject(sentence: Span, rest: str) -> Command | None:
    if about := _ABOUT.match(rest.strip()):
        rest = about["subject"] or about["rest"]
    subject = _CUT.sub("", rest).strip(" ,.?!")
    subject = re.sub(r"^(?:that|about|the fact that|all of|any of|of)\s+(?=\S)", "", subject, flags=re.IGNORECASE)
    return Command("forget", subject, sentence.start, sentence.end) if len(subject) > 1 else None
