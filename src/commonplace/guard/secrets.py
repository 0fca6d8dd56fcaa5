"""Keys, tokens and passwords in a text, replaced by marks before the text is stored.

A secret is known by its form, by its place, or by the name before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from commonplace.guard import secret_forms as forms
from commonplace.guard import unseen
from commonplace.guard.secret_forms import Form, is_mixed, is_number, is_placeholder, is_random, is_remark, is_word
from commonplace.guard.sieve import Pattern, lower

_MARK = re.compile(r"\[redacted: [a-z][a-z0-9 -]{0,40}\]")
_KEY_BLOCK = Pattern(r"-----(BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
# The next line has nothing but the rest, and that has a digit, as words have not.
_BREAK = Pattern(
    r"(?<=[A-Za-z0-9_-])[ \t]{0,20}\r?\n[ \t]{0,20}"
    r"(?=[A-Za-z_-]{0,60}[0-9][A-Za-z0-9_-]{0,200}[ \t\"',;]{0,20}(?:\n|$))"
)
_CUT_KEY_BLOCK = Pattern(r"(?:\\[nr]|[A-Za-z0-9+/=\s]){0,20000}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Where a secret is in the original text, and its kind; never the secret itself."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text with a mark in place of each secret."""

    text: str
    found: tuple[Secret, ...]


def redact(text: str) -> Redacted:
    """Replace every secret by a mark such as "[redacted: github token]", and change nothing else.

    Time grows linearly with the length of the text. Redacting a second time changes nothing.
    """
    return replace_found(text, partial(find_covered, find=_find))


def find_covered(text: str, find: Callable[[str], Iterator[Secret]]) -> Iterator[Secret]:
    """Find secrets as they are written, and those with invisible or full-width characters or a line break inside."""
    yield from find(text)
    if not text.isascii():
        shown, places = unseen.uncover(text)
        if shown != text:
            for each in find(shown):
                yield Secret(kind=each.kind, start=places[each.start], end=places[each.end - 1] + 1)
    if "\n" in text:
        yield from _find_broken(text)


def _find_broken(text: str) -> Iterator[Secret]:
    """Find keys whose rest is alone in the next line."""
    breaks = [found.span() for found in _BREAK.finditer(text)]
    if not breaks:
        return
    kept = list(_gaps(breaks, 0, len(text)))
    places = [place for start, end in kept for place in range(start, end)]
    for each in find_forms("".join(text[start:end] for start, end in kept)):
        start, end = places[each.start], places[each.end - 1] + 1
        if "\n" in text[start:end] and each.kind != "private key":
            yield Secret(kind=each.kind, start=start, end=end)


def _find(text: str) -> Iterator[Secret]:
    # The form says most about the kind, so it comes first; a name says least.
    yield from find_forms(text)
    small = text.lower() if text.isascii() else lower(text)
    if small is None:
        for place in forms.PLACES.items:
            yield from match_form(place, text)
        yield from read_names(text, partial(forms.NAME.search, text))
        return
    if hints := [hint for hint in forms.PLACES.hints if hint in small]:
        for place in forms.PLACES.select(hints, small):
            yield from match_form(place, text)
    if hints := [hint for hint in forms.NAMES.hints if hint in small]:
        names = forms.NAMES.select(hints, small)
        starts = sorted({start for need, name in names for start in _name_starts(need, name, small)})
        yield from read_names(text, _names_from(text, starts))


def find_forms(text: str) -> Iterator[Secret]:
    """Find what has the form of a key or token, wherever it stands."""
    yield from find_key_blocks(text)
    # No form has a space inside or is short, so most texts need no pattern at all.
    if long := " ".join([word for word in text.split() if len(word) >= forms.SHORTEST]):
        for form in forms.FORMS.select([hint for hint in forms.FORMS.hints if hint in long], long):
            if form.pattern.search(long):
                yield from match_form(form, text)


def find_key_blocks(text: str) -> Iterator[Secret]:
    """Find private keys from their first line to their last; one that was cut off, as far as it goes."""
    borders = list(_KEY_BLOCK.finditer(text)) if "PRIVATE KEY" in text else []
    for border, following in zip_longest(borders, borders[1:]):
        if border[1] == "END":
            continue
        if following is not None and following[1] == "END":
            end = following.end()
        else:
            limit = following.start() if following is not None else len(text)
            run = _CUT_KEY_BLOCK.match(text, border.end(), limit)
            end = border.end() + len(run[0].rstrip() if run else "")
        yield Secret(kind="private key", start=border.start(), end=end)


