"""Keys: what they open, how long they are valid, and what is stored of them."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256

import pytest

from commonplace.access import keys
from commonplace.errors import CommonplaceError, Forbidden, InvalidInput, NotFound, Unauthorized
from commonplace.local import LocalBook
from commonplace.memories.core import Core
from commonplace.store.tables import keys as rows
from commonplace.values import times
from tests.access.keys_harness import ON_SQLITE, door_of, put, recall


def row(core: Core, id: str) -> rows.KeyRow:
    found = core.store.read(lambda tx: rows.find(tx, id), rows.lane(""))
    assert found is not None
    return found


def refusal(core: Core, token: str | None) -> str:
    with pytest.raises(Unauthorized) as caught:
        keys.admit(core.store, token)
    return str(caught.value)


def test_a_key_is_kept_as_a_digest_and_shown_once(core: Core) -> None:
    made = keys.create(core.store, label="the build agent")
    prefix, id, secret = made.token.split("_")
    kept = row(core, made.key.id)
    assert (prefix, id, kept.secret) == ("cp", made.key.id, sha256(secret.encode()).hexdigest())
    assert secret not in repr(kept)
    assert secret not in repr(keys.list_keys(core.store))
    assert secret not in repr(made.key)


def test_a_book_without_keys_knows_none_and_one_that_had_some_is_never_open_again(core: Core) -> None:
    assert not keys.exist(core.store)
    assert keys.admit(core.store, None) is None
    made = keys.create(core.store)
    keys.revoke(core.store, made.key.id)
    assert keys.exist(core.store)
    assert "needs a key" in refusal(core, None)


def test_an_unknown_key_and_a_wrong_one_get_the_same_answer(core: Core) -> None:
    made = keys.create(core.store)
    _, id, secret = made.token.split("_")
    wrong = {
        refusal(core, f"cp_{id}_{'A' * 40}"),
        refusal(core, f"cp_{'a' * 12}_{secret}"),
        refusal(core, f"cp_{id}_{secret[:-1]}"),
        refusal(core, f"cp_{id}_{secret}x"),
        refusal(core, f" {made.token}"),
        refusal(core, ""),
        refusal(core, "no key at all \ud800 \xff"),
        refusal(core, secret),
        refusal(core, row(core, id).secret),
    }
    assert len(wrong) == 1
    assert keys.admit(core.store, made.token) is not None


@ON_SQLITE
def test_an_unknown_key_is_compared_as_a_wrong_one_is(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    made = keys.create(core.store)
    compared: list[tuple[str, str]] = []
    real = keys.hmac.compare_digest  # type: ignore[attr-defined]

    def watched(given: str, kept: str) -> bool:
        compared.append((given, kept))
        return real(given, kept)  # type: ignore[no-any-return]

    monkeypatch.setattr(keys.hmac, "compare_digest", watched)  # type: ignore[attr-defined]
    steps = []
    for token in (made.token, made.token[:-1] + "!", f"cp_{made.key.id}_{'A' * 40}", f"cp_{'a' * 12}_{'A' * 40}", "x"):
        compared.clear()
        with suppress(Unauthorized):
            keys.admit(core.store, token)
        steps.append([(len(given), len(kept)) for given, kept in compared])
    assert steps == [[(64, 64), (64, 64)]] * 5


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    later = times.now() + int(seconds * 1e6)
    monkeypatch.setattr(times, "now", lambda: later)


def test_rotation_ends_the_old_secret_at_once_or_after_a_grace(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    first = keys.create(core.store)
    second = keys.rotate(core.store, first.key.id)
    assert second.key.id == first.key.id
    refusal(core, first.token)
    third = keys.rotate(core.store, first.key.id, grace=400)
    assert keys.admit(core.store, second.token) is not None
    assert keys.admit(core.store, third.token) is not None
    refusal(core, first.token)
    pass_time(monkeypatch, 401)
    refusal(core, second.token)
    assert keys.admit(core.store, third.token) is not None


def test_a_revoked_key_is_refused_with_its_old_secret_too_and_for_good(core: Core) -> None:
    first = keys.create(core.store)
    second = keys.rotate(core.store, first.key.id, grace=1000)
    revoked = keys.revoke(core.store, first.key.id)
    refusal(core, first.token)
    assert "revoked" in refusal(core, second.token)
    assert keys.revoke(core.store, first.key.id) == revoked
    with pytest.raises(InvalidInput, match="revoked"):
        keys.rotate(core.store, first.key.id)


@ON_SQLITE
def test_a_key_expires(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    made = keys.create(core.store, expires=300)
    assert keys.admit(core.store, made.token) is not None
    pass_time(monkeypatch, 301)
    assert "expired" in refusal(core, made.token)


def test_the_last_use_is_noted_at_most_once_a_minute(core: Core) -> None:
    made = keys.create(core.store)
    assert made.key.used_at is None
    keys.admit(core.store, made.token)
    noted = row(core, made.key.id).used_at
    assert noted is not None
    keys.admit(core.store, made.token)
    assert row(core, made.key.id).used_at == noted
    earlier = noted - 61_000_000
    core.store.write(
        lambda tx: tx.run("UPDATE api_key SET used_at = :at WHERE id = :id", {"at": earlier, "id": made.key.id}),
        rows.lane(""),
    )
    keys.admit(core.store, made.token)
    assert (row(core, made.key.id).used_at or 0) >= noted


def test_a_key_without_limits_writes_nothing(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    made, door = keys.create(core.store), door_of(core)
    put(door, made.token, "a")
    writes: list[int | None] = []
    real = core.store.write
    monkeypatch.setattr(core.store, "write", lambda work, space: writes.append(space) or real(work, space))  # type: ignore[func-returns-value]
    recall(door, made.token)
    assert writes == []
    assert core.store.read(lambda tx: tx.run("SELECT count(*) FROM meter"), rows.lane("")) == [(0,)]


@ON_SQLITE
def test_a_key_opens_its_spaces_for_its_role(core: Core) -> None:
    reader = keys.create(core.store, role="read", spaces=["team-a", "agents-*"])
    door = door_of(core)
    assert reader.key.home == "team-a"
    recall(door, reader.token)
    with pytest.raises(Forbidden, match="may read"):
        put(door, reader.token, "a")
    writer = keys.create(core.store, role="write", spaces=["agents-*"], home="agents-1")
    put(door, writer.token, "a", space="agents-2")
    for space in ("team-a", "agent", "default", "commonplace:planted"):
        with pytest.raises(Forbidden, match="does not open"):
            put(door, writer.token, "a", space=space)


@ON_SQLITE
def test_sign_up_gives_a_space_of_its_own(core: Core) -> None:
    keys.create(core.store, role="admin", spaces=["*"])
    one, two = (keys.sign_up(core.store, "scout", "memstore-free") for _ in range(2))
    assert (one.key.label, one.key.plan, one.key.role) == ("scout", "memstore-free", "write")
    assert one.key.spaces == (one.key.home,)
    assert one.key.home != two.key.home
    door = door_of(core)
    put(door, one.token, "a")
    with pytest.raises(Forbidden):
        put(door, two.token, "a", space=one.key.home)


@ON_SQLITE
@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "owner"}, {"spaces": []}, {"spaces": ["commonplace:x"]}, {"spaces": "team-a"}, {"spaces": [""]},
        {"spaces": ["a-*"]}, {"home": "elsewhere"}, {"plan": "gold"}, {"limits": {"gold": 1}}, {"limits": {"burst": 3}},
        {"limits": {"rate": 0}}, {"limits": {"rate": float("nan")}}, {"limits": {"memories": -1}},
        {"limits": {"memories": 1.5}}, {"limits": {"memories": True}}, {"expires": 0}, {"expires": -1},
        {"expires": float("nan")}, {"expires": 1e30}, {"label": "a\nb"}, {"spaces": [f"s{i}" for i in range(101)]},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_and_leaves_no_key(core: Core, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        keys.create(core.store, **wrong)  # type: ignore[arg-type]  # that is the point
    assert not keys.exist(core.store)


@ON_SQLITE
@pytest.mark.parametrize("id", ["nobody", "", "a\0b", "\ud800"])
def test_a_key_that_is_not_there_is_not_found(core: Core, id: str) -> None:
    keys.create(core.store)
    for verb in (keys.find, keys.rotate, keys.revoke, keys.usage):
        with pytest.raises((NotFound, InvalidInput)):
            verb(core.store, id)  # each takes a store and an id


def test_an_admin_makes_and_sees_only_what_it_has_itself(core: Core) -> None:
    root = keys.create(core.store, role="admin", spaces=["*"])
    admin = keys.create(core.store, role="admin", spaces=["a-*", "b"], home="b", expires=1000)
    by = admin.key.id
    made = keys.create(core.store, role="write", spaces=["a-1*", "b"], by=by)
    assert made.key.expires_at == admin.key.expires_at
    for spaces in (["*"], ["a*"], ["a-1", "c"], ["default"]):
        with pytest.raises(Forbidden):
            keys.create(core.store, spaces=spaces, home=None if "*" not in spaces[0] else "a-x", by=by)
    assert {key.id for key in keys.list_keys(core.store, by=by)} == {by, made.key.id}
    for verb in (keys.find, keys.rotate, keys.revoke, keys.usage):
        with pytest.raises(NotFound):
            verb(core.store, root.key.id, by=by)  # as above
    assert keys.admit(core.store, root.token) is not None
    keys.revoke(core.store, made.key.id, by=by)
    refusal(core, made.token)


@ON_SQLITE
def test_who_has_limits_or_no_role_for_it_makes_no_keys(core: Core) -> None:
    limited = keys.create(core.store, role="admin", limits={"operations_month": 10})
    writer = keys.create(core.store, role="write")
    ended = keys.create(core.store, role="admin")
    keys.revoke(core.store, ended.key.id)
    before = len(keys.list_keys(core.store))
    for key in (limited, writer, ended):
        with pytest.raises(Forbidden):
            keys.create(core.store, by=key.key.id)
    assert len(keys.list_keys(core.store)) == before


@ON_SQLITE
def test_nobody_gets_by_rotation_what_its_own_key_does_not_have(core: Core) -> None:
    free = keys.create(core.store)
    limited = keys.create(core.store, role="admin", limits={"operations_month": 10})
    brief = keys.create(core.store, role="admin", expires=1000)
    for by in (limited, brief):
        with pytest.raises(Forbidden):
            keys.rotate(core.store, free.key.id, by=by.key.id)
        assert keys.rotate(core.store, by.key.id, by=by.key.id).key.id == by.key.id
    assert keys.admit(core.store, free.token) is not None
    briefer = keys.create(core.store, expires=100)
    keys.rotate(core.store, briefer.key.id, by=brief.key.id)
    refusal(core, briefer.token)


@ON_SQLITE
def test_keys_say_nothing_of_their_secrets_in_errors(core: Core) -> None:
    made = keys.create(core.store, role="read")
    door = door_of(core)
    said = []
    for work in (
        lambda: put(door, made.token, "a"),
        lambda: recall(door, made.token[:-1] + ("B" if made.token.endswith("A") else "A")),
        lambda: put(door, made.token, "a", space="x"),
    ):
        with pytest.raises(CommonplaceError) as caught:
            work()  # type: ignore[no-untyped-call]
        said.append(repr(caught.value))
    assert made.token.split("_")[2][:10] not in " ".join(said)


@ON_SQLITE
def test_a_server_that_saw_keys_stays_closed_if_the_book_loses_them(core: Core) -> None:
    door = door_of(core)
    recall(door, None)
    made = keys.create(core.store)
    recall(door, made.token)
    core.store.write(lambda tx: tx.run("DELETE FROM api_key"), rows.lane(""))
    with pytest.raises(Unauthorized, match="keys create"):
        recall(door, None)
    with pytest.raises(Unauthorized):
        recall(door_of(core, closed=True), None)


@ON_SQLITE
def test_times_are_told_to_the_second_they_were_given(core: Core) -> None:
    before = times.now()
    made = keys.create(core.store, expires=3600)
    assert made.key.expires_at is not None
    assert before + 3_600_000_000 <= times.to_micros(made.key.expires_at) <= times.now() + 3_600_000_000
    assert keys.find(core.store, made.key.id) == made.key


@ON_SQLITE
def test_a_key_that_somebody_mentions_is_not_remembered(core: Core) -> None:
    made = keys.create(core.store)
    kept = LocalBook(core, "default").remember(f"The build agent uses {made.token} for now")
    assert kept.content == "The build agent uses [redacted: commonplace key] for now"
