"""Texts that read like an instruction to the model that recalls them."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

from commonplace.guard.wordings import WORDINGS

_SAID = {name: re.compile("|".join(patterns)) for name, patterns in WORDINGS.items()}

# Looked for in the text as it is, since their form is what makes them work.
_WRITTEN = {
    "chat template": re.compile(
        r"<\|[a-z_]{2,40}\|>|\[/?INST\]|<</?SYS>>|</?s>\s?(?:<s>|\[INST)|<(?:start|end)_of_turn>|<\uff5c[^>\n]{1,40}\uff5c>"
    ),
    "role marker": re.compile(
        r"""^[\s>*_#=\[-]{0,8}system(?:\s(?:override|message|prompt|note))?[\s\]*_=-]{0,8}:\s{0,4}
            (?:you\b|the\s(?:user|assistant|model|operator)|new\b|ignore|always\b|never\b|disable|from\snow|obey|grant)
        |^[\s>*_-]{0,4}assistant\s?:\s|^[\s>*_-]{0,4}human\s?:\s[^\n]{1,500}\n\s{0,8}assistant\s?:
        |^\s{0,4}\#{1,6}\s?(?:instruction|response)\s?:
        |^\s{0,4}\#{1,6}\s?(?:system|instructions?|developer)(?:\s(?:prompt|message))?\s?:?\s{0,4}\n\s{0,8}
            (?:you|act|always|never|ignore)\b
        |^\s{0,4}\[(?:system|assistant|developer|admin)\]|={3,}\s?system\smessage|^`{3}\s?system\b
        |</?(?:system|instructions?|important|developer|assistant|function_calls|invoke|tool_call|tool_use|antml[^>]{0,40})[\s>]
        |</(?:context|notes|data|user|document|documents|memory|memories|untrusted|input|quote)>
        |</?\w{0,20}_?(?:instructions?|system_prompt)>|\{\{[\#/]?(?:system|assistant)\b|\bbegin\ssystem\sprompt\b
        |"role"\s?:\s?"(?:system|assistant|developer|tool)"
        |\bend\sof\s(?:user\s|the\s)?(?:data|context|input|document|prompt|notes|memory)\b\s?(?:\.|-{2,}|={2,}|$)
        |\bSYSTEM\sOVERRIDE\b""",
        re.IGNORECASE | re.MULTILINE | re.VERBOSE,
    ),
    "forged recall": re.compile(r"^[ \t>]{0,20}- \[\d{4}-\d\d-\d\d, [a-z]+(?:, [^\]\n]{1,80})?\] [\"“]", re.MULTILINE),
    "image exfiltration": re.compile(
        r"!\[[^\]\n]{0,200}\]\(\s?https?://[^)\s?]{1,300}\?[^)\n]{0,300}=\s?(?:[<{\[]|%7[bB]|[A-Z]+_[A-Z_]+)"
        r"|<img\b[^>]{0,200}src=[\"']?https?://[^>\"'?]{1,300}\?[^>\"']{0,300}=\s?(?:[<{\[]|%7[bB]|[A-Z]+_[A-Z_]+)"
        r"|\]\(\s?javascript:"
    ),
    # Tag characters spell text that no one sees. They are ordinary only after a black flag.
    "invisible text": re.compile(
        "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]{3,}"
        "|[\u202d\u202e]|[\u200b-\u200d\u2060-\u2064]{4,}"
        "|(?:[A-Za-z ][\u200b-\u200d\u2060-\u2064]){4,}|(?:[A-Za-z][\u0334-\u0338]){4,}"
    ),
}

_UNSEEN = re.compile("[\u00ad\u0334-\u0338\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_APART = re.compile(r"[\s_]+|(?<=[a-z])-(?=[a-z]+-)|(?<=[a-z])-(?=[a-z]+$)")
_SPELLED = re.compile(r"(?<!\S)(?:\w ){3,}\w(?!\S)")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}")
_LOOKS_LATIN = str.maketrans("авекмнорстухіјѕԁӏοαερυικ", "abekmhopctyxijsdloaepuik")
_DIGITS = str.maketrans("013457@$", "oieastas")
_WITH_DIGIT = re.compile(r"\b[a-z]+[013457@$][a-z013457@$]*")


def flags(text: str) -> tuple[str, ...]:
    """Name the ways in which a text reads like an instruction to a model; none for most texts.

    A flag is a reason to look twice or to trust less, no proof: "from now on always answer in French" may be
    what the user wants.
    """
    found = {name for name, pattern in _WRITTEN.items() if pattern.search(text)}
    found |= {name for reading in _readings(text) for name in _said(reading)}
    if any(_said(_plain(hidden)) for hidden in _decoded(text)):
        found.add("encoded")
    return tuple(name for name in (*_SAID, *_WRITTEN) if name in found)


def _said(reading: str) -> set[str]:
    return {name for name, pattern in _SAID.items() if pattern.search(reading)}


def _readings(text: str) -> Iterator[str]:
    """Give the text as a model reads it, and as it reads it when letters were put in disguise."""
    plain = _plain(text)
    spaced = _APART.sub(" ", plain)
    yield plain
    disguised = _WITH_DIGIT.sub(lambda found: found[0].translate(_DIGITS), spaced.translate(_LOOKS_LATIN))
    disguised = _SPELLED.sub(lambda found: found[0].replace(" ", ""), disguised)
    if disguised != plain:
        yield disguised


def _plain(text: str) -> str:
    shown = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).replace("’", "'").lower()
    return " ".join(shown.split())


def _decoded(text: str) -> Iterator[str]:
    for run in _BASE64.finditer(text):
        whole = run[0].rstrip("=")
        try:
            yield base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