def match_form(form: Form, text: str) -> Iterator[Secret]:
    for match in form.pattern.finditer(text):
        value = match[1].rstrip(form.trim)
        if value and form.look(value):
            yield Secret(kind=form.kind, start=match.start(1), end=match.start(1) + len(value))


def replace_found(text: str, find: Callable[[str], Iterable[Secret]]) -> Redacted:
    """Replace all that `find` finds by marks; doing so again on the result changes nothing.

    The text between two marks is searched again as a text of its own, until nothing more is found there. A second run
    would do the same, and so finds nothing.
    """
    found: list[Secret] = []
    pieces = [(0, len(text))]
    if "[redacted: " in text:
        pieces = list(_gaps((mark.span() for mark in _MARK.finditer(text)), 0, len(text)))
    while pieces:
        start, end = pieces.pop()
        inside = [
            Secret(kind=each.kind, start=start + each.start, end=start + each.end)
            for each in _merge(find(text[start:end]))
        ]
        if inside:
            found += inside
            pieces += _gaps(((each.start, each.end) for each in inside), start, end)
    if not found:
        return Redacted(text=text, found=())
    found.sort(key=lambda each: each.start)
    parts: list[str] = []
    start = 0
    for each in found:
        parts += (text[start : each.start], f"[redacted: {each.kind}]")
        start = each.end
    return Redacted(text="".join((*parts, text[start:])), found=tuple(found))


def _merge(found: Iterable[Secret]) -> list[Secret]:
    """Join what overlaps. Of those that begin first, the first found names the kind."""
    joined: list[Secret] = []
    for each in sorted(found, key=lambda each: each.start):
        if joined and each.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Secret(kind=last.kind, start=last.start, end=max(last.end, each.end))
        elif each.start < each.end:
            joined.append(each)
    return joined


