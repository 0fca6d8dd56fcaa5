"""Install each candidate into a fresh environment, and count its packages and megabytes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import peers
from fleet import ROOT, Failed

WEIGHTS = "commonplace/models/embedders/weights"
LIMIT = 1_800.0
"""Seconds for one installation; it waits on the network, so it has a limit of its own."""
TOOLS = {"pip", "setuptools", "wheel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Packages and megabytes, the candidate itself included, Python and pip not."""

    packages: int
    megabytes: float
    weights: float
    """The part of the megabytes that is the default embedder's model."""


def target(name: str) -> str | None:
    """Return the arguments for pip; None for candidates included in Python."""
    if name == peers.OURS:
        return str(ROOT)
    distribution = peers.PEERS[name].distribution
    return f"{distribution}=={metadata.version(distribution)}" if distribution else None


def install(name: str, folder: Path) -> Installed:
    """Install one candidate into a new environment under `folder`, measure it, and remove it again."""
    wanted = target(name)
    if wanted is None:
        return Installed(packages=0, megabytes=0.0, weights=0.0)
    venv = folder / f"install-{name}"
    try:
        _run([sys.executable, "-m", "venv", str(venv)])
        empty = _megabytes(venv)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, wanted])
        site = next(venv.glob("lib/python*/site-packages"))
        return Installed(
            packages=len(_packages(site)),
            megabytes=_megabytes(venv) - empty,
            weights=_megabytes(site / WEIGHTS),
        )
    finally:
        shutil.rmtree(venv, ignore_errors=True)


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise Failed("over limit") from None
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or ["pip failed"])[-1][:200])


def _packages(site: Path) -> set[str]:
    names = {path.name.split("-")[0].lower() for path in site.glob("*.dist-info")}
    return names - TOOLS


def _megabytes(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_blocks * 512 for path in files) / 1e6
