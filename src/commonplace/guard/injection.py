"""Texts that read like an instruction to the model that recalls them."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.guard import unseen
from commonplace.guard.sieve import Pattern, Sieve, lower
from commonplace.guard.wordings import WORDINGS

# Marks of a chat, forged notes and hidden text, in the text as it is written: what it must contain in lower case, and
# the pattern.
_CHAT_TEMPLATE = (
    (("<|",), r"<\|[a-z_]{2,40}\|>"),
    (("inst]",), r"\[/?INST\]"),
    (("sys>>",), r"<</?SYS>>"),
    (("s>",), r"</?s>\s?(?:<s>|\[INST)"),
    (("_of_turn>",), r"<(?:start|end)_of_turn>"),
    (("<\uff5c",), "<\uff5c[^>\n]{1,40}\uff5c>"),
)
_ROLE_MARKER = (
    (
        ("system", ":"),
        (
            r"^[\s>*_#=\[-]{0,8}system(?:\s(?:override|message|prompt|note))?[\s\]*_=-]{0,8}:\s{0,4}"
            r"(?:you\b|the\s(?:user|assistant|model|operator)|new\b|ignore|always\b|never\b|disable|from\snow|obey|grant)"
        ),
    ),
    (("assistant", ":"), r"^[\s>*_-]{0,4}assistant\s?:\s"),
    (("human", "assistant", ":"), r"^[\s>*_-]{0,4}human\s?:\s[^\n]{1,500}\n\s{0,8}assistant\s?:"),
    (("#", "instruction | response", ":"), r"^\s{0,4}#{1,6}\s?(?:instruction|response)\s?:"),
    (
        ("#", "system | instruction | developer", "\n"),
        (
            r"^\s{0,4}#{1,6}\s?(?:system|instructions?|developer)(?:\s(?:prompt|message))?\s?:?\s{0,4}\n\s{0,8}"
            r"(?:you|act|always|never|ignore)\b"
        ),
    ),
    (("[system] | [assistant] | [developer] | [admin]",), r"^\s{0,4}\[(?:system|assistant|developer|admin)\]"),
    (("===", "system"), r"={3,}\s?system\smessage"),
    (("```", "system"), r"^`{3}\s?system\b"),
    (
        ("<",),
        (
            r"</?(?:system|instructions?|important|developer|assistant|function_calls|invoke|tool_call|tool_use"
            r"|antml[^>]{0,40})[\s>]"
        ),
    ),
    (("</",), r"</(?:context|notes|data|user|document|documents|memory|memories|untrusted|input|quote)>"),
    (("<", "instruction | system_prompt"), r"</?\w{0,20}_?(?:instructions?|system_prompt)>"),
    (("{{", "system | assistant"), r"\{\{[#/]?(?:system|assistant)\b"),
    (("begin", "system", "prompt"), r"\bbegin\ssystem\sprompt\b"),
    (('"role"',), r'"role"\s?:\s?"(?:system|assistant|developer|tool)"'),
    (
        ("data | context | input | document | prompt | notes | memory", "end"),
        (
            r"\bend\sof\s(?:user\s|the\s)?(?:data|context|input|document|prompt|notes|memory)\b\s?"
            r"(?:\.|-{2,}|={2,}|$)"
        ),
    ),
    (("system", "override"), r"\bSYSTEM\sOVERRIDE\b"),
)
_FORGED_RECALL = ((("- [",), r"^[ \t>]{0,20}- \[\d{4}-\d\d-\d\d, [a-z]+(?:[,;] [^\]\n]{1,300})?\] [\"“]"),)
_FILLED_IN = r"=\s?(?:[<{\[]|%7[bB]|[A-Z]+_[A-Z_]+)"
_IMAGE = (
    (("![", "://"), rf"!\[[^\]\n]{{0,200}}\]\(\s?https?://[^)\s?]{{1,300}}\?[^)\n]{{0,300}}{_FILLED_IN}"),
    (
        ("<img", "://"),
        rf"<img\b[^>]{{0,200}}src=[\"']?https?://[^>\"'?]{{1,300}}\?[^>\"']{{0,300}}{_FILLED_IN}",
    ),
    (("](", "javascript:"), r"\]\(\s?javascript:"),
)
# Tag characters spell invisible text; a few after a black flag name a region. Variation selectors do, too, if there is
# more than one for a character. Others are too rare to be there by chance four times.
_TAGS = "\U000e0020-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_RARE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u2061-\u2065\u206a-\u206f\u3164\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
_INVISIBLE = (
    f"(?<![{_TAGS}])(?!(?<=\U0001f3f4)[{_TAGS}]{{3,6}}\U000e007f(?![{_TAGS}]))[{_TAGS}]{{3,}}"
    f"|[{_SELECTORS}]{{2}}|(?:[{_RARE}][^{_RARE}]{{0,500}}){{3}}[{_RARE}]"
    "|[\u202d\u202e]|[\u200b-\u200d\u2060-\u2064]{4,}"
    f"|(?:[A-Za-z ][\u200b-\u200d\u2060-\u2064{_SELECTORS}]){{4,}}|(?:[A-Za-z][\u0334-\u0338]){{4,}}"
)
_HIDING = Pattern(f"[\u0334-\u0338\u200b-\u200d\u202d\u202e\u2060-\u2064{_RARE}{_SELECTORS}{_TAGS}]")

MARKUP: Sieve[tuple[str, Pattern]] = Sieve(
    ((name, Pattern(pattern, flags)), needs)
    for name, flags, forms in (
        ("chat template", 0, _CHAT_TEMPLATE),
        ("role marker", re.IGNORECASE | re.MULTILINE, _ROLE_MARKER),
        ("forged recall", re.MULTILINE, _FORGED_RECALL),
        ("image exfiltration", 0, _IMAGE),
    )
    for needs, pattern in forms
)
INVISIBLE = Pattern(_INVISIBLE)
NAMES = (*WORDINGS, *dict.fromkeys(name for name, _ in MARKUP.items), "invisible text")
"""All flags, in the order in which they are returned."""

# What disguises words.
APART = Pattern(r"[\s_]+|(?<=[a-z])-(?=[a-z]+-)|(?<=[a-z])-(?=[a-z]+$)")
LOOKS_LATIN = str.maketrans("авекмнорстухіјѕԁӏοαερυικ", "abekmhopctyxijsdloaepuik")
DIGITS = str.maketrans("013457@$", "oieastas")
WITH_DIGIT = Pattern(r"\b[a-z]+[013457@$][a-z013457@$]*")
_DIGIT_AFTER_LETTER = Pattern(r"[013457@$](?<=[a-z].)")
SPELLED = Pattern(r"(?<!\S)(?:\w ){3,}\w(?!\S)")
_TWO_LETTERS_APART = Pattern(r" \w \w ")
BASE64 = Pattern(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}")
_FEWEST_ENCODED = 24

_WORD = Pattern(r"\w+")
_APART = {each: " " for each in range(128) if not (chr(each).isalnum() or chr(each) == "_")}


@dataclass(frozen=True, slots=True)
class _Start:
    """A text that a wording begins with, the wording's pattern, and its flag."""

    text: str
    name: str
    pattern: Pattern


