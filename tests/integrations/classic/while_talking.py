"""Learning from agents while they talk, with every version of AutoGen."""

from __future__ import annotations

import asyncio
import copy

import autogen
import pytest
from autogen import UserProxyAgent

import commonplace
from commonplace.integrations.autogen_classic import GroupChatMemory, attach, hooks
from commonplace.integrations.handle import close_shared
from tests.integrations.classic.scripted import manages, says
from tests.services import documents as others


def every_line_is_learned_once_with_its_speaker() -> None:
    book = commonplace.open("attach.db")
    crew = [
        says("Coder", "We chose FastAPI over Flask because of async support."),
        says("Reviewer", "Agreed."),
        says("Planner", None),
    ]
    user = says("User", kind=UserProxyAgent)
    buffer: list[str] = []

    class Mem:
        def add(self, text: str) -> None:
            buffer.append(text)

    names = {"mem": Mem(), **dict(zip(("coder", "reviewer", "planner"), crew, strict=True))}
    exec(others.ZERO_LATENCY_HOOKS, names)
    chat = autogen.GroupChat([user, *crew], [], 4, speaker_selection_method="round_robin")
    manager = manages(chat)
    with attach(book, [*crew, manager], every=2):
        user.initiate_chat(manager, message="Which framework do we use?", silent=True)
        user.send("Nobody answers this.", crew[2], request_reply=False, silent=True)
    said = [(each.source, each.text) for each in book.list(kinds=["message"], order="oldest")]
    assert said == [
        ("User", "Which framework do we use?"),
        ("Coder", "We chose FastAPI over Flask because of async support."),
        ("Reviewer", "Agreed."),
        ("User", "Nobody answers this."),
    ]
    # The document's own hook names the last agent of the loop, whoever spoke.
    assert {each.partition(":")[0] for each in names["message_buffer"]} == {"Planner"}
    assert len(names["message_buffer"]) == 3
    (decision,) = book.list(kinds=["decision"])
    assert (decision.source, decision.origin) == ("Coder", "agent")
    assert not book.jobs(), "closing learns from the rest"
    roles = [each.role for session in book.transcripts() for each in book.transcript(session).read()]
    assert sorted(roles) == ["assistant", "assistant", "user", "user"]
    book.close()


def a_book_that_fails_neither_ends_the_chat_nor_loses_a_word() -> None:
    import apsw

    book = commonplace.open("busy.db", settings=commonplace.Settings(busy_timeout=0.2))
    book.remember("There is a table to be locked")
    ann, bob = says("ann", "Three"), says("bob", "Two", "Four")
    learner = attach(book, [ann, bob])
    other = apsw.Connection("busy.db")
    other.execute("begin immediate")
    ann.initiate_chat(bob, message="One", max_turns=1, silent=True)
    assert [each["content"] for each in learner.unlearned] == ["One", "Two"]
    other.execute("rollback")
    other.close()
    ann.send("Three", bob, request_reply=False, silent=True)
    assert learner.unlearned == []
    assert [each.text for each in book.list(kinds=["message"], order="oldest")] == ["One", "Two", "Three"]
    book.close()
    ann.send("Four", bob, request_reply=False, silent=True)
    with pytest.raises(commonplace.StoreUnavailable, match="1 messages were not learned from"):
        learner.close()


def a_return_to_an_earlier_opinion_is_heard() -> None:
    book = commonplace.open("opinions.db")
    user, crew = says("User", kind=UserProxyAgent), [says("ann", "Yes", "Why", "Well"), says("bob", "So", "Hm", "Ah")]
    opinions = ["I prefer Python.", "I prefer Rust.", "I prefer Python."]
    with attach(book, crew, session="cleared"):
        for said in opinions:
            user.initiate_chat(crew[0], message=said, max_turns=1, silent=True)
    brief = says("brief", "Yes", "Why", "Well")
    hooks.before_reply(brief, lambda messages: copy.deepcopy(messages)[-1:])  # as TransformMessages does
    with attach(book, [brief], session="shortened"):
        for said in opinions:
            user.initiate_chat(brief, message=said, max_turns=1, clear_history=False, silent=True)
    with attach(book, crew, session="on"):
        manager = manages(autogen.GroupChat([user, *crew], [], 4, speaker_selection_method="round_robin"))
        for said in opinions:
            user.send(said, manager, request_reply=False, silent=True)
            manager.groupchat.append({"role": "user", "content": said}, user)
            for each in crew:
                manager.send(manager.groupchat.messages[-1], each, request_reply=False, silent=True)
                each.generate_reply(sender=manager)
    for session in ("cleared", "shortened", "on"):
        told = book.transcript(session).read()
        assert [each.content for each in told if each.name == "User"] == opinions, session
    book.close()


def a_place_whose_book_was_closed_is_opened_again() -> None:
    memory = GroupChatMemory("closed", "closed.db")
    memory.add({"role": "user", "content": "One"})
    memory.book.close()
    again = GroupChatMemory("closed", "closed.db")
    assert [each["content"] for each in again.messages] == ["One"]
    again.book.close()
    close_shared()  # as at the end of the program


def an_asynchronous_chat_is_learned() -> None:
    book = commonplace.open("async.db")
    ann, bob = says("ann"), says("bob", "We agreed to meet on Monday.")
    learner = attach(book, [ann, bob])
    asyncio.run(ann.a_initiate_chat(bob, message="When do we meet?", max_turns=1, silent=True))
    said = [(each.source, each.text) for each in book.list(kinds=["message"], order="oldest")]
    assert said == [("ann", "When do we meet?"), ("bob", "We agreed to meet on Monday.")]
    bob.generate_reply(messages=[{"role": "user", "content": "Who else comes?"}])
    (asked_by,) = [each for each in book.list(kinds=["message"]) if each.text == "Who else comes?"]
    assert (asked_by.source, asked_by.origin) == ("user", "user")
    learner.close()
    book.close()