def _gaps(taken: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what lies between the parts of a text that are taken."""
    for first, last in taken:
        yield start, first
        start = last
    yield start, end


# Values that are assigned to a password, a token or a key, or said to be it.
_MORE_NAME = Pattern(r"[A-Za-z0-9_.-]{0,40}")
_PART = Pattern(r"[A-Z]?[a-z]+|[A-Z]+")
# A name with one of these words names something about a secret.
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
_AFTER_OPTION = Pattern(r"[ ]")
_LISTED = Pattern(
    rf"[\"'`],[ ]?(?=[\"'`])|{_CLOSING}[ ]?(?:\|\|?|\?\?)[ ]?|>(?=[^<>\n]{{1,200}}</)|[\"'][ ]value="
    rf"|[ ]?[—–][ ]?|[ ]?[是は은는][ ]?|\n[ ]{{0,20}}value:[ ]|:[ ]\w{{1,30}}[ ]?(?:→|->)[ ]?"
)
_SAYS_IT_IS = Pattern(r"[:?][ ][iI]t(?:['’]s|[ ](?:is|was))[ ](?:now[ ])?")
_IT_IS = Pattern(r"[^\n.=!?]{0,60}?\bit(?:['’]s|\s(?:is|was))\s(?:now\s)?")
_CHANGED = Pattern(r"\b(?:set|chang|updat|reset|rotat|switch)\w{0,4}\b", re.IGNORECASE)
_FROM = Pattern(r"[ ]from[ ]")
_TO = Pattern(r"[ ](?:to|→|->)[ ]")
_OF = r"for|of|on|to|at|in|from|I|we|they|you|she|he"
_OF += r"|für|fürs|vom|von|zum|zur|du|de|des|pour|del|della|do|da|para|от|для|к"
_MIDDLE = rf"(?:\s?\([^()\n]{{1,40}}\)|\s(?:{_OF})\b[^\n.;:=!?]{{1,60}}?)?"
_VERB = (
    r"(?:(?:is|was|are|will be|used to be|remains|stays|has been|got)?\s?(?:set|changed|reset|updated) to"
    r"|is|was|are|were|will be|used to be|remains|ist|war|lautet|est|es|era|é|è|to)"
)
_SENT_TO = Pattern(rf"{_CLOSING}{_MIDDLE}\sto\s")
_SAID_TO_BE = Pattern(
    rf"{_CLOSING}{_MIDDLE}(?:\s{_VERB}:?|\s?[=:])\s{{1,3}}(?:(?:now|still|currently|simply|just|again)\s|:\s?)?"
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

_JUDGED = 256
"""Characters of a value without quotes that are looked at."""


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    start: int
    end: int
    quoted: bool
    ended: bool
    """Whether only the end of a sentence or of a field follows."""


_Accepts = Callable[[_Value], bool]


def read_names(text: str, next_name: Callable[[int], re.Match[str] | None]) -> Iterator[Secret]:
    """Read the values of all names; `next_name` returns the first name at or after a place.

    Each is read once: what was read as a value is not read as a name.
    """
    position = 0
    while name := next_name(position):
        position = name.end()
        for secret in _named_by(text, name):
            position = max(position, secret.end)
            yield secret


def _names_from(text: str, starts: list[int]) -> Callable[[int], re.Match[str] | None]:
    """Return what finds the next name as a search would, but looks only where one can begin."""
    left = iter(starts)

    def next_name(position: int) -> re.Match[str] | None:
        for start in left:
            if start >= position and (name := forms.NAME.match(text, start)):
                return name
        return None

    return next_name


def _name_starts(need: str, form: Pattern, small: str) -> Iterator[int]:
    """Yield every place where a name of one form begins, also inside another."""
    for low, high in _windows(need, small):
        match = form.search(small, low, high)
        while match:
            yield match.start()
            match = form.search(small, match.start() + 1, high)


def _windows(need: str, small: str) -> Iterator[tuple[int, int]]:
    """Yield the surroundings of each place where the need occurs; the whole text if it is everywhere."""
    if small.count(need) * 2 * forms.LONGEST_NAME > len(small):
        yield 0, len(small)
        return
    place = small.find(need)
    while place >= 0:
        yield max(place - forms.LONGEST_NAME, 0), place + 2 * forms.LONGEST_NAME
        place = small.find(need, place + 1)


def _named_by(text: str, name: re.Match[str]) -> Iterator[Secret]:
    more = _MORE_NAME.match(text, name.end())
    end = more.end() if more else name.end()
    before = text[max(name.start() - 40, 0) : name.start()]
    if _EXPANDED.search(before) or _is_about(text[name.end() : end], before):
        return
    # A dot or dash after a name may end a sentence or begin the next field.
    end = name.end() + len(text[name.end() : end].rstrip(".-"))
    value = _read_phrase(text, end) if name["phrase"] else None
    value = value or _read_value(text, end, name, before)
    if value is None:
        return
    kind = _kind(name)
    yield Secret(kind=kind, start=value.start, end=value.end)
    if _FROM.match(text, end) and (to := _TO.match(text, value.end)):
        following = _read(text, to.end())
        if following and _is_chosen(following):
            yield Secret(kind=kind, start=following.start, end=following.end)


def _is_about(after: str, before: str) -> bool:
    left = _MORE_NAME.match(before[::-1])
    parts_before = {part.casefold() for part in _PART.findall(left[0][::-1])} if left else set()
    parts_after = {part.casefold() for part in _PART.findall(after)}
    return not _ABOUT.isdisjoint(parts_after) or not _ABOUT_BEFORE.isdisjoint(parts_before)


def _is_option(before: str) -> bool:
    """Return whether the name is an option of a command: --db-password."""
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


def _read_value(text: str, end: int, name: re.Match[str], before: str) -> _Value | None:
    """Read the value in the first of the ways in which one can follow a name, if it looks like a secret."""
    for connection, accepts in _ways(name, before):
        if connection is _SAID_TO_BE and _is_sent(text, end, before):
            continue
        joined = connection.match(text, end)
        value = _read(text, joined.end()) if joined else None
        if value and accepts(value) and not is_placeholder(value.text):
            return value if value.quoted else _extend(text, value)
    return None


def _is_sent(text: str, end: int, before: str) -> bool:
    """Return whether a secret is given to somebody: "send the password to bob@example.com", "give it to Bob"."""
    sent = _SENT_TO.match(text, end)
    value = _read(text, sent.end()) if sent else None
    if sent is None or value is None or value.quoted or _CHANGED.search(before):
        return False
    return forms.is_mail(value.text) or not _is_chosen(value)


def _ways(name: re.Match[str], before: str) -> Iterator[tuple[Pattern, _Accepts]]:
    if name["pin"]:
        yield from ((_ASSIGNED, _is_digits), (_SAID_TO_BE, _is_digits))
        return
    if name["key"]:
        yield from ((each, _is_key) for each in (_ASSIGNED, _LISTED, _SAID_TO_BE, _IT_IS))
        yield _BESIDE, _is_key if _is_option(before) else _is_long_key
        return
    strict = bool(name["short"])
    yield _ASSIGNED, _is_chosen if strict else _is_assigned
    if _is_option(before):
        yield _AFTER_OPTION, _is_assigned
    yield from ((_LISTED, _is_chosen), (_FROM, _is_chosen), (_SAID_TO_BE, _is_chosen if strict else _is_stated))
    yield _SAYS_IT_IS, _is_chosen if strict else _is_stated
    # "Pass" is a verb as often as a noun; after a comma it follows a user's name.
    if not strict or _LIST_BEFORE.search(before):
        yield _BESIDE, _is_chosen_beside
    yield _IT_IS, _is_chosen


def _is_key(value: _Value) -> bool:
    return is_random(value.text) and " " not in value.text


def _is_long_key(value: _Value) -> bool:
    return len(value.text) >= 16 and _is_key(value)


def _is_digits(value: _Value) -> bool:
    return is_number(value.text)


def _is_chosen(value: _Value) -> bool:
    return is_mixed(value.text) and not _is_prose(value.text)


def _is_assigned(value: _Value) -> bool:
    if value.quoted:
        return len(value.text) > 2 and not is_remark(value.text) and not _is_prose(value.text)
    if is_word(value.text):
        return value.ended and "_" not in value.text
    return _is_chosen(value) or is_number(value.text)


def _is_stated(value: _Value) -> bool:
    if value.quoted:
        return _is_assigned(value)
    return _is_chosen(value) or is_number(value.text) or (value.ended and forms.is_name(value.text))


def _is_chosen_beside(value: _Value) -> bool:
    return _is_chosen(value) and len(value.text) > 5 and "@" not in value.text.strip("@")[1:-4]


def _is_prose(text: str) -> bool:
    return len(_SENTENCE.intersection(text.casefold().split())) > 1 or "-----" in text


def _read_phrase(text: str, end: int) -> _Value | None:
    """Read a passphrase of several words without quotes."""
    joined = _ASSIGNED.match(text, end) or _SAID_TO_BE.match(text, end)
    words = _PHRASE.match(text, joined.end()) if joined else None
    # One such word occurs in "correct horse battery staple", too.
    if words is None or not _SENTENCE.isdisjoint(words[0].split()) or sum(map(is_remark, words[0].split())) > 1:
        return None
    return _Value(words[0], words.start(), words.end(), quoted=False, ended=True)


def _read(text: str, start: int) -> _Value | None:
    match = _VALUE.match(text, start)
    if match is None or match.lastgroup is None:
        return None
    group = match.lastgroup
    value, first, last = match[group], match.start(group), match.end(group)
    if group in ("bare", "braced") or not value.strip():
        value = _trim(value)
        last = first + len(value)
    quoted = group not in ("bare", "braced")
    # Nobody writes a sentence as password=sentence.
    ended = text[first - 1] == "=" or _ENDED.match(text, last) is not None
    return _Value(value, first, last, quoted, ended) if value else None


def _trim(value: str) -> str:
    """Cut the next field of a query, the end of a sentence and brackets off a value without quotes."""
    if following := _NEXT_FIELD.search(value):
        value = value[: following.start()]
    while value and (value[-1] in ".:?…" or value.count(_PAIRS.get(value[-1], value[-1])) < value.count(value[-1])):
        value = value[:-1]
    return value


def _extend(text: str, value: _Value) -> _Value:
    """Return all of a value that is longer than what is looked at."""
    if value.end - value.start < _JUDGED:
        return value
    rest = _REST.match(text, value.end)
    return _Value(value.text, value.start, rest.end() if rest else value.end, quoted=False, ended=True)
