"""Secrets that are known by their place: in an address, a header, a command, a statement of SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.guard.looks import Look, is_mixed, is_random, is_said, stands_in
from commonplace.guard.marks import Secret
from commonplace.guard.patterns import Pattern, Sieve


def _anything(value: str) -> bool:
    return not is_said(value)


def _long(value: str) -> bool:
    return len(value) >= 20 and is_random(value)


def _coded(value: str) -> bool:
    return is_mixed(value) and len(value) >= 8


@dataclass(frozen=True, slots=True)
class _Place:
    kind: str
    pattern: Pattern
    look: Look

    def matches(self, text: str) -> Iterator[Secret]:
        for match in self.pattern.finditer(text):
            value = match[1].rstrip(".")
            if value and self.look(value) and not stands_in(value):
                yield Secret(kind=self.kind, start=match.start(1), end=match.start(1) + len(value))


_Needs = tuple[str, ...]


def _place(kind: str, needs: _Needs, pattern: str, look: Look = _anything) -> tuple[_Place, _Needs]:
    return _Place(kind, Pattern(pattern), look), needs


_Q = r"[\"']?"
_SHORT = r"[^\s\"'|;<>]{3,200}"
# Options between a program and its password: few, so that no pattern reads far ahead in vain.
_OPTIONS = r"(?:[^\S\n]+[^\s|;&]{1,60}){0,8}?"
_LOGIN = r"sshpass|docker login|podman login|twine upload|az login|helm registry login"
_TO_READER = r"(?:sudo -S|[^|\n]{1,80}--password-stdin)"
_PAIR = r"(?i:\b(?:login|credentials?|creds|accounts?))(?: (?:is|are)|:) {0,2}[\w.@-]{1,60} ?/ ?"
_NETWORK = r"(?i:\b(?:wi-?fi|wlan)\b)[^\n]{0,40}?(?:/|,? (?:key|code)(?: is|:)?) {0,2}"

# Kind, what the text must hold in lower case, pattern, look.
_PLACES = (
    _place("password", ("://", "@"), r"://[^\s/:@\"'<>]{0,80}:([^\s/\"'<>]{1,200})@(?=[\w\[])"),
    _place("key", ("key=",), r"[?&]key=([A-Za-z0-9_-]{16,200})", is_random),
    _place("token", ("://", "@"), r"://([A-Za-z0-9_-]{20,200})(?::[^\s/@]{0,40})?@(?=[\w\[])", _long),
    _place(
        "authorization",
        ("authorization",),
        rf"(?i:authorization){_Q}\s{{0,4}}[:=]\s{{0,4}}{_Q}(?:[A-Za-z-]{{3,20}}\s)?([\w.~+/=-]{{8,4096}})",
        _coded,
    ),
    _place("bearer token", ("bearer",), r"\b(?i:bearer)\s{1,4}([\w.~+/-]{16,4096}=*)", is_random),
    _place("cookie", ("cookie:",), r"(?i:cookie):[^\S\n]?[\w.-]{1,40}=([\w.~+/%=-]{16,4096})", is_random),
    _place("cookie", ("cookie:",), r"(?i:cookie):[^;\n]{1,200}; ?[\w.-]{1,40}=([\w.~+/%-]{16,4096})", is_random),
    _place(
        "password", ("mysql | mariadb", " -p"), rf"\b(?:mysql|mariadb)\w{{0,9}}{_OPTIONS} -p{_Q}([^\s\"'|;]{{3,100}})"
    ),
    _place("password", (" -p ",), rf"\b(?:{_LOGIN}){_OPTIONS} -p {_Q}({_SHORT})"),
    _place("password", (" -u | --user", ":"), rf"(?: -u|--user)[ =]?{_Q}[^\s:\"'$]{{1,60}}:({_SHORT})", is_mixed),
    _place("password", ("redis-cli",), rf"\bredis-cli{_OPTIONS} -a {_Q}({_SHORT})"),
    _place("password", ("htpasswd",), rf"\bhtpasswd -\w{{0,5}}b\w{{0,5}} \S{{1,100}} \S{{1,60}} {_Q}({_SHORT})"),
    _place("password", ("zip", " -p "), rf"\b(?:un)?zip{_OPTIONS} -P {_Q}({_SHORT})"),
    _place("password", ("auth=(",), r"\bauth=\(\s?[\"'][^\"'\n]{1,60}[\"'],\s?[\"']([^\"'\n]{1,200})[\"']"),
    _place("password", ("wifi | wi-fi | wlan", "/ | key | code"), rf"{_NETWORK}([^\s\"'|;,<>]{{4,100}})", is_mixed),
    _place("password", ("basic auth",), rf"\b[bB]asic auth(?: is|:)? [\w.-]{{1,40}}:({_SHORT})", is_mixed),
    _place("passphrase", ("ssh-keygen",), r"\bssh-keygen\b[^\n]{0,100} -N [\"']([^\"'\n]{1,200})[\"']"),
    _place("password", ("openssl", " -k "), rf"\bopenssl{_OPTIONS} -k {_Q}({_SHORT})"),
    _place("password", ("-pass", "pass:"), rf"-pass(?:in|out)? pass:({_SHORT})"),
    _place(
        "password",
        ("echo | printf", "|"),
        rf"\b(?:echo|printf)(?: -\w)? {_Q}([^\s\"'|]{{3,100}}){_Q} ?\| ?{_TO_READER}",
    ),
    _place(
        "password",
        ("identified",),
        r"(?i:identified(?: with \w{1,40})? (?:by|as)(?: password)?) [\"']([^\"'\n]{1,200})[\"']",
    ),
    _place("password", ("password '",), r"(?i:password) '([^'\n]{1,200})'"),
    _place("password", ("login | credential | creds | account", "/"), rf"{_PAIR}([^\s\"'|;,<>]{{4,100}})", is_mixed),
)
PLACES = Sieve(_PLACES)


def find(text: str, small: str | None) -> Iterator[Secret]:
    """Find what stands where only a secret stands. `small` is the text in lower case, if that tells anything."""
    for place in PLACES.items if small is None else PLACES.through(small):
        yield from place.matches(text)
