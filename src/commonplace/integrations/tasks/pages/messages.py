"""Messages of a model as markup. They are recognised by their shape: no framework is imported."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakKeyDictionary

from commonplace.errors import InvalidInput
from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.run import Run

_ROLES = {
    "SystemMessage": "system",
    "UserMessage": "user",
    "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool",
}
_STYLES = {*_ROLES.values(), "answer"}
_WORDS, _LETTERS = 16, 100
# The first bytes of image files. SVG is left out on purpose: opened by itself it may run a script.
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"BM": "bmp",
}


class Images:
    """Writes images beside the pages of a run, in a thread, so that no event loop waits."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: WeakKeyDictionary[object, str] = WeakKeyDictionary()

    def add_image(self, image: object) -> str:
        """Return the markup of an AutoGen image, which has a PIL image inside; the same image is written once."""
        if image not in self._known:
            pixels = getattr(image, "image")  # noqa: B009 - recognised by its shape, not by its class
            file = self._known[image] = self._make_name("png")
            self._run.run_later(lambda: _encode(pixels, self._run.directory / file))
        return markup.thumbnail(self._known[image])

    def add_file(self, description: str, source: str | os.PathLike[str]) -> str:
        """Return the markup of a copy of an image file; raise InvalidInput if it cannot be read or is no image."""
        try:
            # Opened here and copied later: the caller may remove the file when this returns.
            opened = open(source, "rb")  # noqa: SIM115 - closed by the thread that copies it
            kind = _recognise(opened.read(12))
        except OSError as error:
            raise InvalidInput(f"the image {os.fspath(source)!r} cannot be read: {error.strerror}") from error
        if kind is None:
            opened.close()
            raise InvalidInput(f"{os.fspath(source)!r} is not a PNG, JPEG, GIF, WebP or BMP image")
        file = self._make_name(kind)
        self._run.run_later(lambda: _copy(opened, self._run.directory / file))
        return markup.thumbnail(file, self._run.clean(description))

    def _make_name(self, kind: str) -> str:
        return f"image-{next(self._run.images):04}.{kind}"


def _recognise(beginning: bytes) -> str | None:
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "webp"
    return next((kind for signature, kind in _SIGNATURES.items() if beginning.startswith(signature)), None)


def _encode(pixels: object, path: Path) -> None:
    memory = io.BytesIO()
    getattr(pixels, "save")(memory, format="PNG")  # noqa: B009 - see above
    path.write_bytes(memory.getvalue())


def _copy(opened: BinaryIO, path: Path) -> None:
    with opened, open(path, "xb") as target:
        opened.seek(0)
        shutil.copyfileobj(opened, target)


