"""Images in a page log: pixels only, under names of our own."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import BinaryIO
from weakref import WeakKeyDictionary

from commonplace.errors import InvalidInput
from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.run import Run

# What is an image by its first bytes. SVG is left out on purpose: opened by itself it is a program.
_BEGINS = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"BM": "bmp",
}


class Images:
    """Puts images beside the pages of a run; the bytes follow from a thread, so that no event loop waits."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: WeakKeyDictionary[object, str] = WeakKeyDictionary()

    def of_message(self, image: object) -> str:
        """An image as AutoGen has it, with a PIL image inside; the same one twice is written once."""
        if image not in self._known:
            pixels = getattr(image, "image")  # noqa: B009 - known by its shape, not by its class
            file = self._known[image] = self._name("png")
            self._run.later(lambda: _encode(pixels, self._run.directory / file))
        return thumbnail(self._known[image])

    def of_file(self, description: str, source: str | os.PathLike[str]) -> str:
        """A copy of an image file; one that cannot be read, or is no image, is refused at once."""
        try:
            # Opened here and copied later: the caller may remove the file as soon as this returns.
            opened = open(source, "rb")  # noqa: SIM115 - closed by the thread that copies it
            kind = _kind(opened.read(12))
        except OSError as error:
            raise InvalidInput(f"the image {os.fspath(source)!r} cannot be read: {error.strerror}") from error
        if kind is None:
            opened.close()
            raise InvalidInput(f"{os.fspath(source)!r} is not a PNG, JPEG, GIF, WebP or BMP image")
        file = self._name(kind)
        self._run.later(lambda: _copy(opened, self._run.directory / file))
        return thumbnail(file, self._run.clean(description))

    def _name(self, kind: str) -> str:
        return f"image-{next(self._run.images):04}.{kind}"


def is_image(value: object) -> bool:
    """Whether a part of a message is an image of AutoGen's."""
    return type(value).__name__ == "Image" and callable(getattr(getattr(value, "image", None), "save", None))


def thumbnail(file: str, description: str = "") -> str:
    """An image that opens in full when clicked."""
    shown = f'<a href="{file}"><img src="{file}" alt="{markup.text(description) or "image"}" loading="lazy"></a>'
    return f"<figure>{shown}{f'<figcaption>{markup.name(description)}</figcaption>' if description else ''}</figure>"


def _kind(begin: bytes) -> str | None:
    if begin[:4] == b"RIFF" and begin[8:12] == b"WEBP":
        return "webp"
    return next((kind for first, kind in _BEGINS.items() if begin.startswith(first)), None)


def _encode(pixels: object, path: Path) -> None:
    memory = io.BytesIO()
    getattr(pixels, "save")(memory, format="PNG")  # noqa: B009 - see above
    path.write_bytes(memory.getvalue())


def _copy(opened: BinaryIO, path: Path) -> None:
    with opened, open(path, "xb") as target:
        opened.seek(0)
        shutil.copyfileobj(opened, target)
