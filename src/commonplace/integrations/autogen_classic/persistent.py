"""Persistent: an agent whose conversations are on disk when they are in its history."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from autogen import UserProxyAgent

from commonplace.integrations.autogen_classic import voices
from commonplace.integrations.autogen_classic.notes import Notes
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.transcript import Transcript


class Persistent:
    """Makes an agent class persistent: `class Coder(Persistent, AssistantAgent)`.

    Agents of one name on one book are one agent. When it first meets a partner in a process, what the two said is
    restored from the last `recent` messages. `memory` is key-value state under `autogen-<name>`.
    """

    def __init__(
        self,
        name: str,
        *rest: Any,
        book: BookLike | None = None,
        space: str | None = None,
        recent: int = 200,
        **options: Any,
    ) -> None:
        self.book = open_shared(book, space)
        self.memory = Notes(
            self.book.kv(f"autogen-{name}"), {"conversation_history": lambda: self.conversation_history}
        )
        self._session = f"autogen-{name}"
        self._recent = recent
        self._met: WeakSet[Any] = WeakSet()
        self._somebody: UserProxyAgent | None = None
        super().__init__(name, *rest, **options)  # type: ignore[call-arg]  # the agent class beside this one

    @property
    def conversation_history(self) -> list[dict[str, Any]]:
        """All that the agent heard and said, in all processes, oldest first: mappings of sender and message."""
        return [{"sender": each.name, "message": each.content} for each in self._transcript.read()]

    @property
    def message_count(self) -> int:
        """How many messages the agent heard and said, in all processes."""
        last = self._transcript.tail(1)
        return last[0].number if last else 0

    def receive(
        self, message: Any, sender: Any = None, request_reply: bool | None = None, silent: bool | None = False
    ) -> Any:
        """Hear a message; without a sender it is from a user whom nobody stands for, who does not answer."""
        heard: Any = super()
        return heard.receive(message, sender or self._nobody(), request_reply, silent)

    async def a_receive(
        self, message: Any, sender: Any = None, request_reply: bool | None = None, silent: bool | None = False
    ) -> Any:
        """The same, awaited."""
        heard: Any = super()
        return await heard.a_receive(message, sender or self._nobody(), request_reply, silent)

    def _append_oai_message(self, message: Any, *given: Any, **named: Any) -> bool:
        """Where every version of AutoGen puts what was heard and said; only the order of the arguments differs."""
        partner = next(each for each in (*given, *named.values()) if hasattr(each, "name"))
        history = self.chat_messages[partner]  # type: ignore[attr-defined]  # of the agent class beside this one
        if partner not in self._met:
            self._met.add(partner)
            # A chat that is resumed tells all of it itself.
            history[:0] = [] if isinstance(message, voices.Kept) else self._restored(partner.name)
        kept: Any = super()
        added: bool = kept._append_oai_message(message, *given, **named)
        if added and not isinstance(message, voices.Kept):
            said = history[-1]
            speaker: Any = self if said["role"] == "assistant" else partner
            self._transcript.extend([voices.kept(said, speaker.name, partner=partner.name)])
        return added

    def knows(self, partner: str) -> bool:
        """Whether something that was said with a partner of that name would be restored."""
        return bool(self._restored(partner))

    def _restored(self, partner: str) -> list[voices.Kept]:
        told = [each for each in self._transcript.tail(self._recent) if each.metadata.get("partner") == partner]
        return voices.whole([voices.restored(each) for each in told])

    def _nobody(self) -> UserProxyAgent:
        if self._somebody is None:
            self._somebody = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False)
        return self._somebody

    @property
    def _transcript(self) -> Transcript:
        return self.book.transcript(self._session)
