"""Learning: what is said is kept at once, what is learned stays true, and all of it can be taken back."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest

from commonplace.book import Book
from commonplace.errors import NotFound
from commonplace.testing.conformance.harness import Harness, Shelf
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

    def test_a_conversation_may_be_lines_with_names(self, book: Book) -> None:
        learned = book.learn("Sarah: I prefer TypeScript.\nBob: Fine\nby me.", session="s", wait=True)
        told = [(m.name, m.content) for m in book.transcript("s").read()]
        assert told == [("Sarah", "I prefer TypeScript."), ("Bob", "Fine\nby me.")]
        assert one(learned).text == "Sarah prefers TypeScript"

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
        assert standing(again) == ["Sarah prefers TypeScript"]

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
        assert standing(book) == ["Sarah prefers TypeScript"] * 2
        assert [link.other for link in linked(book, first, "learned from")] != [message]
        assert not [each for each in book.export() if each["type"] == "feedback" and each["confirmed"]]

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

    def test_what_is_chosen_after_all_is_no_longer_advised_against(self, book: Book) -> None:
        book.learn([said("We chose Stripe over Adyen as the payment provider because of the docs.")], wait=True)
        book.learn([said("We chose Adyen over Stripe as the payment provider because of fees.", day=9)], wait=True)
        avoid = [hit.memory.text for hit in book.recall("which payment provider did we choose?").avoid]
        assert [text for text in avoid if text.startswith("Stripe was rejected")]
        assert not [text for text in avoid if text.startswith("Adyen was rejected")]

    # -- taking back -----------------------------------------------------------------------------

    def test_forgetting_a_message_forgets_what_was_learned_from_it_alone(self, book: Book) -> None:
        learned = book.learn([said("I prefer TypeScript."), said("My cat is called Miso.")], session="s", wait=True)
        book.learn([said("I prefer TypeScript.", day=2)], session="t", wait=True)
        gone = book.forget(list(learned.messages))
        assert gone.memories == 3
        assert standing(book) == ["Sarah prefers TypeScript"]

    def test_forgetting_a_transcript_forgets_what_was_learned_from_it(self, book: Book) -> None:
        book.learn([said("I prefer TypeScript.")], session="s", wait=True)
        assert book.transcript("s").forget() == 1
        assert list(book.list(superseded=True)) == []
        assert {record["type"] for record in book.export()} == {"header"}

    def test_a_doubtful_source_is_rolled_back_and_what_it_closed_stands_again(self, book: Book) -> None:
        told = book.remember(PORT.format(8081), kind="fact", source="Sarah", reconcile=True)
        false = book.remember(PORT.format(666), kind="fact", source="scraper", reconcile=True)
        assert standing(book) == [PORT.format(666)]
        assert book.quarantine(filter={"source": "scraper"}, reason="poisoned") == [false.id]
        assert standing(book) == [PORT.format(8081)]
        assert book.history(false.id)[-1].reason == "poisoned"
        assert book.get(told.id).superseded_by is None
        assert book.release(filter={"source": "scraper"}) == [false.id]
        assert len(standing(book)) == 2

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
        assert {book.get(link.other).text for link in asked.links} == {"I prefer tea.", "Sarah prefers tea"}

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
        assert (one(learned).text, len(learned.messages)) == ("Sarah prefers TypeScript", 1)

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
        assert standing(book) == ["Sarah prefers TypeScript"]

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
