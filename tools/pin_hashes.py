"""Write the hashes of all files of each pinned release into requirements/, so that pip installs nothing else.

    python tools/pin_hashes.py            # after a version was changed
    python tools/pin_hashes.py --check    # tells whether every requirement has hashes, without the network

The files are those that pip's own index lists for Python 3.10 to 3.14, for every platform. It runs with the pip of the
interpreter, whose index and session it uses.
"""

from __future__ import annotations

import argparse
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pip._internal.commands import create_command
from pip._vendor.packaging.utils import (
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
_PIN = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,.-]+\])?==(?P<version>[^\s;\\]+)")
_PYTHONS = range(10, 15)
_NOT_HERE = re.compile(r"emscripten|pyodide|wasm")


def main() -> int:
    """Write or check every list of packages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a hash is missing")
    check = parser.parse_args().check
    lists = sorted((ROOT / "requirements").rglob("*.txt"))
    if check:
        bare = [f"{path.relative_to(ROOT)}: {line}" for path in lists for line in read_unhashed(path)]
        sys.stdout.write("".join(f"{each}\n" for each in bare))
        return 1 if bare else 0
    pins = {pin for path in lists for line in read_lines(path) if (pin := find_pin(line))}
    index = Index()
    with ThreadPoolExecutor(16) as pool:
        pages = dict(zip(names := sorted({name for name, _ in pins}), pool.map(index.read, names), strict=True))
    for path in lists:
        path.write_text(write_lines(read_lines(path), pages), "utf-8")
    return 0


def read_lines(path: Path) -> list[str]:
    """Return the lines of a list without its hashes."""
    joined = path.read_text("utf-8").replace("\\\n", " ")
    return [re.sub(r"\s+--hash=\S+", "", line) for line in joined.splitlines()]


def read_unhashed(path: Path) -> list[str]:
    """Return the requirements of a list that have no hash."""
    joined = path.read_text("utf-8").replace("\\\n", " ")
    return [line for line in joined.splitlines() if find_pin(line) and "--hash=" not in line]


def find_pin(line: str) -> tuple[str, str] | None:
    """Return the name and version that a line pins."""
    found = _PIN.match(line)
    return None if found is None else (canonicalize_name(found["name"]), found["version"])


def write_lines(lines: list[str], pages: dict[str, dict[str, str]]) -> str:
    """Return a list with the hashes of every file of each release."""
    out: list[str] = []
    for line in lines:
        pin = find_pin(line)
        if pin is None:
            out.append(line)
            continue
        hashes = sorted({hash for file, hash in pages[pin[0]].items() if is_of(file, *pin)})
        if not hashes:
            raise SystemExit(f"the index has no file with a hash for {'=='.join(pin)}")
        out.append(" \\\n".join((line.rstrip(), *(f"    --hash=sha256:{hash}" for hash in hashes))))
    return "\n".join(out) + "\n"


def is_of(file: str, name: str, version: str) -> bool:
    """Return whether a file is of a release, and can be installed on a supported Python, whatever the platform."""
    if f"-{version}" not in file:  # most files are of other releases, and reading a name takes long
        return False
    try:
        if not file.endswith(".whl"):
            return parse_sdist_filename(file) == (name, Version(version))
        found, held, _, tags = parse_wheel_filename(file)
    except (InvalidWheelFilename, ValueError):
        return False
    return (found, held) == (name, Version(version)) and any(
        not _NOT_HERE.search(tag.platform) and runs(tag.interpreter, tag.abi) for tag in tags
    )


def runs(interpreter: str, abi: str) -> bool:
    """Return whether a supported CPython takes wheels with this tag."""
    if interpreter.startswith("py3"):
        return interpreter == "py3" or int(interpreter[3:] or 0) <= _PYTHONS[-1]
    minor = re.fullmatch(r"cp3(\d+)", interpreter)
    if minor is None:
        return False
    return int(minor[1]) in _PYTHONS or (abi == "abi3" and int(minor[1]) <= _PYTHONS[-1])


class Index:
    """The index that pip is configured with."""

    def __init__(self) -> None:
        command = create_command("download")
        options, _ = command.parse_args([])
        self._session = command._build_session(options)
        self._url = options.index_url.rstrip("/")

    def read(self, name: str) -> dict[str, str]:
        """Return the files of a project with their SHA-256, from their links."""
        answer = self._session.get(f"{self._url}/{name}/", headers={"Accept": "text/html"}, timeout=180)
        answer.raise_for_status()
        links = _Links()
        links.feed(answer.text)
        return links.files


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = urlsplit(dict(attrs).get("href") or "")
        if tag == "a" and target.fragment.startswith("sha256="):
            self.files[unquote(target.path.rpartition("/")[2])] = target.fragment.removeprefix("sha256=")


if __name__ == "__main__":
    raise SystemExit(main())
