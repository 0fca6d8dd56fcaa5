"""The looks and forms of keys, the places of passwords, and the names of secrets, as data."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from commonplace.guard.sieve import Pattern, Sieve

Look = Callable[[str], bool]

_UUID = Pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = Pattern(r"(?:0x)?[0-9a-fA-F]{24,}")
_PIECE = Pattern(r"[A-Za-z0-9]{8,}")
_TURN = Pattern(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])|(?<=[A-Z]{2})(?=[a-z])")

_STAND_IN = Pattern(
    r"<.*|\$[A-Za-z_]\w*|\$[({].*|\{\{.*|%\w+%|\{[\w.]*\}|[*•.…x\-_?]+|X+|\[redacted.*|required\b.*"
    r"|(?:your|some|example|dummy|insert|enter|put)[-_ ].*|(?:my|the|new)[-_](?:password|secret|token|key|api).*"
    r"|\(?(?:hidden|masked|redacted)\)?",
    re.DOTALL | re.IGNORECASE,
)
# An expression that gives the value when it runs, a type or a call.
_CODE = Pattern(r"[A-Za-z_][\w.]*[(\[].*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w*(?:::\w+)+.*", re.DOTALL)
_PATH = Pattern(r"(?:~|\.{1,2})?/.*|[A-Za-z]:\\.*|[a-z._-]+(?:/(?:[a-z_.-]+|v?\d{1,4}))+")
_ADDRESS = Pattern(r"[a-z][a-z0-9+.-]*://.*|arn:.*|[a-z]+(?::[a-z0-9_.-]+){2,}")
_MEASURE = Pattern(
    r"v?\d+(?:\.\d+)+\S*|\d+(?:-\d+)?-?(?:char|digit|bit|byte|day|month|week|hour|min)\w*|\d+[hdsxm%]"
    r"|(?:sha|md|aes|rsa|utf|base|argon|pbkdf|hs|rs|es|ed)[-_]?\d+\S*|1password\S*|2fa|\d{4}-\d\d-\d\d\S*",
    re.IGNORECASE,
)
_MAIL = Pattern(r"(?:mailto:)?[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}[.,;:!?]?")
_WORD = Pattern(r"[^\W\d_]+(?:[-_'’][^\W\d_]+)*")
_ENDING = Pattern(r".+(?:ed|ing|able|ible|ive|ory|ful|less|ary|al|ous|ly|ic|ent|en)")
_CAPITAL_INSIDE = Pattern(r"[a-z][A-Z]")
_LETTER = Pattern(r"[A-Za-z]")
_DIGIT_OR_CAPITAL_INSIDE = Pattern(r"[0-9]|[a-z][A-Z]")
_MARK = Pattern(r"[^A-Za-z0-9\-_'.,/:()]")
_STRONG = Pattern(r"[^\w\-'.,/:()+]")

# Words about a password, or names of its type.
_REMARKS = frozenset(
    """
    a about after again already also always an and any anonymous as asked at auto bad be because been before blank bool
    boolean both broken but by bytes case char char[] check common compromised confirm correct credential credentials
    default different disabled due easy empty encrypted enough env expired expires false fine first for forgotten from
    generated gone good hash hashed here hidden how identical if in incorrect insecure int invalid is it just kept key
    known leaked long longer lost mandatory mine missing more must my n/a never new nil no none not now null number
    object off ok okay old on one only optional or our out over pass passcode passphrase passwd password passwords
    pending plain plaintext policy present prompt protected public pw pwd really required reset right safe salted same
    secret secrets secure self sensitive set shared short shown simple so some something still stored str strict string
    strong sub such text that the their them then there they this to today token too true type undefined under
    unique unknown unsafe unset until up used user username valid value var varchar very via wait weak what when where
    which who why will with without wrong yes yet you your yours
    abgelaufen falsch richtig nicht im in der die das bei noch zu obligatoire incorrect dans le la les trop
    obligatoria obligatorio en el incorrecta obrigatória errada no na sbagliata nel nella obbligatoria
    """.split()
)

_JUDGED = 128
"""Characters of a long value that are looked at."""


def is_placeholder(value: str) -> bool:
    """Return whether it is a placeholder, a variable, an expression, a path or an address."""
    return any(each.fullmatch(value) for each in (_STAND_IN, _CODE, _PATH, _ADDRESS))


def is_random(value: str) -> bool:
    """Return whether a machine made it at random; words, names, numbers and versions are not."""
    if _UUID.fullmatch(value) or _HEX.fullmatch(value):
        return len(set(value)) > 5
    return any(map(_is_random_piece, _PIECE.findall(value))) and not _MEASURE.fullmatch(value)


def _is_random_piece(piece: str) -> bool:
    # Words and dates change between letters and digits once or twice, random text all the time.
    if len(set(piece)) < 5:
        return False
    turns = len(_TURN.findall(piece))
    return turns >= 3 and turns * 9 >= len(piece) and not piece.isdigit()


def is_mixed(value: str) -> bool:
    """Return whether it is a password as people choose them: letters with digits, marks or capitals inside."""
    if len(value) < 5 or _MEASURE.fullmatch(value):
        return False
    value = value[:_JUDGED]
    if value.isascii():
        return bool(_LETTER.search(value) and (_DIGIT_OR_CAPITAL_INSIDE.search(value) or _MARK.search(value[:-1])))
    has_letter = any(each.isalpha() for each in value)
    has_digit = any(each.isdigit() for each in value)
    has_mark = any(not each.isalnum() and each not in "-_'’.,/:()" for each in value[:-1])
    return has_letter and (has_digit or has_mark or bool(_CAPITAL_INSIDE.search(value)))


def is_strong(value: str) -> bool:
    """Return whether it is a password and hardly anything else: long, of three sorts of characters, one a mark."""
    value = value[:_JUDGED]
    sorts = (any(each.islower() for each in value), any(each.isupper() for each in value), any(map(str.isdigit, value)))
    return len(value) >= 8 and sum(sorts) > 1 and _STRONG.search(value) is not None and not is_mail(value)


def is_mail(value: str) -> bool:
    """Return whether it is an address of mail."""
    return _MAIL.fullmatch(value) is not None


def is_number(value: str) -> bool:
    """Return whether it is a code of digits."""
    return value.isdigit() and 4 <= len(value) <= 16


def is_word(value: str) -> bool:
    """Return whether it is a word that may be a password."""
    return len(value) > 2 and bool(_WORD.fullmatch(value)) and value.casefold() not in _REMARKS


def is_name(value: str) -> bool:
    """Return whether it is a word that no sentence says of a password, as "broken" and "mandatory" are said."""
    return is_word(value) and value.isascii() and not _ENDING.fullmatch(value.casefold())


def is_remark(value: str) -> bool:
    """Return whether it is a word about passwords, or a name of their type."""
    return value.casefold().strip(".!?") in _REMARKS


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of secret: group 1 of the pattern, without `trim` at its end, if it has the look."""

    kind: str
    pattern: Pattern
    look: Look
    trim: str = ""


