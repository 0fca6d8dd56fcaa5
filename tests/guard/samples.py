"""The hand-written examples. Well-known beginnings of keys are put in here, so that no file holds a whole one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "data" / "guard"

# Written in two parts for the same reason.
BEGINNINGS = {
    "AGE": "AGE-SECRET" + "-KEY-1",
    "AIza": "AI" + "za",
    "AKIA": "AK" + "IA",
    "ASIA": "AS" + "IA",
    "ATATT": "ATA" + "TT3",
    "BEGIN": "BEG" + "IN",
    "END": "E" + "ND",
    "GOCSPX": "GOC" + "SPX-",
    "Mdis": "M" + "T",
    "NRAK": "NR" + "AK-",
    "PMAK": "PM" + "AK-",
    "SG": "S" + "G.",
    "SK": "S" + "K",
    "dapi": "da" + "pi",
    "dckr": "dckr" + "_pat_",
    "dop": "dop" + "_v1_",
    "dppt": "dp." + "pt.",
    "eyJ": "ey" + "J",
    "figd": "fi" + "gd_",
    "gho": "gh" + "o_",
    "ghp": "gh" + "p_",
    "ghs": "gh" + "s_",
    "github_pat": "github" + "_pat_",
    "glcbt": "glc" + "bt-",
    "gldt": "gl" + "dt-",
    "glpat": "gl" + "pat-",
    "glrt": "gl" + "rt-",
    "glsa": "gl" + "sa_",
    "gref": "1/" + "/0",
    "gsk": "gs" + "k_",
    "hf": "h" + "f_",
    "hvs": "hv" + "s.",
    "key": "ke" + "y-",
    "lin": "lin" + "_api_",
    "lsv2": "lsv2" + "_pt_",
    "notionsecret": "sec" + "ret_",
    "npm": "np" + "m_",
    "ntn": "nt" + "n_",
    "pat": "pa" + "t",
    "pcsk": "pc" + "sk_",
    "pplx": "pp" + "lx-",
    "pscale": "pscale" + "_pw_",
    "pypi": "py" + "pi-AgEI",
    "r8": "r" + "8_",
    "re": "r" + "e_",
    "rk_live": "rk" + "_live_",
    "rubygems": "ruby" + "gems_",
    "sbp": "sb" + "p_",
    "shpat": "shp" + "at_",
    "shpss": "shp" + "ss_",
    "sk": "s" + "k-",
    "sk_live": "sk" + "_live_",
    "sk_test": "sk" + "_test_",
    "skant": "sk-" + "ant-api03-",
    "skor": "sk-" + "or-v1-",
    "skproj": "sk-" + "proj-",
    "sntrys": "snt" + "rys_",
    "sq0atp": "sq0" + "atp-",
    "tskey": "ts" + "key-auth-",
    "whsec": "wh" + "sec_",
    "xai": "x" + "ai-",
    "xapp": "xa" + "pp-",
    "xoxb": "xo" + "xb-",
    "xoxp": "xo" + "xp-",
    "ya29": "ya" + "29.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A text, its secrets, and whether the rules were written with it."""

    text: str
    secrets: tuple[str, ...]
    half: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A text and whether it reads like an instruction to a model."""

    text: str
    instruction: bool
    half: str


@cache
def samples() -> tuple[Sample, ...]:
    rows = map(json.loads, (FOLDER / "secrets.jsonl").read_text("utf-8").splitlines())
    return tuple(
        Sample(text=whole(row["text"]), secrets=tuple(map(whole, row["secrets"])), half=row["half"]) for row in rows
    )


@cache
def sayings() -> tuple[Saying, ...]:
    rows = map(json.loads, (FOLDER / "instructions.jsonl").read_text("utf-8").splitlines())
    return tuple(Saying(**row) for row in rows)


def whole(text: str) -> str:
    for name, beginning in BEGINNINGS.items():
        text = text.replace(f"{{{name}}}", beginning)
    return text
