"""Lines and speakers read from AG2's events."""

from __future__ import annotations

import asyncio

from ag2.events import (
    BaseEvent,
    DataInput,
    HumanInputRequest,
    HumanMessage,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TaskStarted,
    TextInput,
    ToolApprovalRequest,
    ToolCallEvent,
    ToolCallsEvent,
)

import commonplace
from commonplace.integrations.ag2.memory import question, spoken_lines
from tests.integrations.ag2.scripted import agent, learning

WORKING = ModelResponse(ModelMessage("One moment."), tool_calls=ToolCallsEvent([ToolCallEvent(name="x", arguments="")]))


def test_questions_of_delegates_have_their_name_and_approvals_are_left_out() -> None:
    ours, theirs = HumanInputRequest("Which pier?"), HumanInputRequest("Which boat?", task_id="t")
    may = ToolApprovalRequest("May I pay?", tool_call_id="c")
    events: list[BaseEvent] = [
        ModelRequest([TextInput("Book it"), DataInput({"seat": "früh"})]), WORKING,
        ours, HumanMessage("Four", parent_id=ours.id),
        TaskStarted(task_id="t", agent_name="scout", objective="find a boat"),
        theirs, HumanMessage("The red one", parent_id=theirs.id),
        may, HumanMessage("y", parent_id=may.id),
        ModelResponse(ModelMessage("Booked.")),
    ]  # fmt: skip
    said = [(each.speaker, each.text, each.by_person) for each in spoken_lines(events, person="ana", agent="planner")]
    assert said == [
        ("ana", 'Book it\n{"seat": "früh"}', True), ("planner", "One moment.", False),
        ("planner", "Which pier?", False), ("ana", "Four", True),
        ("scout", "Which boat?", False), ("ana", "The red one", True),
        ("planner", "Booked.", False),
    ]  # fmt: skip


def test_all_that_was_asked_in_a_turn_is_the_question() -> None:
    earlier: list[BaseEvent] = [ModelRequest([TextInput("before")]), ModelResponse(ModelMessage("done"))]
    turn: list[BaseEvent] = [ModelRequest([TextInput("one")]), WORKING, ModelRequest([TextInput("two")])]
    assert question([*earlier, *turn]) == "one\ntwo"
    assert question(earlier) == "before"
    assert question([]) == ""


def test_what_other_agents_ask_is_not_taken_for_a_persons_words(book: commonplace.Book) -> None:
    knowledge = learning(book, person="planner", origin="agent")
    asyncio.run(agent(name="scout", knowledge=knowledge).ask("The harbour of Procida is closed on Mondays."))
    (message, _) = sorted(book.list(kinds=["message"]), key=lambda each: each.said_at)
    assert (message.source, message.origin) == ("planner", "agent")
