"""Secrets that are known by their form: keys and tokens as their makers issue them, private keys, JWTs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from commonplace.guard.looks import is_random
from commonplace.guard.marks import Secret
from commonplace.guard.patterns import Pattern, Sieve

# A key begins where no word runs on; in text that was escaped, the "n" of a "\n" is no part of a word.
# Because a key can begin only once in a run of characters, no run is read twice.
_BEGIN = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9])"
_A = "[A-Za-z0-9]"
_S = "[A-Za-z0-9_-]"

# Kind, what the text must hold for the pattern to be tried, pattern. Lengths are shorter than issued, so that
# a key that was cut is still a key.
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

# Forms that words can take, too: what follows the beginning must look random.
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
    # The habit of many makers.
    ("service token", "_", rf"(?!pk_)[a-z]{{2,12}}_(?:live|test|prod|pat|sk|key|secret|token|api)_{_A}{{20,}}"),
)

# Known by what stands before them; the secret is the group.
_PLACED = (
    ("slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,})"),
    ("discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{10,20}/([A-Za-z0-9_-]{20,})"),
    ("teams webhook", ".webhook.office.com", r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{40,})"),
    ("telegram token", "api.telegram.org", r"api\.telegram\.org/bot(\d{8,10}:[A-Za-z0-9_-]{30,})"),
    ("signature", "=", r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature)=([A-Za-z0-9%+/=_-]{20,})"),
    ("key", "Key=", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{20,}={0,2})"),
)

SHORTEST = 20
"""Characters that the shortest of all these forms has."""

_FEWEST_DIFFERENT = 6
"""A key of fewer different characters is an example: xxxx, 0000, abcabc."""

_BLOCK = Pattern(r"-----(BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_CUT_BLOCK = Pattern(r"(?:\\[nr]|[A-Za-z0-9+/=\s]){0,20000}")


@dataclass(frozen=True, slots=True)
class _Form:
    kind: str
    pattern: Pattern
    random: bool = False

    def matches(self, text: str) -> Iterator[Secret]:
        for match in self.pattern.finditer(text):
            if len(set(match[1])) >= _FEWEST_DIFFERENT and (not self.random or is_random(match[1])):
                yield Secret(kind=self.kind, start=match.start(1), end=match.end(1))


def _needs(hints: str) -> tuple[str, ...]:
    return (hints.replace(" ", " | "),)


FORMS = Sieve(
    (
        *((_Form(kind, Pattern(f"{_BEGIN}({text}){_END}")), _needs(hints)) for kind, hints, text in _EXACT),
        *((_Form(kind, Pattern(f"{_BEGIN}({text}){_END}"), True), _needs(hints)) for kind, hints, text in _RANDOM),
        *((_Form(kind, Pattern(text)), _needs(hints)) for kind, hints, text in _PLACED),
    )
)


def find(text: str) -> Iterator[Secret]:
    """Find what has the form of a key or token, wherever it stands."""
    yield from blocks(text)
    # None has a space inside, so that a text without long words has none; and most are without.
    if long := " ".join([word for word in text.split() if len(word) >= SHORTEST]):
        for form in FORMS.through(long):
            if form.pattern.search(long):
                yield from form.matches(text)


def blocks(text: str) -> Iterator[Secret]:
    """Find private keys from their first line to their last; of one that was cut, as far as it goes."""
    borders = list(_BLOCK.finditer(text)) if "PRIVATE KEY" in text else []
    for border, following in zip_longest(borders, borders[1:]):
        if border[1] == "END":
            continue
        if following is not None and following[1] == "END":
            end = following.end()
        else:
            limit = following.start() if following is not None else len(text)
            run = _CUT_BLOCK.match(text, border.end(), limit)
            end = border.end() + len(run[0].rstrip() if run else "")
        yield Secret(kind="private key", start=border.start(), end=end)
