"""Characters that are not seen: where a text holds some that no emoji and no script needs."""

from __future__ import annotations

import re

# Unicode's Default_Ignorable_Code_Point, as the inside of a character class.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Drawn as nothing or as a blank, though not ignorable to Unicode: the empty cell of Braille, marks of annotations.
_BLANK = "\u2800\ufff9-\ufffb"
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Those that look like a space."""
# Other line ends and controls: JSON leaves them alone, but a terminal does not.
_CONTROLS = "\x7f-\x9f\u2028\u2029"

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Scripts whose letters are joined, or kept apart, by a joiner: Arabic and its neighbours, those of India and around it.
_JOINED = (
    "\u0600-\u061b\u061d-\u07ff\u0840-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1807\u1820-\u18af\u1a20-\u1aaf\u1b00-\u1c4f"
    "\ua800-\uaaff\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010d3f\U00011000-\U00011fff"
)
# Signs that silence the vowel of a letter; a joiner after one may end a word.
_SILENCING = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u103a\u17d2"
_NEEDED = "|".join(
    (
        f"(?<=[{_EMOJI}])\ufe0f",
        "(?<=[#*0-9])\ufe0f(?=\u20e3)",
        f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])",
        f"(?<=[{_JOINED}])\u200d",
        f"(?<=[{_JOINED}])\u200c(?=[{_JOINED}])",
        f"(?<=[{_SILENCING}])\u200c",
    )
)

HIDDEN = re.compile(f"(?!{_NEEDED})[{_IGNORABLE}{_BLANK}]")
"""A character that is not seen, and that no emoji and no script needs."""
ESCAPED = re.compile(f"(?!{_NEEDED})[{_IGNORABLE}{_BLANK}{_CONTROLS}]")
"""The same, or a control: what recalled text never holds as it is."""

_REMOVED = re.compile(f"[{_IGNORABLE}{_BLANK}\u0334-\u0338]")
_SPACES = str.maketrans(_BLANK_LETTERS, " " * len(_BLANK_LETTERS))

# Full-width signs, whose place in Unicode follows that of ASCII.
_WIDE = {each + 0xFEE0: chr(each) for each in range(0x21, 0x7F)}


def uncover(text: str) -> tuple[str, list[int]]:
    """Return a text without what is not seen and with full-width signs as ordinary ones, and where each character was.

    The list has one place more: the end.
    """
    places = [place for place, each in enumerate(text) if not _REMOVED.match(each)]
    return "".join(map(text.__getitem__, places)).translate(_WIDE), [*places, len(text)]


def reveal(text: str) -> str:
    """Return a text as it looks: without what is not seen or is struck through, blank letters as spaces."""
    return _REMOVED.sub("", text.translate(_SPACES))