def _starts_by_word() -> dict[str, list[_Start]]:
    """Return the beginnings of all wordings by their first word; by "" those that begin with a part of a word."""
    found: dict[str, list[_Start]] = {}
    for name, wordings in WORDINGS.items():
        for beginnings, text in wordings:
            pattern = Pattern(text)
            for each in beginnings.split():
                start = _Start(each.rstrip("*").replace("_", " "), name, pattern)
                word = "" if each.endswith("*") else _WORD.findall(start.text)[0]
                found.setdefault(word, []).append(start)
    return found


_STARTS = _starts_by_word()
_FIRST_WORDS = frozenset(_STARTS)


def flags(text: str) -> tuple[str, ...]:
    """Return the names of the ways in which a text reads like an instruction to a model; none for most texts.

    A flag is a reason to check or to trust less, not a proof: "from now on always answer in French" may be what the
    user wants.
    """
    found = _markup_flags(text)
    plain = _simplify(text)
    found |= _wording_flags(plain)
    if (other := _undisguise(plain)) != plain:
        found |= _wording_flags(other)
    if any(_wording_flags(_simplify(hidden)) for hidden in _decode_all(text)):
        found.add("encoded")
    return tuple(name for name in NAMES if name in found) if found else ()


def _markup_flags(text: str) -> set[str]:
    small = text.lower() if text.isascii() else lower(text)
    if small is None:
        possible = list(MARKUP.items)
    else:
        hints = [hint for hint in MARKUP.hints if hint in small]
        possible = MARKUP.select(hints, small) if hints else []
    found = {name for name, pattern in possible if pattern.search(text)}
    if not text.isascii() and _HIDING.search(text) and INVISIBLE.search(text):
        found.add("invisible text")
    return found


def _wording_flags(plain: str) -> set[str]:
    """Return the flags of the wordings in a simplified text, looking only where a wording can begin."""
    found: set[str] = set()
    words = plain.translate(_APART).split() if plain.isascii() else _WORD.findall(plain)
    for word in ("", *_FIRST_WORDS.intersection(words)):
        for start in _STARTS[word]:
            if start.text in plain and start.name not in found and _matches(start, plain):
                found.add(start.name)
    return found


def _matches(start: _Start, plain: str) -> bool:
    place = plain.find(start.text)
    while place >= 0 and not start.pattern.match(plain, place):
        place = plain.find(start.text, place + 1)
    return place >= 0


def _simplify(text: str) -> str:
    """Return a text in lower case with single spaces, without invisible characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unseen.reveal(text)).replace("’", "'")
    return " ".join(text.lower().split())


def _undisguise(plain: str) -> str:
    """Restore letters in a simplified text that were digits or of other scripts, and words spelled or joined."""
    # A single space between two words is already what the pattern would make of it.
    if "_" in plain or "-" in plain:
        plain = APART.sub(" ", plain)
    if not plain.isascii():
        plain = plain.translate(LOOKS_LATIN)
    if _DIGIT_AFTER_LETTER.search(plain):
        plain = WITH_DIGIT.sub(lambda found: found[0].translate(DIGITS), plain)
    if _TWO_LETTERS_APART.search(plain):
        plain = SPELLED.sub(lambda found: found[0].replace(" ", ""), plain)
    return plain


def _decode_all(text: str) -> Iterator[str]:
    for word in [word for word in text.split() if len(word) >= _FEWEST_ENCODED]:
        for run in BASE64.finditer(word):
            if (hidden := decode(run[0])) is not None:
                yield hidden


def decode(run: str) -> str | None:
    """Return the text that was encoded as base64, whose padding may be missing; None if it is not text."""
    whole = run.rstrip("=")
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
