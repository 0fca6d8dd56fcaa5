"""Instructions that are known by their form, in the text as it is: marks of a chat, forged notes, hidden text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.guard.patterns import Pattern, Sieve, lowered

# What the text must hold in lower case, pattern.
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
# Tag characters spell text that no one sees. They are ordinary only after a black flag.
_INVISIBLE = (
    "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]{3,}"
    "|[\u202d\u202e]|[\u200b-\u200d\u2060-\u2064]{4,}"
    "|(?:[A-Za-z ][\u200b-\u200d\u2060-\u2064]){4,}|(?:[A-Za-z][\u0334-\u0338]){4,}"
)
_HIDING = Pattern("[\u0334-\u0338\u200b-\u200d\u202d\u202e\u2060-\u2064\U000e0020-\U000e007f]")

Form = tuple[str, Pattern]
FORMS: Sieve[Form] = Sieve(
    ((name, Pattern(pattern, flags)), needs)
    for name, flags, forms in (
        ("chat template", 0, _CHAT_TEMPLATE),
        ("role marker", re.IGNORECASE | re.MULTILINE, _ROLE_MARKER),
        ("forged recall", re.MULTILINE, _FORGED_RECALL),
        ("image exfiltration", 0, _IMAGE),
    )
    for needs, pattern in forms
)
INVISIBLE: Form = ("invisible text", Pattern(_INVISIBLE))
WRITTEN = (*dict.fromkeys(name for name, _ in FORMS.items), INVISIBLE[0])


def written(text: str) -> set[str]:
    """Name the forms that stand in a text."""
    return {name for name, pattern in _possible(text) if pattern.search(text)}


def _possible(text: str) -> Iterator[Form]:
    small = lowered(text)
    yield from FORMS.items if small is None else FORMS.through(small)
    if not text.isascii() and _HIDING.search(text):
        yield INVISIBLE
