"""learn, links, undo, work, jobs and retry on the command line."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import commonplace
from commonplace.cli import main
from commonplace.learn import jobs
from commonplace.memories.core import Core
from tests.cli.cli_harness import Cli, Terminal
from tests.cli.test_cli_manners import start

TALK = "Sarah: I prefer TypeScript.\nEve: The staging server listens on port 8081.\n"
NEXT = "Sarah: I prefer TypeScript.\nEve: The staging server listens on port 9090.\n"


@pytest.fixture
def lazy(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A command line without a worker in the background."""
    monkeypatch.setattr(Core, "wake", lambda core: None)
    return cli


def fails(error: BaseException) -> Callable[..., None]:
    def run(*_: object) -> None:
        raise error

    return run


def ids(cli: Cli, *words: str) -> dict[str, str]:
    """Ids of what is listed, by text."""
    return {memory["text"]: memory["id"] for memory in cli("list", "--superseded", *words, "--json").data["memories"]}


# -- learn -----------------------------------------------------------------------------------------


def test_what_is_learned_is_shown_beside_what_was_known(cli: Cli) -> None:
    first = cli("learn", "-", "--session", "monday", stdin=TALK)
    assert first.status == 0
    assert [line.split("  ")[-1].strip() for line in first.out.splitlines()] == [
        "RELATION TO KNOWN MEMORIES",
        "new",
        "new",
    ]
    assert "commonplace: 2 memories from 2 messages of session monday" in first.err
    again = cli("learn", stdin=NEXT).out.splitlines()
    assert again[1].startswith("preference  I prefer TypeScript.")
    assert again[1].endswith("said again")
    assert again[2].endswith('supersedes "The staging server listens on port 8081."')


def test_what_was_said_twice_in_one_conversation_is_shown_once(cli: Cli) -> None:
    lines = cli("learn", stdin="Sarah: I prefer TypeScript.\nSarah: I prefer TypeScript.\n").out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("preference  I prefer TypeScript.")


def test_small_talk_teaches_nothing_and_is_kept(cli: Cli) -> None:
    done = cli("learn", "--session", "s", stdin="Sarah: Good morning!\n")
    assert done.out == "Nothing was learned.\n"
    assert "Good morning!" in cli("transcript", "read", "s").out


def test_every_option_of_learn_arrives(cli: Cli) -> None:
    options = "--session s --user ada --agent writer --tag a --tag b --origin import"
    learned = cli("learn", "--json", *options.split(), stdin="Sarah: I prefer TypeScript.").data
    (memory,) = learned["memories"]
    assert memory["scope"] == {"user": "ada", "agent": "writer", "session": None}
    assert (memory["tags"], memory["origin"], learned["session"]) == (["a", "b"], "import", "s")
    assert [link["relation"] for link in learned["links"]] == ["learned from"]
    assert "origin        import" in cli("get", memory["id"]).out


MESSAGES = [
    {"role": "user", "name": "Sarah", "content": "I prefer TypeScript.", "said_at": "2026-05-04T09:30:00Z"},
    {"role": "assistant", "content": "Noted."},
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        json.dumps(MESSAGES, indent=2),
        json.dumps({"messages": MESSAGES}),
        "\n\n".join(map(json.dumps, MESSAGES)) + "\n",
        "\ufeff" + json.dumps(MESSAGES),
    ],
)
def test_a_conversation_may_be_json(cli: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "chat.json").write_text(text, "utf-8")
    learned = cli("learn", "chat.json", "--session", "s", "--json").data
    assert [memory["text"] for memory in learned["memories"]] == ["I prefer TypeScript."]
    assert learned["memories"][0]["said_at"] == "2026-05-04T09:30:00+00:00"
    assert [message["role"] for message in cli("transcript", "read", "s", "--json").data] == ["user", "assistant"]


def test_a_json_list_may_hold_lines(cli: Cli) -> None:
    cli("learn", "--session", "s", stdin='["Sarah: Hello", "Bob: Hello"]')
    assert [message["name"] for message in cli("transcript", "read", "s", "--json").data] == ["Sarah", "Bob"]


