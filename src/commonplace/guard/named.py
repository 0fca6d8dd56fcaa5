"""Secrets that are known by their name: what is assigned to a password, a token or a key, or said to be it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from commonplace.guard.looks import is_mixed, is_name, is_number, is_random, is_said, is_word, stands_in
from commonplace.guard.marks import Secret
from commonplace.guard.patterns import Pattern, Sieve

# The group, what a name of this form holds in lower case, its form.
_NAMES = (
    ("phrase", "phrase", r"passphrase|(?:seed|recovery|backup)[ _-]phrase"),
    ("phrase", "mnemonic", r"mnemonic"),
    ("password", "pass", r"passw(?:or[dt]|d)s?|passcode|mot de passe|storepass|keypass|requirepass"),
    ("password", "pw", r"pwd|bindpw"),
    ("password", "kennwort", r"kennwort"),
    ("password", "contrase", r"contrase(?:ñ|n)a"),
    ("password", "senha", r"senha(?<![a-z]senha)"),
    ("password", "wachtwoord", r"wachtwoord"),
    ("password", "hasło", r"hasło"),
    ("password", "парол", r"парол[ья]"),
    ("password", "密", r"密码|密碼"),
    ("password", "パスワード", r"パスワード"),
    ("password", "비밀번호", r"비밀번호"),
    ("password", "masterauth", r"masterauth"),
    ("password", "community string", r"community string"),
    ("short", "pass", r"pass(?<![a-z]pass)(?![a-z])"),
    ("short", "pw", r"pw(?<![a-z]pw)(?![a-z])"),
    ("short", "clave", r"clave(?<![a-z]clave)(?![a-z])"),
    ("pin", "pin", r"pin(?<![a-z]pin)(?: (?:code|number))?(?![a-z])"),
    ("pin", "code", r"(?<![a-z])(?:door|alarm|access|unlock|gate|entry)[ _-]code(?![a-z])"),
    (
        "key",
        "key",
        (
            r"(?:api|access|secret|sign(?:ing)?|encrypt(?:ion)?|private|storage|account|auth|admin|app|master|client"
            r"|deploy|service|webhook|session|consumer|cipher|hmac)[-_. ]?key(?!s\b)"
        ),
    ),
    ("key", "seed", r"(?:t?otp|2fa|mfa)[-_. ]?seed"),
    ("key", "secret", r"secret(?!s\b)"),
    ("key", "token", r"token(?!s\b|iz)"),
    ("key", "auth", r"auth(?<![a-z]auth)(?![a-z])"),
    ("key", "credential", r"credential(?!s\b)"),
)
NAMES = Sieve(((need, Pattern(form)), (need,)) for _, need, form in _NAMES)
LONGEST = 24
"""Characters that no name exceeds."""
NAME = Pattern(
    "|".join(
        f"(?P<{group}>{'|'.join(form for _, _, form in forms)})"
        for group, forms in groupby(_NAMES, key=lambda name: name[0])
    ),
    re.IGNORECASE,
)

_MORE_NAME = Pattern(r"[A-Za-z0-9_.-]{0,40}")
_LESS_NAME = Pattern(r"[A-Za-z0-9_.-]{0,40}")
_PART = Pattern(r"[A-Z]?[a-z]+|[A-Z]+")
# A name with one of these does not name a secret, but something about one.
_ABOUT = frozenset(
    """
    algorithm arn authentication based bucket budget column count digest encoder endpoint env environment exp expire
    expires expiration expiry field file fingerprint format hash hashed hashing hint id ids index input label len
    length less lifetime limit list manager max md min minutes name num path pattern policy prompt provider public ref
    regex required reset rotation seconds sha sharing size stdin strength threshold timeout ttl type uri url usage
    validator validators version
    """.split()
)
_ABOUT_BEFORE = frozenset("bos confirm eos forgot hash mask max min num pad public sep".split())

_CLOSING = r"[\"'`*_\]\\)]{0,4}"
_OPENING = r"[*_ \t]{0,8}(?:[bBfFrRuU]{1,2}(?=[\"'])|!!?\w{1,20}[ ])?"
_ASSIGNED = Pattern(
    rf"{_CLOSING}[ \t]{{0,8}}(?::[ ]?[A-Za-z]\w{{0,20}}[?!]?[ ]?=(?!=)|:=|=>|->|→|=(?![=~])|:(?![:=])|：)"
    rf"(?:[ \t]{{0,4}}[|>][-+]?\n\s{{0,20}})?{_OPENING}"
)
_FLAGGED = Pattern(r"[ ]")
_LISTED = Pattern(
    rf"[\"'`],[ ]?(?=[\"'`])|{_CLOSING}[ ]?(?:\|\|?|\?\?)[ ]?|>(?=[^<>\n]{{1,200}}</)|[\"'][ ]value="
    rf"|[ ]?[—–][ ]?|[ ]?[是は은는][ ]?|\n[ ]{{0,20}}value:[ ]|:[ ]\w{{1,30}}[ ]?(?:→|->)[ ]?"
)
_IT_IS = Pattern(r"[^\n.=!?]{0,60}?\bit(?:['’]s|\s(?:is|was))\s(?:now\s)?")
_FROM = Pattern(r"[ ]from[ ]")
_TO = Pattern(r"[ ](?:to|→|->)[ ]")
_OF = r"for|of|on|to|at|in|from|I|we|they|you|she|he"
_OF += r"|für|fürs|vom|von|zum|zur|du|de|des|pour|del|della|do|da|para|от|для|к"
_MIDDLE = rf"(?:\s?\([^()\n]{{1,40}}\)|\s(?:{_OF})\b[^\n.;:=!?]{{1,60}}?)?"
_VERB = (
    r"(?:(?:is|was|are|will be|used to be|remains|stays|has been|got)?\s?(?:set|changed|reset|updated) to"
    r"|is|was|are|were|will be|used to be|remains|ist|war|lautet|est|es|era|é|è|to)"
)
_SAID_TO_BE = Pattern(
    rf"{_CLOSING}{_MIDDLE}(?:\s{_VERB}|\s?[=:])\s(?:(?:now|still|currently|simply|just|again)\s|:\s?)?"
)
_EXPANDED = Pattern(r"\$\{\w{0,40}$")
_LIST_BEFORE = Pattern(r"(?:[,/]|\b(?:user|login|as)\s\S{1,20})\s$")
_BESIDE = Pattern(r"[ \t]{1,3}")

_VALUE = Pattern(
    r"""\\"(?P<escaped>[^"\\\n]{1,1024})\\"|"(?P<double>(?:[^"\\\n]|\\.){1,1024})"|'(?P<single>(?:[^'\\\n]|\\.){1,1024})'
    |`(?P<tick>[^`\n]{1,1024})`|“(?P<curly>[^”\n]{1,200})”|\{(?P<braced>[^{}"'\n:]{1,200})\}
    |(?P<bare>[^\s"'`<>,;|“”\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af]{1,256})""",
    re.VERBOSE,
)
_REST = Pattern(r"[^\s\"'`<>,;|“”]*")
_NEXT_FIELD = Pattern(r"&(?=[\w.-]{1,40}=)|@(?=[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}[/:])")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_PHRASE = Pattern(r"[a-z]{2,12}(?: [a-z]{2,12}){2,23}(?=[.,;!]?(?:\s*$|\s*\n|\s[A-Z(]))")
_ENDED = Pattern(r"[.!]?\s*(?:$|\n)|[.!;,]\s|\s?[,;)}\]&|#<\"'\n]|\s[\w.]{1,30}\s?=|\s#")
_SENTENCE = frozenset(
    """
    must should please required enter invalid is are the your be characters character cannot field asked in for at
    on from by with and to of a an it never not
    """.split()
)

_LONG = 16
_JUDGED = 256
"""Characters of a value without quotes that are looked at."""


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    start: int
    end: int
    quoted: bool
    ended: bool
    """Whether it stands alone: nothing but the end of a sentence or of a field follows."""


_Accepts = Callable[[_Value], bool]


def find(text: str, small: str | None) -> Iterator[Secret]:
    """Find values by the names before them. Each is read once: what was read as a value is not read as a name.

    `small` is the text in lower case, if that tells anything.
    """
    if small is None:
        yield from read(text, partial(NAME.search, text))
    elif forms := NAMES.through(small):
        starts = sorted({start for need, form in forms for start in _starts(need, form, small)})
        yield from read(text, _Following(text, starts))


def read(text: str, following: Callable[[int], re.Match[str] | None]) -> Iterator[Secret]:
    """Read the values of all names; `following` gives the first name at or after a place."""
    position = 0
    while name := following(position):
        position = name.end()
        for secret in _after(text, name):
            position = max(position, secret.end)
            yield secret


def _starts(need: str, form: Pattern, small: str) -> Iterator[int]:
    """Give every place where a name of one form begins, also inside another."""
    for low, high in _around(need, small):
        match = form.search(small, low, high)
        while match:
            yield match.start()
            match = form.search(small, match.start() + 1, high)


def _around(need: str, small: str) -> Iterator[tuple[int, int]]:
    """Give what is near enough to each place where the need stands; the whole text if it stands everywhere."""
    if small.count(need) * 2 * LONGEST > len(small):
        yield 0, len(small)
        return
    place = small.find(need)
    while place >= 0:
        yield max(place - LONGEST, 0), place + 2 * LONGEST
        place = small.find(need, place + 1)


class _Following:
    """Finds the next name as a search would, but looks only where one can begin."""

    def __init__(self, text: str, starts: list[int]) -> None:
        self._text = text
        self._starts = iter(starts)

    def __call__(self, position: int) -> re.Match[str] | None:
        for start in self._starts:
            if start >= position and (name := NAME.match(self._text, start)):
                return name
        return None


def _after(text: str, name: re.Match[str]) -> Iterator[Secret]:
    more = _MORE_NAME.match(text, name.end())
    end = more.end() if more else name.end()
    before = text[max(name.start() - 40, 0) : name.start()]
    if _EXPANDED.search(before) or _is_about(text[name.end() : end], before):
        return
    # A dot or dash after a name may as well end a sentence or begin the next field.
    end -= len(text[name.end() : end]) - len(text[name.end() : end].rstrip(".-"))
    value = _phrase(text, end) if name["phrase"] else None
    value = value or _value(text, end, name, before)
    if value is None:
        return
    kind = _kind(name)
    yield Secret(kind=kind, start=value.start, end=value.end)
    if _FROM.match(text, end) and (to := _TO.match(text, value.end)):
        following = _read(text, to.end())
        if following and _chosen(following):
            yield Secret(kind=kind, start=following.start, end=following.end)


def _is_about(after: str, before: str) -> bool:
    left = _LESS_NAME.match(before[::-1])
    parts_before = {part.casefold() for part in _PART.findall(left[0][::-1])} if left else set()
    parts_after = {part.casefold() for part in _PART.findall(after)}
    return not _ABOUT.isdisjoint(parts_after) or not _ABOUT_BEFORE.isdisjoint(parts_before)


def _flagged(before: str) -> bool:
    """Tell whether the name is an option of a command: --db-password."""
    return before.rpartition(" ")[2].startswith("-")


def _kind(name: re.Match[str]) -> str:
    word = name[0].casefold()
    if name["phrase"]:
        return "passphrase" if word == "passphrase" else "seed phrase"
    if name["pin"]:
        return "pin"
    if name["key"]:
        return "key" if word.endswith("key") else "token" if word == "token" else "secret"
    return "password"


def _value(text: str, end: int, name: re.Match[str], before: str) -> _Value | None:
    """Read the value in the first of the ways in which one can follow a name, if it looks like one."""
    for connection, accepts in _ways(name, before):
        joined = connection.match(text, end)
        value = _read(text, joined.end()) if joined else None
        if value and accepts(value) and not stands_in(value.text):
            return value if value.quoted else _to_the_end(text, value)
    return None


def _ways(name: re.Match[str], before: str) -> Iterator[tuple[Pattern, _Accepts]]:
    if name["pin"]:
        yield from ((_ASSIGNED, _digits), (_SAID_TO_BE, _digits))
        return
    if name["key"]:
        yield from ((each, _random) for each in (_ASSIGNED, _LISTED, _SAID_TO_BE, _IT_IS))
        yield _BESIDE, _random if _flagged(before) else _long_random
        return
    strict, flag = bool(name["short"]), _flagged(before)
    yield _ASSIGNED, _chosen if strict else _assigned
    if flag:
        yield _FLAGGED, _assigned
    yield from ((_LISTED, _chosen), (_FROM, _chosen), (_SAID_TO_BE, _chosen if strict else _said))
    # "Pass X" is a verb as often as a noun; after a comma it follows a user's name.
    if not strict or _LIST_BEFORE.search(before):
        yield _BESIDE, _beside
    yield _IT_IS, _chosen


def _random(value: _Value) -> bool:
    return is_random(value.text) and " " not in value.text


def _long_random(value: _Value) -> bool:
    return len(value.text) >= _LONG and _random(value)


def _digits(value: _Value) -> bool:
    return is_number(value.text)


def _chosen(value: _Value) -> bool:
    return is_mixed(value.text) and not _is_sentence(value) and "-----" not in value.text


def _assigned(value: _Value) -> bool:
    if value.quoted:
        return len(value.text) > 2 and not is_said(value.text) and not _is_sentence(value) and "-----" not in value.text
    if is_word(value.text):
        return value.ended and "_" not in value.text
    return _chosen(value) or is_number(value.text)


def _said(value: _Value) -> bool:
    if value.quoted:
        return _assigned(value)
    return _chosen(value) or is_number(value.text) or (value.ended and is_name(value.text))


def _beside(value: _Value) -> bool:
    return _chosen(value) and len(value.text) > 5 and "@" not in value.text.strip("@")[1:-4]


def _is_sentence(value: _Value) -> bool:
    words = value.text.casefold().split()
    return len(words) > 1 and len(_SENTENCE.intersection(words)) > 1


def _phrase(text: str, end: int) -> _Value | None:
    """Read the several words of a passphrase that stand without quotes."""
    joined = _ASSIGNED.match(text, end) or _SAID_TO_BE.match(text, end)
    words = _PHRASE.match(text, joined.end()) if joined else None
    # One such word is in "correct horse battery staple", too.
    if words is None or not _SENTENCE.isdisjoint(words[0].split()) or sum(map(is_said, words[0].split())) > 1:
        return None
    return _Value(words[0], words.start(), words.end(), quoted=False, ended=True)


def _read(text: str, start: int) -> _Value | None:
    match = _VALUE.match(text, start)
    if match is None or match.lastgroup is None:
        return None
    group = match.lastgroup
    value, first, last = match[group], match.start(group), match.end(group)
    if group in ("bare", "braced") or not value.strip():
        value = _trimmed(value)
        last = first + len(value)
    quoted = group not in ("bare", "braced")
    # Nobody writes a sentence as password=sentence.
    ended = text[first - 1] == "=" or _ENDED.match(text, last) is not None
    return _Value(value, first, last, quoted, ended) if value else None


def _trimmed(value: str) -> str:
    """Cut what is no part of a value without quotes: the next field of a query, the end of a sentence, brackets."""
    if following := _NEXT_FIELD.search(value):
        value = value[: following.start()]
    while value and (value[-1] in ".:?…" or value.count(_PAIRS.get(value[-1], value[-1])) < value.count(value[-1])):
        value = value[:-1]
    return value


def _to_the_end(text: str, value: _Value) -> _Value:
    """Take all of a value that is longer than what is looked at."""
    if value.end - value.start < _JUDGED:
        return value
    rest = _REST.match(text, value.end)
    return _Value(value.text, value.start, rest.end() if rest else value.end, quoted=False, ended=True)
