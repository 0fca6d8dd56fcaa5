"""commonplace keys: made, listed, rotated, revoked."""

from __future__ import annotations

from tests.cli.cli_harness import Cli


def test_a_key_is_shown_once_and_listed_without_its_secret(cli: Cli) -> None:
    made = cli("keys", "create", "--space", "team-a", "--space", "agents-*", "--label", "the build agent")
    assert made.err.splitlines() == [
        "commonplace: created a new book at commonplace.db",
        "commonplace: store this key now: it is not shown again",
    ]
    prefix, id, secret = made.out.strip().split("_")
    assert prefix == "cp"
    listed = cli("keys", "list")
    assert id in listed.out
    assert "team-a agents-*" in listed.out
    assert secret not in listed.out + cli("keys", "list", "--json").out


def test_everything_can_be_said_of_a_key(cli: Cli) -> None:
    options = ["--role", "read", "--space", "x-*", "--home", "x-1", "--expires", "30d", "--plan", "memstore-free"]
    made = cli("keys", "create", *options, "--limit", "operations_month=5000", "--limit", "rate=2.5", "--json").data
    key = made["key"]
    assert made["token"].startswith(f"cp_{key['id']}_")
    assert (key["role"], key["spaces"], key["home"], key["plan"]) == ("read", ["x-*"], "x-1", "memstore-free")
    assert (key["limits"]["operations_month"], key["limits"]["rate"], key["limits"]["burst"]) == (5000, 2.5, 100)
    assert key["expires_at"] > key["created_at"]


def test_without_a_space_a_key_opens_the_default_one(cli: Cli) -> None:
    assert cli("keys", "create", "--json").data["key"]["spaces"] == ["default"]
    assert cli("--space", "ops", "keys", "create", "--json").data["key"]["spaces"] == ["ops"]


def test_a_key_is_rotated_revoked_and_its_usage_shown(cli: Cli) -> None:
    made = cli("keys", "create", "--plan", "botwire-free", "--json").data
    id = made["key"]["id"]
    assert "by namespace" in cli("keys", "usage", id).out
    usage = cli("keys", "usage", id, "--namespace", "shelf", "--json").data
    assert [(each["name"], each["used"], each["limit"]) for each in usage] == [
        ("namespace_writes_day", 0, 1000),
        ("namespace_bytes", 0, 50_000_000),
        ("space_bytes", 0, 100_000_000),
    ]
    rotated = cli("keys", "rotate", id, "--grace", "1h").out.strip()
    assert rotated.startswith(f"cp_{id}_")
    assert rotated != made["token"]
    assert cli("keys", "revoke", id).out == f"revoked {id}\n"
    assert "was revoked: create a new one" in cli("keys", "rotate", id).err
    assert cli("keys", "list", "--json").data[0]["revoked_at"]
    assert cli("keys", "usage", cli("keys", "create", "--json").data["key"]["id"]).out == "This key has no limits.\n"


def test_what_is_wrong_is_said_in_a_line(cli: Cli) -> None:
    cli("keys", "create")
    for words, said in {
        "keys create --plan gold": "unknown plan 'gold'; known: unlimited",
        "keys create --limit gold=3": "unknown limit 'gold'",
        "keys create --space a-*": "would not open its home",
        "keys revoke nobody": "there is no key 'nobody'",
        "keys rotate nobody": "there is no key 'nobody'",
    }.items():
        done = cli(*words.split())
        assert (done.status, done.out) == (1, "")
        assert said in done.err
    assert cli("keys", "create", "--limit", "memories=many").status == 2
    assert cli("keys", "create", "--role", "owner").status == 2


def test_keys_need_no_embedder(cli: Cli) -> None:
    cli("--embedder", "none", "remember", "some text")
    assert cli("keys", "create").status == 0
    assert cli("keys", "list").status == 0
