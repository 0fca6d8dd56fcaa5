"""Learning: messages are stored at once, learned memories stay correct, and everything can be undone."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta, timezone

import pytest
from commonplace.testing.contract.harness import Harness, Shelf

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.values import Draft, Kind, Learned, Link, Memory, Scope

MAY = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)
PORT = "The staging server listens on port {}."


def said(content: str, *, name: str = "Sarah", day: int = 0, role: str = "user") -> dict[str, object]:
    """A message, so many days into May."""
    return {"content": content, "name": name, "role": role, "said_at": MAY + timedelta(days=day)}


def standing(book: Book, *kinds: str) -> list[str]:
    """The texts of what recall may see, messages apart."""
    return sorted(m.text for m in book.list(kinds=kinds or None, limit=1000) if kinds or m.kind != "message")


def linked(book: Book, memory: Memory, relation: str) -> list[Link]:
    return [link for link in book.links(memory.id) if link.relation == relation]


def one(learned: Learned) -> Memory:
    (memory,) = learned.memories
    return memory


def _confirmed(book: Book) -> int:
    """The number of counted repetitions."""
    return sum(int(str(each["confirmed"])) for each in book.export() if each["type"] == "feedback")


def _finish(book: Book) -> None:
    """Do what waits, or let the book's own thread do it."""
    deadline = time.monotonic() + 20
    while book.jobs() and time.monotonic() < deadline:
        book.work()
        time.sleep(0.01)
    assert book.jobs() == []