def test_a_transcript_that_was_read_can_be_learned_from(cli: Cli) -> None:
    cli("transcript", "append", "old", "I prefer TypeScript.", "--name", "Sarah")
    said = cli("transcript", "read", "old", "--json").out
    assert "I prefer TypeScript." in cli("learn", stdin=said).out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "chat.txt contains no messages"),
        ("[]", "chat.txt contains no messages"),
        ("[10:02] Sarah: hello", "chat.txt looks like JSON but is not"),
        ('{"content": "a"}\n{"content": \n', "chat.txt, line 2 is not JSON"),
        ('[{"content": "a"}, 3]', "chat.txt, message 2 is not a message"),
        ('[{"content": "a", "said_at": "yesterday"}]', "chat.txt, message 1: 'yesterday' is not an ISO 8601"),
        ('[{"text": "a"}]', "a message must be a mapping with content"),
    ],
)
def test_a_bad_conversation_is_refused_whole(cli: Cli, tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "chat.txt").write_text(text, "utf-8")
    done = cli("learn", "chat.txt")
    assert (done.status, done.out) == (1, "")
    assert complaint in done.err.splitlines()[-1]
    if (tmp_path / "commonplace.db").exists():
        assert cli("stats", "--json").data["messages"] == 0


def test_nothing_to_learn_from_at_a_terminal_is_misuse(cli: Cli) -> None:
    assert cli("learn", stdin=Terminal()).status == 2


def test_learning_shows_its_progress(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text("Sarah: Hello!\n" * 60, "utf-8")
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["learn", "chat.txt"]) == 0
    assert "learning [########################] 100%  60/60" in screen.getvalue()


# -- jobs ------------------------------------------------------------------------------------------


def test_what_was_only_kept_waits_for_a_worker(lazy: Cli) -> None:
    kept = lazy("learn", "--no-wait", "--session", "s", stdin=TALK)
    assert kept.out == "stored 2 messages of session s; `commonplace work` learns from it\n"
    assert "jobs      1 waiting" in lazy("stats").out
    (job,) = lazy("jobs", "--json").data
    assert (job["kind"], job["state"], job["attempts"]) == ("learn", "waiting", 0)
    head, row = lazy("jobs").out.splitlines()
    assert head.split() == ["NUMBER", "KIND", "STATE", "ATTEMPTS", "DUE"]
    assert row.split()[:4] == [str(job["number"]), "learn", "waiting", "0"]
    assert lazy("work", "--once").out == "ran 1 job\n"
    assert lazy("jobs").out == "No jobs.\n"
    assert "I prefer TypeScript." in ids(lazy)


