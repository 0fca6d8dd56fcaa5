"""Messages of a model as markup. They are known by their shape: nothing of a framework is imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from commonplace.integrations.tasks.pages import markup
from commonplace.integrations.tasks.pages.images import Images, is_image
from commonplace.integrations.tasks.pages.shapes import as_json, get, has, parsed

_ROLES = {
    "SystemMessage": "system",
    "UserMessage": "user",
    "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool",
}

_WORDS, _LETTERS = 16, 100


class Messages:
    """Renders messages, their parts and their usage; every text goes through `clean` first."""

    def __init__(self, images: Images, clean: Callable[[str], str]) -> None:
        self._images, self._clean = images, clean

    def sent(self, messages: Iterable[object]) -> str:
        """The messages that a model got, folded but for the last."""
        known = list(messages)
        return "".join(self._message(each, opened=place == len(known)) for place, each in enumerate(known, 1))

    def answer(self, result: object) -> str:
        """What a model answered, with what it thought and how it ended."""
        thought = get(result, "thought")
        body = self._folded("thought", self._text(thought), opened=False) if thought else ""
        body += self.content(get(result, "content"))
        ended = [str(get(result, "finish_reason") or ""), "cached" if get(result, "cached") is True else ""]
        facts = ", ".join(each for each in ended if each)
        return self._folded("answer", body, note=facts, opened=True, kind="answer")

    def done(self, messages: Sequence[object]) -> str:
        """What the agents of a task said and did, all of it; the last is open."""
        return "".join(
            self._message(each, opened=place == len(messages), kind="answer" if place == len(messages) else "")
            for place, each in enumerate(messages, 1)
        )

    def content(self, content: object) -> str:
        """The content of a message: a text, or parts of any kind."""
        if isinstance(content, (list, tuple)):
            return "".join(map(self._part, content)) or '<p class="empty">empty list</p>'
        return self._part(content)

    def _message(self, message: object, *, opened: bool, kind: str = "") -> str:
        role = _ROLES.get(type(message).__name__) or str(get(message, "role") or get(message, "type") or "message")
        source = get(message, "source")
        note = str(source) if source and str(source) != role else ""
        body = self._body(message)
        return self._folded(role, body, note=note, begin=self._begin(message), opened=opened, kind=kind or role)

    def _begin(self, message: object) -> str:
        """The first words, to be seen while the message is folded."""
        content = get(message, "content")
        first = content[0] if isinstance(content, (list, tuple)) and content else content
        if has(first, "name", "arguments"):
            first = f"{get(first, 'name')} {get(first, 'arguments')}"
        elif has(first, "call_id", "content"):
            first = get(first, "content")
        words = self._clean(first).split(maxsplit=_WORDS) if isinstance(first, str) else []
        return " ".join(words[:_WORDS])[:_LETTERS]

    def _body(self, message: object) -> str:
        content = get(message, "content")
        if content is None and callable(as_text := getattr(message, "to_text", None)):
            content = as_text()
        calls = get(message, "tool_calls")
        thought = get(message, "thought")
        return (
            (self._folded("thought", self._text(thought), opened=False) if thought else "")
            + (self.content(content) if content is not None or not calls else "")
            + (self.content(calls) if calls else "")
        )

    def _part(self, part: object) -> str:
        if isinstance(part, str):
            return self._text(part)
        if is_image(part):
            return self._images.of_message(part)
        if has(part, "name", "arguments"):
            return self._call(str(get(part, "name")), get(part, "arguments"), str(get(part, "id") or ""))
        if has(part, "call_id", "content"):
            failed = " failed" if get(part, "is_error") else ""
            called = str(get(part, "name") or "tool")
            return self._tool(f"result of {called}{failed}", self.content(get(part, "content")), failed.strip())
        return self.json(part)

    def _call(self, name: str, arguments: object, call_id: str) -> str:
        return self._tool(f"calls {name}", self.json(parsed(arguments)), note=call_id)

    def _tool(self, title: str, body: str, kind: str = "", note: str = "") -> str:
        small = f" <small>{markup.name(self._clean(note))}</small>" if note else ""
        return f'<div class="tool {kind}"><h3>{markup.name(self._clean(title))}{small}</h3>{body}</div>'

    def json(self, value: object) -> str:
        """A value as indented JSON, as far as JSON has a form for it."""
        return self._text(as_json(value))

    def _text(self, value: object) -> str:
        return markup.block(self._clean(str(value))) if str(value) else '<p class="empty">empty</p>'

    def _folded(self, title: str, body: str, *, opened: bool, note: str = "", begin: str = "", kind: str = "") -> str:
        role = kind if kind in {"system", "user", "assistant", "tool", "answer"} else ""
        small = f" <small>{markup.name(self._clean(note))}</small>" if note else ""
        small += f' <small class="begin">{markup.name(begin)}</small>' if begin else ""
        head = f"<summary>{markup.name(self._clean(title))}{small}</summary>"
        return f'<details class="message {role}"{" open" if opened else ""}>{head}{body}</details>\n'