class Messages:
    """Renders messages and their parts; every text goes through `clean` first."""

    def __init__(self, images: Images, clean: Callable[[str], str]) -> None:
        self._images, self._clean = images, clean

    def render_messages(self, messages: Sequence[object], last: str = "") -> str:
        """Return messages, folded except for the last, which may have a style of its own."""
        folded = "".join(self._message(each, opened=False) for each in messages[:-1])
        return folded + "".join(self._message(each, opened=True, style=last) for each in messages[-1:])

    def render_answer(self, result: object) -> str:
        """Return a model's answer with its thought and how it ended."""
        body = self._thought(result) + self.render_content(_get(result, "content"))
        ends = [str(_get(result, "finish_reason") or ""), "cached" if _get(result, "cached") is True else ""]
        note = ", ".join(each for each in ends if each)
        return self._fold("answer", body, note=note, opened=True, style="answer")

    def render_content(self, content: object) -> str:
        """Return the content of a message: a text, or parts of any kind."""
        if isinstance(content, (list, tuple)):
            return "".join(map(self._part, content)) or '<p class="empty">empty list</p>'
        return self._part(content)

    def render_json(self, value: object) -> str:
        """Return a value as indented JSON; values that JSON does not know as Python shows them."""
        return self._text(_write_json(value))

    def _message(self, message: object, *, opened: bool, style: str = "") -> str:
        role = _ROLES.get(type(message).__name__) or str(_get(message, "role") or _get(message, "type") or "message")
        source = _get(message, "source")
        note = str(source) if source and str(source) != role else ""
        beginning = self._beginning(message)
        return self._fold(role, self._body(message), note=note, beginning=beginning, opened=opened, style=style or role)

    def _beginning(self, message: object) -> str:
        """Return the first words, which are visible while the message is folded."""
        content = _get(message, "content")
        first = content[0] if isinstance(content, (list, tuple)) and content else content
        if _has(first, "name", "arguments"):
            first = f"{_get(first, 'name')} {_get(first, 'arguments')}"
        elif _has(first, "call_id", "content"):
            first = _get(first, "content")
        words = self._clean(first).split(maxsplit=_WORDS) if isinstance(first, str) else []
        return " ".join(words[:_WORDS])[:_LETTERS]

    def _body(self, message: object) -> str:
        content = _get(message, "content")
        if content is None and callable(as_text := getattr(message, "to_text", None)):
            content = as_text()
        calls = _get(message, "tool_calls")
        return (
            self._thought(message)
            + (self.render_content(content) if content is not None or not calls else "")
            + (self.render_content(calls) if calls else "")
        )

    def _thought(self, message: object) -> str:
        thought = _get(message, "thought")
        return self._fold("thought", self._text(thought), opened=False) if thought else ""

    def _part(self, part: object) -> str:
        if isinstance(part, str):
            return self._text(part)
        if type(part).__name__ == "Image" and callable(getattr(getattr(part, "image", None), "save", None)):
            return self._images.add_image(part)
        if _has(part, "name", "arguments"):
            arguments = self.render_json(_parse(_get(part, "arguments")))
            return self._tool(f"calls {_get(part, 'name')}", arguments, note=str(_get(part, "id") or ""))
        if _has(part, "call_id", "content"):
            failed = " failed" if _get(part, "is_error") else ""
            title = f"result of {_get(part, 'name') or 'tool'}{failed}"
            return self._tool(title, self.render_content(_get(part, "content")), failed.strip())
        return self.render_json(part)

    def _tool(self, title: str, body: str, style: str = "", note: str = "") -> str:
        return f'<div class="tool {style}"><h3>{self._title(title, note)}</h3>{body}</div>'

    def _title(self, title: str, note: str) -> str:
        small = f" <small>{markup.name(self._clean(note))}</small>" if note else ""
        return markup.name(self._clean(title)) + small

    def _text(self, value: object) -> str:
        return markup.block(self._clean(str(value))) if str(value) else '<p class="empty">empty</p>'

    def _fold(
        self, title: str, body: str, *, opened: bool, note: str = "", beginning: str = "", style: str = ""
    ) -> str:
        small = f' <small class="begin">{markup.name(beginning)}</small>' if beginning else ""
        head = f"<summary>{self._title(title, note)}{small}</summary>"
        known = style if style in _STYLES else ""
        return f'<details class="message {known}"{" open" if opened else ""}>{head}{body}</details>\n'


def count_usage(results: Sequence[object]) -> tuple[int, int]:
    """Return the prompt and completion tokens of results, so far as they carry a usage."""
    usages = [_get(each, "usage") or _get(each, "models_usage") for each in results]
    prompt, completion = (
        sum(count for usage in usages if isinstance(count := _get(usage, name), int))
        for name in ("prompt_tokens", "completion_tokens")
    )
    return prompt, completion


def _get(value: object, name: str) -> Any:
    """Return a field of an object or a mapping; None if there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _has(value: object, *names: str) -> bool:
    return all(name in value if isinstance(value, Mapping) else hasattr(value, name) for name in names)


def _write_json(value: object) -> str:
    try:
        if callable(dump := getattr(value, "model_dump", None)):
            value = dump()
        elif is_dataclass(value) and not isinstance(value, type):
            value = asdict(value)
        return json.dumps(value, indent=2, ensure_ascii=False, default=repr)
    except Exception:  # noqa: BLE001 - values may be anything, and a log must not stop the program
        try:
            return repr(value)
        except Exception:  # noqa: BLE001 - as above
            return f"<{type(value).__name__} that cannot be shown>"


def _parse(arguments: object) -> object:
    """Return the arguments of a tool call, which models write as JSON; as they are if they are not JSON."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