def test_no_command_but_work_does_what_waits(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(jobs.Worker, "wake", started.append)
    cli("learn", "--no-wait", "--session", "s", stdin=TALK)
    cli("retry")
    assert (started, len(cli("jobs", "--json").data)) == ([], 1)


def test_a_model_may_find_the_memories(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = cli("learn", "--extractor", "nonsense", stdin=TALK)
    assert (refused.status, "openai:MODEL" in refused.err) == (1, True)
    assert cli("learn", "--extractor", "reader", stdin=TALK).status == 0
    monkeypatch.setenv("COMMONPLACE_EXTRACTOR", "nonsense")
    assert (cli("work", "--once").status, cli("stats").status) == (1, 0)
    assert cli("work", "--once", "--extractor", "reader").status == 0


def test_work_does_the_jobs_of_every_space_or_of_the_one_named(lazy: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for space in ("ops", "web", "dev"):
        lazy("learn", "--no-wait", "--space", space, stdin=TALK)
    assert lazy("work", "--once", "--space", "nowhere", "--json").data == {"done": 0, "failed": 0}
    assert lazy("work", "--once", "--space", "ops", "--json").data == {"done": 1, "failed": 0}
    monkeypatch.setenv("COMMONPLACE_SPACE", "nowhere")
    assert lazy("work", "--once", "--json").data == {"done": 2, "failed": 0}


def test_a_job_that_fails_is_told_kept_and_retried(lazy: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy("learn", "--no-wait", stdin=TALK)
    with monkeypatch.context() as broken:
        broken.setitem(jobs._RUNS, "learn", fails(ValueError("no such luck")))
        broken.setattr(jobs, "ATTEMPTS", 1)
        done = lazy("work", "--once")
    assert (done.status, done.out) == (1, "ran 0 jobs; 1 failed, see `commonplace jobs`\n")
    assert done.err.startswith("commonplace: job ")
    assert "ValueError" in done.err
    assert "luck" not in done.err
    (job,) = lazy("jobs", "--dead", "--json").data
    assert "dead" in lazy("jobs").out
    assert "ValueError: no such luck" in lazy("jobs", "--dead").out
    assert lazy("retry", str(job["number"])).out == "queued 1 job again\n"
    assert lazy("jobs", "--dead").out == "No jobs.\n"
    assert lazy("work", "--once").out == "ran 1 job\n"
    assert lazy("retry", "--json").data == {"queued": 0}


def test_a_failure_while_waiting_keeps_what_was_said(lazy: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setitem(jobs._RUNS, "learn", fails(commonplace.EmbedderFailed("the service is down")))
        done = lazy("learn", "--json", stdin=TALK)
    told = [json.loads(line) for line in done.err.splitlines()]
    assert (done.status, told[-1]["error"]) == (1, "embedder_failed")
    assert told[-2] == {"remark": "the conversation is stored: `commonplace work` continues learning from it"}
    assert len(lazy("jobs", "--json").data) == 1


def test_an_interrupted_job_is_given_back_at_once(lazy: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as interrupted:
        interrupted.setitem(jobs._RUNS, "learn", fails(KeyboardInterrupt()))
        done = lazy("learn", stdin=TALK)
    assert done.status == 130
    assert "the conversation is stored" in done.err
    assert lazy("work", "--once").out == "ran 1 job\n"


@pytest.mark.parametrize("words", [(), ("--once",)])
def test_a_book_that_was_reembedded_ends_the_work_and_costs_no_job(
    lazy: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    lazy("learn", "--no-wait", stdin=TALK)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(jobs, "ATTEMPTS", 1)
        meanwhile.setitem(jobs._RUNS, "learn", fails(commonplace.EmbedderMismatch("open it again")))
        done = lazy("work", *words)
    assert (done.status, done.err.splitlines()[-1]) == (1, "commonplace: open it again")
    assert lazy("work", "--once").out == "ran 1 job\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_program_works_until_it_is_asked_to_end(lazy: Cli, tmp_path: Path, number: signal.Signals) -> None:
    lazy("learn", "--no-wait", stdin=TALK)
    process = start("work", cwd=tmp_path)
    assert process.stderr is not None
    with process.stderr as said:
        assert said.readline() == b"commonplace: running jobs; Ctrl-C stops after the current job\n"
        with commonplace.open(tmp_path / "commonplace.db") as book:
            wait_until(lambda: not book.jobs())
            book.learn(NEXT)  # what comes later is done, too
            wait_until(lambda: not book.jobs())
        process.send_signal(number)
        assert process.wait(60) == 0
        assert said.read() == b""
    assert process.stdout is not None
    with process.stdout as out:
        assert out.read() == b"ran 2 jobs\n"


def wait_until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


# -- links and undo --------------------------------------------------------------------------------


def test_links_are_told_from_either_end_and_undone(cli: Cli) -> None:
    old, new = "The staging server listens on port 8081", "The staging server listens on port 9090"
    for text in (old, new):
        cli("remember", text, "--kind", "fact", "--reconcile")
    known = ids(cli)
    head, row = cli("links", known[new]).out.splitlines()
    assert head.split() == ["RELATION", "OTHER", "AT", "REASON"]
    assert row.split()[:2] == ["supersedes", known[old]]
    assert cli("links", known[old]).out.splitlines()[1].startswith(f"superseded by  {known[new]}")
    assert cli("undo", known[old], known[new]).out == f"no longer: {known[new]} supersedes {known[old]}\n"
    assert cli("links", known[new]).out == "No links.\n"
    assert len(cli("list", "--json").data["memories"]) == 2
    assert cli("undo", known[old], known[new], "--json").error["error"] == "not_found"


def test_remember_reconciles_on_request_and_says_which_memory_stands(cli: Cli) -> None:
    first = cli("remember", "I prefer TypeScript.", "--kind", "preference").out
    assert cli("remember", "I prefer TypeScript.", "--kind", "preference", "--reconcile").out == first
    disputed = ("remember", "The staging server listens on port {}", "--kind", "fact", "--reconcile")
    cli(*(word.format(8081) for word in disputed))
    tool = cli(*(word.format(9090) for word in disputed), "--origin", "tool", "--json").data
    assert tool["origin"] == "tool"
    assert cli("links", tool["id"], "--json").data[0]["relation"] == "disputes"