class LearningConformance(Harness):
    """`learn` and its jobs, `links`, `undo`, `quarantine`, `release`, `prune`, `remember(reconcile=True)`."""

    # -- what is said ----------------------------------------------------------------------------

    def test_what_is_said_is_kept_and_found_before_anything_is_learned(self, book: Book) -> None:
        learned = book.learn([said("We chose FastAPI over Flask because of async support.")], session="s")
        assert [message.content for message in book.transcript("s").read()] == [
            "We chose FastAPI over Flask because of async support."
        ]
        (id,) = learned.messages
        message = book.get(id)
        assert (message.kind, message.source, message.scope.session) == ("message", "Sarah", "s")
        assert "FastAPI" in book.recall("FastAPI or Flask").text

    def test_a_question_that_was_only_asked_is_not_known(self, book: Book) -> None:
        question = "Which port does the staging server listen on?"
        book.learn([said(question)], session="s", wait=True)
        assert book.recall(question).coverage != "known"
        book.learn([said(PORT.format(8081))], session="s", wait=True)
        assert book.recall(question).coverage == "known"

    def test_a_conversation_may_be_lines_with_names(self, book: Book) -> None:
        learned = book.learn("Sarah: I prefer TypeScript.\nBob: Fine\nby me.", session="s", wait=True)
        told = [(m.name, m.content) for m in book.transcript("s").read()]
        assert told == [("Sarah", "I prefer TypeScript."), ("Bob", "Fine\nby me.")]
        assert one(learned).text == "I prefer TypeScript."

    def test_each_memory_leads_to_the_words_that_it_was_learned_from(self, book: Book) -> None:
        text = "Morning! I prefer TypeScript. How are you?"
        memory = one(book.learn([said(text)], wait=True))
        (link,) = linked(book, memory, "learned from")
        start, end = link.detail["start"], link.detail["end"]
        assert isinstance(start, int)
        assert isinstance(end, int)
        assert book.get(link.other).text[start:end] == "I prefer TypeScript."
        assert (memory.said_at, memory.source, memory.kind) == (MAY, "Sarah", "preference")

    def test_what_was_recalled_is_not_learned_again(self, book: Book) -> None:
        book.remember("Sarah prefers TypeScript", kind="preference")
        recalled = book.recall("what does Sarah prefer?").text
        learned = book.learn([said(recalled, name="writer", role="assistant")], wait=True)
        assert learned.memories == ()
        assert standing(book) == ["Sarah prefers TypeScript"]

    def test_scope_and_tags_follow_what_is_learned(self, book: Book) -> None:
        scope = Scope(user="ada", agent="writer")
        memory = one(book.learn([said("I prefer TypeScript.")], session="s", scope=scope, tags=["t"], wait=True))
        assert (memory.scope, memory.tags) == (scope, ("t",))

    def test_who_speaks_tells_where_it_comes_from(self, book: Book) -> None:
        roles = {"user": "user", "assistant": "agent", "tool": "tool"}
        for role, origin in roles.items():
            (id,) = book.learn([{"content": "The harbour crane is red.", "role": role}]).messages
            assert book.get(id).origin == origin
        (id,) = book.learn([{"content": "The harbour crane is red."}], origin="import").messages
        assert book.get(id).origin == "import"

    def test_learning_and_remembering_leave_secrets_out(self, book: Book) -> None:
        secret = "hunter2" + "secret"
        book.learn([said(f"My password is {secret}, by the way.")], session="s", wait=True)
        book.remember(f"The database password is {secret}")
        book.remember({"password": secret})
        book.transcript("t").append(f"password: {secret}")
        assert secret not in repr(list(book.export()))

    # -- jobs ------------------------------------------------------------------------------------

    def test_a_job_waits_runs_and_is_gone(self, shelf: Shelf) -> None:
        book = shelf.open()
        learned = book.learn([said("I prefer TypeScript.")], wait=True)
        assert (learned.jobs, book.jobs(), book.stats().jobs, book.work()) == ((), [], 0, 0)

    def test_learning_goes_on_in_another_process(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.learn([said("I prefer TypeScript.")])
        book.close()
        again = shelf.reopen()
        again.work()
        # Whoever keeps the store may have begun the job itself, and does not end with this handle: a server, for one.
        until = time.monotonic() + 30
        while again.jobs() and time.monotonic() < until:
            time.sleep(0.02)
        assert again.jobs() == []
        assert standing(again) == ["I prefer TypeScript."]

    def test_what_waits_to_be_learned_is_exported_and_learned_once_elsewhere(self, book: Book) -> None:
        book.learn([said("I prefer TypeScript.")], session="s", every=9, idle=9999)
        told = list(book.export())
        other = book.in_space("other")
        assert other.load(told) > 0
        assert other.load(told) == 0
        _finish(other)
        assert standing(other) == ["I prefer TypeScript."]
        assert other.load(told) == 0
        _finish(other)
        assert _confirmed(other) == 0
        assert book.load(told) == 0
        assert len(book.jobs()) == 1

    def test_messages_may_wait_for_ever(self, book: Book) -> None:
        for _ in range(2):
            book.learn([said("I prefer TypeScript.")], session="s", every=9, idle=1e14)
        (job,) = book.jobs()
        assert (job.state, job.due_at.year) == ("waiting", 9999)

    def test_a_dead_job_that_is_not_there_cannot_be_retried(self, book: Book) -> None:
        assert book.retry() == 0
        with pytest.raises(NotFound):
            book.retry(7)

    # -- reconciliation --------------------------------------------------------------------------

    def test_what_is_said_again_strengthens_what_is_known(self, book: Book) -> None:
        first = one(book.learn([said("I prefer TypeScript.")], wait=True))
        again = book.learn([said("I prefer TypeScript.", day=3)], wait=True)
        assert one(again).id == first.id
        assert [link.relation for link in again.links] == ["repeats", "learned from"]
        assert len(linked(book, first, "learned from")) == 2
        (record,) = [each for each in book.export() if each["type"] == "feedback"]
        assert (record["id"], record["confirmed"]) == (first.id, 1)

    def test_a_new_value_closes_the_old_one_and_both_know(self, book: Book) -> None:
        old = book.remember(PORT.format(8081), kind="fact", reconcile=True)
        new = book.remember(PORT.format(9090), kind="fact", reconcile=True)
        closed = book.get(old.id)
        assert (closed.superseded_by, closed.valid_to) == (new.id, new.said_at)
        assert book.history(old.id)[-1].reason
        (link,) = linked(book, new, "supersedes")
        assert (link.id, link.other) == (new.id, old.id)
        assert link in book.links(old.id)
        assert standing(book) == [PORT.format(9090)]
        assert "8081" not in book.recall("which port does the staging server listen on?").text

    def test_a_change_told_in_plain_words_closes_what_held_before(self, book: Book) -> None:
        for old, new in (
            ("Tom owns the billing service", "Julia owns the billing service now"),
            ("The webhook listens on port 5050", "The webhook moved, it listens on port 5151 now"),
            ("The team uses Jenkins for CI", "Jenkins was replaced by Buildkite for CI"),
        ):
            before = book.remember(old, kind="fact", reconcile=True)
            after = book.remember(new, kind="fact", reconcile=True)
            assert book.get(before.id).superseded_by == after.id

    def test_what_is_taken_back_after_all_is_the_one_decision_of_late(self, book: Book) -> None:
        old = book.remember("We decided to use Stripe for payments", kind="decision", said_at=MAY, reconcile=True)
        back = "Change of plan: going with Adyen after all"
        hour, later = MAY + timedelta(hours=1), MAY + timedelta(days=9)
        new = book.remember(back, kind="decision", said_at=hour, reconcile=True)
        assert book.get(old.id).superseded_by == new.id
        book.remember("We decided to use Figma for design", kind="decision", said_at=later, reconcile=True)
        book.remember("We decided to use Redis for caching", kind="decision", said_at=later, reconcile=True)
        book.remember("Change of plan: going with Penpot after all", kind="decision", said_at=later, reconcile=True)
        assert len(standing(book)) == 4, "of several decisions, none is plain"

    def test_one_subject_alone_is_no_link(self, book: Book) -> None:
        book.remember("The team met with Globex on the harbour", kind="fact", reconcile=True)
        other = book.remember("The team uses sixteen purple lanterns", kind="fact", reconcile=True)
        assert book.links(other.id) == []

    def test_order_follows_what_was_said_and_not_what_arrived(self, book: Book) -> None:
        new = book.remember(PORT.format(9090), kind="fact", said_at=MAY, reconcile=True)
        late = book.remember(PORT.format(8081), kind="fact", said_at=MAY - timedelta(days=30), reconcile=True)
        assert (late.superseded_by, late.valid_to) == (new.id, MAY)
        assert standing(book) == [PORT.format(9090)]

    def test_what_was_said_again_since_is_not_outdated_by_what_came_between(self, book: Book) -> None:
        book.remember(PORT.format(9090), kind="fact", said_at=MAY, reconcile=True)
        book.remember(PORT.format(9090), kind="fact", said_at=MAY + timedelta(days=30), reconcile=True)
        book.remember(PORT.format(8081), kind="fact", said_at=MAY + timedelta(days=10), reconcile=True)
        assert standing(book) == [PORT.format(9090)]

    def test_one_call_reconciles_its_own_memories(self, book: Book) -> None:
        book.remember([Draft(content=PORT.format(n), kind="fact") for n in (1, 2, 2, 3)], reconcile=True)
        assert standing(book) == [PORT.format(3)]

    def test_a_repetition_that_brings_something_of_its_own_is_kept(self, book: Book) -> None:
        text = PORT.format(8081)
        book.remember(text, kind="fact", reconcile=True, ttl=1000.0)
        with_id = book.remember(text, kind="fact", reconcile=True, id="mine")
        with_bytes = book.remember(b"\x00\x01", text=text, kind="fact", reconcile=True)
        for_ever = book.remember(text, kind="fact", reconcile=True, scope=Scope(session="s"))
        assert (with_id.id, with_bytes.content, for_ever.expires_at) == ("mine", b"\x00\x01", None)
        assert len(standing(book)) == 4

    def test_what_a_memory_supersedes_by_name_is_no_rival(self, book: Book) -> None:
        old = book.remember(PORT.format(8081), kind="fact")
        new = book.remember(PORT.format(9090), kind="fact", reconcile=True, supersedes=[old.id])
        assert book.get(old.id).superseded_by == new.id

    def test_other_scopes_are_left_alone(self, book: Book) -> None:
        for user in ("ada", "bob", None):
            book.remember(PORT.format(len(user or "")), kind="fact", scope=Scope(user=user), reconcile=True)
        assert len(standing(book)) == 3

    def test_a_less_trusted_source_disputes_and_closes_nothing(self, book: Book) -> None:
        told = book.remember(PORT.format(8081), kind="fact", reconcile=True)
        found = book.remember(PORT.format(9090), kind="fact", origin="tool", reconcile=True)
        assert book.get(told.id).valid_to is None
        (link,) = linked(book, found, "disputes")
        assert link.other == told.id
        book.remember(PORT.format(7070), kind="fact", reconcile=True)
        assert standing(book) == [PORT.format(7070)]

    def test_without_reconcile_both_stand(self, book: Book) -> None:
        book.remember([PORT.format(1), PORT.format(2)], kind="fact")
        assert len(standing(book)) == 2

    def test_a_superseded_value_comes_back_by_undo(self, book: Book) -> None:
        old = book.remember(PORT.format(8081), kind="fact", reconcile=True)
        new = book.remember(PORT.format(9090), kind="fact", reconcile=True)
        (undone,) = book.undo(new.id, old.id)
        assert undone.relation == "supersedes"
        reopened = book.get(old.id)
        assert (reopened.valid_to, reopened.superseded_by) == (None, None)
        assert book.history(old.id)[-1].action == "reopened"
        assert book.links(new.id) == []
        assert len(standing(book)) == 2
        with pytest.raises(NotFound):
            book.undo(new.id, old.id)

    def test_a_repetition_becomes_a_memory_of_its_own_by_undo(self, book: Book) -> None:
        first = one(book.learn([said("I prefer TypeScript.")], wait=True))
        again = book.learn([said("I prefer TypeScript.", day=3)], wait=True)
        (message,) = again.messages
        book.undo(first.id, message)
        assert standing(book) == ["I prefer TypeScript."] * 2
        assert [link.other for link in linked(book, first, "learned from")] != [message]
        assert not [each for each in book.export() if each["type"] == "feedback" and each["confirmed"]]

    def test_a_repetition_of_which_nothing_is_told_is_undone_all_the_same(self, book: Book) -> None:
        told = book.remember(PORT.format(8081), kind="fact", id="m", reconcile=True)
        link = {"type": "link", "id": "m", "relation": "repeats", "other": "x", "at": MAY.isoformat(), "reason": None}
        book.load([{**link, "detail": {}}])
        (undone,) = book.undo("m", "x")
        assert (undone.relation, [memory.id for memory in book.list()]) == ("repeats", [told.id])

    def test_undo_says_which_of_two_is_not_known(self, book: Book) -> None:
        for id in ("one", "two"):
            book.remember("The harbour crane is red", id=id)
        with pytest.raises(NotFound, match="no memory with id 'nobody'"):
            book.undo("nobody", "one")
        with pytest.raises(NotFound, match="no memory or message with id 'nobody'"):
            book.undo("one", "nobody")
        with pytest.raises(NotFound, match="nothing was reconciled"):
            book.undo("one", "two")

    def test_a_repetition_stands_apart_in_its_own_session(self, book: Book) -> None:
        scope = Scope(user="ada", session="s")
        first = book.remember(PORT.format(8081), kind="fact", scope=scope, reconcile=True)
        book.remember(PORT.format(8081), kind="fact", scope=scope, reconcile=True)
        (again,) = linked(book, first, "repeats")
        book.undo(first.id, again.other)
        assert [memory.scope for memory in book.list()] == [scope, scope]

    # -- what to avoid ---------------------------------------------------------------------------

    def test_a_reversed_decision_is_a_warning(self, book: Book) -> None:
        book.learn([said("We chose Flask for the web service.")], wait=True)
        book.learn(
            [said("We chose FastAPI over Flask for the web service because of async support.", day=9)], wait=True
        )
        recall = book.recall("which framework did we choose for the web service?")
        assert "FastAPI" in recall.hits[0].memory.text
        assert any("Flask" in hit.memory.text for hit in recall.avoid)
        assert recall.text.index("Avoid") < recall.text.rindex("Flask")

    def test_a_failure_is_a_warning_in_the_words_of_those_who_had_it(self, book: Book) -> None:
        failed = "The cron approach for the token clean-up failed because jobs overlapped."
        book.learn([said(failed)], wait=True)
        assert [hit.memory.text for hit in book.recall("How should we do the token clean-up?").avoid] == [failed]

    # -- taking back -----------------------------------------------------------------------------

    def test_forgetting_a_message_forgets_what_was_learned_from_it_alone(self, book: Book) -> None:
        learned = book.learn([said("I prefer TypeScript."), said("My cat is called Miso.")], session="s", wait=True)
        book.learn([said("I prefer TypeScript.", day=2)], session="t", wait=True)
        gone = book.forget(list(learned.messages))
        assert gone.memories == 3
        assert standing(book) == ["I prefer TypeScript."]

    def test_forgetting_a_transcript_forgets_what_was_learned_from_it(self, book: Book) -> None:
        book.learn([said("I prefer TypeScript.")], session="s", wait=True)
        assert book.transcript("s").forget() == 1
        assert list(book.list(superseded=True)) == []
        assert {record["type"] for record in book.export()} == {"header"}

    def test_a_session_may_be_called_as_a_memory_is(self, book: Book) -> None:
        book.learn([said("I prefer TypeScript.")], session="standup", wait=True)
        book.remember("We meet at nine", id="standup")
        assert book.links("standup") == []
        book.forget("standup")
        assert book.transcript("standup").forget() == 1
        assert list(book.list(superseded=True)) == []

    def test_a_doubtful_source_is_rolled_back_and_what_it_closed_stands_again(self, book: Book) -> None:
        told = book.remember(PORT.format(8081), kind="fact", source="Sarah", reconcile=True)
        false = book.remember(PORT.format(666), kind="fact", source="scraper", reconcile=True)
        assert standing(book) == [PORT.format(666)]
        assert book.quarantine(filter={"source": "scraper"}, reason="poisoned") == [false.id]
        assert standing(book) == [PORT.format(8081)]
        assert book.history(false.id)[-1].reason == "poisoned"
        assert book.get(told.id).superseded_by is None
        assert book.release(filter={"source": "scraper"}) == [false.id]
        assert standing(book) == [PORT.format(666)]
        assert book.get(told.id).superseded_by == false.id

    def test_what_is_closed_already_is_put_in_quarantine_too(self, book: Book) -> None:
        false = book.remember("We use Flask for the web service", kind="decision", source="scraper", id="false")
        new = book.remember("We use FastAPI for the web service", kind="decision", supersedes=["false"])
        assert book.quarantine(filter={"source": "scraper"}, reason="forged") == [false.id]
        assert book.history("false")[-1].action == "quarantined"
        assert book.recall("what do we use for the web service?").avoid == ()
        book.undo(new.id, "false")
        assert standing(book) == [new.text]
        assert book.release("false") == ["false"]
        assert len(standing(book)) == 2

    def test_what_stands_in_place_of_a_doubtful_memory_stays_in_place(self, book: Book) -> None:
        first, false, last = (book.remember(PORT.format(n), kind="fact", reconcile=True) for n in (1, 2, 3))
        book.quarantine(false.id, reason="forged")
        assert standing(book) == [last.text]
        assert book.get(first.id).superseded_by == last.id
        book.quarantine(last.id, reason="forged too")
        assert standing(book) == [first.text]
        book.release(last.id)
        assert standing(book) == [last.text]
        book.release(false.id)
        assert standing(book) == [last.text]
        book.undo(last.id, false.id)
        assert standing(book) == [false.text, last.text]

    def test_what_took_the_place_of_a_doubtful_memory_lets_go_of_it_by_undo(self, book: Book) -> None:
        first, false, last = (book.remember(PORT.format(n), kind="fact", reconcile=True) for n in (1, 2, 3))
        book.quarantine(false.id, reason="forged")
        book.undo(last.id, false.id)
        assert standing(book) == [first.text, last.text]

    def test_a_repetition_in_quarantine_lends_neither_strength_nor_words(self, book: Book) -> None:
        told = book.remember("The backup runs nightly", kind="fact", reconcile=True)
        longer = "The backup currently runs nightly"
        for source in ("scraper", "scraper"):
            book.remember(longer, kind="fact", source=source, reconcile=True)
        assert book.get(told.id).text == longer
        book.quarantine(filter={"source": "scraper"}, reason="forged")
        assert (book.get(told.id).text, _confirmed(book)) == (told.text, 0)
        book.release(filter={"source": "scraper"})
        assert (book.get(told.id).text, _confirmed(book)) == (longer, 2)

    def test_what_a_doubtful_message_repeated_is_taken_back_and_stays_out_by_undo(self, book: Book) -> None:
        first = one(book.learn([said("I prefer TypeScript.")], wait=True))
        (again,) = book.learn([said("I prefer TypeScript.", day=3)], wait=True).messages
        book.quarantine(again, reason="forged")
        assert (_confirmed(book), standing(book)) == (0, ["I prefer TypeScript."])
        book.undo(first.id, again)
        assert [memory.id for memory in book.list(kinds=["preference"])] == [first.id]

    def test_what_loses_its_last_source_to_quarantine_goes_with_it(self, book: Book) -> None:
        sources = [book.learn([said("I prefer TypeScript.", day=day)], wait=True).messages[0] for day in (0, 3)]
        book.quarantine(sources[0], reason="forged")
        assert standing(book) == ["I prefer TypeScript."]
        book.quarantine(sources[1], reason="forged")
        assert standing(book) == []
        book.release(sources[0])
        assert standing(book) == ["I prefer TypeScript."]

    def test_what_a_doubtful_message_had_withdrawn_stands_again(self, book: Book) -> None:
        book.learn([said("My cat is called Miso.")], wait=True)
        asked = book.learn([said("Please forget what I said about my cat.")], wait=True)
        cat = standing(book)
        book.quarantine(list(asked.messages), reason="forged")
        assert (len(cat), len(standing(book))) == (0, 1)
        book.release(list(asked.messages))
        assert standing(book) == []

    def test_quarantine_takes_what_was_learned_with_it(self, book: Book) -> None:
        learned = book.learn([said("I prefer TypeScript.")], wait=True)
        assert len(book.quarantine(list(learned.messages), reason="doubt")) == 2
        assert standing(book, "message", "preference") == []
        assert len(book.release(list(learned.messages))) == 2

    def test_an_instruction_to_forget_is_followed_for_ones_own_words(self, book: Book) -> None:
        book.learn([said("My cat is called Miso.", name="Sarah")], wait=True)
        book.learn([said("My cat is called Tofu.", name="Bob")], wait=True)
        book.learn([said("Please forget what I said about my cat.", name="Sarah")], wait=True)
        text = book.recall("what is the cat called?", threshold=0).text
        assert "Tofu" in text
        assert "Miso" not in text

    def test_what_was_said_beside_it_is_not_meant(self, book: Book) -> None:
        book.learn([said("I prefer tea."), said("My daughter is called Mia.")], session="s", wait=True)
        asked = book.learn([said("Forget what I said about tea.")], session="t", wait=True)
        assert {book.get(link.other).text for link in asked.links} == {"I prefer tea."}

    def test_what_was_asked_to_be_forgotten_is_no_quarantine_and_comes_back_by_undo(self, book: Book) -> None:
        cat = one(book.learn([said("My cat is called Miso.")], wait=True))
        asked = book.learn([said("Please forget what I said about my cat.")], wait=True)
        assert {link.relation for link in asked.links} == {"withdraws"}
        assert cat.id in {link.other for link in asked.links}
        assert book.history(cat.id)[-1].action == "withdrawn"
        assert book.release(filter={"source": "Sarah"}) == []
        (request,) = asked.messages
        book.undo(request, cat.id)
        assert book.get(cat.id).valid_to is None

    def test_what_is_said_and_withdrawn_in_one_breath_is_out(self, book: Book) -> None:
        book.learn([said("My cat is called Miso."), said("Forget what I said about my cat.")], wait=True)
        assert "Miso" not in repr([m for m in book.list() if m.kind != "message"])

    def test_the_parts_of_a_message_are_read_as_text(self, book: Book) -> None:
        parts = [{"type": "text", "text": "I prefer TypeScript."}, {"type": "image_url", "image_url": {"url": "x"}}]
        learned = book.learn([{"content": parts, "name": "Sarah"}, {"content": None, "role": "assistant"}], wait=True)
        assert (one(learned).text, len(learned.messages)) == ("I prefer TypeScript.", 1)

    def test_another_user_of_the_same_words_is_not_meant(self, book: Book) -> None:
        for user in ("ann", "bob"):
            book.learn([{"content": "I am allergic to peanuts."}], scope=Scope(user=user), wait=True)
        book.learn(
            [{"content": "Forget what I said about being allergic to peanuts."}], scope=Scope(user="ann"), wait=True
        )
        assert "peanuts" in book.recall("who is allergic to peanuts?", within=Scope(user="bob")).text

    def test_what_was_stated_outright_outlives_a_message_that_repeats_it(self, book: Book) -> None:
        stated = book.remember(
            "Sarah prefers TypeScript", kind="preference", source="Sarah", metadata={"owner": "Sarah"}
        )
        assert one(book.learn([said("I prefer TypeScript.")], session="s", wait=True)).id == stated.id
        book.transcript("s").forget()
        assert book.get(stated.id).text == "Sarah prefers TypeScript"

    def test_a_less_trusted_source_rewords_and_confirms_nothing(self, book: Book) -> None:
        told = book.remember("The backup runs nightly", kind="fact", reconcile=True)
        book.remember("The backup runs nightly", kind="fact", origin="tool", reconcile=True)
        assert (book.get(told.id).version, len(standing(book))) == (1, 1)
        assert not [each for each in book.export() if each["type"] == "feedback"]

    def test_a_quarantined_memory_that_was_revised_can_be_released(self, book: Book) -> None:
        book.remember("The harbour crane is red", id="m")
        book.quarantine("m", reason="doubt")
        book.revise("m", importance=0.9)
        assert book.release("m") == ["m"]

    def test_a_late_message_that_was_outdated_stands_again_by_undo(self, book: Book) -> None:
        new = book.remember(PORT.format(9090), kind="fact", said_at=MAY, reconcile=True)
        late = book.remember(PORT.format(8081), kind="fact", said_at=MAY - timedelta(days=30), reconcile=True)
        book.undo(new.id, late.id)
        assert book.get(late.id).valid_to is None

    def test_what_to_avoid_is_seen_only_where_the_request_looks(self, book: Book) -> None:
        book.remember("We use Flask for the web service", kind="decision", id="old", scope=Scope(user="bob"))
        book.remember("We use FastAPI for the web service", kind="decision", supersedes=["old"])
        question = "what do we use for the web service?"
        assert [hit.memory.id for hit in book.recall(question).avoid] == ["old"]
        assert book.recall(question, within=Scope(user="ann")).avoid == ()

    def test_secrets_stay_out_of_what_stands_beside_a_text(self, book: Book) -> None:
        secret = "hunter2" + "secret"
        book.remember("x", metadata={"password": secret}, reason=f"the password is {secret}", id="m")
        book.revise("m", metadata={"note": f"password: {secret}"}, reason=f"password={secret}")
        book.transcript("s").append("x", metadata={"password": secret})
        assert secret not in repr(list(book.export()))

    def test_a_secret_in_what_describes_a_memory_is_taken_out(self, book: Book) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        book.remember({"note": {secret: 1}}, tags=[secret, "t"], source=secret, metadata={secret: 1}, id="m")
        book.revise("m", tags=["u", secret], source=f"by {secret}")
        book.transcript("s").append("x", name=secret, metadata={secret: {secret: 2}})
        book.learn([{"content": "I prefer tea.", "name": secret}], session="l", tags=[secret], wait=True)
        book.quarantine("m", reason=f"it holds {secret}")
        assert secret not in repr(list(book.export()))
        assert book.get("m").tags == ("u", "[redacted: github token]")

    def test_a_secret_in_what_names_a_memory_is_refused(self, book: Book) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        with pytest.raises(InvalidInput, match="looks like a secret"):
            book.remember("x", id=secret)
        with pytest.raises(InvalidInput, match="looks like a secret"):
            book.remember("x", scope=Scope(user=secret))
        with pytest.raises(InvalidInput, match="looks like a secret"):
            book.learn("a: b", session=secret)
        with pytest.raises(InvalidInput, match="looks like a secret"):
            book.transcript(secret).append("x")
        assert list(book.list()) == []

    def test_what_is_taken_in_from_elsewhere_leaves_secrets_out(self, book: Book) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        book.remember("about SECRET", metadata={"SECRET": "SECRET"}, tags=["SECRET"], source="SECRET", reason="SECRET")
        book.transcript("s").append({"SECRET": "SECRET"}, name="SECRET")
        told = json.loads(json.dumps(list(book.export())).replace("SECRET", secret))
        other = book.in_space("other")
        assert other.load(told) == 2
        assert secret not in repr(list(other.export()))

    # -- letting go ------------------------------------------------------------------------------

    def test_pruning_shows_first_and_then_does(self, book: Book) -> None:
        book.remember([Draft(content=f"note {i}", id=f"n{i}", importance=i / 10) for i in range(10)])
        shown = book.prune(keep=3)
        assert (shown.memories, len(book.list())) == (7, 10)
        assert book.prune(keep=3, dry_run=False) == shown
        assert {memory.id for memory in book.list()} == {"n7", "n8", "n9"}
        assert book.jobs() == []

    def test_pruning_messages_leaves_what_was_learned_from_them(self, book: Book) -> None:
        book.learn([said("I prefer TypeScript.")], wait=True)
        assert book.prune(keep=0, kinds=["message"], dry_run=False).memories == 1
        assert standing(book) == ["I prefer TypeScript."]

    def test_age_counts_from_the_last_use(self, book: Book) -> None:
        old = datetime.now(timezone.utc) - timedelta(days=400)
        book.remember([Draft(content="a note of old", id=id, said_at=old) for id in ("used", "unused")])
        book.remember("a note of now", id="new")
        book.feedback("used", "used")
        assert book.prune(older_than=300 * 86_400).ids == ("unused",)

    def test_weakness_is_age_by_kind_importance_and_use(self, book: Book) -> None:
        old = datetime.now(timezone.utc) - timedelta(days=365)
        kinds: tuple[Kind, ...] = ("message", "note", "fact")
        book.remember([Draft(content=f"an old {kind}", id=kind, kind=kind, said_at=old) for kind in kinds])
        assert book.prune(weaker_than=0.1).ids == ("message",)
        assert book.prune(weaker_than=0.5).ids == ("message", "note")
        assert book.prune(weaker_than=0.5, kinds=["note"]).ids == ("note",)