# Known by their form. A key begins where no word runs on; in text that was escaped, the "n" of a "\n" is no part of a
# word. Because a key can begin only once in a run of characters, no run is read twice.
_BEGIN = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9])"
_A = "[A-Za-z0-9]"
_S = "[A-Za-z0-9_-]"

# Kind, what the text must contain for the pattern to be tried, pattern. Lengths are shorter than issued, so that a key
# that was cut off is still found.
_EXACT = (
    ("aws access key", "AKIA ASIA ABIA ACCA", r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}"),
    ("aws key", "ABSK", rf"ABSK{_A}{{60,}}=*"),
    ("github token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}"),
    ("gitlab token", "gl", rf"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-{_S}{{16,}}(?:\.{_S}+)*"),
    ("slack token", "xox xapp-", rf"(?:xox[a-z]|xapp)-{_S}{{20,}}"),
    ("stripe key", "k_live_ k_test_ k_prod_ whsec_", r"(?:[sr]k_(?:live|test|prod)|whsec)_[A-Za-z0-9+/=]{16,}"),
    ("anthropic key", "sk-ant-", rf"sk-ant-{_S}{{20,}}"),
    ("openrouter key", "sk-or-", rf"sk-or-{_S}{{20,}}"),
    ("google key", "AIza", rf"AIza{_S}{{30,}}"),
    ("google token", "ya29. 1//0 GOCSPX-", rf"(?:ya29\.|1//0|GOCSPX-){_S}{{20,}}"),
    ("commonplace key", "cp_", rf"cp_[a-z0-9]{{12}}_{_A}{{20,}}"),
    ("npm token", "npm_", rf"npm_{_A}{{30,}}"),
    ("pypi token", "pypi-", rf"pypi-{_S}{{40,}}"),
    ("twilio key", "SK", r"SK[0-9a-f]{32}"),
    ("sendgrid key", "SG.", rf"SG\.{_S}{{16,}}\.{_S}{{16,}}"),
    ("mailgun key", "key-", r"key-[0-9a-f]{32}"),
    ("mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    ("telegram token", ":AA", rf"\d{{8,10}}:AA{_S}{{30,}}"),
    ("discord token", ".", rf"[MNO]{_S}{{22,27}}\.{_S}{{6}}\.{_S}{{25,40}}"),
    ("hugging face token", "hf_ api_org_", rf"(?:hf|api_org)_{_A}{{28,}}"),
    ("digitalocean token", "_v1_", r"do[opr]_v1_[0-9a-f]{32,}"),
    ("shopify token", "shp", r"shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{24,}"),
    ("square token", "sq0 EAAA", rf"(?:sq0[a-z]{{3}}-{_S}{{20,}}|EAAA{_S}{{56,}})"),
    ("doppler token", "dp.", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.{_S}{{30,}}"),
    ("airtable token", "pat", rf"pat{_A}{{14}}\.[0-9a-f]{{40,}}"),
    ("atlassian token", "ATATT3 ATCTT3 ATBB ATSTT", rf"AT(?:ATT3|CTT3|BB|STT){_S}{{20,}}(?:=[0-9A-F]{{8}})?"),
    ("databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("vault token", "hvs. hvb. hvr.", rf"hv[sbr]\.{_S}{{20,}}"),
    ("terraform token", ".atlasv1.", rf"{_A}{{14}}\.atlasv1\.{_S}{{40,}}"),
    ("sentry token", "sntry", r"sntry[su]_[A-Za-z0-9_=+/-]{32,}"),
    ("postman key", "PMAK-", r"PMAK-[0-9a-f]{20,}-[0-9a-f]{30,}"),
    ("age key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("azure secret", "Q~", rf"{_S}{{3}}\dQ~[A-Za-z0-9_.~-]{{30,}}"),
    ("hubspot token", "pat-", r"pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("dynatrace token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    ("jwt", "eyJ", rf"eyJ{_S}{{8,}}\.eyJ{_S}{{8,}}(?:\.{_S}*)?"),
    ("jwt", "eyJ", rf"eyJ{_S}{{16,}}\.{_S}*(?:\.{_S}{{12,}}){{2,3}}"),
)

# Words can have these forms, too: what follows the beginning must look random.
_MODELS = r"gsk_|xai-|r8_|pplx-|pcsk_|lsv2_|nvapi-|fw_|tvly-|jina_|voyage-|csk-"
_SERVICES = (
    r"lin_api_|lin_oauth_|figd_|sbp_|nfp_|rubygems_|phx_|tfp_|rdme_|CFPAT-|CCIPAT_|bkua_|pul-|pnu_|HRKU-|FLWSECK_|"
    r"CLOJARS_|aio_|dnkey-|EZAK|EZTK|ico-|ops_|fm1_|fm2_|AKCp|LTAI|ntn_|secret_|glsa_|glc_|NRAK-|NRII-|NRRA-|"
    r"pscale_|tskey-|dckr_|xkeysib-|re_|sk_|shpit_|tok_|dd_"
)
_RANDOM = (
    ("openai key", "sk-", rf"sk-{_S}{{24,}}"),
    ("model service key", _MODELS.replace("|", " "), rf"(?:{_MODELS}){_S}{{24,}}"),
    ("service token", _SERVICES.replace("|", " "), rf"(?:{_SERVICES}){_S}{{20,}}"),
    # A form that many services use.
    ("service token", "_", rf"(?!pk_)[a-z]{{2,12}}_(?:live|test|prod|pat|sk|key|secret|token|api)_{_A}{{20,}}"),
)

# The secret is the group.
_IN_ADDRESS = (
    ("slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,})"),
    ("discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{10,20}/([A-Za-z0-9_-]{20,})"),
    ("teams webhook", ".webhook.office.com", r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{40,})"),
    ("telegram token", "api.telegram.org", r"api\.telegram\.org/bot(\d{8,10}:[A-Za-z0-9_-]{30,})"),
    ("signature", "=", r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature)=([A-Za-z0-9%+/=_-]{20,})"),
    ("key", "Key=", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{20,}={0,2})"),
)

SHORTEST = 20
"""Characters of the shortest of all these forms."""
_FEWEST_DIFFERENT = 6
"""A key of fewer different characters is an example: xxxx, 0000, abcabc."""


def _is_varied(value: str) -> bool:
    return len(set(value)) >= _FEWEST_DIFFERENT


def _form(kind: str, hints: str, pattern: str, look: Look) -> tuple[Form, tuple[str, ...]]:
    return Form(kind, Pattern(pattern), look), (hints.replace(" ", " | "),)


FORMS = Sieve(
    (
        *(_form(kind, hints, f"{_BEGIN}({text}){_END}", _is_varied) for kind, hints, text in _EXACT),
        *(
            _form(kind, hints, f"{_BEGIN}({text}){_END}", lambda value: _is_varied(value) and is_random(value))
            for kind, hints, text in _RANDOM
        ),
        *(_form(kind, hints, text, _is_varied) for kind, hints, text in _IN_ADDRESS),
    )
)

# Known by their place: in an address, a header, a command, a statement of SQL.
_Q = r"[\"']?"
_SHORT = r"[^\s\"'|;<>]{3,200}"
# Options between a program and its password: few, so that no pattern reads far in vain.
_OPTIONS = r"(?:[^\S\n]+[^\s|;&]{1,60}){0,8}?"
_LOGIN = r"sshpass|docker login|podman login|twine upload|az login|helm registry login"
_TO_READER = r"(?:sudo -S|[^|\n]{1,80}--password-stdin)"
_PAIR = r"(?i:\b(?:(?:login|user|username) and password|login|credentials?|creds|accounts?)(?: details| data)?)"
_PAIR += r"(?: (?:is|are)|:)[ \n]{0,2}[\w.@-]{1,60} ?/ ?"
_NETWORK = r"(?i:\b(?:wi-?fi|wlan)\b)[^\n]{0,40}?(?:/|,? (?:key|code)(?: is|:)?) {0,2}"
_ENTRY = r"(?:log|logging|logged|sign|signing|signed)[ -]?(?:in|on)"
_TYPED = r"[^\s\"'|;,<>]{8,100}"
_ENTRY_NEEDS = ("log | sign", "use | with | using | enter | type | try")
_ONCE = "one[- ]time|verification|authentication|security|login|sign-in|sms|2fa|mfa"
_ONCE_NEED = "one-time | one time | verification | authentication | security | login | sign-in | sms | 2fa | mfa"


def _place(
    kind: str, needs: tuple[str, ...], pattern: str, look: Look = lambda value: not is_remark(value)
) -> tuple[Form, tuple[str, ...]]:
    return Form(kind, Pattern(pattern), lambda value: look(value) and not is_placeholder(value), trim="."), needs


# Kind, what the text must contain in lower case, pattern, look.
PLACES = Sieve(
    (
        _place("password", ("://", "@"), r"://[^\s/:@\"'<>]{0,80}:([^\s/\"'<>]{1,200})@(?=[\w\[])"),
        _place("key", ("key=",), r"[?&]key=([A-Za-z0-9_-]{16,200})", is_random),
        _place(
            "token",
            ("://", "@"),
            r"://([A-Za-z0-9_-]{20,200})(?::[^\s/@]{0,40})?@(?=[\w\[])",
            lambda value: len(value) >= 20 and is_random(value),
        ),
        _place(
            "authorization",
            ("authorization",),
            rf"(?i:authorization){_Q}\s{{0,4}}[:=]\s{{0,4}}{_Q}(?:[A-Za-z-]{{3,20}}\s)?([\w.~+/=-]{{8,4096}})",
            lambda value: is_mixed(value) and len(value) >= 8,
        ),
        _place("bearer token", ("bearer",), r"\b(?i:bearer)\s{1,4}([\w.~+/-]{16,4096}=*)", is_random),
        _place("cookie", ("cookie:",), r"(?i:cookie):[^\S\n]?[\w.-]{1,40}=([\w.~+/%=-]{16,4096})", is_random),
        _place("cookie", ("cookie:",), r"(?i:cookie):[^;\n]{1,200}; ?[\w.-]{1,40}=([\w.~+/%-]{16,4096})", is_random),
        _place(
            "password",
            ("mysql | mariadb", " -p"),
            rf"\b(?:mysql|mariadb)\w{{0,9}}{_OPTIONS} -p{_Q}([^\s\"'|;]{{3,100}})",
        ),
        _place("password", (" -p ",), rf"\b(?:{_LOGIN}){_OPTIONS} -p {_Q}({_SHORT})"),
        _place("password", (" -u | --user", ":"), rf"(?: -u|--user)[ =]?{_Q}[^\s:\"'$]{{1,60}}:({_SHORT})", is_mixed),
        _place("password", ("redis-cli",), rf"\bredis-cli{_OPTIONS} -a {_Q}({_SHORT})"),
        _place("password", ("htpasswd",), rf"\bhtpasswd -\w{{0,5}}b\w{{0,5}} \S{{1,100}} \S{{1,60}} {_Q}({_SHORT})"),
        _place("password", ("zip", " -p "), rf"\b(?:un)?zip{_OPTIONS} -P {_Q}({_SHORT})"),
        _place("password", ("auth=(",), r"\bauth=\(\s?[\"'][^\"'\n]{1,60}[\"'],\s?[\"']([^\"'\n]{1,200})[\"']"),
        _place("password", ("wifi | wi-fi | wlan", "/ | key | code"), rf"{_NETWORK}([^\s\"'|;,<>]{{4,100}})", is_mixed),
        _place("password", ("basic auth",), rf"\b[bB]asic auth(?: is|:)? [\w.-]{{1,40}}:({_SHORT})", is_mixed),
        _place(
            "password",
            _ENTRY_NEEDS,
            rf"\b(?i:use|with|using|enter|type|try)[ \n]({_TYPED})[ \n](?i:to|for|when)[ \n](?i:{_ENTRY})",
            is_strong,
        ),
        _place(
            "password",
            _ENTRY_NEEDS,
            rf"\b(?i:{_ENTRY})(?: as [\w.@-]{{1,60}})?[ \n](?i:with|using)[ \n]({_TYPED})",
            is_strong,
        ),
        _place(
            "pin",
            (_ONCE_NEED, "code | pass | pin"),
            rf"(?<![\w.,:-])([0-9]{{4,10}})[ ](?:is|as)[ ](?:your|the|my|a|our)[ ](?i:(?:{_ONCE})[ ](?:code|pass|pin))",
            is_number,
        ),
        _place(
            "pin",
            (_ONCE_NEED, "password | passcode"),
            rf"\b(?i:{_ONCE})[ ](?i:password|passcode)(?:[ ](?:is|was)|:)[ ]([0-9]{{4,10}})(?![\w.-])",
            is_number,
        ),
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
        _place(
            "password",
            ("login | user | credential | creds | account", "/"),
            rf"{_PAIR}([^\s\"'|;,<>]{{4,100}})",
            is_mixed,
        ),
    )
)

# Known by their name. The group, what a name of this form contains in lower case, its form.
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
    (
        "pin",
        "code",
        (
            r"(?<![a-z])(?:door|alarm|access|unlock|gate|entry|one[ -]time|verification|authentication|security|login"
            r"|sign-in|sms|2fa|mfa)[ _-]code(?![a-z])"
        ),
    ),
    ("pin", "otp", r"(?<![a-z])t?otp(?: code)?(?![a-z]|[-_. ]?seed)"),
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
LONGEST_NAME = 24
NAME = Pattern(
    "|".join(
        f"(?P<{group}>{'|'.join(form for _, _, form in forms)})"
        for group, forms in groupby(_NAMES, key=lambda name: name[0])
    ),
    re.IGNORECASE,
)
